//! A future as a stream, so that it is shown by what streams are shown by.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures::{Stream, stream::FusedStream};

use super::case::Case;

/// A future as the stream of one item. It is kept, and so is its value, until that is dropped.
pub(crate) struct Once<Fut: Future> {
    pub(super) future: Pin<Box<Fut>>,
    value: Option<Fut::Output>,
}

impl<Fut: Future> Unpin for Once<Fut> {}

impl<Fut: Future> Stream for Once<Fut> {
    type Item = ();

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<()>> {
        if self.is_terminated() {
            return Poll::Ready(None);
        }
        self.value = Some(ready!(self.future.as_mut().poll(cx)));
        Poll::Ready(Some(()))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::from(!self.is_terminated());
        (left, Some(left))
    }
}

impl<Fut: Future> FusedStream for Once<Fut> {
    fn is_terminated(&self) -> bool {
        self.value.is_some()
    }
}

impl<Fut: Future> Case<Fut> {
    pub(super) fn once(self) -> Case<Once<Fut>> {
        let Case { subject, stimulus, gone, lets_go, wakers_panic, task, waits } = self;
        let subject = Box::pin(Once { future: subject, value: None });
        Case { subject, stimulus, gone, lets_go, wakers_panic, task, waits }
    }
}
