//! What of a message that came before its owner was ready for it? It waits behind a gate, and is always
//! told how that ended.
//!
//! [`Gates`] are owned by the owner's task: a queue, the gates that are closed, and no clock, lock or
//! task of their own.
//!
//! # Invariants
//!
//! 1. **Whatever is parked leaves once**: handed out, expired, or refused by the teardown. It is taken out
//!    before its own code runs, so that a panic there loses nobody else.
//! 2. **Nothing overtakes.** The queue is in the order of arrival, only its head is looked at, and
//!    nothing passes while it is not empty.
//! 3. **A message knows its gates**: those that were closed when it came. One that closes later is not
//!    among them; one of them that closes again is.
//! 4. **The gates are told as they were recorded**, whatever has opened since (`R41`).
//! 5. **One error for each stuck episode** (`R41`), which begins when a message fails and ends when
//!    the head may go, or the queue has run empty.

use std::{
    collections::{BTreeSet, VecDeque},
    fmt, mem,
    sync::Arc,
    time::{Duration, Instant},
};

use super::{Lifecycle, Message};
use crate::{
    refusal::{Kind, Seam},
    time::later,
    unwind::FirstPanic,
};

/// The gates of an owner: what is not to be handled yet waits behind them, in order.
///
/// An owner closes a gate by name for as long as it is not ready (its state is loading, its lease is
/// lost), and lets every message [`pass`](Gates::pass). Where no gate is closed the message comes back
/// at once; otherwise it is parked with the names of those that are, and
/// [`release`](Gates::release) hands it out when all of them are open. Order is kept: nothing overtakes
/// what is parked, also where its own gates are open already.
///
/// A request that is parked is always answered: by its handler, or
///
/// | when | with |
/// |---|---|
/// | it has waited for [`wait_limit`](Gates::wait_limit), 30 s | [`Kind::Failed`], a verdict: a promise would be a retry loop |
/// | it meets a [`backlog`](Gates::backlog) of 512 | the same |
/// | its owner is [torn down](Gates::tear_down) | a promise, [`Seam::Gate`], that names its gates, who asked for the teardown, and why |
///
/// Replies, refusals, ignorable messages and the owner's own are parked alike, and end unanswered
/// where they are not handed out. So do not lead the very reply that opens a gate through it.
///
/// While messages fail, an `ERROR` says so once: until a message may go again, or none waits.
///
/// # Drop
///
/// Dropped without a teardown, gates say nothing: that is the end of a killed process.
///
/// # Examples
///
/// One request waits until the state has come, the other until its owner is recycled:
///
/// ```
/// use std::{sync::mpsc, time::Instant};
///
/// use rideout::{Refusal, owner::{Ending, Gates, Lifecycle, Message, ReplyPath}};
///
/// struct Get(mpsc::Sender<Result<u64, Refusal>>);
///
/// impl Message for Get {
///     fn name(&self) -> &str {
///         "GetRequest"
///     }
///
///     fn refuse(self, refusal: Refusal, _: ReplyPath) {
///         let _ = self.0.send(Err(refusal)); // the asker may be gone
///     }
/// }
///
/// let owner = Lifecycle::new("prices/eur".parse()?);
/// let mut gates = Gates::new(owner.clone());
/// let (reply, answers) = mpsc::channel();
///
/// gates.close("loading");
/// assert!(gates.pass(Get(reply.clone()), Instant::now()).is_none()); // parked
/// gates.open("loading");
/// while let Some(Get(reply)) = gates.release() {
///     reply.send(Ok(7))?;
/// }
/// assert_eq!(answers.recv()??, 7);
///
/// gates.close("loading");
/// assert!(gates.pass(Get(reply), Instant::now()).is_none());
/// owner.dispose(Ending::recycle().asked_by("ops").reason("a new build"));
/// gates.tear_down();
/// let refusal = answers.recv()?.unwrap_err();
/// assert!(refusal.promise(owner.address()).is_some());
/// assert!(refusal.message.contains("behind gate `loading`; recycle asked for by ops: a new build"));
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
///
/// The example `owner` of the repository is a task with a mailbox that parks, releases and expires.
pub struct Gates<M> {
    lifecycle: Lifecycle,
    // Shared with all that were parked since it changed last.
    closed: Arc<BTreeSet<String>>,
    parked: VecDeque<Parked<M>>,
    wait_limit: Duration,
    backlog: usize,
    // Whether this episode was reported.
    stuck: bool,
    torn_down: bool,
}

