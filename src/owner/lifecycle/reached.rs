use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
};

use super::{Lifecycle, RunLevel, waiter::Waiter};

/// Future for the [`Lifecycle::reached`] method.
///
/// Once ready it stays ready: it may be polled again.
#[must_use = "futures do nothing unless polled"]
pub struct Reached {
    waiter: Waiter,
    level: RunLevel,
}

impl Lifecycle {
    /// Returns a future that is ready once it is at `level` or beyond; at once where it is already.
    ///
    /// It holds the lifetime as a handle does. To wait for the end without that, wait for its
    /// [`teardown`](Lifecycle::teardown).
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: the future owns nothing but its place among those who wait.
    ///
    /// # Examples
    ///
    /// The loop of an owner ends when it is told to:
    ///
    /// ```
    /// use rideout::owner::{Ending, Lifecycle, RunLevel};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let owner = Lifecycle::new("prices/eur".parse()?);
    /// owner.dispose(Ending::dispose());
    /// owner.reached(RunLevel::DisposeHosted).await;
    /// # Ok(())
    /// # }
    /// ```
    pub fn reached(&self, level: RunLevel) -> Reached {
        Reached { waiter: Waiter::new(self), level }
    }
}

impl fmt::Debug for Reached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reached")
            .field("lifecycle", self.waiter.lifecycle())
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
