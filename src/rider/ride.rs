//! Everything of a subscription but an item's way: one task's state machine, without a lock of its
//! own.
//!
//! At one instant things are looked at in this order, and what follows at once from one of them comes
//! before the next: answers, items and the end of the subscription, news, timers.

mod hears;
mod looks;
mod upkeep;
mod waiting;

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use futures_core::Stream;

use super::{
    ask::{Answer, Source},
    attempt::{Stage, StageProj},
    frames::Frames,
    given::Given,
    join::Join,
    keep_alive::KeepAlive,
    phase::Phase,
    shown::shown,
    state::{LOOK_AFTER, Opened, State},
};
use crate::{
    address::Address,
    carrier::{Attempt, CarrierExt, Charges, ConcatAttempts, Defer, End, RideError, Triggers},
    classify::Ruling,
    ledger::{Charge, GaveUp},
    refusal::{News, Rejection},
    time::{Timer, later},
};

/// A trigger is heard after so many items of a subscription that never pauses.
const HEAR_AFTER: u32 = 8 * LOOK_AFTER;

type AskOf<A, P> = <A as Source<P>>::Future;
type StageOf<A, J, P, T> = Stage<AskOf<A, P>, <J as Join>::Teardown, <T as Timer>::Sleep>;
type StageProjOf<'a, A, J, P, T> =
    StageProj<'a, AskOf<A, P>, <J as Join>::Teardown, <T as Timer>::Sleep>;
type Probe<S> = fn(Charge) -> S;
type Chain<S, E> = ConcatAttempts<Defer<Charges<Triggers>, Probe<S>>, Probe<S>, S, E>;
type ChainOf<A, J, P, T> = Chain<StageOf<A, J, P, T>, <A as Source<P>>::Error>;
type BoxedChain<A, J, P, T> = Pin<Box<ChainOf<A, J, P, T>>>;
/// One phase of a rider, or how it ends.
pub(super) type PhaseOf<A, P> =
    Result<Phase<<A as Source<P>>::Item>, RideError<<A as Source<P>>::Error>>;

/// What a look at a rider comes to.
pub(super) type PolledPhase<A, P> = Poll<Option<PhaseOf<A, P>>>;

/// A subscription beside the live stream itself: what it was given, and where it is.
pub(super) struct Ride<A: Source<P>, J: Join, N, P, T: Timer> {
    pub(super) state: State<A, P>,
    join: J,
    news: Option<Pin<Box<N>>>,
    timer: T,
    pub(super) keep_alive: Option<KeepAlive<T::Sleep>>,
    // Until a gap may have another refresh; `None` where it may.
    rest: Option<Pin<Box<T::Sleep>>>,
    // Made at the first poll. One box for all ride-outs.
    chain: Option<BoxedChain<A, J, P, T>>,
}

/// What one look came to.
enum Turn<I> {
    Yield(I),
    Again,
    Idle,
}

impl<A: Source<P>, J: Join, N, P, T: Timer> Ride<A, J, N, P, T> {
    pub(super) fn new(
        mut given: Given<A, P>,
        classify: fn(&A::Error, &Address) -> Ruling,
        join: J,
        news: Option<N>,
        timer: T,
    ) -> Self {
        let keep_alive = given.beat.take().map(KeepAlive::new);
        let state = State::new(given, classify);
        let news = news.map(Box::pin);
        Ride { state, join, news, timer, keep_alive, rest: None, chain: None }
    }
}

