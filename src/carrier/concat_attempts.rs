//! Attempting one at a time: exactly one re-ask is ever outstanding.

use std::{
    collections::VecDeque,
    fmt,
    pin::Pin,
    task::{Context, Poll},
};

use futures_core::{FusedStream, Stream};
use pin_project::{pin_project, pinned_drop};

use super::{Attempt, Carrier, End, RideError, Turn};
use crate::{
    classify::{Classifier, Ruling},
    ledger::{Charge, GaveUp},
    monitor::Ticket,
    refusal::Rejection,
};

/// How many turns one poll takes, and how many arrivals it charges in each (`R14`, `R20b`).
const A_POLL: usize = 32;

/// Stream for the [`concat_attempts`](super::CarrierExt::concat_attempts) and
/// [`concat_attempts_by`](super::CarrierExt::concat_attempts_by) methods.
#[pin_project(PinnedDrop)]
#[must_use = "streams do nothing unless polled"]
pub struct ConcatAttempts<St, F, Fut, E> {
    #[pin]
    stream: St,
    #[pin]
    attempt: Option<Attempt<F, Fut>>,
    // Charged attempts, in the order of arrival. Bounded by the budget (`R10`).
    queue: VecDeque<Attempt<F, Fut>>,
    // A trigger's attempt. A charged one that runs first covers it, so it waits behind them all.
    triggered: Option<Attempt<F, Fut>>,
    carrier: Carrier,
    classify: Classifier<E>,
    ticket: Ticket,
    last: Option<Box<E>>,
    phase: Phase,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// More may arrive.
    Open,
    /// Nothing more arrives; what is queued still runs.
    Draining,
    /// Over.
    Done,
}

/// What one turn of the loop came to.
enum Step<A, E> {
    Again,
    Pending,
    Answer(A),
    End(Option<RideError<E>>),
}

impl<St: fmt::Debug, F, Fut, E> fmt::Debug for ConcatAttempts<St, F, Fut, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConcatAttempts")
            .field("stream", &self.stream)
            .field("attempt", &self.attempt)
            .field("queued", &self.queue.len())
            .field("phase", &self.phase)
            .finish_non_exhaustive()
    }
}

impl<St, F, Fut, E> ConcatAttempts<St, F, Fut, E> {
    pub(super) fn new(stream: St, carrier: Carrier, classify: Classifier<E>) -> Self {
        ConcatAttempts {
            stream,
            attempt: None,
            queue: VecDeque::new(),
            triggered: None,
            carrier,
            classify,
            ticket: Ticket::default(),
            last: None,
            phase: Phase::Open,
        }
    }

    /// Returns the stream underneath.
    pub fn get_ref(&self) -> &St {
        &self.stream
    }

    /// Returns the attempt that is running, `None` between attempts.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::{future::pending, pin::pin};
    ///
    /// use futures::{FutureExt, StreamExt};
    /// use rideout::{Budget, Carrier, CarrierExt, Refusal};
    ///
    /// let carrier = Carrier::new("prices/eur".parse()?, Budget::default());
    /// let mut answers = pin!(
    ///     carrier
    ///         .triggers()
    ///         .charge(&carrier)
    ///         .defer(|_charge| pending::<Result<(), Refusal>>())
    ///         .concat_attempts(&carrier)
    /// );
    /// assert!(answers.as_mut().attempt().is_none());
    /// assert!(answers.next().now_or_never().is_none());
    /// assert!(answers.as_mut().attempt().unwrap().charge().is_uncharged());
    /// # Ok::<_, rideout::address::InvalidAddress>(())
    /// ```
    pub fn attempt(self: Pin<&mut Self>) -> Option<Pin<&mut Attempt<F, Fut>>> {
        self.project().attempt.as_pin_mut()
    }

    /// Ends the attempt that is running, if one is, as refused with `rejection`, and has that charged.
    ///
    /// For a rejection that comes by another way than the attempt's own answer: an announcement, or a
    /// limit. `error` is reported as the last one if a give-up follows.
    ///
    /// # Examples
    ///
    /// The owner announces that it is going, while it still owes an answer:
    ///
    /// ```
    /// use std::{future::pending, pin::pin};
    ///
    /// use futures::{FutureExt, StreamExt};
    /// use rideout::{Budget, Carrier, CarrierExt, Refusal, Rejection, ledger::Charge};
    ///
    /// let carrier = Carrier::new("prices/eur".parse()?, Budget::default());
    /// let mut answers = pin!(
    ///     carrier
    ///         .triggers()
    ///         .charge(&carrier)
    ///         .defer(|_charge: Charge| pending::<Result<(), Refusal>>())
    ///         .concat_attempts(&carrier)
    /// );
    /// assert!(answers.next().now_or_never().is_none());
    /// answers.as_mut().reject(Rejection::by_owner(None), None);
    /// assert!(answers.as_mut().attempt().is_none());
    ///
    /// assert!(answers.next().now_or_never().is_none());
    /// let next = answers.as_mut().attempt().expect("it asks again");
    /// assert_eq!(next.charge().count(), 1);
    /// # Ok::<_, rideout::address::InvalidAddress>(())
    /// ```
    pub fn reject(mut self: Pin<&mut Self>, rejection: Rejection, error: Option<E>) {
        self.as_mut().remember(error);
        let mut this = self.project();
        if this.attempt.is_some() {
            // First the attempt, then its place: never two outstanding.
            this.attempt.set(None);
            this.carrier.refused(rejection);
        } else {
            this.carrier.reject(rejection);
        }
    }

