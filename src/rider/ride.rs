//! Everything of a subscription but an item's way: one task's state machine, without a lock of its
//! own.
//!
//! At one instant things are looked at in this order, and what follows at once from one of them comes
//! before the next: answers, items and the end of the subscription, news, timers.

use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use futures_core::Stream;

use super::{
    Answer, Ask, Join, NoJoin, NoNews, Phase, Source,
    attempt::{Stage, StageProj},
    shown,
    state::{Opened, State},
    unwind::guarded,
};
use crate::{
    activation::Activation,
    address::Address,
    carrier::{Attempt, CarrierExt, Charges, ConcatAttempts, Defer, RideError, Triggers},
    ledger::{Charge, GaveUp, Wait},
    refusal::{News, Rejection},
    time::{Clock, DefaultTimer, Timer, later},
    verdict::{Refused, Ruling},
};

/// News and timers are looked at after so many items (`R21`), and one poll takes so many turns (`R20b`).
pub(super) const LOOK_AFTER: u32 = 32;

/// A trigger is heard after so many items of a subscription that never pauses.
const HEAR_AFTER: u32 = 8 * LOOK_AFTER;

type AskOf<A, P> = <A as Source<P>>::Future;
type StageOf<A, J, P, T> = Stage<AskOf<A, P>, <J as Join>::Teardown, <T as Clock>::Sleep>;
type StageProjOf<'a, A, J, P, T> =
    StageProj<'a, AskOf<A, P>, <J as Join>::Teardown, <T as Clock>::Sleep>;
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
pub(super) struct Ride<A: Source<P>, J: Join, N, P, T: Clock> {
    pub(super) state: State<A, P>,
    join: J,
    news: Option<Pin<Box<N>>>,
    timer: T,
    // Made at the first poll. One box for all ride-outs.
    chain: Option<BoxedChain<A, J, P, T>>,
}

/// What one look came to.
enum Turn<I> {
    Yield(I),
    Again,
    Idle,
}

impl<A: Source<P>, P> Ride<A, NoJoin, NoNews, P, DefaultTimer> {
    pub(super) fn new(address: Address, source: A, at: Option<fn(&A::Item) -> P>) -> Self {
        let state = State::new(address, source, at);
        Ride { state, join: NoJoin, news: None, timer: DefaultTimer::default(), chain: None }
    }
}

impl<A: Source<P>, J: Join, N, P, T: Clock> Ride<A, J, N, P, T> {
    pub(super) fn with_join<K: Join>(self, join: K) -> Ride<A, K, N, P, T> {
        Ride { state: self.state, join, news: self.news, timer: self.timer, chain: None }
    }

    pub(super) fn with_news<M>(self, news: M) -> Ride<A, J, M, P, T> {
        let news = Some(Box::pin(news));
        Ride { state: self.state, join: self.join, news, timer: self.timer, chain: None }
    }

    pub(super) fn with_timer<U: Clock>(self, timer: U) -> Ride<A, J, N, P, U> {
        Ride { state: self.state, join: self.join, news: self.news, timer, chain: None }
    }
}

