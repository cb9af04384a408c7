//! Polling by hand.

use std::{
    pin::Pin,
    task::{Context, Poll, Waker},
};

/// Polls once, for the task of `waker`.
pub(crate) fn poll_once<F: Future + Unpin>(future: &mut F, waker: &Waker) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(waker))
}
