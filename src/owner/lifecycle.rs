//! How does one activation come and go? By run levels that only rise, from its start to its death.
//!
//! A [`Lifecycle`] is the state that an owner shares with whoever asks, hosts or ends it, under one
//! lock; its [`TearingDown`] is the future that drives the end. It knows no mailbox and no transport, so
//! that whatever owns an address can have one.
//!
//! # Invariants
//!
//! 1. **The level never falls**, and whatever raises it does so in one step (`R37`).
//! 2. **The first who asks for the end decides how it ends**; a later one changes nothing. From
//!    [`RunLevel::DisposeHosted`] on the owner refuses (`R40`), and where no reply is pending that is
//!    reached before [`dispose`](Lifecycle::dispose) returns.
//! 3. **Nobody is born in what is going**: a subtree is frozen from the top down before anyone in it is
//!    told, so below a level of [`RunLevel::Quiescing`] or beyond all is frozen. A child is entered and
//!    the freeze looked at in one step, so whoever froze its parent finds it.
//! 4. **[`Dead`](RunLevel::Dead), then the last words, then teardown completed**, each once, whoever of
//!    the driver and a force came first (`R38`).
//! 5. **No foreign code runs under the lock**: last words and wakers run outside, and no lifecycle is
//!    dropped inside.

mod ending;
mod pending;
mod reached;
mod reply_path;
mod run_level;
mod tear_down;

