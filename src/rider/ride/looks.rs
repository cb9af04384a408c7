//! The four looks of a turn: chain, stream, news, timers.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use futures_core::Stream;

use super::{PhaseOf, Ride, Turn};
use crate::{
    carrier::End,
    classify::Ruling,
    refusal::{News, Rejection},
    rider::{
        ask::Source,
        attempt::{Stage, StageProj},
        join::Join,
        phase::Phase,
        state::LOOK_AFTER,
    },
    time::Timer,
    unwind::poll_guarded,
};

impl<A, J, N, P, T> Ride<A, J, N, P, T>
where
    A: Source<P>,
    J: Join,
    N: Stream<Item = News>,
    P: Clone,
    T: Timer,
{
    /// Answers first, and whatever an attempt has to do before it is answered.
    pub(super) fn look_at_chain(
        &mut self,
        live: Pin<&mut Option<A::Stream>>,
        cx: &mut Context<'_>,
    ) -> Turn<Option<PhaseOf<A, P>>> {
        self.state.unheard = 0;
        self.count_as_answer_while_refreshing();
        match self.chain().poll_next(cx) {
            Poll::Ready(Some(Ok(answer))) => return Turn::Yield(Some(Ok(self.open(live, answer)))),
            Poll::Ready(Some(Err(error))) => return self.fail(error),
            Poll::Ready(None) => return Turn::Yield(None),
            Poll::Pending => {}
        }
        match self.stage() {
            Some(StageProj::Begun { shown }) => {
                let shown = std::mem::replace(shown, true);
                let Some(charge) = self.charge() else { return Turn::Idle };
                if !charge.is_uncharged() {
                    self.state.began.get_or_insert_with(|| self.timer.now());
                }
                if charge.is_uncharged() || shown {
                    return self.begin_wait(&charge, cx);
                }
                Turn::Yield(Some(Ok(Phase::RidingOut(charge))))
            }
            Some(StageProj::Waiting { .. }) => match self.poll_teardown(cx) {
                Poll::Ready(()) => self.wait_is_over(),
                Poll::Pending => Turn::Idle,
            },
            Some(StageProj::Due) => self.ask(),
            Some(StageProj::Held(_) | StageProj::Asking { .. }) | None => Turn::Idle,
        }
    }

    /// Items, and the end of the subscription.
    pub(super) fn look_at_stream(
        &mut self,
        mut live: Pin<&mut Option<A::Stream>>,
        cx: &mut Context<'_>,
    ) -> Turn<Option<PhaseOf<A, P>>> {
        let handed_over = self.state.handed_over.take();
        let poll = || poll_guarded(live.as_mut(), |live| live.poll_next(cx));
        match handed_over.unwrap_or_else(poll) {
            Poll::Pending => Turn::Idle,
            Poll::Ready(Some(Ok(item))) => match self.state.item_passes(item) {
                Some(item) => Turn::Yield(Some(Ok(Phase::Live(item)))),
                None => Turn::Again,
            },
            Poll::Ready(Some(Err(error))) => {
                // Over, whatever its ruling says, or panics instead.
                live.set(None);
                match (self.state.classify)(&error, self.state.carrier.address()) {
                    Ruling::Verdict(_) => Turn::Yield(Some(Err(End::Verdict(error).into()))),
                    Ruling::Promise(rejection) => self.live_has_ended(live, rejection, Some(error)),
                }
            }
            Poll::Ready(None) if self.state.given.re_ask_on_completion => {
                let served_by = self.state.served_by().cloned();
                self.live_has_ended(live, Rejection::by_owner(served_by), None)
            }
            Poll::Ready(None) if self.stage().is_some() => {
                // A refresh is under way, and what it brings goes on where this one completed.
                self.state.ended_during_refresh = self.state.served_by().cloned();
                self.close_live(live);
                Turn::Again
            }
            Poll::Ready(None) => Turn::Yield(None),
        }
    }

    /// News; returns whether there was any.
    pub(super) fn look_at_news(
        &mut self,
        live: Pin<&mut Option<A::Stream>>,
        cx: &mut Context<'_>,
    ) -> bool {
        match poll_guarded(Pin::new(&mut self.news), |news| news.get_mut().as_mut().poll_next(cx)) {
            Poll::Ready(Some(news)) => {
                // An item's turn comes before the next news, however much of it there is.
                self.state.passed = self.state.passed.min(LOOK_AFTER - 1);
                self.apply_news(live, news);
                true
            }
            Poll::Ready(None) => {
                self.news = None;
                self.state.passed = 0;
                false
            }
            Poll::Pending => {
                self.state.passed = 0;
                false
            }
        }
    }

    /// The rider's own timers, last.
    pub(super) fn look_at_timers(&mut self, cx: &mut Context<'_>) -> Turn<Option<PhaseOf<A, P>>> {
        self.state.untimed = 0;
        // A beat that is always due keeps no attempt from its own sleep.
        let again = self.look_at_upkeep(cx);
        match self.look_at_sleep(cx) {
            Turn::Idle if again => Turn::Again,
            turn => turn,
        }
    }

    /// The sleep of the running attempt.
    fn look_at_sleep(&mut self, cx: &mut Context<'_>) -> Turn<Option<PhaseOf<A, P>>> {
        if let Some(StageProj::Asking { limit, .. }) = self.stage()
            && limit.is_none()
        {
            let sleep = self.sleep(self.state.given.budget.ask_limit);
            self.set_sleep(sleep);
        }
        let over = self.running().map_or(Poll::Pending, |stage| stage.poll_sleep(cx));
        if over.is_pending() {
            return Turn::Idle;
        }
        if let Some(error) = self.outlasted() {
            return self.fail(error);
        }
        if let Some(left) = self.state.left_after_bound.take() {
            // The ride-out that it was cut short for has been answered since, by an item of the
            // subscription that a refresh is to replace.
            let sleep = self.sleep(left);
            self.set_sleep(sleep);
            return Turn::Again;
        }
        match self.stage() {
            Some(StageProj::Waiting { .. }) => return self.wait_is_over(),
            Some(StageProj::Asking { .. }) => self.reject(Rejection::by_route(), None),
            _ => self.set(Stage::Due),
        }
        Turn::Again
    }
}
