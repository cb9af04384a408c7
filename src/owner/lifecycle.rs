//! How does one activation come and go? By run levels that only rise, from its start to its death.
//!
//! A [`Lifecycle`] is the state that an owner shares with whoever asks, hosts or ends it, under one
//! lock; its [`Driver`] is the future that drives the end. It knows no mailbox and no transport, so
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

mod children;
mod closing;
mod death;
mod driver;
mod ending;
mod pending_reply;
mod reached;
mod reply_path;
mod run_level;
mod waiter;

use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Arc, Weak,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::{activation::Activation, address::Address, monitor::Monitor, teardown::Teardown};

pub use self::{
    driver::Driver, ending::Ending, pending_reply::PendingReply, reached::Reached,
    reply_path::ReplyPath, run_level::RunLevel,
};

/// One lifetime of an owner at its address.
///
/// A handle: clones share one lifetime. It is told to end by [`dispose`](Lifecycle::dispose), and gets
/// there by its [`driver`](Lifecycle::driver), which somebody must poll; parent and children
/// know each other weakly. A lifetime whose handles are all dropped before its death is that of a
/// killed process: it says no last words, and its teardown is never completed.
///
/// # Examples
///
/// An owner that is recycled while a reply is pending:
///
/// ```
/// use rideout::{Address, owner::{Ending, Lifecycle, RunLevel}, refusal::Seam};
///
/// # #[cfg(not(feature = "tokio"))]
/// # fn main() {}
/// # #[cfg(feature = "tokio")]
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let address: Address = "prices/eur".parse()?;
/// let owner = Lifecycle::new(address.clone());
/// let driver = tokio::spawn(owner.driver(async { /* flush, close files */ }));
/// owner.started();
///
/// let reply = owner.pending();
/// assert!(owner.dispose(Ending::recycle().asked_by("ops")));
/// assert_eq!(owner.level(), RunLevel::Quiescing); // it still serves
///
/// drop(reply); // the reply is out
/// assert!(owner.is_refusing());
/// let refusal = owner.closing().refuse(Seam::Door, "Subscribe");
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
    /// Raises the level to `level`, and never lowers it. Returns whether it rose.
    fn raise(&mut self, level: RunLevel) -> bool {
        let rises = level > self.level;
        if rises {
            self.level = level;
            self.progress += 1;
        }
        rises
    }

    /// Ends the quiescing where nothing is pending; returns whether it did.
    fn end_quiescing_if_idle(&mut self) -> bool {
        self.level == RunLevel::Quiescing
            && self.pending == 0
            && self.raise(RunLevel::DisposeHosted)
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
        self.shared.state.announce(|state| state.raise(RunLevel::Started));
    }

    /// Returns whether no reply is pending.
    pub fn is_idle(&self) -> bool {
        self.shared.state.with(|state| state.pending == 0)
    }

    /// Tells it to end, and returns at once; true for the one call that decided how.
    ///
    /// The creation of children is frozen in the whole subtree before anyone is told (`R37`). With no
    /// reply pending the owner refuses when this returns. The children are told by its
    /// [`driver`](Lifecycle::driver), once the replies are out.
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
        self.freeze_subtree();
        self.set_ending(ending)
    }

    /// Decides how it ends, unless that is decided; its subtree must be frozen.
    fn set_ending(&self, ending: Ending) -> bool {
        self.shared.state.announce(|state| {
            let decides = state.level < RunLevel::Quiescing;
            if decides {
                state.ending = Some(ending);
                state.raise(RunLevel::Quiescing);
                state.end_quiescing_if_idle();
            }
            decides
        })
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

    /// Returns the signal that its teardown is completed: what riders join.
    pub fn teardown(&self) -> &Teardown {
        &self.shared.teardown
    }

    /// Returns whether quiescing ran out of time while replies were pending. It stays true.
    pub fn quiesce_timed_out(&self) -> bool {
        self.shared.state.with(|state| state.quiesce_timed_out)
    }

    /// Returns whether its end was forced.
    pub fn was_forced(&self) -> bool {
        self.shared.state.with(|state| state.forced)
    }

    fn parent(&self) -> Option<Self> {
        let shared = self.shared.parent.as_ref().and_then(Weak::upgrade)?;
        Some(Self { shared })
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
