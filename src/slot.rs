//! How do re-asks from any number of sides become one at a time, none lost and none doubled (R16)?
//!
//! By two bits: `owed`, a trigger no permit has taken on yet, and `taken`, a permit is out. Both
//! together make four states, and each is needed:
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
//! 2. **Triggers fold.** A trigger sets `owed`, always, also where it is set already: the permit
//!    that takes the debt on sees all that was done before any trigger folded into it.
//! 3. **A claim takes on the whole debt.** It needs `owed` and clears it, so what is owed after it
//!    came after it.
//! 4. **Covering** clears `owed` while the place is taken: the ask that goes out now satisfies
//!    every trigger so far, their debt is the permit's.
//! 5. **Settling** frees the place and keeps `owed`: what came meanwhile is exactly one more. The
//!    same step may claim it, so that nobody comes between.
//! 6. **A dropped permit gives back place and debt.** It took on a debt when it was claimed (3) and
//!    did not pay it.
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

/// The protocol by itself, for whoever has a lock of its own to put it under.
///
/// An ask with a reason of its own (a queued rejection) takes a free place by `owe` and `claim` in
/// one step; what it finds owed it covers.
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

    /// Takes the place and the debt where something is owed and the place is free (invariants 1 and
    /// 3).
    pub(crate) fn claim(&mut self) -> bool {
        let claimed = self.owed && !self.taken;
        if claimed {
            *self = State { owed: false, taken: true };
        }
        claimed
    }

    /// Takes on what came since the claim (invariant 4); the place must be taken.
    pub(crate) fn cover(&mut self) {
        debug_assert!(self.taken, "only the permit covers");
        self.owed = false;
    }

    /// Returns whether a permit is out.
    pub(crate) fn is_taken(&self) -> bool {
        self.taken
    }

    /// Returns whether a claim would succeed now.
    pub(crate) fn is_due(&self) -> bool {
        self.owed && !self.taken
    }

    /// Frees the place, the debt being paid; returns whether a claim would succeed now (invariant
    /// 5).
    pub(crate) fn settle(&mut self) -> bool {
        debug_assert!(self.taken, "only the permit settles");
        self.taken = false;
        self.owed
    }

    /// Frees the place, the debt not being paid: it is owed again (invariant 6); returns whether a
    /// claim would succeed now, which is always so.
    pub(crate) fn cancel(&mut self) -> bool {
        debug_assert!(self.taken, "only the permit is cancelled");
        self.taken = false;
        self.owe()
    }
}

/// The one place for a re-ask, and what is owed to it.
///
/// Whoever has a reason to ask again records it with [`owe`]; whoever performs the asks claims a
/// [`Permit`] for each. One permit is out at a time, and whatever is owed while it is out becomes
/// exactly one more after it.
///
/// # Clone
///
/// A handle: clones share one place. Any of them may owe and any may claim, several tasks at once
/// too: all who wait are woken, one gets the permit, the others go on waiting. So there is no
/// claiming side that could be lost or held twice.
///
/// # Examples
///
/// ```
/// use rideout::slot::Slot;
///
/// let slot = Slot::new();
/// slot.owe();
/// let ask = slot.try_claim().expect("owed, and the place is free");
///
/// slot.owe();
/// slot.owe();
/// assert!(slot.try_claim().is_none()); // one at a time
///
/// let one_more = ask.settle().expect("owed while the ask was out");
/// assert!(one_more.settle().is_none()); // both together were one
/// ```
///
/// [`owe`]: Slot::owe
#[derive(Clone, Default)]
pub struct Slot {
    state: Arc<Monitor<State>>,
}

impl fmt::Debug for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let State { owed, taken } = self.state.with(|state| *state);
        f.debug_struct("Slot")
            .field("owed", &owed)
            .field("taken", &taken)
            .field("waiters", &self.state.waiters())
            .finish()
    }
}

impl Slot {
    /// Creates a free slot to which nothing is owed.
    ///
    /// # Examples
    ///
    /// ```
    /// assert!(rideout::slot::Slot::new().try_claim().is_none());
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Records that a re-ask is due; from any thread.
    ///
    /// A permit claimed, or [covering](Permit::cover), after this call satisfies it, and its holder
    /// sees all that was done before it.
    ///
    /// # Examples
    ///
    /// ```
    /// let slot = rideout::slot::Slot::new();
    /// slot.owe();
    /// slot.owe(); // one re-ask satisfies both
    /// let ask = slot.try_claim().expect("owed");
    /// assert!(ask.settle().is_none());
    /// ```
    pub fn owe(&self) {
        self.state.announce(State::owe); // Invariants 2 and 7.
    }

