//! The stream of reasons to ask again, refusals and nudges: the head of a chain.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use futures_core::{FusedStream, Stream};

use super::{Carrier, State, trigger::Trigger};
use crate::monitor::Ticket;

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

impl Carrier {
    /// Creates the stream of what asks for an ask: rejections, and triggers.
    ///
    /// It takes over from the one before, which ends (invariant 5).
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{FutureExt, StreamExt};
    /// use rideout::{Budget, Carrier, carrier::Trigger};
    ///
    /// let carrier = Carrier::new("prices/eur".parse()?, Budget::default());
    /// let mut old = carrier.triggers();
    /// let mut new = carrier.triggers();
    /// assert_eq!(old.next().now_or_never(), Some(None));
    /// assert_eq!(new.next().now_or_never(), Some(Some(Trigger::Ask)));
    /// # Ok::<_, rideout::address::InvalidAddress>(())
    /// ```
    pub fn triggers(&self) -> Triggers {
        let mut chain = 0;
        self.shared.state.announce(|state| {
            state.chain += 1;
            // What the old chain was offered and has not begun, the new one is offered again.
            state.offered = false;
            chain = state.chain;
            true
        });
        Triggers::new(self.clone(), chain)
    }
}

impl Triggers {
    fn new(carrier: Carrier, chain: u64) -> Self {
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
