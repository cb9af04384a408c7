//! A lifetime and its driver, on a clock that is moved by hand: every instant is exact, and every timer
//! is counted.

use std::{pin::Pin, task::Waker, time::Duration};

use super::{
    by_hand::poll,
    hand_clock::{Clock, address, ms},
    heard::Heard,
};
use rideout::owner::{Driver, Lifecycle};
use tracing::Level;

pub(crate) fn secs(count: u64) -> Duration {
    Duration::from_secs(count)
}

pub(crate) fn owner() -> Lifecycle {
    Lifecycle::new(address())
}

pub(crate) fn child(parent: &Lifecycle) -> Lifecycle {
    parent.child("prices/eur/spot".parse().unwrap()).expect("its parent lives")
}

/// A driver on a clock of its own.
pub(crate) struct Driven<F> {
    pub(crate) clock: Clock,
    pub(crate) future: Pin<Box<Driver<F, Clock>>>,
}

impl<F: Future<Output = ()>> Driven<F> {
    pub(crate) fn new(owner: &Lifecycle, on_end: F) -> Self {
        Self::with(owner, on_end, |driver| driver)
    }

    /// One that is given other limits by `set`.
    pub(crate) fn with(
        owner: &Lifecycle,
        on_end: F,
        set: impl FnOnce(Driver<F, Clock>) -> Driver<F, Clock>,
    ) -> Self {
        let clock = Clock::new();
        Driven { future: Box::pin(set(owner.driver_on(clock.clone(), on_end))), clock }
    }

    pub(crate) fn poll(&mut self) -> bool {
        poll(&mut self.future, Waker::noop()).is_ready()
    }

    /// Goes on so long, and is not over meanwhile.
    pub(crate) fn lasts(&mut self, time: Duration) {
        assert!(!self.poll());
        self.clock.advance(time - ms(1));
        assert!(!self.poll(), "over before {time:?}");
        self.clock.advance(ms(1));
    }

    /// Goes to its end, from timer to timer, and tells when that is; nothing is left then.
    pub(crate) fn ends(&mut self) -> Duration {
        while !self.poll() {
            self.clock.skip().expect("it waits for nothing");
        }
        assert_eq!(self.clock.sleeps(), 0);
        self.clock.elapsed()
    }
}

pub(crate) fn said(heard: &Heard) -> Vec<Level> {
    heard.all().iter().map(|said| said.level).collect()
}