struct Parked<M> {
    message: M,
    gates: Arc<BTreeSet<String>>,
    deadline: Instant,
}

impl<M: Message> Gates<M> {
    /// Creates the gates of an owner, none of which is closed.
    pub fn new(lifecycle: Lifecycle) -> Self {
        Self {
            lifecycle,
            closed: Arc::default(),
            parked: VecDeque::new(),
            wait_limit: Duration::from_secs(30),
            backlog: 512,
            stuck: false,
            torn_down: false,
        }
    }

    /// Bounds how long a message may wait (30 s); one that is parked already keeps its time.
    #[must_use]
    pub fn wait_limit(mut self, wait_limit: Duration) -> Self {
        self.wait_limit = wait_limit;
        self
    }

    /// Bounds how many messages may wait (512).
    #[must_use]
    pub fn backlog(mut self, backlog: usize) -> Self {
        self.backlog = backlog;
        self
    }

    /// Closes the gate of this name; returns whether it was open.
    ///
    /// What is parked already and came while it was open does not wait for it.
    pub fn close(&mut self, gate: impl Into<String>) -> bool {
        Arc::make_mut(&mut self.closed).insert(gate.into())
    }

    /// Opens the gate of this name; returns whether it was closed. Then [`release`](Gates::release) what
    /// may go.
    pub fn open(&mut self, gate: &str) -> bool {
        let was_closed = self.is_closed(gate) && Arc::make_mut(&mut self.closed).remove(gate);
        // With a backlog of 0 nothing is ever parked: then an episode ends with the last gate.
        if self.closed.is_empty() || !self.parked.is_empty() {
            self.end_episode_if_free();
        }
        was_closed
    }

    /// Returns whether the gate of this name is closed.
    pub fn is_closed(&self, gate: &str) -> bool {
        self.closed.contains(gate)
    }

    /// Returns how many messages are parked.
    pub fn parked(&self) -> usize {
        self.parked.len()
    }

    /// Lets a message pass, or returns `None`: it is parked, or was answered.
    ///
    /// It is parked where a gate is closed, and where others are parked before it. It is answered at
    /// once where the backlog is full, or its owner was torn down and a gate is closed.
    pub fn pass(&mut self, message: M, now: Instant) -> Option<M> {
        if self.closed.is_empty() && self.parked.is_empty() {
            return Some(message);
        }
        if self.torn_down {
            refuse_for_good(&self.lifecycle, message, &self.closed);
        } else if self.parked.len() >= self.backlog {
            self.report_stuck("the backlog is full");
            let why = format_args!("{} wait already", self.parked.len());
            fail(&self.lifecycle, message, &self.closed, &why);
        } else {
            let deadline = later(now, self.wait_limit);
            let gates = Arc::clone(&self.closed);
            self.parked.push_back(Parked { message, gates, deadline });
        }
        None
    }

    /// Hands out the message that is next, where its gates are open.
    ///
    /// To be called until it returns `None`: when a gate was opened, and when messages have expired.
    pub fn release(&mut self) -> Option<M> {
        if self.is_blocked() {
            return None;
        }
        let parked = self.parked.pop_front()?;
        self.end_episode_if_free();
        Some(parked.message)
    }

