//! What drives a subscription: it polls, asks the pure parts, and does what they say. One task's state
//! machine, without a lock of its own.
//!
//! When to look, the [`bell`](super::bell) says. In a look, what follows at once from one thing comes before
//! the next: the chain of attempts with its answers, news, then the live stream's turn, and the timers.
//! An item comes before the timers once, and not twice.

mod attempts;
mod effects;
mod items;
mod looks;

use std::{
    collections::VecDeque,
    pin::Pin,
    task::{Context, Poll},
};

use futures_core::Stream;

use super::{
    ask::{Answer, Source},
    attempt::{Stage, StageProj},
    bell::Bell,
    ending::Ending,
    given::Given,
    join::Join,
    keep_alive::KeepAlive,
    live::Live,
    phase::Phase,
    ride_out::RideOutState,
    shown::shown,
};
use crate::{
    activation::Activation,
    carrier::{
        Attempt, Carrier, CarrierExt, Charges, ConcatAttempts, Defer, End, RideError, Triggers,
    },
    classify::Classifier,
    ledger::{Charge, GaveUp},
    refusal::News,
    time::Timer,
};

/// How much work one poll does: so many passes of its look, and so many items that it drops (`R20b`).
pub(super) const SHARE: u32 = 32;

type AskOf<A, P> = <A as Source<P>>::Future;
type StageOf<A, J, P, T> = Stage<AskOf<A, P>, <J as Join>::Teardown, <T as Timer>::Sleep>;
type StageProjOf<'a, A, J, P, T> =
    StageProj<'a, AskOf<A, P>, <J as Join>::Teardown, <T as Timer>::Sleep>;
type Probe<S> = fn(Charge) -> S;
type Chain<S, E> = ConcatAttempts<Defer<Charges<Triggers>, Probe<S>>, Probe<S>, S, E>;
type ChainOf<A, J, P, T> = Chain<StageOf<A, J, P, T>, <A as Source<P>>::Error>;
type BoxedChain<A, J, P, T> = Pin<Box<ChainOf<A, J, P, T>>>;

/// What a poll of a live stream comes to.
pub(super) type PolledItem<A, P> =
    Poll<Option<Result<<A as Source<P>>::Item, <A as Source<P>>::Error>>>;

/// One phase of a rider, or how it ends.
pub(super) type PhaseOf<A, P> =
    Result<Phase<<A as Source<P>>::Item>, RideError<<A as Source<P>>::Error>>;

/// What a poll of a rider comes to.
pub(super) type PolledPhase<A, P> = Poll<Option<PhaseOf<A, P>>>;

/// A subscription: what it was given, and where it is.
pub(super) struct Driver<A: Source<P>, J: Join, N, P, T: Timer> {
    pub(super) bell: Bell,
    pub(super) carrier: Carrier,
    given: Given<A, P>,
    classify: Classifier<A::Error>,
    join: J,
    timer: T,
    // One box for all subscriptions of the rider.
    live: Pin<Box<Option<Live<A::Stream>>>>,
    // Made at the first look. One box for all ride-outs.
    chain: Option<BoxedChain<A, J, P, T>>,
    news: Option<Pin<Box<N>>>,
    keep_alive: Option<KeepAlive<T::Sleep>>,
    // Until a gap may have another refresh; `None` where it may.
    rest_after_gap: Option<Pin<Box<T::Sleep>>>,
    ride_out: RideOutState,
    // What a subscription that news has ended had at hand: it is told first.
    received: VecDeque<A::Item>,
    // What came meanwhile, to be told thereafter.
    told_next: Option<Option<PhaseOf<A, P>>>,
    // Whose subscription has ended, uncharged, while its refresh was under way (`R25`).
    ended_during_refresh: Option<Activation>,
    resume: Option<P>,
    newest: Option<u64>,
    ending: Ending<A::Error>,
    // Whether an item, or the share, came before the timers of the last look.
    timers_wait: bool,
}

/// Where a look has come to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Looked {
    /// There was none, or it ended before: by a phase, or by the end of the share.
    Nowhere,
    /// Everything is pending, but that the timers come after the stream's turn.
    ButAtTimers,
    /// Everything is pending.
    Everywhere,
}

/// What one step came to.
enum Turn<I> {
    Yield(I),
    Again,
    Idle,
}

/// All that is pinned is boxed as itself.
impl<A: Source<P>, J: Join, N, P, T: Timer> Unpin for Driver<A, J, N, P, T> {}

impl<A: Source<P>, J: Join, N, P, T: Timer> Driver<A, J, N, P, T> {
    pub(super) fn new(
        mut given: Given<A, P>,
        classify: Classifier<A::Error>,
        join: J,
        news: Option<N>,
        timer: T,
    ) -> Self {
        Driver {
            bell: Bell::new(given.reads_items()),
            carrier: Carrier::for_stream(given.stream, given.address.clone(), given.budget),
            classify,
            join,
            timer,
            live: Box::pin(None),
            chain: None,
            news: news.map(Box::pin),
            keep_alive: given.beat.take().map(KeepAlive::new),
            rest_after_gap: None,
            ride_out: RideOutState::default(),
            received: VecDeque::new(),
            told_next: None,
            ended_during_refresh: None,
            resume: given.resume_from.take(),
            newest: None,
            ending: Ending::Running,
            timers_wait: false,
            given,
        }
    }

