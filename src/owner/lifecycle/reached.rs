use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
};

use super::{Lifecycle, RunLevel, State};
use crate::monitor::Ticket;

/// A place among those who wait on a lifetime, given back when it is dropped.
pub(super) struct Waiter {
    pub(super) lifecycle: Lifecycle,
    ticket: Ticket,
}

impl Waiter {
    pub(super) fn new(lifecycle: &Lifecycle) -> Self {
        Self { lifecycle: lifecycle.clone(), ticket: Ticket::default() }
    }

    pub(super) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        question: impl Fn(&State) -> bool,
    ) -> Poll<()> {
        let state = &self.lifecycle.shared.state;
        state.poll(&mut self.ticket, cx, |state| question(state).then_some(()))
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        self.lifecycle.shared.state.forget(&mut self.ticket);
    }
}

/// Future for the [`Lifecycle::reached`] method.
///
/// Once ready it stays ready: it may be polled again.
#[must_use = "futures do nothing unless polled"]
pub struct Reached {
    pub(super) waiter: Waiter,
    pub(super) level: RunLevel,
}

impl fmt::Debug for Reached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reached")
            .field("lifecycle", &self.waiter.lifecycle)
            .field("level", &self.level)
            .finish()
    }
}

impl Future for Reached {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let level = self.level;
        ready!(self.waiter.poll(cx, |state| state.level >= level));
        Poll::Ready(())
    }
}
