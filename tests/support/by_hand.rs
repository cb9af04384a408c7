//! Polling by hand.

use std::{
    pin::Pin,
    task::{Context, Poll, Waker},
};

pub(crate) use super::task::{Task, kept};

/// Polls once, for the task of `waker`.
pub(crate) fn poll<F: Future + Unpin>(future: &mut F, waker: &Waker) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(waker))
}
