//! To whom does an owner owe frames, and which frame is the next?
//!
//! [`Subscribers`] holds one registration a stream. It sends nothing and reads no clock: each method returns
//! what is now to be sent, answered or refused, and the owner does it, outside of any lock.
//!
//! # Invariants
//!
//! 1. **One registration a key.** An ask for a stream that is served is a refresh: its sink takes the
//!    place of the one before (`R44`).
//! 2. **Frames are consecutive.** The first after an ask is 1 and carries the state; each later one is
//!    one more (`R44b`). Before there is a state no frame has a number.
//! 3. **State first.** An acknowledgement is returned with a frame 1, to be given after it, or to be
//!    refused; one of both, and once. Only without a state is one held.
//! 4. **A stream is due** one `idle_release` after its last ask or beat, and `due` holds each
//!    registration once, under that time. Frames move nothing there.
//! 5. **A goodbye ends the registration that it names**, by key and attempt, or nothing.
//! 6. **After the end** nothing is registered any more: an ask is given back.
//! 7. **All go in the order of their registration**, so that what an owner does is the same in each run.

mod asked;
mod ends;
mod frame;
mod registration;
mod released;

use std::{
    borrow::Borrow,
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt,
    hash::Hash,
    mem,
    time::{Duration, Instant},
};

use self::registration::Registration;
pub use self::{asked::Asked, frame::Frame, released::Released};
use crate::time::later;

/// How many answers of one stream are held at most. A subscriber has one ask outstanding (`R16`); the
/// others are asks that it gave up, or that its transport repeated.
const MOST_HELD: usize = 16;

/// How long a silent subscriber is served: at most as long as a tombstone tells of it.
const IDLE_RELEASE: Duration = Duration::from_secs(10 * 60);

/// The streams that one owner serves, and to whom.
///
/// `K` names the stream of a subscriber, for the whole life of its rider: a
/// [`StreamId`](crate::activation::StreamId), or an address and a stream. `S` is where its frames go: a channel's
/// sender, an address. `A` is the answer that its ask still waits for. An owner with several kinds of
/// state keeps one of these for each.
///
/// Made without a state. Where the owner has one from its start, it calls
/// [`publish`](Subscribers::publish) once.
///
/// # Order
///
/// Frames have their numbers from the call that returned them: what two calls return must be sent in the
/// order of the calls, or a reader takes it for a gap. An owner's own task does so by itself.
///
/// # Memory
///
/// A registration a stream, and at most 16 held answers each. Sinks and answers that come out are
/// returned, never dropped inside; keys are identities, and are. Sinks are cloned, one for each frame.
///
/// # Examples
///
/// An ask, a change, and an ask of the same stream again:
///
/// ```
/// use std::time::Instant;
///
/// use rideout::{activation::StreamId, owner::Subscribers};
///
/// let (mut subscribers, now) = (Subscribers::new(), Instant::now());
/// let stream = StreamId::mint();
/// let asked = subscribers.ask(stream, 1, "inbox 7", "reply 1", now);
/// assert_eq!(asked.frame, None); // held: there is no state yet
///
/// for number in [1, 2] {
///     let frames = subscribers.publish(); // the state, and a change
///     assert_eq!((frames[0].sink, frames[0].number), ("inbox 7", number));
/// }
///
/// // Its rider lost the connection: the state, on its newest sink alone.
/// let asked = subscribers.ask(stream, 2, "inbox 8", "reply 2", now);
/// assert_eq!(asked.replaced, Some("inbox 7"));
/// let frame = asked.frame.expect("there is a state");
/// assert_eq!((frame.sink, frame.number, frame.acknowledgements), ("inbox 8", 1, vec!["reply 2"]));
///
/// assert_eq!(subscribers.unsubscribe(&stream, 1), None); // a late goodbye names nothing served
/// assert!(subscribers.beat(&stream, now));
/// ```
///
/// The example `owner` of the repository serves from a task with a mailbox, with beats, goodbyes and idle
/// release.
pub struct Subscribers<K, S, A> {
    // Invariant 1: the number of each registration, the one key of `streams`.
    numbers: HashMap<K, u64>,
    // Invariant 7: by number.
    streams: BTreeMap<u64, Registration<K, S, A>>,
    // Invariant 4: when, and the number.
    due: BTreeSet<(Instant, u64)>,
    registered: u64,
    idle_release: Duration,
    has_state: bool,
    is_over: bool,
}