    pub(super) fn is_live(&self) -> bool {
        self.live.is_some()
    }

    pub(super) fn is_over(&self) -> bool {
        self.ending.is_over()
    }
}

impl<A, J, N, P, T> Driver<A, J, N, P, T>
where
    A: Source<P>,
    J: Join,
    N: Stream<Item = News>,
    P: Clone,
    T: Timer,
{
    /// Polls for the next phase, `share` of work at most. `polled` is what the live stream said in this
    /// poll already.
    pub(super) fn poll_phase(
        &mut self,
        mut polled: Option<PolledItem<A, P>>,
        share: &mut u32,
        cx: &mut Context<'_>,
    ) -> PolledPhase<A, P> {
        if self.is_over() {
            return Poll::Ready(None);
        }
        loop {
            let looks = polled.is_none() && self.told_next.is_none() && *share > 1;
            let mut look = (looks && self.bell.is_rung()).then(|| self.bell.look());
            let looked = if look.is_some() { self.look(share) } else { Looked::Nowhere };
            if looked == Looked::Everywhere
                && let Some(look) = look.take()
            {
                look.all_pending();
            }
            // What was received comes before what the news has come to.
            if let Some(item) = self.received.pop_front() {
                return Poll::Ready(Some(Ok(Phase::Live(item))));
            }
            if let Some(phase) = self.told_next.take() {
                return self.told(phase);
            }
            if *share == 0 {
                // More is at hand than one poll may take: the other tasks have their turn.
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            *share -= 1;
            let polled = polled.take().unwrap_or_else(|| self.poll_live(cx));
            match self.stream_has_its_turn(polled, looked, share) {
                Turn::Yield(phase) => return self.told(phase),
                Turn::Again => {}
                Turn::Idle => {
                    match look.take() {
                        Some(look) if looked == Looked::ButAtTimers => look.all_pending(),
                        // Sets the flag again, which the wait is to find.
                        unfinished => drop(unfinished),
                    }
                    if !self.bell.wait(cx) {
                        // It rang meanwhile: one look a poll (bell, invariant 5).
                        cx.waker().wake_by_ref();
                    }
                    return Poll::Pending;
                }
            }
        }
    }

    /// A phase is told; the last one of all lets go of everything.
    fn told(&mut self, phase: Option<PhaseOf<A, P>>) -> PolledPhase<A, P> {
        if !matches!(phase, Some(Ok(_))) {
            self.end();
        }
        Poll::Ready(phase)
    }

    /// A subscription opens.
    fn open(&mut self, answer: Answer<A::Stream>) -> Phase<A::Item> {
        let (stream, by) = answer.into_parts();
        // First of all: where the rest panics, nothing is live, and it asks anew.
        self.bell.set_open(false);
        self.live.set(None);
        self.ride_out.opened();
        self.ended_during_refresh = None;
        let refused_before = self.carrier.with_ledger(|it| it.who_led_here().cloned().collect());
        let opened_at = self.timer.now();
        if let Some(keep_alive) = &mut self.keep_alive {
            keep_alive.begin(&self.timer, self.given.keep_alive_interval);
        }
        self.live.set(Some(Live::new(stream, by.clone(), opened_at, refused_before)));
        Phase::Answered(by)
    }

    fn stop_beats(&mut self) {
        if let Some(keep_alive) = &mut self.keep_alive {
            keep_alive.stop();
        }
    }

    /// Ends in `error`.
    fn fail(&mut self, error: RideError<A::Error>) -> Turn<Option<PhaseOf<A, P>>> {
        self.ending = Ending::Failing { error, warned: false };
        self.report_end()
    }

    /// Tells how it ends, after the one warning of a give-up (`R23`).
    ///
    /// The error's text is the user's code and may panic: both are kept until they are told.
    fn report_end(&mut self) -> Turn<Option<PhaseOf<A, P>>> {
        if let Ending::Failing { error, warned: warned @ false } = &mut self.ending
            && let End::GaveUp { report, last } = error.end()
        {
            let GaveUp { stream, address, axis, key, count, budget, .. } = report;
            let last = last.as_ref().map(shown).unwrap_or_default();
            *warned = true;
            tracing::warn!(
                %stream, owner = %address, %axis, %key, count, budget, last_refusal = last, "{report}"
            );
        }
        let ending = std::mem::replace(&mut self.ending, Ending::Over);
        Turn::Yield(match ending {
            Ending::Failing { error, .. } => Some(Err(error)),
            Ending::Running | Ending::Over => None,
        })
    }

    fn chain(&mut self) -> Pin<&mut ChainOf<A, J, P, T>> {
        let (carrier, classify) = (&self.carrier, self.classify);
        let chain = self.chain.get_or_insert_with(|| {
            let probe: Probe<StageOf<A, J, P, T>> = Stage::begin;
            let attempts = carrier.triggers().charge(carrier).defer(probe);
            Box::pin(attempts.concat_attempts_by(carrier, classify))
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

    /// Lets go of everything.
    fn end(&mut self) {
        self.ending = Ending::Over;
        self.bell.set_open(false);
        self.live.set(None);
        self.received.clear();
        self.chain = None;
        self.news = None;
        self.keep_alive = None;
        self.rest_after_gap = None;
    }
}
