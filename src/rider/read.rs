//! The point read: one value, inside the caller's deadline.

mod builder;
mod error;

use std::{
    collections::HashSet,
    fmt,
    future::Pending,
    pin::Pin,
    task::{Context, Poll},
    time::{Duration, Instant},
};

use futures_core::Stream;
use pin_project::pin_project;

pub use self::{
    builder::PointReadBuilder,
    error::{PointReadEnd, PointReadError, Recycling},
};
use super::{
    ask::Ask,
    attempt::{Clock, Stage},
    ride_out::RideOutState,
    shown::shown,
};
use crate::{
    activation::{Activation, StreamId},
    address::Address,
    budget::Budget,
    classify::{Classifier, Ruling},
    diagnosis::Shape,
    ledger::Charge,
    refusal::{Kind, News, Rejection, Speaker},
    time::{Timer, later},
    unwind::{poll_and_clear, poll_guarded},
};

/// How many turns one poll takes (`R20b`).
const TURNS: u32 = 32;

/// A read that rides out its owner's recycling, as far as its deadline reaches.
///
/// A future of one value. The first promise, where the owner spoke, is asked again at once; every
/// other one rests first, one pace or as long as the refusal asks for, and an arrival ends a rest
/// (`R28`). Nothing is charged: the deadline (10 s) is the only bound, it is never raised, and when it
/// comes the read ends there and then. With a deadline of zero nothing is asked.
///
/// Of its [`budget`](PointReadBuilder::budget) a read uses the pace, the hint limit, the spread, and how many rests
/// arrivals may end.
///
/// # Errors
///
/// [`PointReadError`]: absent, another verdict, recycling (the deadline was spent on promises, with one
/// `WARN`), or timed out.
///
/// # Panics
///
/// A panic in what it was given reaches the caller of the poll. Polled again the read goes on: it asks
/// again, within the same deadline.
///
/// # Cancel safety
///
/// Dropping the read drops its ask and its timers. An ask that was sent may have been served. Polled
/// again after it was ready, it is never ready again.
///
/// # Examples
///
/// ```
/// use rideout::{Refusal, refusal::{Closing, Seam}, rider::PointRead};
///
/// # #[cfg(not(feature = "tokio"))]
/// # fn main() {}
/// # #[cfg(feature = "tokio")]
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let address: rideout::Address = "prices/eur".parse()?;
/// let owner = Closing::new(address.clone()).activation("0A".parse()?);
///
/// let price = PointRead::new(address, move |ask| {
///     let answer = if ask.attempt < 4 { Err(owner.refuse(Seam::Door, "Get")) } else { Ok(101) };
///     async move { answer }
/// });
/// assert_eq!(price.await?, 101);
/// # Ok(())
/// # }
/// ```
#[pin_project(project = PointReadProj)]
#[must_use = "futures do nothing unless polled"]
pub struct PointRead<A, Fut, E, N, T: Timer> {
    state: State<A, E>,
    timer: T,
    #[pin]
    news: Option<N>,
    // Until the deadline; `None` before the first poll.
    #[pin]
    limit: Option<T::Sleep>,
    #[pin]
    attempt: Option<Stage<Fut, Pending<()>, T::Sleep>>,
}

/// What a read was given, and what has come of it.
struct State<A, E> {
    ask: A,
    address: Address,
    classify: Classifier<E>,
    stream: StreamId,
    deadline: Duration,
    budget: Budget,
    // When it was first polled.
    began: Option<Instant>,
    asks: u32,
    promises: u32,
    owner_spoke: bool,
    owners: HashSet<Activation>,
    ride_out: RideOutState,
    last: Option<E>,
}

/// What one look came to.
enum Turn<V> {
    Again,
    Idle,
    Over(V),
}

impl<A, Fut, E, N, T: Timer> fmt::Debug for PointRead<A, Fut, E, N, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PointRead")
            .field("address", &self.state.address)
            .field("deadline", &self.state.deadline)
            .field("asks", &self.state.asks)
            .finish_non_exhaustive()
    }
}

