//! The place for the one re-ask, as a chain takes it, and what it does with the ledger.

use std::{
    iter, mem,
    task::{Context, Poll},
};

use super::{Carrier, State, Trigger, Turn};
use crate::{
    ledger::{Charge, GaveUp, Ledger},
    monitor::Ticket,
    refusal::Rejection,
};

impl Carrier {
    pub(crate) fn with_ledger<R>(&self, look: impl FnOnce(&mut Ledger) -> R) -> R {
        self.shared.state.with(|state| look(&mut state.ledger))
    }

    pub(crate) fn charge(&self, rejection: Rejection) -> Result<Charge, Box<GaveUp>> {
        self.with_ledger(|ledger| ledger.charge(rejection))
    }

    /// Takes the place for an attempt under `charge`, or waits for it, where it is still needed.
    pub(crate) fn poll_begin(
        &self,
        ticket: &mut Ticket,
        cx: &mut Context<'_>,
        charge: &Charge,
    ) -> Poll<Turn> {
        self.shared.state.poll(ticket, cx, |state| {
            if state.ledger.is_stale(charge) {
                return Some(Turn::Dropped);
            }
            if state.slot.is_taken() {
                state.contended = true;
                return None;
            }
            if !charge.is_uncharged() {
                state.slot.owe();
            }
            state.asked = false;
            Some(if state.slot.claim() { Turn::Begun } else { Turn::Dropped })
        })
    }

    /// The running attempt was answered (invariant 6).
    pub(crate) fn opened(&self) {
        self.settle(|state| {
            state.ledger.opened();
            state.inbox.retain(|trigger| !matches!(trigger, Trigger::Owed(_)));
        });
    }

    /// The running attempt was refused.
    pub(crate) fn refused(&self, rejection: Rejection) {
        self.settle(|state| state.inbox.push_back(Trigger::Rejected(rejection)));
    }

    /// A chain has ended, and dropped what it had, the attempt that was out included.
    pub(crate) fn ended(&self, running: bool) {
        match running {
            true => self.settle(|_| {}),
            // A trigger that it was offered is still owed.
            false => self.give_back(None, iter::empty()),
        }
    }

    /// Gives back what a chain had not finished: the attempt that is out, and what was queued behind
    /// it, in order (invariant 4).
    pub(crate) fn give_back(&self, running: Option<Charge>, queued: impl Iterator<Item = Charge>) {
        let cancelled = running.is_some();
        let charges: Vec<_> =
            running.into_iter().chain(queued).filter(|charge| !charge.is_uncharged()).collect();
        self.shared.state.announce(|state| {
            for charge in charges.into_iter().rev() {
                if !state.ledger.is_stale(&charge) {
                    state.inbox.push_front(Trigger::Owed(charge));
                }
            }
            state.offered = false;
            if cancelled {
                state.slot.cancel();
            }
            true
        });
    }

    pub(crate) fn forget(&self, ticket: &mut Ticket) {
        self.shared.state.forget(ticket);
    }

    fn settle(&self, and: impl FnOnce(&mut State)) {
        self.shared.state.announce(|state| {
            and(state);
            if !state.asked {
                state.ledger.asked();
            }
            let owed = state.slot.settle();
            // The rejection goes to the newest chain, which may be another one than the refused one.
            mem::take(&mut state.contended) || owed || !state.inbox.is_empty()
        });
    }
}
