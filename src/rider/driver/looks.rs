//! One look at everything but the live stream: chain, news, timers.

use std::{
    mem,
    pin::Pin,
    task::{Context, Poll},
};

use futures_core::Stream;

use super::{Driver, Looked, PhaseOf, Turn};
use crate::{
    refusal::{News, Rejection},
    rider::{
        ask::Source,
        attempt::{Stage, StageProj},
        ending::Ending,
        join::Join,
        keep_alive::Beat,
        phase::Phase,
    },
    time::Timer,
    unwind::{poll_and_clear, poll_guarded},
};

impl<A, J, N, P, T> Driver<A, J, N, P, T>
where
    A: Source<P>,
    J: Join,
    N: Stream<Item = News>,
    P: Clone,
    T: Timer,
{
    /// Looks at the chain and at the news, and at timers that had to wait, until there is nothing more.
    pub(super) fn look(&mut self, share: &mut u32) -> Looked {
        let waker = self.bell.waker().clone();
        let cx = &mut Context::from_waker(&waker);
        let with_timers = mem::take(&mut self.timers_wait);
        // The last of the share is the live stream's.
        while *share > 1 {
            *share -= 1;
            match self.look_once(with_timers, cx) {
                Turn::Again => {}
                Turn::Idle if with_timers => return Looked::Everywhere,
                Turn::Idle => return Looked::ButAtTimers,
                Turn::Yield(phase) => {
                    self.told_next = Some(phase);
                    return Looked::Nowhere;
                }
            }
        }
        self.timers_wait = true;
        Looked::Nowhere
    }

    fn look_once(
        &mut self,
        with_timers: bool,
        cx: &mut Context<'_>,
    ) -> Turn<Option<PhaseOf<A, P>>> {
        if let Ending::Failing { .. } = self.ending {
            return self.report_end();
        }
        // A beat that is always due keeps nothing else from its turn.
        let mut again = false;
        if with_timers {
            match self.look_at_timers_in(cx) {
                Turn::Idle => {}
                Turn::Again => again = true,
                turn => return turn,
            }
        }
        // While live and between attempts, all that can come of the chain is a trigger: news comes first,
        // unless there was so much of it that the last look did not come to the rest.
        let is_settled = !with_timers && self.is_live() && self.stage().is_none();
        if is_settled && self.look_at_news(cx) {
            return Turn::Again;
        }
        match self.look_at_chain(cx) {
            Turn::Idle => {}
            turn => return turn,
        }
        again |= !is_settled && self.look_at_news(cx);
        if again { Turn::Again } else { Turn::Idle }
    }

    /// Looks at the rider's own timers.
    pub(super) fn look_at_timers(&mut self) -> Turn<Option<PhaseOf<A, P>>> {
        let waker = self.bell.waker().clone();
        self.look_at_timers_in(&mut Context::from_waker(&waker))
    }

    /// Answers first, and whatever an attempt has to do before it is answered.
    fn look_at_chain(&mut self, cx: &mut Context<'_>) -> Turn<Option<PhaseOf<A, P>>> {
        self.count_as_answer_while_refreshing();
        match self.chain().poll_next(cx) {
            Poll::Ready(Some(Ok(answer))) => return Turn::Yield(Some(Ok(self.open(answer)))),
            Poll::Ready(Some(Err(error))) => return self.fail(error),
            Poll::Ready(None) => return Turn::Yield(None),
            Poll::Pending => {}
        }
        match self.stage() {
            Some(StageProj::Begun { shown }) => {
                let shown = mem::replace(shown, true);
                let Some(charge) = self.charge() else { return Turn::Idle };
                if !charge.is_uncharged() {
                    self.ride_out.charged(self.timer.now());
                }
                if charge.is_uncharged() || shown {
                    self.begin_wait(&charge, cx);
                    return Turn::Again;
                }
                Turn::Yield(Some(Ok(Phase::RidingOut(charge))))
            }
            Some(StageProj::Waiting { .. }) => match self.poll_teardown(cx) {
                Poll::Ready(()) => {
                    self.wait_is_over();
                    Turn::Again
                }
                Poll::Pending => Turn::Idle,
            },
            Some(StageProj::Due) => self.ask(),
            Some(StageProj::Held(_) | StageProj::Asking { .. }) => Turn::Idle,
            None => self.ask_where_nothing_is_live(),
        }
    }

    /// Between attempts a rider is live, unless a panic dropped what it was live on: then it asks anew.
    fn ask_where_nothing_is_live<I>(&mut self) -> Turn<I> {
        if self.is_live() {
            return Turn::Idle;
        }
        self.carrier.nudge();
        Turn::Again
    }

    /// A refresh may be refused before the subscription that it replaces is judged: that has been
    /// answered if it has lived long enough (`R9`).
    fn count_as_answer_while_refreshing(&mut self) {
        let opened_at =
            (*self.live).as_ref().filter(|live| !live.proven).map(|live| live.opened_at);
        if let Some(opened_at) = opened_at
            && self.stage().is_some()
            && self.is_answer_after(self.timer.now().duration_since(opened_at))
        {
            self.count_as_answer();
        }
    }

    /// Looks at the news; returns whether there was any.
    pub(super) fn look_at_news(&mut self, cx: &mut Context<'_>) -> bool {
        match poll_guarded(Pin::new(&mut self.news), |news| news.get_mut().as_mut().poll_next(cx)) {
            Poll::Ready(Some(news)) => {
                self.hear(news);
                true
            }
            Poll::Ready(None) => {
                self.news = None;
                false
            }
            Poll::Pending => false,
        }
    }

    fn look_at_timers_in(&mut self, cx: &mut Context<'_>) -> Turn<Option<PhaseOf<A, P>>> {
        // A beat that is always due keeps no attempt from its own clock.
        let beaten = self.beat(cx);
        let refreshed = self.refresh_after_gap(cx);
        match self.look_at_clock(cx) {
            Turn::Idle if beaten || refreshed => Turn::Again,
            turn => turn,
        }
    }

    /// The clock of the running attempt.
    fn look_at_clock(&mut self, cx: &mut Context<'_>) -> Turn<Option<PhaseOf<A, P>>> {
        if let Some(StageProj::Asking { clock, .. }) = self.stage()
            && clock.is_none()
        {
            self.set_clock(self.given.budget.ask_limit);
        }
        let polled = self.running().map_or(Poll::Pending, |stage| stage.poll_clock(cx));
        let Poll::Ready(cut) = polled else { return Turn::Idle };
        if let Some(error) = self.outlasted() {
            return self.fail(error);
        }
        if !cut.is_zero() {
            // The ride-out that it was cut short for has been answered since, by an item of the
            // subscription that a refresh is to replace.
            self.set_clock(cut);
            return Turn::Again;
        }
        match self.stage() {
            Some(StageProj::Waiting { .. }) => self.wait_is_over(),
            Some(StageProj::Asking { .. }) => self.reject(Rejection::by_route(), None),
            _ => self.set(Stage::Due),
        }
        Turn::Again
    }

    /// Sends the beat that is due (`R26`).
    fn beat(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(keep_alive) = &mut self.keep_alive else { return false };
        let Some(live) = &*self.live else {
            keep_alive.stop();
            return false;
        };
        if keep_alive.poll_due(&self.timer, self.given.keep_alive_interval, cx).is_pending() {
            return false;
        }
        // The next one is under way already: a panic costs one beat at most.
        let (stream, activation) = (self.carrier.stream_id(), live.by.clone());
        keep_alive.send(Beat { stream, activation });
        true
    }

    /// Asks for the refresh that a gap is owed, no sooner than a pace after the last one (`R44b`).
    ///
    /// While an attempt is under way, what it brings is another subscription, whatever this one lacks; so
    /// one refresh is asked for, however many gaps there are.
    fn refresh_after_gap(&mut self, cx: &mut Context<'_>) -> bool {
        let _ = poll_and_clear(Pin::new(&mut self.rest_after_gap), cx);
        let has_gap = (*self.live).as_ref().is_some_and(|live| live.frames.has_gap());
        if !has_gap || self.rest_after_gap.is_some() || self.stage().is_some() {
            return false;
        }
        self.rest_after_gap = Some(Box::pin(self.timer.sleep(self.given.budget.pace)));
        self.carrier.nudge();
        true
    }
}