impl<A, Fut, E, N, T: Timer> PointRead<A, Fut, E, N, T> {
    fn start(state: State<A, E>, news: Option<N>, timer: T) -> Self {
        PointRead { state, timer, news, limit: None, attempt: Some(Stage::Due) }
    }
}

impl<A, E> State<A, E> {
    fn new(
        ask: A,
        address: Address,
        deadline: Duration,
        budget: Budget,
        classify: Classifier<E>,
    ) -> Self {
        State {
            ask,
            address,
            classify,
            stream: StreamId::mint(),
            deadline,
            budget,
            began: None,
            asks: 0,
            promises: 0,
            owner_spoke: false,
            owners: HashSet::new(),
            ride_out: RideOutState::default(),
            last: None,
        }
    }

    fn ask<Fut>(&mut self) -> Fut
    where
        A: FnMut(Ask) -> Fut,
    {
        self.asks = self.asks.saturating_add(1);
        let (stream, attempt) = (self.stream, self.asks);
        (self.ask)(Ask { stream, attempt, charge: Charge::uncharged(), resume: None })
    }

    /// A promise arrives: returns how long the read rests for it, `None` for not at all (`R28`).
    fn promised(&mut self, rejection: Rejection) -> Option<Duration> {
        let first = self.promises == 0;
        self.promises = self.promises.saturating_add(1);
        let by_owner = match rejection.speaker {
            Speaker::Route => false,
            Speaker::Owner(activation) => {
                self.owners.extend(activation);
                true
            }
        };
        self.owner_spoke |= by_owner;
        let rest = self.budget.rest(rejection.not_before);
        (!(first && by_owner)).then_some(rest)
    }

    /// The deadline has come (`R29`).
    fn spent(&mut self, now: Instant) -> PointReadError<E>
    where
        E: fmt::Display,
    {
        let (address, asks, deadline) = (self.address.clone(), self.asks, self.deadline);
        // Its text is the user's code and may panic: it is read before the error is taken.
        let text = self.last.as_ref().map(shown);
        let Some((last_refusal, last)) = text.zip(self.last.take()) else {
            return PointReadEnd::TimedOut { address, asks, deadline }.into();
        };
        let elapsed = self.began.map_or(Duration::ZERO, |began| now.duration_since(began));
        let (refusals, owners) = (self.promises, self.owners.len());
        let shape = Shape::of(owners, self.owner_spoke);
        let recycling =
            Recycling { address, asks, refusals, elapsed, deadline, owners, shape, last };
        tracing::warn!(
            stream = %self.stream, owner = %recycling.address, asks, refusals, owners,
            last_refusal, "{recycling}"
        );
        PointReadEnd::Recycling(recycling).into()
    }
}

