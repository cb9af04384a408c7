//! News of the address, a rider's second input (`R22`).

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use futures_core::{Stream, stream::FusedStream};

use crate::refusal::News;

/// The news of a rider that was given none: an empty stream.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoNews;

impl Stream for NoNews {
    type Item = News;

    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<News>> {
        Poll::Ready(None)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(0))
    }
}

impl FusedStream for NoNews {
    fn is_terminated(&self) -> bool {
        true
    }
}
