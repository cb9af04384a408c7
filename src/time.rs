//! Where does a rider's time come from?
//!
//! From a [`Timer`] that it is given: tokio's clock by default (feature `tokio`), which follows
//! `tokio::time::pause`, or any other. This is the only file that names a runtime's clock.

use std::{
    convert::Infallible,
    time::{Duration, Instant},
};
#[cfg(feature = "tokio")]
use std::{
    pin::Pin,
    task::{Context, Poll},
};

/// A clock and the sleeps that go by it.
///
/// A rider reads the clock when something happens to it (an ask, a wait, an arrival, an end), never for an item. It
/// sleeps for a rest, the limit of a join, or the limit of an ask and, where it was given them, between
/// two beats and for a pace after a gap (`R17`).
///
/// # Examples
///
/// A clock that a test moves by hand:
///
/// ```
/// use std::{
///     future::{Ready, ready},
///     time::{Duration, Instant},
/// };
///
/// use rideout::time::Timer;
///
/// struct Hasty(Instant);
///
/// impl Timer for Hasty {
///     type Sleep = Ready<()>;
///
///     fn sleep(&self, _: Duration) -> Ready<()> {
///         ready(())
///     }
///
///     fn now(&self) -> Instant {
///         self.0
///     }
/// }
///
/// let timer = Hasty(Instant::now());
/// assert_eq!(timer.now(), timer.now());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no timer",
    note = "without the feature `tokio` a builder has no default timer: give it one with `.timer(…)`"
)]
pub trait Timer {
    /// Is ready once its time is over.
    type Sleep: Future<Output = ()>;

    /// Starts a sleep. Any duration is a valid one; one that the clock cannot represent becomes one of some decades.
    fn sleep(&self, duration: Duration) -> Self::Sleep;

    /// Reads the clock.
    fn now(&self) -> Instant;
}

/// The timer on tokio's clock.
///
/// # Panics
///
/// A sleep panics when it is made outside a tokio runtime whose time driver is on.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
///
/// use rideout::time::{Timer, TokioTimer};
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// let began = TokioTimer.now();
/// TokioTimer.sleep(Duration::from_secs(60)).await; // virtual time: over at once
/// assert!(TokioTimer.now() - began >= Duration::from_secs(60));
/// # }
/// ```
#[cfg(feature = "tokio")]
#[derive(Debug, Clone, Copy, Default)]
pub struct TokioTimer;

#[cfg(feature = "tokio")]
impl Timer for TokioTimer {
    type Sleep = TokioSleep;

    fn sleep(&self, duration: Duration) -> TokioSleep {
        TokioSleep(tokio::time::sleep(duration))
    }

    fn now(&self) -> Instant {
        tokio::time::Instant::now().into_std()
    }
}

/// Future for the [`sleep`](Timer::sleep) method of [`TokioTimer`].
#[cfg(feature = "tokio")]
#[pin_project::pin_project]
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct TokioSleep(#[pin] tokio::time::Sleep);

#[cfg(feature = "tokio")]
impl Future for TokioSleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.project().0.poll(cx)
    }
}

/// Stands where a builder has no timer yet: without the feature `tokio` there is no default.
///
/// It is deliberately no [`Timer`], so that a rider cannot be built without one.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoTimer;

/// No value of this type exists, so neither does a sleep of it.
impl Timer for Infallible {
    type Sleep = std::future::Pending<()>;

    fn sleep(&self, _: Duration) -> Self::Sleep {
        match *self {}
    }

    fn now(&self) -> Instant {
        match *self {}
    }
}

/// The timer of a builder that was given none.
#[cfg(feature = "tokio")]
pub type DefaultTimer = TokioTimer;

/// The timer of a builder that was given none.
#[cfg(not(feature = "tokio"))]
pub type DefaultTimer = NoTimer;

/// Only a placeholder in a type name. The rider uses the timer that its builder is given.
#[cfg(feature = "tokio")]
pub(crate) type SomeTimer = TokioTimer;
#[cfg(not(feature = "tokio"))]
pub(crate) type SomeTimer = Infallible;

/// Adds, and stays in what an `Instant` can tell: a time too far to be told is decades away.
pub(crate) fn later(now: Instant, duration: Duration) -> Instant {
    const DECADES: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);
    now.checked_add(duration).unwrap_or_else(|| now + DECADES)
}
