//! When is an owner's teardown over? Completed once, told to everyone, however late they ask (R38).
//!
//! The owner's side holds a [`Teardown`] and completes it after its last step; a rider that joins
//! it awaits [`Teardown::completed`]. Completion publishes: whoever was told sees all that was done
//! before it. The state is one bit under one lock, with the invariants of `monitor`:
//!
//! 1. The bit is set once and never cleared; the call that set it is the one that returns true.
//! 2. Setting it takes out every waiter there is, in one step; from then on nobody registers.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use crate::{
    monitor::{Monitor, Ticket},
    sync::Arc,
};

/// A one-time signal that an owner is torn down.
///
/// A handle: clones share one signal, any of them completes it or waits on it. Any number of tasks
/// may wait, thousands too: to join, to be polled again and to leave costs each of them the
/// logarithm of their number. A signal whose handles are all dropped without completion never comes
/// (a killed process announces nothing), so a join is bounded by its rider (R18).
///
/// Complete it once the owner has left its directory: a reader that is woken while routes still lead to
/// the dead one meets it once more, and rests a pace (R19).
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// use rideout::teardown::Teardown;
///
/// let teardown = Teardown::new();
/// let early = tokio::spawn(teardown.completed());
///
/// assert!(teardown.complete());
/// early.await.unwrap();
/// teardown.completed().await; // a late waiter is told at once
/// # }
/// ```
#[derive(Clone, Default)]
pub struct Teardown {
    complete: Arc<Monitor<bool>>,
}

impl fmt::Debug for Teardown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Teardown")
            .field("complete", &self.is_complete())
            .field("waiters", &self.waiters())
            .finish()
    }
}

impl Teardown {
    /// Creates a signal that is not complete.
    ///
    /// # Examples
    ///
    /// ```
    /// assert!(!rideout::teardown::Teardown::new().is_complete());
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Completes the signal and wakes everyone who waits; returns true for the one call that did
    /// it.
    ///
    /// Wakers run on the calling task, after the state has changed and with nothing locked, so a
    /// waiter that runs inside its own wake-up may do anything, completing included.
    ///
    /// # Panics
    ///
    /// Only where a waiter's waker does: all others are woken first, then the first such panic goes
    /// on.
    ///
    /// # Examples
    ///
    /// ```
    /// let teardown = rideout::teardown::Teardown::new();
    /// assert!(teardown.complete());
    /// assert!(!teardown.complete());
    /// ```
    pub fn complete(&self) -> bool {
        self.complete.announce(|complete| !std::mem::replace(complete, true))
    }

    /// Returns whether the signal is complete.
    ///
    /// # Examples
    ///
    /// ```
    /// let teardown = rideout::teardown::Teardown::new();
    /// teardown.complete();
    /// assert!(teardown.is_complete());
    /// ```
    pub fn is_complete(&self) -> bool {
        self.complete.with(|complete| *complete)
    }

    /// Returns a future that is ready when the signal is complete; at once where it is already.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: the future owns nothing but its place among the waiters, and gives it back when
    /// it is dropped.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() {
    /// let teardown = rideout::teardown::Teardown::new();
    /// let join = teardown.completed();
    /// teardown.complete(); // between the making of the join and its first poll
    /// join.await;
    /// # }
    /// ```
    pub fn completed(&self) -> Completed {
        Completed { complete: Arc::clone(&self.complete), ticket: Ticket::default() }
    }

    /// Returns how many futures wait at this moment: a diagnostic, out of date as soon as it is
    /// read.
    ///
    /// # Examples
    ///
    /// ```
    /// let teardown = rideout::teardown::Teardown::new();
    /// let unpolled = teardown.completed();
    /// assert_eq!(teardown.waiters(), 0);
    /// # drop(unpolled);
    /// ```
    pub fn waiters(&self) -> usize {
        self.complete.waiters()
    }
}

/// Future for the [`Teardown::completed`] method.
///
/// Once ready it stays ready: it may be polled again.
///
/// # Examples
///
/// ```
/// use rideout::teardown::{Completed, Teardown};
///
/// struct Join {
///     predecessor: Completed, // keeps no borrow of the signal
/// }
/// let join = Join { predecessor: Teardown::new().completed() };
/// # drop(join);
/// ```
#[must_use = "futures do nothing unless polled"]
pub struct Completed {
    complete: Arc<Monitor<bool>>,
    ticket: Ticket,
}

impl fmt::Debug for Completed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Completed")
            .field("complete", &self.complete.with(|complete| *complete))
            .finish_non_exhaustive()
    }
}

impl Future for Completed {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        this.complete.poll(&mut this.ticket, cx, |complete| complete.then_some(()))
    }
}

impl Drop for Completed {
    fn drop(&mut self) {
        self.complete.forget(&mut self.ticket);
    }
}
