//! An error type of one's own, which has its ruling with it.

use std::{error::Error, fmt};

use rideout::{Address, Classify, Kind, Rejection, Ruling};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ruled<E> {
    pub(crate) error: E,
    pub(crate) ruling: Ruling,
}

impl<E> Ruled<E> {
    pub(crate) fn promise(error: E, rejection: Rejection) -> Self {
        Ruled { error, ruling: Ruling::Promise(rejection) }
    }

    pub(crate) fn verdict(error: E, kind: Kind) -> Self {
        Ruled { error, ruling: Ruling::Verdict(kind) }
    }
}

impl<E: fmt::Display> Classify for Ruled<E> {
    fn classify(&self, _: &Address) -> Ruling {
        self.ruling.clone()
    }
}

impl<E: fmt::Display> fmt::Display for Ruled<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<E: Error> Error for Ruled<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}