impl<A, J, N, P, T> Ride<A, J, N, P, T>
where
    A: Source<P, Error: fmt::Display>,
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
            self.mend(live.as_mut());
        }
        while *turns > 0 {
            *turns -= 1;
            match self.turn(live.as_mut(), cx) {
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

    /// A grant is used up: grants another where news was all that was due, and there was none.
    #[cold]
    pub(super) fn refill(
        &mut self,
        live: Pin<&mut Option<A::Stream>>,
        cx: &mut Context<'_>,
    ) -> u32 {
        if self.state.granted == 0 {
            return 0;
        }
        self.state.take_over(0, None);
        if self.stage().is_some() || self.state.unheard >= HEAR_AFTER || self.look_at_news(live, cx)
        {
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
        if self.state.passed >= LOOK_AFTER {
            // Before a subscription that always has one more: news, and a refresh's timers.
            if self.look_at_news(live.as_mut(), cx) {
                return Turn::Again;
            }
            match self.look_at_timers(cx) {
                Turn::Idle => {}
                turn => return turn,
            }
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

    /// Answers first, and whatever an attempt has to do before it is answered.
    fn look_at_chain(
        &mut self,
        live: Pin<&mut Option<A::Stream>>,
        cx: &mut Context<'_>,
    ) -> Turn<Option<PhaseOf<A, P>>> {
        self.state.unheard = 0;
        self.prove_while_refreshing();
        match self.chain().poll_next(cx) {
            Poll::Ready(Some(Ok(answer))) => return Turn::Yield(Some(Ok(self.open(live, answer)))),
            Poll::Ready(Some(Err(error))) => return Turn::Yield(Some(Err(self.warn(error)))),
            Poll::Ready(None) => return Turn::Yield(None),
            Poll::Pending => {}
        }
        match self.stage() {
            Some(StageProj::Begun { shown }) => {
                let shown = std::mem::replace(shown, true);
                let Some(charge) = self.charge() else { return Turn::Idle };
                if charge.is_uncharged() || shown {
                    return self.wait(&charge, cx);
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
    fn look_at_stream(
        &mut self,
        mut live: Pin<&mut Option<A::Stream>>,
        cx: &mut Context<'_>,
    ) -> Turn<Option<PhaseOf<A, P>>> {
        let handed_over = self.state.handed_over.take();
        let poll = || guarded(live.as_mut(), |live| live.poll_next(cx));
        match handed_over.unwrap_or_else(poll) {
            Poll::Pending => Turn::Idle,
            Poll::Ready(Some(Ok(item))) => match self.state.passes(item) {
                Some(item) => Turn::Yield(Some(Ok(Phase::Live(item)))),
                None => Turn::Again,
            },
            Poll::Ready(Some(Err(error))) => {
                // Over, whatever its ruling says, or panics instead.
                live.set(None);
                match error.ruling(self.state.carrier.address()) {
                    Ruling::Verdict(_) => Turn::Yield(Some(Err(RideError::Verdict(error)))),
                    Ruling::Promise(rejection) => self.lose(live, rejection, Some(error)),
                }
            }
            Poll::Ready(None) if self.state.re_ask_on_completion => {
                let served_by = self.state.opened.as_ref().and_then(|opened| opened.by.clone());
                self.lose(live, Rejection::by_owner(served_by), None)
            }
            Poll::Ready(None) if self.stage().is_some() => {
                // A refresh is under way, and what it brings goes on where this one completed.
                self.state.gone = self.state.opened.take().and_then(|opened| opened.by);
                live.set(None);
                Turn::Again
            }
            Poll::Ready(None) => Turn::Yield(None),
        }
    }

    /// News; returns whether there was any.
    fn look_at_news(&mut self, live: Pin<&mut Option<A::Stream>>, cx: &mut Context<'_>) -> bool {
        match guarded(Pin::new(&mut self.news), |news| news.get_mut().as_mut().poll_next(cx)) {
            Poll::Ready(Some(news)) => {
                // An item's turn comes before the next news, however much of it there is.
                self.state.passed = self.state.passed.min(LOOK_AFTER - 1);
                self.hear(live, news);
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
    fn look_at_timers(&mut self, cx: &mut Context<'_>) -> Turn<Option<PhaseOf<A, P>>> {
        self.state.untimed = 0;
        if let Some(StageProj::Asking { limit, .. }) = self.stage()
            && limit.is_none()
        {
            let sleep = self.sleep(self.state.budget.ask_limit);
            self.set_sleep(sleep);
        }
        let over = self.running().map_or(Poll::Pending, |stage| stage.poll_sleep(cx));
        if over.is_pending() {
            return Turn::Idle;
        }
        if let Some(error) = self.outlasted() {
            return Turn::Yield(Some(Err(error)));
        }
        if let Some(left) = self.state.cut.take() {
            // The ride-out that it was cut short for has been answered since, by an item of the
            // subscription that a refresh is to replace.
            let sleep = self.sleep(left);
            self.set_sleep(sleep);
            return Turn::Again;
        }
        match self.stage() {
            Some(StageProj::Waiting { .. }) => return self.wait_is_over(),
            Some(StageProj::Asking { .. }) => self.chain().reject(Rejection::by_route(), None),
            _ => self.set(Stage::Due),
        }
        Turn::Again
    }

    /// Hears one piece of news (`R22`).
    fn hear(&mut self, live: Pin<&mut Option<A::Stream>>, news: News) {
        let asking = matches!(self.stage(), Some(StageProj::Asking { .. }));
        match news {
            News::Arrived(activation) => self.arrived(activation),
            News::Ended(tag) if live.is_some() => {
                if let Some(rejection) = self.state.ended(tag) {
                    self.lose::<()>(live, rejection, None);
                }
            }
            News::Ended(Some(tag))
                if asking && !self.has_refused(&tag) && self.state.gone.as_ref() != Some(&tag) =>
            {
                // It stands for the answer that will not come.
                self.chain().reject(Rejection::by_owner(Some(tag)), None);
            }
            News::NotServing(tag) if live.is_some() => {
                let served_by = self.state.opened.as_ref().and_then(|opened| opened.by.clone());
                let moved = tag.filter(|tag| Some(tag) != served_by.as_ref());
                self.lose::<()>(live, Rejection::by_owner(served_by), None);
                if let Some(moved) = moved {
                    self.arrived(moved);
                }
            }
            // An attempt is coming, or running, anyway.
            News::Ended(_) | News::NotServing(_) => {}
        }
    }

    /// An activation of the address arrives (`R18b`).
    fn arrived(&mut self, activation: Activation) {
        let served_by = self.state.opened.as_ref().and_then(|opened| opened.by.as_ref());
        if served_by == Some(&activation) || self.has_refused(&activation) {
            return;
        }
        let waiting = matches!(self.stage(), Some(StageProj::Waiting { .. }));
        let (now, activations) = (self.timer.now(), self.state.budget.activations);
        if self.state.waits.arrived(activation, waiting, now, activations) {
            self.wait_is_over::<()>();
        }
    }

    /// The live subscription is over, by `rejection`.
    fn lose<I>(
        &mut self,
        mut live: Pin<&mut Option<A::Stream>>,
        rejection: Rejection,
        error: Option<A::Error>,
    ) -> Turn<I> {
        live.set(None);
        self.state.handed_over = None;
        let now = self.timer.now();
        let lived = self.state.opened.as_ref().map(|opened| now.duration_since(opened.at));
        let lived = lived.unwrap_or_default();
        self.state.prove(lived);
        self.state.opened = None;
        if self.stage().is_some() {
            // A refresh that is under way goes on: it is the re-ask.
            self.state.gone = rejection.speaker.activation().cloned();
            return Turn::Again;
        }
        if lived < self.state.budget.pace {
            self.state.waits.hold(later(now, self.state.budget.pace));
        }
        self.chain().reject(rejection, error);
        Turn::Again
    }

    /// A subscription opens.
    fn open(
        &mut self,
        mut live: Pin<&mut Option<A::Stream>>,
        answer: Answer<A::Stream>,
    ) -> Phase<A::Item> {
        let (stream, by) = answer.into_parts();
        self.state.handed_over = None;
        self.state.waits.opened();
        self.state.gone = None;
        self.state.opened = None;
        live.set(Some(stream));
        let at = self.timer.now();
        self.state.opened = Some(Opened { at, by: by.clone(), spoke: false, proven: false });
        Phase::Answered(by)
    }

    /// A panic came between the subscription and what is known of it: the rest of it is dropped, and
    /// asked for anew.
    #[cold]
    fn mend(&mut self, mut live: Pin<&mut Option<A::Stream>>) {
        live.set(None);
        self.state.handed_over = None;
        self.state.opened = None;
        if self.stage().is_none() {
            self.state.carrier.nudge();
        }
    }

    /// The attempt begins to wait (`R18`).
    fn wait<I>(&mut self, charge: &Charge, cx: &mut Context<'_>) -> Turn<I> {
        if !charge.is_uncharged() {
            self.state.began.get_or_insert_with(|| self.timer.now());
        }
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
        let State { waits, carrier, budget, .. } = &mut self.state;
        let has_refused = |it: &_| carrier.with_ledger(|ledger| ledger.has_refused(it));
        if waits.cut_short(budget.activations, has_refused) {
            return self.wait_is_over();
        }
        Turn::Again
    }

    /// Begins to wait for the teardown of the charge's activation; returns whether there is anything
    /// to wait for.
    fn joins(&mut self, charge: &Charge, limit: Duration, cx: &mut Context<'_>) -> bool {
        let activation = charge.activation().cloned();
        let Some(teardown) = activation.and_then(|it| self.join.teardown(it)) else { return false };
        let sleep = self.sleep(limit);
        self.set(Stage::Waiting { teardown: Some(teardown), sleep: Some(sleep) });
        self.poll_teardown(cx).is_pending()
    }

    fn poll_teardown(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.running().map_or(Poll::Pending, |stage| stage.poll_teardown(cx))
    }

    /// The wait has ended, by its event, its limit or an arrival; what is left is hold and spread.
    fn wait_is_over<I>(&mut self) -> Turn<I> {
        let left = self.state.waits.left(self.timer.now(), self.state.budget.spread);
        let stage = left.map_or(Stage::Due, |left| Stage::Held(Some(self.sleep(left))));
        self.set(stage);
        Turn::Again
    }

    /// The ask goes out.
    fn ask(&mut self) -> Turn<Option<PhaseOf<A, P>>> {
        if let Some(error) = self.outlasted() {
            return Turn::Yield(Some(Err(error)));
        }
        let Some(charge) = self.charge() else { return Turn::Idle };
        let State { source, carrier, waits, resume, .. } = &mut self.state;
        waits.over();
        let (stream, attempt) = (carrier.stream(), carrier.asking());
        let ask = source.ask(Ask { stream, attempt, charge, resume: resume.clone() });
        self.set(Stage::Asking { ask, limit: None });
        Turn::Again
    }

    /// The give-up of a ride-out that has outlasted its bound (`R9`).
    fn outlasted(&mut self) -> Option<RideError<A::Error>> {
        if self.timer.now() < self.state.deadline()? {
            return None;
        }
        let longest = self.state.budget.longest?;
        let report = self.state.carrier.with_ledger(|ledger| ledger.outlasted(longest))?;
        let error = self.chain().give_up(report);
        Some(self.warn(error))
    }

    /// A refresh may be refused before the subscription that it replaces is judged: that has been
    /// answered if it has lived long enough (`R9`).
    fn prove_while_refreshing(&mut self) {
        if let Some(Opened { at, proven: false, .. }) = self.state.opened
            && self.stage().is_some()
        {
            self.state.prove(self.timer.now().duration_since(at));
        }
    }

    /// Raises the one warning of a give-up (`R23`).
    fn warn(&self, error: RideError<A::Error>) -> RideError<A::Error> {
        if let RideError::GaveUp { report, last } = &error {
            let GaveUp { stream, address, axis, key, count, budget, .. } = &**report;
            let last = last.as_deref().map(shown).unwrap_or_default();
            tracing::warn!(
                %stream, owner = %address, %axis, %key, count, budget, last_refusal = last, "{report}"
            );
        }
        error
    }

    /// The stage's sleep, which a bound by the clock cuts short.
    fn sleep(&mut self, duration: Duration) -> T::Sleep {
        let left = self.state.deadline().map(|at| at.saturating_duration_since(self.timer.now()));
        let sleep = left.map_or(duration, |left| left.min(duration));
        self.state.cut = Some(duration - sleep).filter(|cut| !cut.is_zero());
        self.timer.sleep(sleep)
    }

    fn has_refused(&self, activation: &Activation) -> bool {
        self.state.carrier.with_ledger(|ledger| ledger.has_refused(activation))
    }

    fn chain(&mut self) -> Pin<&mut ChainOf<A, J, P, T>> {
        let carrier = &self.state.carrier;
        let chain = self.chain.get_or_insert_with(|| {
            let probe: Probe<StageOf<A, J, P, T>> = Stage::begin;
            Box::pin(carrier.triggers().charge(carrier).defer(probe).concat_attempts(carrier))
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

    /// Gives the stage another sleep.
    fn set_sleep(&mut self, sleep: T::Sleep) {
        match self.stage() {
            Some(StageProj::Waiting { sleep: mut place, .. } | StageProj::Held(mut place)) => {
                place.set(Some(sleep));
            }
            Some(StageProj::Asking { limit: mut place, .. }) => place.set(Some(sleep)),
            Some(StageProj::Begun { .. } | StageProj::Due) | None => {}
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
    }
}