impl<A, Fut, E, N, T> PointReadProj<'_, A, Fut, E, N, T>
where
    N: Stream<Item = News>,
    T: Timer,
{
    fn turn<V>(&mut self, cx: &mut Context<'_>) -> Turn<Result<V, PointReadError<E>>>
    where
        A: FnMut(Ask) -> Fut,
        Fut: Future<Output = Result<V, E>>,
        E: fmt::Display,
    {
        // The deadline first: an answer at that very instant is too late.
        if self.state.deadline.is_zero() || self.look_at_limit(cx).is_ready() {
            return Turn::Over(Err(self.state.spent(self.timer.now())));
        }
        // One that panicked begins anew, and a read waits for nothing before its first ask.
        if matches!(&*self.attempt, Some(Stage::Begun { .. } | Stage::Due)) {
            let ask = self.state.ask();
            self.attempt.set(Some(Stage::asking(ask)));
            return Turn::Again;
        }
        let asked = self.attempt.as_mut().as_pin_mut();
        if let Poll::Ready(answer) = asked.map_or(Poll::Pending, |attempt| attempt.poll_ask(cx)) {
            self.attempt.set(Some(Stage::Due));
            return match answer {
                Ok(value) => Turn::Over(Ok(value)),
                Err(error) => self.refused(error),
            };
        }
        match poll_guarded(self.news.as_mut(), |news| news.poll_next(cx)) {
            Poll::Ready(Some(News::Arrived(activation))) => self.arrived(activation),
            Poll::Ready(Some(News::Ended(_) | News::NotServing(_))) => {}
            Poll::Ready(None) => self.news.set(None),
            Poll::Pending => return self.look_at_clock(cx),
        }
        Turn::Again
    }

    /// Looks at the deadline, for whose time a sleep is made at the first look, and after a panic.
    fn look_at_limit(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.limit.is_none() {
            let now = self.timer.now();
            let began = *self.state.began.get_or_insert(now);
            let left = self.state.deadline.saturating_sub(now.duration_since(began));
            self.limit.set(Some(self.timer.sleep(left)));
        }
        poll_and_clear(self.limit.as_mut(), cx)
    }

    /// Looks at a rest, or at a spread.
    fn look_at_clock<V>(&mut self, cx: &mut Context<'_>) -> Turn<V> {
        let is_resting = self.is_resting();
        let Some(attempt) = self.attempt.as_mut().as_pin_mut() else { return Turn::Idle };
        if matches!(&*attempt, Stage::Asking { .. }) || attempt.poll_clock(cx).is_pending() {
            return Turn::Idle;
        }
        if is_resting {
            self.rested();
        } else {
            self.attempt.set(Some(Stage::Due));
        }
        Turn::Again
    }

    fn is_resting(&self) -> bool {
        matches!(&*self.attempt, Some(Stage::Waiting { .. }))
    }

    fn refused<V>(&mut self, error: E) -> Turn<Result<V, PointReadError<E>>> {
        let rejection = match (self.state.classify)(&error, &self.state.address) {
            Ruling::Promise(rejection) => rejection,
            Ruling::Verdict(Kind::NotFound) => {
                return Turn::Over(Err(PointReadEnd::Absent(error).into()));
            }
            Ruling::Verdict(_) => return Turn::Over(Err(PointReadEnd::Verdict(error).into())),
        };
        self.state.last = Some(error);
        let Some(rest) = self.state.promised(rejection) else {
            self.rested();
            return Turn::Again;
        };
        let State { ride_out, budget, owners, .. } = &mut *self.state;
        if ride_out.cut_short(budget.activations, |it| owners.contains(it)) {
            self.rested();
        } else {
            let clock = self.clock(rest);
            self.attempt.set(Some(Stage::resting(clock)));
        }
        Turn::Again
    }

    /// An activation of the address arrives (`R18b`).
    fn arrived(&mut self, activation: Activation) {
        let State { ride_out, budget, owners, .. } = &mut *self.state;
        let resting = matches!(&*self.attempt, Some(Stage::Waiting { .. }));
        if !owners.contains(&activation)
            && ride_out.arrived(activation, resting, self.timer.now(), budget.activations)
        {
            self.rested();
        }
    }

    fn rested(&mut self) {
        let left = self.state.ride_out.left(self.timer.now(), self.state.budget.spread);
        let stage = left.map_or(Stage::Due, |left| Stage::Held(Some(self.clock(left))));
        self.attempt.set(Some(stage));
    }

    fn clock(&self, duration: Duration) -> Clock<T::Sleep> {
        // The deadline is a timer of its own, and cuts nothing off.
        let until = later(self.timer.now(), duration);
        Clock::new(self.timer.sleep(duration), until, Duration::ZERO)
    }
}

impl<A, Fut, V, E, N, T> Future for PointRead<A, Fut, E, N, T>
where
    A: FnMut(Ask) -> Fut,
    Fut: Future<Output = Result<V, E>>,
    E: fmt::Display,
    N: Stream<Item = News>,
    T: Timer,
{
    type Output = Result<V, PointReadError<E>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        if this.attempt.is_none() {
            return Poll::Pending;
        }
        for _ in 0..TURNS {
            match this.turn(cx) {
                Turn::Again => {}
                Turn::Idle => return Poll::Pending,
                Turn::Over(outcome) => {
                    this.attempt.set(None);
                    this.limit.set(None);
                    this.news.set(None);
                    return Poll::Ready(outcome);
                }
            }
        }
        // However much news there is, a sleep has its turn.
        let _: Turn<Self::Output> = this.look_at_clock(cx);
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}
