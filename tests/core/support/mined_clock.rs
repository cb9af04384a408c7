//! A clock that is mined.

use super::{hand_clock::Clock, mine::Mine};

impl Mine {
    /// A clock that steps on it with all that is asked of the clock.
    pub(crate) fn clock(&self) -> Clock {
        let mine = self.clone();
        Clock::telling(move |who| mine.step(who))
    }
}