impl<A, J, N, P, T> Ride<A, J, N, P, T>
where
    A: Source<P>,
    J: Join,
    N: Stream<Item = News>,
    P: Clone,
    T: Timer,
{
    pub(super) fn poll_phase(
        &mut self,
        mut live: Pin<&mut Option<A::Stream>>,
        cx: &mut Context<'_>,
        turns: &mut u32,
    ) -> PolledPhase<A, P> {
        if self.state.over {
            return Poll::Ready(None);
        }
        if live.is_some() != self.state.opened.is_some() {
            self.reopen_after_panic(live.as_mut());
        }
        while *turns > 0 {
            *turns -= 1;
            let turn = match self.state.failure {
                None => self.turn(live.as_mut(), cx),
                Some(_) => self.report_end(),
            };
            match turn {
                Turn::Again => {}
                Turn::Idle => return Poll::Pending,
                Turn::Yield(phase) => {
                    if !matches!(phase, Some(Ok(_))) {
                        live.set(None);
                        self.end();
                    }
                    return Poll::Ready(phase);
                }
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// A grant is used up: grants another where news and upkeep were all that was due, and there was
    /// none.
    #[cold]
    pub(super) fn renew_grant(
        &mut self,
        live: Pin<&mut Option<A::Stream>>,
        cx: &mut Context<'_>,
    ) -> u32 {
        if self.state.granted == 0 || live.is_none() {
            return 0;
        }
        self.state.take_back_grant(0, None);
        let due = self.stage().is_some()
            || self.state.unheard >= HEAR_AFTER
            || self.look_at_news(live, cx)
            || (self.has_upkeep() && self.look_at_upkeep(cx));
        if due {
            return 0;
        }
        self.state.grant()
    }

    /// Looks once at everything, in order.
    fn turn(
        &mut self,
        mut live: Pin<&mut Option<A::Stream>>,
        cx: &mut Context<'_>,
    ) -> Turn<Option<PhaseOf<A, P>>> {
        // Timers come last, but however much of the rest there is, they have their turn.
        if self.state.untimed >= LOOK_AFTER {
            match self.look_at_timers(cx) {
                Turn::Idle => {}
                turn => return turn,
            }
        }
        self.state.untimed += 1;
        // While live and between attempts, all that can come of the chain is a trigger. It has its turn
        // when the items pause, or have had their share.
        let settled = live.is_some() && self.stage().is_none();
        let items_first = settled && self.state.unheard < HEAR_AFTER;
        if !items_first {
            match self.look_at_chain(live.as_mut(), cx) {
                Turn::Idle => {}
                turn => return turn,
            }
        }
        if self.state.passed >= LOOK_AFTER && self.look_at_news(live.as_mut(), cx) {
            return Turn::Again;
        }
        match self.look_at_stream(live.as_mut(), cx) {
            Turn::Idle => {}
            turn => return turn,
        }
        if self.look_at_news(live.as_mut(), cx) {
            return Turn::Again;
        }
        if items_first {
            match self.look_at_chain(live, cx) {
                Turn::Idle => {}
                turn => return turn,
            }
        }
        self.look_at_timers(cx)
    }

    /// The live subscription is over, by `rejection`.
    fn live_has_ended<I>(
        &mut self,
        live: Pin<&mut Option<A::Stream>>,
        rejection: Rejection,
        error: Option<A::Error>,
    ) -> Turn<I> {
        self.close_live(live);
        if self.stage().is_none() {
            self.reject(rejection, error);
        } else {
            // A refresh is under way, and goes on. What it is refused with comes behind this, and
            // what it is answered with makes this stale.
            self.chain().remember(error);
            self.state.carrier.reject(rejection);
            self.bound_by_the_clock();
        }
        Turn::Again
    }

    /// The live subscription is over: judges it, and has a short life held against the next re-ask
    /// (`R9`, `R11`).
    fn close_live(&mut self, mut live: Pin<&mut Option<A::Stream>>) {
        live.set(None);
        self.state.handed_over = None;
        self.stop_beats();
        let now = self.timer.now();
        let lived = self.state.opened.as_ref().map(|opened| now.duration_since(opened.at));
        let lived = lived.unwrap_or_default();
        self.state.count_as_answer_after(lived);
        self.state.opened = None;
        if lived < self.state.given.budget.pace {
            self.state.waits.hold(later(now, self.state.given.budget.pace));
        }
    }

    /// Has a rejection charged, with the next look at the chain, and that comes first.
    fn reject(&mut self, rejection: Rejection, error: Option<A::Error>) {
        self.state.unheard = HEAR_AFTER;
        self.chain().reject(rejection, error);
    }

    /// A subscription opens.
    fn open(
        &mut self,
        mut live: Pin<&mut Option<A::Stream>>,
        answer: Answer<A::Stream>,
    ) -> Phase<A::Item> {
        let (stream, by) = answer.into_parts();
        self.state.handed_over = None;
        self.state.remember_who_refused_before();
        self.state.waits.opened();
        self.state.ended_during_refresh = None;
        self.state.opened = None;
        live.set(Some(stream));
        let at = self.timer.now();
        if let Some(keep_alive) = &mut self.keep_alive {
            keep_alive.begin(&self.timer, self.state.given.keep_alive_interval);
        }
        let frames = Frames::default();
        self.state.opened =
            Some(Opened { at, by: by.clone(), spoke: false, proven: false, frames });
        Phase::Answered(by)
    }

    /// A panic came between the subscription and what is known of it: the rest of it is dropped, and
    /// asked for anew.
    #[cold]
    fn reopen_after_panic(&mut self, mut live: Pin<&mut Option<A::Stream>>) {
        live.set(None);
        self.state.handed_over = None;
        self.stop_beats();
        self.state.opened = None;
        if self.stage().is_none() {
            self.state.carrier.nudge();
        }
    }

    fn stop_beats(&mut self) {
        if let Some(keep_alive) = &mut self.keep_alive {
            keep_alive.stop();
        }
    }

    /// A refresh may be refused before the subscription that it replaces is judged: that has been
    /// answered if it has lived long enough (`R9`).
    fn count_as_answer_while_refreshing(&mut self) {
        if let Some(Opened { at, proven: false, .. }) = self.state.opened
            && self.stage().is_some()
        {
            self.state.count_as_answer_after(self.timer.now().duration_since(at));
        }
    }

    /// Ends in `error`.
    fn fail(&mut self, error: RideError<A::Error>) -> Turn<Option<PhaseOf<A, P>>> {
        self.state.failure = Some(error);
        self.report_end()
    }

    /// Tells how it ends, after the one warning of a give-up (`R23`).
    ///
    /// The error's text is the user's code and may panic: both are kept until they are told.
    fn report_end(&mut self) -> Turn<Option<PhaseOf<A, P>>> {
        if let Some(End::GaveUp { report, last }) = self.state.failure.as_ref().map(RideError::end)
            && !self.state.warned
        {
            let GaveUp { stream, address, axis, key, count, budget, .. } = report;
            let last = last.as_ref().map(shown).unwrap_or_default();
            self.state.warned = true;
            tracing::warn!(
                %stream, owner = %address, %axis, %key, count, budget, last_refusal = last, "{report}"
            );
        }
        Turn::Yield(self.state.failure.take().map(Err))
    }

    fn chain(&mut self) -> Pin<&mut ChainOf<A, J, P, T>> {
        let State { carrier, classify, .. } = &self.state;
        let classify = *classify;
        let chain = self.chain.get_or_insert_with(|| {
            let probe: Probe<StageOf<A, J, P, T>> = Stage::begin;
            Box::pin(
                carrier
                    .triggers()
                    .charge(carrier)
                    .defer(probe)
                    .concat_attempts_by(carrier, classify),
            )
        });
        chain.as_mut()
    }

    /// Where the running attempt is, `None` between attempts.
    fn stage(&mut self) -> Option<StageProjOf<'_, A, J, P, T>> {
        self.running().map(Stage::project)
    }

    fn set(&mut self, stage: StageOf<A, J, P, T>) {
        if let Some(mut running) = self.running() {
            running.set(stage);
        }
    }

    fn running(&mut self) -> Option<Pin<&mut StageOf<A, J, P, T>>> {
        self.chain.as_mut()?.as_mut().attempt().and_then(Attempt::future)
    }

    /// The charge of the running attempt.
    fn charge(&mut self) -> Option<Charge> {
        Some(self.chain.as_mut()?.as_mut().attempt()?.charge().clone())
    }

    fn end(&mut self) {
        self.state.over = true;
        self.state.opened = None;
        self.chain = None;
        self.news = None;
        self.keep_alive = None;
        self.rest = None;
    }
}
