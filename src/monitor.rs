//! How is a state watched by tasks without a lost wake-up, and without foreign code under its lock?
//!
//! A [`Monitor`] is a state and the wakers of those who wait on it, under one lock. [`Slot`] and
//! [`Teardown`] are its two questions: "is something owed and the place free", "is it complete".
//!
//! # Invariants
//!
//! 1. **Looking and registering is one step.** A waiter that finds its question unanswered has its
//!    waker registered before the lock is given up, so that whatever changes the state next finds
//!    it.
//! 2. **A change that may answer somebody's question is announced**: it takes out every waker there
//!    is in the step that makes the change, and wakes them all. So nobody whose question is
//!    answered is still registered, and a waiter that is woken and then dropped takes no other's
//!    wake-up along (C12).
//! 3. **A waiter has one waker**, of the task that polled it last, and it leaves with the waiter
//!    (C38, C39). Tickets are never used twice, so a ticket whose waker was taken out finds
//!    nothing, and nobody else's.
//! 4. **No foreign code runs under the lock.** A waker's clone, wake and drop may come back in
//!    here; each happens before the lock or after it. Under it wakers are compared (`will_wake`)
//!    and moved.
//! 5. **A waker that panics loses nobody.** All others are woken first, then the first panic goes
//!    on to the caller.
//!
//! [`Slot`]: crate::slot::Slot
//! [`Teardown`]: crate::Teardown

use std::{
    collections::BTreeMap,
    task::{Context, Poll, Waker},
};

use crate::{
    sync::{Mutex, lock},
    unwind::FirstPanic,
};

/// A waiter's place in a [`Monitor`]; one that never waited has none.
#[derive(Debug, Default)]
pub(crate) struct Ticket(Option<u64>);

/// A state under a lock, and those who wait for it to change.
#[derive(Debug, Default)]
pub(crate) struct Monitor<S> {
    guarded: Mutex<Guarded<S>>,
}

#[derive(Debug, Default)]
struct Guarded<S> {
    state: S,
    next_ticket: u64,
    // Ordered, so that they are woken in the order in which they began to wait.
    wakers: BTreeMap<u64, Waker>,
}

impl<S> Monitor<S> {
    /// Creates a monitor of `state`, on which nobody waits.
    pub(crate) fn new(state: S) -> Self {
        let guarded = Guarded { state, next_ticket: 0, wakers: BTreeMap::new() };
        Monitor { guarded: Mutex::new(guarded) }
    }

    /// Runs `f` on the state: a look, or a change that answers nobody's question.
    pub(crate) fn with<R>(&self, f: impl FnOnce(&mut S) -> R) -> R {
        f(&mut lock(&self.guarded).state)
    }

    /// Runs `f` on the state and, where it returns true, wakes all who wait. Returns what `f` did.
    pub(crate) fn announce(&self, f: impl FnOnce(&mut S) -> bool) -> bool {
        let wakers = {
            let mut guarded = lock(&self.guarded);
            if !f(&mut guarded.state) {
                return false;
            }
            // Invariant 2: in this very step, so that who registers after it is not woken for it.
            std::mem::take(&mut guarded.wakers)
        };
        wake_all(wakers);
        true
    }

    /// Asks `question` of the state; where it has no answer, has the task of `cx` woken by the next
    /// announcement.
    pub(crate) fn poll<R>(
        &self,
        ticket: &mut Ticket,
        cx: &mut Context<'_>,
        mut question: impl FnMut(&mut S) -> Option<R>,
    ) -> Poll<R> {
        // Invariant 4: cloned between two looks, and only where none of this task is registered.
        // Declared before the guard, so that it is dropped after it on every way out.
        let mut fresh = None;
        loop {
            let mut guarded = lock(&self.guarded);
            if let Some(answer) = question(&mut guarded.state) {
                return Poll::Ready(answer);
            }
            if guarded.will_wake(ticket, cx.waker()) {
                return Poll::Pending;
            }
            if let Some(waker) = fresh.take() {
                let replaced = guarded.register(ticket, waker);
                drop(guarded);
                drop(replaced);
                return Poll::Pending;
            }
            drop(guarded);
            fresh = Some(cx.waker().clone());
        }
    }

    /// Takes the waker of a waiter that goes away out again.
    pub(crate) fn forget(&self, ticket: &mut Ticket) {
        if let Some(number) = ticket.0.take() {
            let waker = lock(&self.guarded).wakers.remove(&number);
            drop(waker);
        }
    }

    /// Returns how many wait.
    pub(crate) fn waiters(&self) -> usize {
        lock(&self.guarded).wakers.len()
    }
}

impl<S> Guarded<S> {
    fn will_wake(&self, ticket: &Ticket, waker: &Waker) -> bool {
        ticket
            .0
            .and_then(|number| self.wakers.get(&number))
            .is_some_and(|registered| registered.will_wake(waker))
    }

    // Returns the waker it replaces, for the caller to drop after the lock (invariant 4).
    fn register(&mut self, ticket: &mut Ticket, waker: Waker) -> Option<Waker> {
        let number = *ticket.0.get_or_insert_with(|| {
            self.next_ticket += 1;
            self.next_ticket
        });
        self.wakers.insert(number, waker)
    }
}

// Invariant 5.
fn wake_all(wakers: BTreeMap<u64, Waker>) {
    FirstPanic::run_all(wakers.into_values().map(|waker| move || waker.wake()));
}
