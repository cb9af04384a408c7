//! An attempt, from its turn to its ask.

use std::{
    task::{Context, Poll},
    time::Duration,
};

use futures_core::Stream;

use super::{PhaseOf, Ride, Turn};
use crate::{
    carrier::RideError,
    ledger::{Charge, Wait},
    refusal::News,
    rider::{
        ask::{Ask, Source},
        attempt::{Stage, StageProj},
        join::Join,
        state::State,
    },
    time::{Timer, later},
};

impl<A, J, N, P, T> Ride<A, J, N, P, T>
where
    A: Source<P>,
    J: Join,
    N: Stream<Item = News>,
    P: Clone,
    T: Timer,
{
    /// The attempt begins to wait (`R18`).
    pub(super) fn begin_wait<I>(&mut self, charge: &Charge, cx: &mut Context<'_>) -> Turn<I> {
        let rest = match charge.wait() {
            Wait::Nothing => {
                self.set(Stage::Due);
                return Turn::Again;
            }
            Wait::Join { limit, .. } if self.joins(charge, limit, cx) => None,
            Wait::Join { rest, .. } => match self.state.waits.nothing_to_wait_for(rest) {
                None => return self.wait_is_over(),
                rest => rest,
            },
            Wait::Rest(rest) => Some(rest),
        };
        if let Some(rest) = rest {
            let sleep = self.sleep(rest);
            self.set(Stage::Waiting { teardown: None, sleep: Some(sleep) });
        }
        let State { waits, carrier, given, .. } = &mut self.state;
        let has_refused = |it: &_| carrier.with_ledger(|ledger| ledger.has_refused(it));
        if waits.cut_short(given.budget.activations, has_refused) {
            return self.wait_is_over();
        }
        Turn::Again
    }

    /// Begins to wait for the teardown of the charge's activation; returns whether there is anything
    /// to wait for.
    pub(super) fn joins(&mut self, charge: &Charge, limit: Duration, cx: &mut Context<'_>) -> bool {
        let activation = charge.activation().cloned();
        let Some(teardown) = activation.and_then(|it| self.join.teardown(it)) else { return false };
        let sleep = self.sleep(limit);
        self.set(Stage::Waiting { teardown: Some(teardown), sleep: Some(sleep) });
        self.poll_teardown(cx).is_pending()
    }

    pub(super) fn poll_teardown(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.running().map_or(Poll::Pending, |stage| stage.poll_teardown(cx))
    }

    /// The wait has ended, by its event, its limit or an arrival; what is left is hold and spread.
    pub(super) fn wait_is_over<I>(&mut self) -> Turn<I> {
        let left = self.state.waits.left(self.timer.now(), self.state.given.budget.spread);
        let stage = left.map_or(Stage::Due, |left| Stage::Held(Some(self.sleep(left))));
        self.set(stage);
        Turn::Again
    }

    /// The ask goes out.
    pub(super) fn ask(&mut self) -> Turn<Option<PhaseOf<A, P>>> {
        if let Some(error) = self.outlasted() {
            return self.fail(error);
        }
        let Some(charge) = self.charge() else { return Turn::Idle };
        let State { given, carrier, waits, resume, sleeps_until, .. } = &mut self.state;
        waits.over();
        // Its limit is not made yet.
        *sleeps_until = None;
        let (stream, attempt) = (carrier.stream_id(), carrier.asking());
        let ask = given.source.ask(Ask { stream, attempt, charge, resume: resume.clone() });
        self.set(Stage::Asking { ask, limit: None });
        Turn::Again
    }

    /// The give-up of a ride-out that has outlasted its bound (`R9`).
    pub(super) fn outlasted(&mut self) -> Option<RideError<A::Error>> {
        if self.timer.now() < self.state.deadline()? {
            return None;
        }
        let longest = self.state.given.budget.longest?;
        let report = self.state.carrier.with_ledger(|ledger| ledger.outlasted(longest))?;
        Some(self.chain().give_up(report))
    }

    /// A rejection is charged while an attempt runs: its ride-out bounds that one too (`R9`).
    pub(super) fn bound_by_the_clock(&mut self) {
        let now = self.timer.now();
        self.state.began.get_or_insert(now);
        if self.state.deadline().is_some()
            && let Some(until) = self.state.sleeps_until
        {
            let sleep = self.sleep(until.saturating_duration_since(now));
            self.set_sleep(sleep);
        }
    }

    /// The stage's sleep, which a bound by the clock cuts short.
    pub(super) fn sleep(&mut self, duration: Duration) -> T::Sleep {
        let now = self.timer.now();
        let left = self.state.deadline().map(|at| at.saturating_duration_since(now));
        let sleep = left.map_or(duration, |left| left.min(duration));
        self.state.sleeps_until = Some(later(now, duration));
        self.state.left_after_bound = Some(duration - sleep).filter(|cut| !cut.is_zero());
        self.timer.sleep(sleep)
    }

    /// Gives the stage another sleep.
    pub(super) fn set_sleep(&mut self, sleep: T::Sleep) {
        match self.stage() {
            Some(StageProj::Waiting { sleep: mut place, .. } | StageProj::Held(mut place)) => {
                place.set(Some(sleep));
            }
            Some(StageProj::Asking { limit: mut place, .. }) => place.set(Some(sleep)),
            Some(StageProj::Begun { .. } | StageProj::Due) | None => {}
        }
    }
}