use std::{
    collections::BTreeMap,
    fmt, mem,
    sync::{
        Arc, Weak,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::{
    activation::Activation,
    address::Address,
    monitor::Monitor,
    refusal::{Closing, Refusal, Seam},
    teardown::Teardown,
    unwind,
};

use self::reached::Waiter;
pub use self::{
    ending::Ending, pending::PendingReply, reached::Reached, reply_path::ReplyPath,
    run_level::RunLevel, tear_down::TearingDown,
};

/// One lifetime of an owner at its address.
///
/// A handle: clones share one lifetime. It is told to end by [`dispose`](Lifecycle::dispose), and gets
/// there by its [`tear_down`](Lifecycle::tear_down), which somebody must drive; parent and children
/// know each other weakly. A lifetime whose handles are all dropped before its death is that of a
/// killed process: it says no last words, and its teardown is never completed.
///
/// # Examples
///
/// An owner that is recycled while a reply is pending:
///
/// ```
/// use rideout::{Address, owner::{Ending, Lifecycle, RunLevel}};
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let address: Address = "prices/eur".parse()?;
/// let owner = Lifecycle::new(address.clone());
/// let driver = tokio::spawn(owner.tear_down(async { /* flush, close files */ }));
/// owner.started();
///
/// let reply = owner.pending();
/// assert!(owner.dispose(Ending::recycle().asked_by("ops")));
/// assert_eq!(owner.level(), RunLevel::Quiescing); // it still serves
///
/// drop(reply); // the reply is out
/// assert!(owner.is_refusing());
/// let refusal = owner.closing().at_the_door("cannot process Subscribe");
/// assert!(refusal.promise(&address).is_some());
///
/// owner.teardown().completed().await;
/// assert_eq!(owner.level(), RunLevel::Dead);
/// # driver.await?;
/// # Ok(())
/// # }
/// ```
///
/// An owner's task owes its end: one that panics or is aborted has told nobody, and its address would be
/// held by something that neither serves nor ends. Let it force the end where it is dropped:
///
/// ```
/// use rideout::owner::Lifecycle;
///
/// struct Owner {
///     lifecycle: Lifecycle,
/// }
///
/// impl Drop for Owner {
///     fn drop(&mut self) {
///         self.lifecycle.force(); // nothing, where it has ended
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let lifecycle = Lifecycle::new("prices/eur".parse()?);
/// let owner = Owner { lifecycle: lifecycle.clone() };
/// let task = tokio::spawn(async move {
///     let _owner = owner;
///     panic!("a handler did");
/// });
/// assert!(task.await.is_err());
/// lifecycle.teardown().completed().await; // another may start
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Lifecycle {
    shared: Arc<Shared>,
}

struct Shared {
    address: Address,
    activation: Activation,
    born: u64,
    // Weak both ways: a parent that is dropped is no parent, a child that is dropped is gone.
    parent: Option<Weak<Shared>>,
    teardown: Teardown,
    state: Monitor<State>,
}

#[derive(Default)]
struct State {
    level: RunLevel,
    ending: Option<Ending>,
    leaving: bool,
    frozen: bool,
    // How many replies are pending.
    pending: usize,
    quiesce_timed_out: bool,
    forced: bool,
    // Whether a watchdog has said that it forces this end.
    reported: bool,
    // By birth. Those that are not dead, and not dropped.
    children: BTreeMap<u64, Weak<Shared>>,
    last_words: Vec<Box<dyn FnOnce() + Send>>,
    // How many levels were passed and children went: what the watchdog calls progress (`R39`).
    progress: u64,
}

impl State {
    /// Rises to `level`; never falls. Returns whether it rose.
    fn rise(&mut self, level: RunLevel) -> bool {
        let rises = level > self.level;
        if rises {
            self.level = level;
            self.progress += 1;
        }
        rises
    }

    /// Ends the quiescing where nothing is pending; returns whether it did.
    fn quiesced(&mut self) -> bool {
        self.level == RunLevel::Quiescing && self.pending == 0 && self.rise(RunLevel::DisposeHosted)
    }
}

/// How many lifetimes this process has begun.
static BORN: AtomicU64 = AtomicU64::new(0);

impl Lifecycle {
    /// Begins a lifetime at `address`, with an activation that no other has.
    ///
    /// # Examples
    ///
    /// ```
    /// use rideout::owner::{Lifecycle, RunLevel};
    ///
    /// let owner = Lifecycle::new("prices/eur".parse()?);
    /// assert_eq!(owner.level(), RunLevel::Starting);
    /// # Ok::<_, rideout::address::InvalidAddress>(())
    /// ```
    pub fn new(address: Address) -> Self {
        Self::begin(address, None)
    }

    fn begin(address: Address, parent: Option<Weak<Shared>>) -> Self {
        Self {
            shared: Arc::new(Shared {
                address,
                activation: Activation::mint(),
                born: BORN.fetch_add(1, Ordering::Relaxed),
                parent,
                teardown: Teardown::new(),
                state: Monitor::default(),
            }),
        }
    }

    /// Begins the lifetime of a child, which is told to end when its parent's hosted ones are.
    ///
    /// The parent waits for it to be gone, dead or dropped, but not for ever: see
    /// [`TearingDown::children`].
    ///
    /// # Errors
    ///
    /// The promise of a parent that is ending, or stands below one: nobody is born in what is going
    /// (`R37`).
    ///
    /// # Examples
    ///
    /// ```
    /// use rideout::{Address, owner::{Ending, Lifecycle}};
    ///
    /// let prices: Address = "prices".parse()?;
    /// let parent = Lifecycle::new(prices.clone());
    /// let child = parent.child("prices/eur".parse()?)?;
    ///
    /// parent.dispose(Ending::dispose());
    /// let refusal = parent.child("prices/usd".parse()?).unwrap_err();
    /// assert!(refusal.promise(&prices).is_some());
    /// assert!(child.child("prices/eur/spot".parse()?).is_err()); // the whole subtree is frozen
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn child(&self, address: Address) -> Result<Self, Refusal> {
        let child = Self::begin(address, Some(Arc::downgrade(&self.shared)));
        let entry = Arc::downgrade(&child.shared);
        let is_entered = self.shared.state.with(|state| {
            let enters = !state.frozen && !state.leaving;
            if enters {
                state.children.insert(child.shared.born, entry);
            }
            enters
        });
        if is_entered {
            Ok(child)
        } else {
            Err(self.closing().refuse(Seam::Creation, child.address().as_str()))
        }
    }

    /// Returns the address that it owns.
    pub fn address(&self) -> &Address {
        &self.shared.address
    }

    /// Returns its identity, which all its refusals and announcements carry.
    pub fn activation(&self) -> &Activation {
        &self.shared.activation
    }

    /// Returns its place in the order of the births of this process: who is born later has a greater
    /// one.
    pub fn born(&self) -> u64 {
        self.shared.born
    }

    /// Returns the place of the next birth.
    pub(super) fn births() -> u64 {
        BORN.load(Ordering::Relaxed)
    }

    /// Returns how far it is.
    pub fn level(&self) -> RunLevel {
        self.shared.state.with(|state| state.level)
    }

    /// Returns whether every request is refused: from [`RunLevel::DisposeHosted`] on (`R40`), and from
    /// when it leaves with its host (`R45`).
    pub fn is_refusing(&self) -> bool {
        self.shared.state.with(|state| state.leaving || state.level >= RunLevel::DisposeHosted)
    }

    /// Says that it is up and serves.
    pub fn started(&self) {
        self.shared.state.announce(|state| state.rise(RunLevel::Started));
    }

    /// Counts a reply that is pending until the guard is dropped: quiescing waits for it (`R38`).
    ///
    /// # Examples
    ///
    /// See [`Lifecycle`].
    pub fn pending(&self) -> PendingReply {
        self.shared.state.with(|state| state.pending += 1);
        PendingReply { lifecycle: self.clone() }
    }

    /// Returns whether no reply is pending.
    pub fn is_idle(&self) -> bool {
        self.shared.state.with(|state| state.pending == 0)
    }

    /// Tells it to end, and returns at once; true for the one call that decided how.
    ///
    /// The creation of children is frozen in the whole subtree before anyone is told (`R37`). With no
    /// reply pending the owner refuses when this returns. The children are told by the driver of
    /// [`tear_down`](Lifecycle::tear_down), once the replies are out.
    ///
    /// # Panics
    ///
    /// Only where a waiter's waker does: the end was asked for all the same, and all others are woken
    /// first.
    ///
    /// # Examples
    ///
    /// ```
    /// use rideout::owner::{Ending, Lifecycle};
    ///
    /// let owner = Lifecycle::new("prices/eur".parse()?);
    /// assert!(owner.dispose(Ending::recycle()));
    /// assert!(!owner.dispose(Ending::dispose())); // it is recycled already
    /// assert!(owner.ending().unwrap().is_announced());
    /// # Ok::<_, rideout::address::InvalidAddress>(())
    /// ```
    pub fn dispose(&self, ending: Ending) -> bool {
        // Invariant 3: what was told is frozen, and a tree is not gone through twice.
        if self.level() >= RunLevel::Quiescing {
            return false;
        }
        self.freeze();
        self.tell(ending)
    }

    /// Tells one to end whose subtree is frozen.
    fn tell(&self, ending: Ending) -> bool {
        self.shared.state.announce(|state| {
            let decides = state.level < RunLevel::Quiescing;
            if decides {
                state.ending = Some(ending);
                state.rise(RunLevel::Quiescing);
                state.quiesced();
            }
            decides
        })
    }

    /// Freezes the creation of children in the subtree, from the top down, and returns it, parents
    /// before their children.
    fn freeze(&self) -> Vec<Self> {
        let mut frozen = vec![self.clone()];
        let mut next = 0;
        while let Some(lifecycle) = frozen.get(next).cloned() {
            lifecycle.shared.state.with(|state| state.frozen = true);
            frozen.extend(lifecycle.children());
            next += 1;
        }
        frozen
    }

    fn children(&self) -> Vec<Self> {
        let living =
            |state: &mut State| state.children.values().filter_map(Weak::upgrade).collect();
        let children: Vec<_> = self.shared.state.with(living);
        children.into_iter().map(|shared| Self { shared }).collect()
    }

    /// Says that its host is stopping: from here on it refuses, and its refusals say so (`R45`).
    ///
    /// It goes on living until it is told to end, so that what it has begun can be finished and its
    /// address handed off. It wakes nobody: who hands it off looks at it
    /// ([`is_leaving`](Lifecycle::is_leaving)).
    ///
    /// # Examples
    ///
    /// ```
    /// use rideout::owner::{Lifecycle, RunLevel};
    ///
    /// let owner = Lifecycle::new("prices/eur".parse()?);
    /// owner.started();
    /// owner.leave();
    /// assert!(owner.is_refusing());
    /// assert_eq!(owner.level(), RunLevel::Started);
    /// # Ok::<_, rideout::address::InvalidAddress>(())
    /// ```
    pub fn leave(&self) {
        self.shared.state.with(|state| state.leaving = true);
    }

    /// Returns whether its host is stopping.
    pub fn is_leaving(&self) -> bool {
        self.shared.state.with(|state| state.leaving)
    }

    /// Returns how it ends, once somebody has asked for it.
    pub fn ending(&self) -> Option<Ending> {
        self.shared.state.with(|state| state.ending.clone())
    }

    /// Returns a future that is ready once it is at `level` or beyond; at once where it is already.
    ///
    /// It holds the lifetime as a handle does. To wait for the end without that, wait for its
    /// [`teardown`](Lifecycle::teardown).
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: the future owns nothing but its place among those who wait.
    ///
    /// # Examples
    ///
    /// The loop of an owner ends when it is told to:
    ///
    /// ```
    /// use rideout::owner::{Ending, Lifecycle, RunLevel};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let owner = Lifecycle::new("prices/eur".parse()?);
    /// owner.dispose(Ending::dispose());
    /// owner.reached(RunLevel::DisposeHosted).await;
    /// # Ok(())
    /// # }
    /// ```
    pub fn reached(&self, level: RunLevel) -> Reached {
        Reached { waiter: Waiter::new(self), level }
    }

    /// Returns the signal that its teardown is completed: what riders join.
    pub fn teardown(&self) -> &Teardown {
        &self.shared.teardown
    }

    /// Returns the words of its refusals: its address, its activation, how far it is, who asked for its
    /// end and why (`R40`).
    ///
    /// # Examples
    ///
    /// ```
    /// use rideout::owner::{Ending, Lifecycle};
    ///
    /// let owner = Lifecycle::new("prices/eur".parse()?);
    /// owner.dispose(Ending::recycle().asked_by("ops"));
    ///
    /// let refusal = owner.closing().at_the_door("cannot process Subscribe").to_string();
    /// assert!(refusal.contains("RunLevel=DisposeHosted, recycle asked for by ops"));
    /// assert!(refusal.contains(owner.activation().as_str()));
    /// # Ok::<_, rideout::address::InvalidAddress>(())
    /// ```
    pub fn closing(&self) -> Closing {
        let (level, ending, leaving) =
            self.shared.state.with(|state| (state.level, state.ending.clone(), state.leaving));
        let detail = match ending.or_else(|| self.ending_above()) {
            Some(ending) => format!("RunLevel={level:?}, {ending}"),
            None => format!("RunLevel={level:?}"),
        };
        let closing = Closing::new(self.address().clone())
            .activation(self.activation().clone())
            .detail(detail);
        if leaving { closing.host_stopping() } else { closing }
    }

    /// How the nearest above it ends that was told to: what froze it, where it is not told itself yet.
    fn ending_above(&self) -> Option<Ending> {
        std::iter::successors(self.parent(), Self::parent)
            .find_map(|above| Some(above.ending()?.of_children(above.address())))
    }

    fn parent(&self) -> Option<Self> {
        let shared = self.shared.parent.as_ref().and_then(Weak::upgrade)?;
        Some(Self { shared })
    }

    /// Returns by whose means a refusal of its is sent now.
    pub fn reply_path(&self) -> ReplyPath {
        if self.level() < RunLevel::ShutDown {
            return ReplyPath::Owner;
        }
        match self.parent() {
            Some(parent) if parent.level() < RunLevel::DisposeHosted => ReplyPath::Parent,
            _ => ReplyPath::InProcess,
        }
    }

    /// Adds what is to be done when it is dead and before its teardown is completed: leave the
    /// registry, cut the routes. Where it is dead already, that is done at once, by the caller.
    ///
    /// Never said for a lifetime that is killed. One that holds a handle of this lifetime keeps it
    /// from ever being so.
    ///
    /// # Panics
    ///
    /// A panic of `last_word` reaches whoever ended the lifetime, after all others were said and the
    /// teardown was completed.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::{Arc, atomic::{AtomicBool, Ordering}};
    ///
    /// use rideout::owner::Lifecycle;
    ///
    /// let owner = Lifecycle::new("prices/eur".parse()?);
    /// let routed = Arc::new(AtomicBool::new(true));
    /// let route = Arc::clone(&routed);
    /// owner.on_death(move || route.store(false, Ordering::Release));
    ///
    /// owner.force();
    /// assert!(!routed.load(Ordering::Acquire));
    /// # Ok::<_, rideout::address::InvalidAddress>(())
    /// ```
    pub fn on_death(&self, last_word: impl FnOnce() + Send + 'static) {
        let mut last_word: Option<Box<dyn FnOnce() + Send>> = Some(Box::new(last_word));
        self.shared.state.with(|state| {
            if state.level < RunLevel::Dead {
                state.last_words.extend(last_word.take());
            }
        });
        if let Some(last_word) = last_word {
            last_word();
        }
    }

    /// Returns whether quiescing ran out of time while replies were pending. It stays true.
    pub fn quiesce_timed_out(&self) -> bool {
        self.shared.state.with(|state| state.quiesce_timed_out)
    }

    /// Returns whether its end was forced.
    pub fn was_forced(&self) -> bool {
        self.shared.state.with(|state| state.forced)
    }

    /// Forces the end of the whole subtree, now: children before parents, each says its last words and
    /// completes its teardown, and what the driver still ran is dropped when it is polled next (`R39`).
    ///
    /// A [watchdog](TearingDown) does so by itself.
    ///
    /// # Panics
    ///
    /// Where a last word or a waiter's waker does: the whole subtree is dead first, then the first such
    /// panic goes on.
    ///
    /// # Examples
    ///
    /// ```
    /// use rideout::owner::Lifecycle;
    ///
    /// let parent = Lifecycle::new("prices".parse()?);
    /// let child = parent.child("prices/eur".parse()?)?;
    /// parent.force();
    /// assert!(child.was_forced() && child.teardown().is_complete());
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn force(&self) {
        let subtree = self.freeze();
        unwind::all(subtree.iter().rev().map(|lifecycle| || lifecycle.die(true)));
    }

    /// Returns the future that drives the end: it waits until that is asked for, and is over when the
    /// teardown is completed. `last` is the owner's own last code, which runs when its children are
    /// gone.
    ///
    /// Spawn it beside the owner's own loop, so that a handler which hangs does not hold the end up. It
    /// holds the lifetime as a handle does: a lifetime with a driver is killed with its driver.
    ///
    /// # Examples
    ///
    /// See [`Lifecycle`] and [`TearingDown`].
    pub fn tear_down<F: Future<Output = ()>>(&self, last: F) -> TearingDown<F> {
        TearingDown::new(self.clone(), last)
    }

    /// Passes the levels that are left (invariant 4).
    fn die(&self, by_force: bool) {
        let shared = &self.shared;
        let mut last_words = None;
        let dead = || {
            shared.state.announce(|state| {
                state.frozen = true;
                let dies = state.rise(RunLevel::Dead);
                if dies {
                    state.forced = by_force;
                    last_words = Some(mem::take(&mut state.last_words));
                }
                dies
            });
        };
        let woken = unwind::caught(dead);
        if let Some(last_words) = last_words {
            let told = unwind::caught(|| unwind::all(last_words));
            let completed = unwind::caught(|| _ = shared.teardown.complete());
            let gone = unwind::caught(|| shared.leave_parent());
            unwind::resume_first([woken, told, completed, gone]);
        } else {
            unwind::resume_first([woken]);
        }
    }
}

impl fmt::Debug for Lifecycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lifecycle")
            .field("address", self.address())
            .field("activation", self.activation())
            .field("level", &self.level())
            .finish_non_exhaustive()
    }
}

impl Shared {
    /// A child is gone: its parent may have waited for that.
    fn leave_parent(&self) {
        if let Some(parent) = self.parent.as_ref().and_then(Weak::upgrade) {
            parent.state.announce(|state| {
                let went = state.children.remove(&self.born).is_some();
                state.progress += u64::from(went);
                // Before it is told, nobody waits for a child.
                went && state.level >= RunLevel::Quiescing
            });
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.leave_parent();
    }
}