    /// Takes the place where something is owed and it is free.
    ///
    /// # Examples
    ///
    /// ```
    /// let slot = rideout::slot::Slot::new();
    /// assert!(slot.try_claim().is_none()); // nothing is owed
    /// slot.owe();
    /// let ask = slot.try_claim();
    /// assert!(ask.is_some());
    /// assert!(slot.try_claim().is_none()); // nor is anything left, and the place is taken
    /// ```
    pub fn try_claim(&self) -> Option<Permit> {
        let claimed = self.state.with(State::claim);
        claimed.then(|| Permit::new(&self.state))
    }

    /// Returns a future that takes the place as soon as something is owed and it is free.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: until it is ready the future owns nothing but its place among the waiters, and
    /// gives that back when it is dropped. A permit it has handed out is the caller's.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() {
    /// let slot = rideout::slot::Slot::new();
    /// let change_feed = slot.clone();
    /// tokio::spawn(async move { change_feed.owe() });
    ///
    /// let ask = slot.claim().await;
    /// assert!(ask.settle().is_none());
    /// # }
    /// ```
    pub fn claim(&self) -> Claim {
        Claim { state: Arc::clone(&self.state), ticket: Ticket::default() }
    }
}

/// The right to have the one re-ask outstanding, from [`Slot::try_claim`] or [`Slot::claim`].
///
/// Dropped unsettled (the ask was cancelled, or its task unwinds), it gives back the place and the
/// debt, what it [covered](Permit::cover) included: those who wait to claim are woken.
///
/// # Examples
///
/// ```
/// let slot = rideout::slot::Slot::new();
/// slot.owe();
/// drop(slot.try_claim()); // an ask that was cancelled has satisfied nobody
/// assert!(slot.try_claim().is_some());
/// ```
#[must_use = "a dropped permit gives back its place and its debt at once"]
pub struct Permit {
    state: Arc<Monitor<State>>,
    // Whether there is nothing left to give back.
    settled: bool,
}

impl fmt::Debug for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit").finish_non_exhaustive()
    }
}

impl Permit {
    // The place must have been taken for it.
    fn new(state: &Arc<Monitor<State>>) -> Self {
        Permit { state: Arc::clone(state), settled: false }
    }

    /// Takes on whatever has become owed since the claim: the ask goes out only now, and satisfies
    /// it.
    ///
    /// For a re-ask that waits before it asks, called when the wait is over.
    ///
    /// # Examples
    ///
    /// ```
    /// let slot = rideout::slot::Slot::new();
    /// slot.owe();
    /// let ask = slot.try_claim().expect("owed");
    /// slot.owe(); // during the wait
    /// ask.cover();
    /// assert!(ask.settle().is_none());
    /// ```
    pub fn cover(&self) {
        self.state.with(State::cover);
    }

    /// Gives back the place, the ask being answered or refused; returns the permit for one more
    /// where something has become owed meanwhile.
    ///
    /// That permit may be dropped to leave it to those who wait to claim.
    ///
    /// # Examples
    ///
    /// ```
    /// let slot = rideout::slot::Slot::new();
    /// slot.owe();
    /// let ask = slot.try_claim().expect("owed");
    /// slot.owe(); // too late for this ask
    /// let one_more = ask.settle().expect("owed meanwhile");
    /// assert!(one_more.settle().is_none());
    /// ```
    #[must_use = "a dropped permit gives back its place and its debt at once"]
    pub fn settle(mut self) -> Option<Permit> {
        // Invariant 5: settled and claimed in one step.
        let one_more = self.state.with(|state| state.settle() && state.claim());
        self.settled = !one_more;
        one_more.then_some(self)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if !self.settled {
            // Invariants 6 and 7.
            self.state.announce(State::cancel);
        }
    }
}

/// Future for the [`Slot::claim`] method.
///
/// Polled again after it was ready, it waits for the next permit.
///
/// # Examples
///
/// ```
/// use rideout::slot::{Claim, Slot};
///
/// struct Driver {
///     next: Claim, // keeps no borrow of the slot
/// }
/// let driver = Driver { next: Slot::new().claim() };
/// # drop(driver);
/// ```
#[must_use = "futures do nothing unless polled"]
pub struct Claim {
    state: Arc<Monitor<State>>,
    ticket: Ticket,
}

impl fmt::Debug for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Claim").finish_non_exhaustive()
    }
}

impl Future for Claim {
    type Output = Permit;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Permit> {
        let this = self.get_mut();
        let state = &this.state;
        state.poll(&mut this.ticket, cx, |slot| slot.claim().then(|| Permit::new(state)))
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.state.forget(&mut self.ticket);
    }
}