impl<K, S, A> Subscribers<K, S, A> {
    /// Returns an owner's streams: none yet, and no state.
    pub fn new() -> Self {
        Self {
            numbers: HashMap::new(),
            streams: BTreeMap::new(),
            due: BTreeSet::new(),
            registered: 0,
            idle_release: IDLE_RELEASE,
            has_state: false,
            is_over: false,
        }
    }

    /// Sets how long a stream is served whose subscriber gives no sign of life: 10 min by default.
    ///
    /// Longer than a subscriber's goodbye is remembered at its address, frames would meet a promise there
    /// where a verdict is due (`R49`). Much shorter than two beats, a live subscriber is released. It
    /// counts for signs of life from here on.
    #[must_use]
    pub fn idle_release(mut self, idle_release: Duration) -> Self {
        self.idle_release = idle_release;
        self
    }

    /// Returns how many streams are served.
    pub fn len(&self) -> usize {
        self.streams.len()
    }

    /// Returns whether no stream is served.
    pub fn is_empty(&self) -> bool {
        self.streams.is_empty()
    }

    /// Returns what is served, and to whom, in the order of registration.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &S)> {
        self.streams.values().map(|stream| (&stream.key, &stream.sink))
    }

    /// Returns when the next stream falls due to be released, if nothing is heard of its subscriber.
    ///
    /// A sign of life only ever moves it away, so an owner that sleeps until then looks again when it
    /// wakes, and when there was none and a stream is asked for.
    pub fn next_release(&self) -> Option<Instant> {
        self.due.first().map(|&(at, _)| at)
    }
}

impl<K: Clone + Eq + Hash, S: Clone, A> Subscribers<K, S, A> {
    /// Registers an ask, or refreshes the stream that it is for (`R44`): a sign of life.
    ///
    /// There is a state: it is to be sent as frame 1, to this sink, and then the answer given. There is
    /// none yet: the answer is held until the first one comes, or the stream ends. Every such ask's is;
    /// the state goes to the newest sink, before any of them.
    ///
    /// `attempt` is the number that the subscriber gives its ask, such as
    /// [`Ask::attempt`](crate::rider::Ask::attempt): with the key it names the registration. Where there
    /// is none, any figure will do, and [`release`](Subscribers::release) takes the place of
    /// [`unsubscribe`](Subscribers::unsubscribe).
    ///
    /// The ask that arrives last counts as the newest. Where its subscriber had given it up, its sink leads
    /// nowhere, and the stream ends when a frame cannot be sent ([`unsubscribe`](Subscribers::unsubscribe),
    /// [`retain`](Subscribers::retain)); the next beat finds that out.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Instant;
    ///
    /// use rideout::owner::Subscribers;
    ///
    /// let (mut subscribers, now) = (Subscribers::new(), Instant::now());
    /// let asked = subscribers.ask("eur", 1, "inbox 7", "reply 1", now);
    /// assert_eq!((asked.frame, asked.replaced), (None, None)); // held
    ///
    /// let first = subscribers.publish().pop().expect("one stream is served");
    /// assert_eq!((first.number, first.acknowledgements), (1, vec!["reply 1"]));
    ///
    /// let refresh = subscribers.ask("eur", 2, "inbox 8", "reply 2", now);
    /// assert_eq!(refresh.replaced, Some("inbox 7"));
    /// let state = refresh.frame.expect("there is a state");
    /// assert_eq!((state.sink, state.number, state.acknowledgements), ("inbox 8", 1, vec!["reply 2"]));
    /// assert_eq!(subscribers.len(), 1);
    /// ```
    pub fn ask(
        &mut self,
        key: K,
        attempt: u32,
        sink: S,
        acknowledgement: A,
        now: Instant,
    ) -> Asked<K, S, A> {
        if self.is_over {
            // Invariant 6.
            return Asked { frame: None, replaced: Some(sink), refused: Some(acknowledgement) };
        }

        let at = later(now, self.idle_release);
        let served = self.numbers.get(&key).and_then(|number| self.streams.get_mut(number));
        let (stream, replaced) = if let Some(stream) = served {
            stream.postpone_release(at, &mut self.due);
            (stream.attempt, stream.number) = (attempt, 0);
            let replaced = mem::replace(&mut stream.sink, sink);
            (stream, Some(replaced))
        } else {
            self.registered += 1;
            let due = (at, self.registered);
            self.numbers.insert(key.clone(), self.registered);
            self.due.insert(due);
            let stream = Registration { key, sink, attempt, number: 0, held: Vec::new(), due };
            (self.streams.entry(self.registered).or_insert(stream), None)
        };

        let refused = (stream.held.len() == MOST_HELD).then(|| stream.held.remove(0));
        stream.held.push(acknowledgement);
        let frame = self.has_state.then(|| stream.next_frame());
        Asked { frame, replaced, refused }
    }