    /// Returns when [`expire`](Gates::expire) has something to do, unless a gate opens before.
    ///
    /// `None` where nothing is parked, and where the next may go.
    pub fn next_expiry(&self) -> Option<Instant> {
        self.parked.front().filter(|_| self.is_blocked()).map(|parked| parked.deadline)
    }

    /// Answers those whose time is over with [`Kind::Failed`]. Then [`release`](Gates::release) what they
    /// held up.
    ///
    /// What may go does not expire: it waits for its owner alone.
    pub fn expire(&mut self, now: Instant) {
        while self.next_expiry().is_some_and(|deadline| deadline <= now) {
            self.report_stuck("one has waited out its time");
            let Some(Parked { message, gates, .. }) = self.parked.pop_front() else {
                return;
            };
            self.end_episode_if_free();
            let why = format_args!("it has waited for {:?}", self.wait_limit);
            fail(&self.lifecycle, message, &gates, &why);
        }
    }

    /// Refuses all that is parked, since no gate will open any more, and from here on whatever comes
    /// while one is closed.
    ///
    /// For an owner that has reached [`DisposeHosted`](super::RunLevel::DisposeHosted): until then it
    /// serves, and a gate may still open.
    ///
    /// # Panics
    ///
    /// Only where refusing a message does: all others are refused first.
    pub fn tear_down(&mut self) {
        self.torn_down = true;
        let (lifecycle, parked) = (&self.lifecycle, mem::take(&mut self.parked));
        FirstPanic::run_all(parked.into_iter().map(|Parked { message, gates, .. }| {
            move || refuse_for_good(lifecycle, message, &gates)
        }));
    }

    /// Returns whether there is a head, and one of its gates is closed.
    fn is_blocked(&self) -> bool {
        let head = self.parked.front();
        head.is_some_and(|parked| !parked.gates.is_disjoint(&self.closed))
    }

    fn report_stuck(&mut self, why: &str) {
        if !mem::replace(&mut self.stuck, true) {
            tracing::error!(
                address = %self.lifecycle.address(),
                activation = %self.lifecycle.activation(),
                gates = %names(&self.closed),
                parked = self.parked.len(),
                "requests fail at the gates of an owner: {why}",
            );
        }
    }

    /// Ends the episode where the head may go, or there is none.
    fn end_episode_if_free(&mut self) {
        self.stuck &= self.is_blocked();
    }
}

impl<M> fmt::Debug for Gates<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gates")
            .field("lifecycle", &self.lifecycle)
            .field("closed", &self.closed)
            .field("parked", &self.parked.len())
            .finish_non_exhaustive()
    }
}

/// Refuses a message whose gates will open no more, with them, who ends its owner, and why (`R41`).
fn refuse_for_good<M: Message>(lifecycle: &Lifecycle, message: M, gates: &BTreeSet<String>) {
    lifecycle.answer(message, |request| {
        let ending = lifecycle.ending().map(|ending| format!("; {ending}")).unwrap_or_default();
        lifecycle.closing().refuse(Seam::Gate, &format!("{request}{}{ending}", behind(gates)))
    });
}

/// Answers a message for whose sake nobody waits longer: a verdict (`R1`).
fn fail<M: Message>(
    lifecycle: &Lifecycle,
    message: M,
    gates: &BTreeSet<String>,
    why: &dyn fmt::Display,
) {
    lifecycle.answer(message, |request| {
        let text = format!("cannot finish {request}{}: {why}", behind(gates));
        lifecycle.verdict(Kind::Failed, &text).with_never_applied(true)
    });
}

/// Where a request waits; it may be behind others alone.
fn behind(gates: &BTreeSet<String>) -> String {
    if gates.is_empty() { String::new() } else { format!(", behind gate {}", names(gates)) }
}

fn names(gates: &BTreeSet<String>) -> String {
    gates.iter().map(|gate| format!("`{gate}`")).collect::<Vec<_>>().join(" and ")
}
