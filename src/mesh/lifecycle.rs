//! How does one activation come and go? By run levels that only rise, from its start to its death.
//!
//! It knows neither mailbox nor mesh, so that whatever owns an address can have one.
//!
//! # Invariants
//!
//! 1. The level never falls (`R37`).
//! 2. From [`RunLevel::DisposeHosted`] on the owner refuses (`R40`); who is told to end is there when
//!    the call returns, since nothing of its own is ever pending.
//! 3. The first who asks for the end decides how it ends; a later one changes nothing.
//! 4. Teardown is completed by the owner, after [`RunLevel::Dead`] and whatever it still does (`R38`).

use std::{
    fmt,
    sync::OnceLock,
    time::{Duration, Instant},
};

use tokio::sync::watch;

use crate::{activation::Activation, address::Address, refusal::Closing, teardown::Teardown};

/// How far an owner is between its start and its death, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RunLevel {
    Starting,
    Started,
    Quiescing,
    DisposeHosted,
    HostedDisposed,
    ShutDown,
    Dead,
}

/// Who asked for the end of an activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// The address is to come back: subscribers are told (`R43`).
    Recycle,
    /// The owner is put away, and nobody is told.
    Dispose,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Cause::Recycle => "a recycle",
            Cause::Dispose => "a dispose",
        })
    }
}

/// How an activation ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ending {
    pub(super) cause: Cause,
    /// When the owner was told.
    pub(super) told: Instant,
    /// From being told to being dead.
    pub(super) lasts: Duration,
}

/// One lifetime of an owner at its address.
#[derive(Debug)]
pub(super) struct Lifecycle {
    address: Address,
    activation: Activation,
    level: watch::Sender<RunLevel>,
    ending: OnceLock<Ending>,
    teardown: Teardown,
}

impl Lifecycle {
    /// Begins a lifetime, with an identity that no other has.
    pub(super) fn begin(address: Address) -> Self {
        Self {
            address,
            activation: Activation::mint(),
            level: watch::Sender::new(RunLevel::Starting),
            ending: OnceLock::new(),
            teardown: Teardown::new(),
        }
    }

    pub(super) fn address(&self) -> &Address {
        &self.address
    }

    pub(super) fn activation(&self) -> &Activation {
        &self.activation
    }

    pub(super) fn teardown(&self) -> &Teardown {
        &self.teardown
    }

    /// Returns how the lifetime ends, once somebody asked for it.
    pub(super) fn ending(&self) -> Option<Ending> {
        self.ending.get().copied()
    }

    /// Returns whether every request is refused from here on.
    pub(super) fn is_refusing(&self) -> bool {
        *self.level.borrow() >= RunLevel::DisposeHosted
    }

    /// Returns whether the lifetime is over.
    pub(super) fn is_dead(&self) -> bool {
        *self.level.borrow() == RunLevel::Dead
    }

    /// Rises to `level`; never falls.
    pub(super) fn rise(&self, level: RunLevel) {
        self.level.send_if_modified(|current| {
            let rises = level > *current;
            if rises {
                *current = level;
            }
            rises
        });
    }

    /// Asks for the end. The owner refuses from here on; what is left of its teardown is its own to
    /// do.
    pub(super) fn end(&self, ending: Ending) {
        if self.ending.set(ending).is_ok() {
            // No reply is pending, so quiescing passes at once.
            self.rise(RunLevel::Quiescing);
            self.rise(RunLevel::DisposeHosted);
        }
    }

    /// Waits until the end was asked for.
    pub(super) async fn told(&self) {
        // The sender is a field of `self`: it cannot go while this waits.
        let _ = self.level.subscribe().wait_for(|level| *level >= RunLevel::DisposeHosted).await;
    }

    /// Dies: passes the levels that are left.
    pub(super) fn die(&self) {
        for level in [RunLevel::HostedDisposed, RunLevel::ShutDown, RunLevel::Dead] {
            self.rise(level);
        }
    }

    /// Returns the words of its refusals.
    pub(super) fn closing(&self) -> Closing {
        let level = *self.level.borrow();
        let detail = match self.ending() {
            Some(ending) => format!("RunLevel={level:?}, asked for by {}", ending.cause),
            None => format!("RunLevel={level:?}"),
        };

        Closing::new(self.address.clone()).activation(self.activation.clone()).detail(detail)
    }
}