    /// Returns the next frame of every stream, in the order of registration: there is a state, for the first time or a
    /// new one.
    ///
    /// For those that were asked for before there was a state it is frame 1, and their held answers come
    /// with it. It is no sign of life.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Instant;
    ///
    /// use rideout::owner::Subscribers;
    ///
    /// let mut subscribers = Subscribers::new();
    /// for (key, reply) in [("eur", "reply 1"), ("usd", "reply 2")] {
    ///     let _ = subscribers.ask(key, 1, "inbox 7", reply, Instant::now());
    /// }
    /// for frame in subscribers.publish() {
    ///     assert_eq!((frame.number, frame.acknowledgements.len()), (1, 1)); // the state, the answer
    /// }
    /// for frame in subscribers.publish() {
    ///     assert_eq!((frame.number, frame.acknowledgements.len()), (2, 0)); // a change
    /// }
    /// ```
    pub fn publish(&mut self) -> Vec<Frame<K, S, A>> {
        self.has_state = true;
        // All are cloned first: where a clone panics, no number and no held answer goes with it.
        let copies: Vec<_> = self.streams.values().map(Registration::key_and_sink).collect();
        let streams = self.streams.values_mut().zip(copies);
        streams.map(|(stream, (key, sink))| stream.next_frame_to(key, sink)).collect()
    }

    /// Returns the next frame of one stream alone, such as a resync: `None` where it is not served, or
    /// there is no state yet. It is no sign of life.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Instant;
    ///
    /// use rideout::owner::Subscribers;
    ///
    /// let mut subscribers = Subscribers::new();
    /// let _ = subscribers.publish(); // a state, and nobody to send it to
    /// let first = subscribers.ask("eur", 1, "inbox 7", "reply 1", Instant::now()).frame;
    /// assert_eq!(first.expect("there is a state").number, 1);
    /// assert_eq!(subscribers.push(&"eur").expect("it is served").number, 2);
    /// assert_eq!(subscribers.push(&"usd"), None);
    /// ```
    pub fn push<Q>(&mut self, key: &Q) -> Option<Frame<K, S, A>>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        if !self.has_state {
            return None;
        }
        let number = self.numbers.get(key)?;
        self.streams.get_mut(number).map(Registration::next_frame)
    }

    /// Returns whether a stream is served: a sign of life where it is (`R26`).
    ///
    /// Where it is not, the owner answers [`News::NotServing`](crate::News::NotServing) with its own
    /// activation.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    ///
    /// use rideout::owner::Subscribers;
    ///
    /// let (mut subscribers, now) = (Subscribers::new(), Instant::now());
    /// let _ = subscribers.ask("eur", 1, "inbox 7", "reply 1", now);
    /// assert!(!subscribers.beat(&"usd", now));
    ///
    /// let ten_minutes = Duration::from_secs(10 * 60);
    /// assert_eq!(subscribers.next_release(), Some(now + ten_minutes));
    /// let beat = now + Duration::from_secs(45);
    /// assert!(subscribers.beat(&"eur", beat));
    /// assert_eq!(subscribers.next_release(), Some(beat + ten_minutes));
    ///
    /// assert!(subscribers.release_idle(now + ten_minutes).is_empty());
    /// assert_eq!(subscribers.release_idle(beat + ten_minutes)[0].held, ["reply 1"]);
    /// ```
    pub fn beat<Q>(&mut self, key: &Q, now: Instant) -> bool
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let number = self.numbers.get(key);
        let Some(stream) = number.and_then(|number| self.streams.get_mut(number)) else {
            return false;
        };
        stream.postpone_release(later(now, self.idle_release), &mut self.due);
        true
    }
}

impl<K, S, A> Default for Subscribers<K, S, A> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K, S, A> fmt::Debug for Subscribers<K, S, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscribers")
            .field("streams", &self.streams.len())
            .field("has_state", &self.has_state)
            .field("is_over", &self.is_over)
            .finish_non_exhaustive()
    }
}
