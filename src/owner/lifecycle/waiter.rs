use std::task::{Context, Poll};

use super::{Lifecycle, State};
use crate::monitor::Ticket;

/// A place among those who wait on a lifetime, given back when it is dropped.
pub(super) struct Waiter {
    lifecycle: Lifecycle,
    ticket: Ticket,
}

impl Waiter {
    pub(super) fn new(lifecycle: &Lifecycle) -> Self {
        Self { lifecycle: lifecycle.clone(), ticket: Ticket::default() }
    }

    /// Returns the lifetime that is waited on.
    pub(super) fn lifecycle(&self) -> &Lifecycle {
        &self.lifecycle
    }

    /// Returns whether `question` is answered; where it is not, the task is woken by the next change.
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
