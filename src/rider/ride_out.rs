//! One ride-out: since when it lasts, and what lengthens and shortens its waits.
//!
//! The charge says what an attempt waits for; this is the rest, which only a rider can know. It is pure:
//! `now` is an argument.
//!
//! # Invariants
//!
//! 1. The first re-ask of a ride-out that has nothing to wait for goes out at once, each later one
//!    rests (`R18`).
//! 2. An arrival ends one wait at most, at most `activations` waits of one ride-out end so, and the
//!    newest unused one is kept (`R18b`).
//! 3. A hold ends at its time and at no event; an arrival during it is used up (`R11`).
//! 4. Nothing starts before its event, and nothing waits longer than its wait and the spread (`R18c`).

use std::time::{Duration, Instant};

use crate::{activation::Activation, time::later};

/// How far a ride-out is.
#[derive(Debug, Default)]
pub(super) struct RideOutState {
    // When the first rejection since the last answer was charged.
    began: Option<Instant>,
    // Whether the re-ask with nothing to wait for has had its turn (invariant 1).
    turn_taken: bool,
    // How many waits an arrival has ended, and the newest one that has ended none (invariant 2).
    ended: u32,
    unused: Option<Activation>,
    // Until when the next re-ask is held back, because the subscription lived less than one pace.
    hold: Option<Instant>,
}

impl RideOutState {
    /// A subscription opened: what arrived before it is old.
    pub(super) fn opened(&mut self) {
        self.unused = None;
        self.hold = None;
    }

    /// A rejection was charged: the ride-out begins, unless it lasts already.
    pub(super) fn charged(&mut self, now: Instant) {
        self.began.get_or_insert(now);
    }

    /// When the ride-out must be over, where `longest` bounds it.
    pub(super) fn deadline(&self, longest: Option<Duration>) -> Option<Instant> {
        Some(later(self.began?, longest?))
    }

    /// The ride-out is over.
    pub(super) fn answered(&mut self) {
        self.began = None;
        self.turn_taken = false;
        self.ended = 0;
    }

    /// Holds the next re-ask back until `until`.
    pub(super) fn hold(&mut self, until: Instant) {
        self.hold = Some(until);
    }

    /// A re-ask has nothing to wait for: returns how long it rests instead, `None` for not at all
    /// (invariant 1).
    pub(super) fn nothing_to_wait_for(&mut self, rest: Duration) -> Option<Duration> {
        std::mem::replace(&mut self.turn_taken, true).then_some(rest)
    }

    /// `activation` arrives: returns whether that ends the wait that is running (invariants 2, 3).
    pub(super) fn arrived(
        &mut self,
        activation: Activation,
        waiting: bool,
        now: Instant,
        activations: u32,
    ) -> bool {
        if self.hold.is_some_and(|until| now <= until) {
            return false;
        }
        self.unused = Some(activation);
        waiting && self.end_one(activations)
    }

    /// A wait begins: returns whether an arrival that was kept ends it at once (invariant 2).
    pub(super) fn cut_short(
        &mut self,
        activations: u32,
        has_refused: impl Fn(&Activation) -> bool,
    ) -> bool {
        // One that has refused since it arrived is no reason to ask again.
        self.unused.take_if(|activation| has_refused(activation));
        self.end_one(activations)
    }

    /// A wait is over at `now`: returns what is left to sleep, for hold and spread, `None` for nothing
    /// (invariants 3, 4).
    ///
    /// A hold that ends now is still a sleep: like every timer it comes after the news of its instant.
    pub(super) fn left(&self, now: Instant, spread: Duration) -> Option<Duration> {
        let held = self.hold.and_then(|until| until.checked_duration_since(now));
        let spread = (!spread.is_zero()).then(|| spread.mul_f64(fastrand::f64()));
        match (held, spread) {
            (Some(held), Some(spread)) => Some(held.saturating_add(spread)),
            (held, spread) => held.or(spread),
        }
    }

    /// The ask goes out: nothing holds it any more.
    pub(super) fn asks(&mut self) {
        self.hold = None;
    }

    fn end_one(&mut self, activations: u32) -> bool {
        let ends = self.ended < activations && self.unused.take().is_some();
        self.ended += u32::from(ends);
        ends
    }
}
