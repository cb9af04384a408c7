//! Tokio's clock as a timer of the tests' own: it is there without the library's feature as well.

use std::time::{Duration, Instant};

use rideout::time::Timer;

/// The clock that `start_paused` pauses.
#[derive(Clone, Copy)]
pub(crate) struct Paused;

impl Timer for Paused {
    type Sleep = tokio::time::Sleep;

    fn sleep(&self, duration: Duration) -> Self::Sleep {
        tokio::time::sleep(duration)
    }

    fn now(&self) -> Instant {
        tokio::time::Instant::now().into_std()
    }
}
