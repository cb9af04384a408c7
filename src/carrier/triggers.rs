//! What asks for an ask: the head of a chain.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use futures_core::{FusedStream, Stream};

use super::{Carrier, State};
use crate::{ledger::Charge, monitor::Ticket, refusal::Rejection};

/// What asks for an ask.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Trigger {
    /// The first ask, or a nudge: uncharged.
    Ask,
    /// A rejection, yet to be charged.
    Rejected(Rejection),
    /// An attempt that was dropped before it was over: owed again, under the charge that it had.
    Owed(Charge),
}

impl From<Rejection> for Trigger {
    fn from(rejection: Rejection) -> Self {
        Trigger::Rejected(rejection)
    }
}

/// Stream for the [`triggers`](Carrier::triggers) method.
///
/// It ends when another is made of the same carrier, and never otherwise.
#[derive(Debug)]
#[must_use = "streams do nothing unless polled"]
pub struct Triggers {
    carrier: Carrier,
    chain: u64,
    ticket: Ticket,
}

impl Triggers {
    pub(super) fn new(carrier: Carrier, chain: u64) -> Self {
        Triggers { carrier, chain, ticket: Ticket::default() }
    }
}

impl State {
    fn next(&mut self) -> Option<Trigger> {
        let next = self.inbox.pop_front();
        if next.is_none() && self.slot.is_due() && !self.offered {
            // The debt stands until an attempt takes it on (invariant 3).
            self.offered = true;
            return Some(Trigger::Ask);
        }
        next
    }
}

impl Stream for Triggers {
    type Item = Trigger;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Trigger>> {
        let Triggers { carrier, chain, ticket } = self.get_mut();
        carrier.shared.state.poll(ticket, cx, |state| {
            if *chain == state.chain { state.next().map(Some) } else { Some(None) }
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        if self.is_terminated() { (0, Some(0)) } else { (0, None) }
    }
}

impl FusedStream for Triggers {
    fn is_terminated(&self) -> bool {
        self.carrier.shared.state.with(|state| state.chain != self.chain)
    }
}

impl Drop for Triggers {
    fn drop(&mut self) {
        self.carrier.forget(&mut self.ticket);
    }
}
