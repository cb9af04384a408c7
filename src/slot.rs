//! How do re-asks from any number of sides become one at a time, none lost and none doubled (R16)?
//!
//! By two bits: `owed`, a trigger no permit has taken on yet, and `taken`, a permit is out. Both together make four
//! states, and each is needed:
//!
//! | `owed` | `taken` | |
//! |---|---|---|
//! | no | no | idle |
//! | yes | no | owed, and nobody on it: a permit was dropped, or no claimer has come yet |
//! | no | yes | one re-ask is outstanding |
//! | yes | yes | one is outstanding, and one more is due after it |
//!
//! # Invariants
//!
//! 1. **At most one permit.** Only a claim takes the place, only where it is free.
//! 2. **Triggers fold.** A trigger sets `owed`, always, also where it is set already: the permit that takes the debt on
//!    sees all that was done before any trigger folded into it.
//! 3. **A claim takes on the whole debt.** It needs `owed` and clears it, so what is owed after it came after it.
//! 4. **Covering** clears `owed` while the place is taken: the ask that goes out now satisfies every trigger so far,
//!    their debt is the permit's.
//! 5. **Settling** frees the place and keeps `owed`: what came meanwhile is exactly one more. The same step may claim
//!    it, so that nobody comes between.
//! 6. **A dropped permit gives back place and debt.** It took on a debt when it was claimed (3) and did not pay it.
//! 7. **Free and owed is announced** (`monitor`, invariant 2) to all who wait to claim.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use crate::{
    monitor::{Monitor, Ticket},
    sync::Arc,
};

/// The protocol by itself, for whoever has a lock of his own to put it under.
///
/// An ask with a reason of its own (a queued rejection) takes a free place by `owe` and `claim` in one step; what it
/// finds owed it covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct State {
    owed: bool,
    taken: bool,
}

impl State {
    /// Records a trigger (invariant 2); returns whether a claim would succeed now.
    pub(crate) fn owe(&mut self) -> bool {
        self.owed = true;
        !self.taken
    }

    /// Takes the place and the debt where something is owed and the place is free (invariants 1 and 3).
    pub(crate) fn claim(&mut self) -> bool {
        let claimed = self.owed && !self.taken;
        if claimed {
            *self = State {
                owed: false,
                taken: true,
            };
        }
        claimed
    }

    /// Takes on what came since the claim (invariant 4); the place must be taken.
    pub(crate) fn cover(&mut self) {
        debug_assert!(self.taken, "only the permit covers");
        self.owed = false;
    }

    /// Frees the place, the debt being paid; returns whether a claim would succeed now (invariant 5).
    pub(crate) fn settle(&mut self) -> bool {
        debug_assert!(self.taken, "only the permit settles");
        self.taken = false;
        self.owed
    }

    /// Frees the place, the debt not being paid: it is owed again (invariant 6).
    pub(crate) fn cancel(&mut self) {
        debug_assert!(self.taken, "only the permit is cancelled");
        *self = State {
            owed: true,
            taken: false,
        };
    }
}