    /// Keeps `error`, where there is one, as the last that was ridden out.
    pub(crate) fn remember(self: Pin<&mut Self>, error: Option<E>) {
        if let Some(error) = error {
            *self.project().last = Some(Box::new(error));
        }
    }

    /// Ends the stream by a give-up that is not the ledger's own.
    pub(crate) fn give_up(mut self: Pin<&mut Self>, report: GaveUp) -> RideError<E> {
        let last = self.as_mut().project().last.take().map(|last| *last);
        self.end();
        End::GaveUp { report, last }.into()
    }

    /// Drops everything that is outstanding, for good.
    fn end(self: Pin<&mut Self>) {
        let mut this = self.project();
        *this.phase = Phase::Done;
        this.queue.clear();
        *this.triggered = None;
        let running = this.attempt.is_some();
        this.attempt.set(None);
        this.carrier.ended(running);
    }
}

impl<St, F, Fut, A, E> ConcatAttempts<St, F, Fut, E>
where
    St: Stream<Item = Result<Attempt<F, Fut>, Box<GaveUp>>>,
    F: FnMut(Charge) -> Fut,
    Fut: Future<Output = Result<A, E>>,
{
    /// Queues what has arrived, at most `A_POLL` of it. Returns whether there may be more, or the
    /// give-up.
    fn drain(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Result<bool, Box<GaveUp>> {
        let mut this = self.project();
        for _ in 0..A_POLL {
            if *this.phase != Phase::Open {
                return Ok(false);
            }
            match this.stream.as_mut().poll_next(cx) {
                Poll::Pending => return Ok(false),
                Poll::Ready(None) => *this.phase = Phase::Draining,
                Poll::Ready(Some(attempt)) => {
                    let attempt = attempt?;
                    if attempt.charge().is_uncharged() {
                        *this.triggered = Some(attempt);
                    } else {
                        this.queue.push_back(attempt);
                    }
                }
            }
        }
        Ok(true)
    }

    /// Begins the next attempt where none is running.
    fn begin(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Step<A, E> {
        let mut this = self.project();
        let Some(next) = this.queue.front().or(this.triggered.as_ref()) else {
            let over = *this.phase == Phase::Draining;
            return if over { Step::End(None) } else { Step::Pending };
        };
        match this.carrier.poll_begin(this.ticket, cx, next.charge()) {
            Poll::Pending => Step::Pending,
            Poll::Ready(turn) => {
                let next = this.queue.pop_front().or_else(|| this.triggered.take());
                this.attempt.set(next.filter(|_| turn == Turn::Begun));
                Step::Again
            }
        }
    }

    /// Polls the running attempt.
    fn advance(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Step<A, E> {
        let mut this = self.as_mut().project();
        let attempt = this.attempt.as_mut().as_pin_mut();
        match attempt.map_or(Poll::Pending, |attempt| attempt.poll(cx)) {
            Poll::Pending => Step::Pending,
            Poll::Ready(Ok(answer)) => {
                this.attempt.set(None);
                *this.last = None;
                this.carrier.opened();
                Step::Answer(answer)
            }
            Poll::Ready(Err(error)) => match (this.classify)(&error, this.carrier.address()) {
                Ruling::Promise(rejection) => {
                    self.reject(rejection, Some(error));
                    Step::Again
                }
                Ruling::Verdict(_) => Step::End(Some(End::Verdict(error).into())),
            },
        }
    }
}

impl<St, F, Fut, A, E> Stream for ConcatAttempts<St, F, Fut, E>
where
    St: Stream<Item = Result<Attempt<F, Fut>, Box<GaveUp>>>,
    F: FnMut(Charge) -> Fut,
    Fut: Future<Output = Result<A, E>>,
{
    type Item = Result<A, RideError<E>>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.is_terminated() {
            return Poll::Ready(None);
        }
        for _ in 0..A_POLL {
            let (more, step) = match self.as_mut().drain(cx) {
                Err(report) => return Poll::Ready(Some(Err(self.give_up(*report)))),
                Ok(more) if self.attempt.is_some() => (more, self.as_mut().advance(cx)),
                Ok(more) => (more, self.as_mut().begin(cx)),
            };
            match step {
                Step::Again => {}
                Step::Answer(answer) => return Poll::Ready(Some(Ok(answer))),
                Step::Pending if more => break,
                Step::Pending => return Poll::Pending,
                Step::End(error) => {
                    self.end();
                    return Poll::Ready(error.map(Err));
                }
            }
        }
        // More is at hand than one poll may take: let the other tasks have their turn.
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        if self.is_terminated() { (0, Some(0)) } else { (0, None) }
    }
}

impl<St, F, Fut, A, E> FusedStream for ConcatAttempts<St, F, Fut, E>
where
    St: Stream<Item = Result<Attempt<F, Fut>, Box<GaveUp>>>,
    F: FnMut(Charge) -> Fut,
    Fut: Future<Output = Result<A, E>>,
{
    fn is_terminated(&self) -> bool {
        self.phase == Phase::Done
    }
}

#[pinned_drop]
impl<St, F, Fut, E> PinnedDrop for ConcatAttempts<St, F, Fut, E> {
    fn drop(self: Pin<&mut Self>) {
        let mut this = self.project();
        this.carrier.forget(this.ticket);
        let queued = this.queue.drain(..).map(|attempt| attempt.charge().clone());
        let running = this.attempt.as_ref().as_pin_ref().map(|attempt| attempt.charge().clone());
        this.attempt.set(None);
        if *this.phase != Phase::Done {
            this.carrier.give_back(running, queued);
        }
    }
}
