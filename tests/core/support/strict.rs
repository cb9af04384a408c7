//! A subscription that is strict with who polls it, and a timer without patience.

use std::{
    future::{Pending, Ready, pending, ready},
    pin::Pin,
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

use futures::{
    Stream, StreamExt,
    future::Either,
    stream::{self, BoxStream},
};
use rideout::{Refusal, time::Timer};

use super::hand_clock::{Count, Token, ms};

/// Polls a stream once, for a task that nobody hears of.
pub(crate) fn next<S: Stream + Unpin>(stream: &mut S) -> Poll<Option<S::Item>> {
    next_for(stream, Waker::noop())
}

/// Polls a stream once, for the task of `waker`.
pub(crate) fn next_for<S: Stream + Unpin>(stream: &mut S, waker: &Waker) -> Poll<Option<S::Item>> {
    Pin::new(stream).poll_next(&mut Context::from_waker(waker))
}

/// A timer of no patience: what is not longer than a pace is over at once, and all else never.
#[derive(Clone, Copy)]
pub(crate) struct Hasty(Instant);

impl Hasty {
    pub(crate) fn new() -> Self {
        Hasty(Instant::now())
    }
}

impl Timer for Hasty {
    type Sleep = Either<Ready<()>, Pending<()>>;

    fn sleep(&self, duration: Duration) -> Self::Sleep {
        if duration <= ms(500) { Either::Left(ready(())) } else { Either::Right(pending()) }
    }

    fn now(&self) -> Instant {
        self.0
    }
}

/// A subscription that panics when it is polled after its end or its error (`C37`).
pub(crate) struct Strict<T> {
    stream: BoxStream<'static, Result<T, Refusal>>,
    // Whether it is, or a poll of it panicked.
    over: bool,
    _alive: Option<Token>,
}

impl<T: Send + 'static> Strict<T> {
    pub(crate) fn new(stream: impl Stream<Item = Result<T, Refusal>> + Send + 'static) -> Self {
        Strict { stream: stream.boxed(), over: false, _alive: None }
    }

    /// Serves `parts`, and is over.
    pub(crate) fn of(parts: impl IntoIterator<Item = Result<T, Refusal>>) -> Self {
        let parts: Vec<_> = parts.into_iter().collect();
        Strict::new(stream::iter(parts))
    }

    /// Serves `items`, and stays open.
    pub(crate) fn open(items: impl IntoIterator<Item = T>) -> Self {
        let items: Vec<_> = items.into_iter().map(Ok).collect();
        Strict::new(stream::iter(items).chain(stream::pending()))
    }

    /// Is counted for as long as it lives.
    pub(crate) fn counted(self, count: &Count) -> Self {
        Strict { _alive: Some(count.one()), ..self }
    }
}

impl<T> Stream for Strict<T> {
    type Item = Result<T, Refusal>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        assert!(!self.over, "a stream was polled after it was over");
        self.over = true;
        let next = self.stream.poll_next_unpin(cx);
        self.over = matches!(next, Poll::Ready(None | Some(Err(_))));
        next
    }
}
