//! What of a rider is alive: counted, and never polled after its end.

use std::{
    cell::Cell,
    pin::Pin,
    rc::Rc,
    task::{Context, Poll},
    time::Duration,
};

use futures::{FutureExt, Stream, StreamExt, future::LocalBoxFuture, stream::LocalBoxStream};
use rideout::{Refusal, time::Timer};

use crate::support::paused::Paused;

/// Counts what is alive.
#[derive(Clone, Default)]
pub(crate) struct Alive(Rc<Cell<usize>>);

pub(crate) struct One(Rc<Cell<usize>>);

impl Alive {
    pub(crate) fn one(&self) -> One {
        self.0.set(self.0.get() + 1);
        One(Rc::clone(&self.0))
    }

    pub(crate) fn count(&self) -> usize {
        self.0.get()
    }
}

impl Drop for One {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

/// A timer on the paused clock that counts its living sleeps.
#[derive(Clone, Default)]
pub(crate) struct Counting(pub(super) Alive);

impl Timer for Counting {
    type Sleep = LocalBoxFuture<'static, ()>;

    fn sleep(&self, duration: Duration) -> Self::Sleep {
        let one = self.0.one();
        let sleep = Paused.sleep(duration);
        async move {
            sleep.await;
            drop(one);
        }
        .boxed_local()
    }

    fn now(&self) -> std::time::Instant {
        Paused.now()
    }
}

/// A stream that panics when it is polled after its end.
pub(crate) struct Live<I = Result<u64, Refusal>> {
    parts: LocalBoxStream<'static, I>,
    ended: bool,
    _one: One,
}

impl<I> Live<I> {
    pub(crate) fn new(parts: LocalBoxStream<'static, I>, one: One) -> Self {
        Live { parts, ended: false, _one: one }
    }
}

impl<I> Stream for Live<I> {
    type Item = I;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<I>> {
        assert!(!self.ended, "polled after its end");
        let polled = self.parts.poll_next_unpin(cx);
        self.ended = matches!(polled, Poll::Ready(None));
        polled
    }
}
