//! How a rider ends: running, failing with its error, or over.

use crate::carrier::RideError;

/// Where a rider is on its way to its end.
pub(super) enum Ending<E> {
    /// It rides.
    Running,
    /// It ends in `error`, which is told next. A give-up is warned of before (`R23`), once.
    Failing { error: RideError<E>, warned: bool },
    /// It has told its end.
    Over,
}

impl<E> Ending<E> {
    pub(super) fn is_over(&self) -> bool {
        matches!(self, Ending::Over)
    }
}
