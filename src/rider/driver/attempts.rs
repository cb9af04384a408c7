//! An attempt, from its turn to its ask.

use std::{
    task::{Context, Poll},
    time::Duration,
};

use futures_core::Stream;

use super::{Driver, PhaseOf, Turn};
use crate::{
    carrier::RideError,
    ledger::{Charge, Wait},
    refusal::News,
    rider::{
        ask::{Ask, Source},
        attempt::{Clock, Stage},
        join::Join,
    },
    time::{Timer, later},
};

impl<A, J, N, P, T> Driver<A, J, N, P, T>
where
    A: Source<P>,
    J: Join,
    N: Stream<Item = News>,
    P: Clone,
    T: Timer,
{
    /// The attempt begins to wait (`R18`).
    pub(super) fn begin_wait(&mut self, charge: &Charge, cx: &mut Context<'_>) {
        let rest = match charge.wait() {
            Wait::Nothing => return self.set(Stage::Due),
            Wait::Join { limit, .. } if self.joins(charge, limit, cx) => None,
            Wait::Join { rest, .. } => match self.ride_out.nothing_to_wait_for(rest) {
                None => return self.wait_is_over(),
                rest => rest,
            },
            Wait::Rest(rest) => Some(rest),
        };
        if let Some(rest) = rest {
            let clock = self.clock(rest);
            self.set(Stage::resting(clock));
        }
        let Driver { ride_out, carrier, given, .. } = self;
        let has_refused = |it: &_| carrier.with_ledger(|ledger| ledger.has_refused(it));
        if ride_out.cut_short(given.budget.activations, has_refused) {
            self.wait_is_over();
        }
    }

    /// Begins to wait for the teardown of the charge's activation; returns whether there is anything
    /// to wait for.
    fn joins(&mut self, charge: &Charge, limit: Duration, cx: &mut Context<'_>) -> bool {
        let activation = charge.activation().cloned();
        let Some(teardown) = activation.and_then(|it| self.join.teardown(it)) else { return false };
        let clock = self.clock(limit);
        self.set(Stage::Waiting { teardown: Some(teardown), clock: Some(clock) });
        self.poll_teardown(cx).is_pending()
    }

    pub(super) fn poll_teardown(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.running().map_or(Poll::Pending, |stage| stage.poll_teardown(cx))
    }

    /// The wait has ended, by its event, its limit or an arrival; what is left is hold and spread.
    pub(super) fn wait_is_over(&mut self) {
        let left = self.ride_out.left(self.timer.now(), self.given.budget.spread);
        let stage = left.map_or(Stage::Due, |left| Stage::Held(Some(self.clock(left))));
        self.set(stage);
    }

    /// The ask goes out.
    pub(super) fn ask(&mut self) -> Turn<Option<PhaseOf<A, P>>> {
        if let Some(error) = self.outlasted() {
            return self.fail(error);
        }
        let Some(charge) = self.charge() else { return Turn::Idle };
        self.ride_out.asks();
        let (stream, attempt) = (self.carrier.stream_id(), self.carrier.asking());
        let resume = self.resume.clone();
        let ask = self.given.source.ask(Ask { stream, attempt, charge, resume });
        self.set(Stage::asking(ask));
        Turn::Again
    }

    /// The give-up of a ride-out that has outlasted its bound (`R9`).
    pub(super) fn outlasted(&mut self) -> Option<RideError<A::Error>> {
        let longest = self.given.budget.longest;
        if self.timer.now() < self.ride_out.deadline(longest)? {
            return None;
        }
        let report = self.carrier.with_ledger(|ledger| ledger.outlasted(longest?))?;
        Some(self.chain().give_up(*report))
    }

    /// A rejection is charged while an attempt runs: its ride-out bounds that one too (`R9`).
    pub(super) fn bound_by_the_clock(&mut self) {
        let now = self.timer.now();
        self.ride_out.charged(now);
        if self.ride_out.deadline(self.given.budget.longest).is_some()
            && let Some(until) = self.running().and_then(Stage::until)
        {
            self.set_clock(until.saturating_duration_since(now));
        }
    }

    /// A clock of the attempt, which a bound of the ride-out cuts short.
    fn clock(&mut self, duration: Duration) -> Clock<T::Sleep> {
        let now = self.timer.now();
        let deadline = self.ride_out.deadline(self.given.budget.longest);
        let left = deadline.map(|at| at.saturating_duration_since(now));
        let slept = left.map_or(duration, |left| left.min(duration));
        Clock::new(self.timer.sleep(slept), later(now, duration), duration - slept)
    }

    /// Gives the running attempt another clock.
    pub(super) fn set_clock(&mut self, duration: Duration) {
        let clock = self.clock(duration);
        if let Some(running) = self.running() {
            running.set_clock(clock);
        }
    }
}
