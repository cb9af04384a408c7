//! Parts that a case gives to its subject: strict about who polls them, and ready for a panic.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use futures::{Stream, StreamExt};

use crate::support::mine::Mine;

/// A stream or a future that panics when it is polled after its end, as they are allowed to (C37).
#[derive(Debug)]
pub(crate) struct Strict<S> {
    inner: S,
    mine: Option<(&'static str, Mine)>,
    over: bool,
}

impl<S> Strict<S> {
    pub(crate) fn new(inner: S) -> Self {
        Strict { inner, mine: None, over: false }
    }

    /// Steps on `mine` with each poll, as `who`.
    pub(crate) fn mined(self, who: &'static str, mine: &Mine) -> Self {
        Strict { mine: Some((who, mine.clone())), ..self }
    }

    /// `is_lost` is what it is once it has panicked.
    fn look<R>(
        &mut self,
        is_lost: bool,
        look: impl FnOnce(&mut S) -> R,
        is_over: impl FnOnce(&R) -> bool,
    ) -> R {
        assert!(!self.over, "polled after its end");
        self.over = is_lost;
        if let Some((who, mine)) = &self.mine {
            mine.step(who);
        }
        let looked = look(&mut self.inner);
        self.over = is_over(&looked);
        looked
    }
}

impl<St: Stream + Unpin> Stream for Strict<St> {
    type Item = St::Item;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<St::Item>> {
        // The input of an operator is polled again, as by any combinator.
        self.look(false, |it| it.poll_next_unpin(cx), |it| matches!(it, Poll::Ready(None)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.inner.size_hint()
    }
}

impl<Fut: Future + Unpin> Future for Strict<Fut> {
    type Output = Fut::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Fut::Output> {
        self.look(true, |it| Pin::new(it).poll(cx), Poll::is_ready)
    }
}

/// A stream that is pending before each item and before its end, and wakes itself.
pub(crate) fn pausing<St: Stream + Unpin>(mut stream: St) -> impl Stream<Item = St::Item> + Unpin {
    let mut pauses = false;
    Strict::new(futures::stream::poll_fn(move |cx| {
        pauses = !pauses;
        if pauses {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        stream.poll_next_unpin(cx)
    }))
}
