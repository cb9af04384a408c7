//! Is an error worth riding out?
//!
//! Any error type takes part through one trait: it says whether it is a promise, with the rejection
//! to account for, or a verdict, with its kind.

use std::{convert::Infallible, error::Error, fmt, sync::Arc};

use crate::{
    address::Address,
    refusal::{Kind, Refusal, Rejection},
};

/// What an error means to a rider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// The address may come back: ride it out, and account for this rejection.
    Promise(Rejection),
    /// It is final.
    Verdict(Kind),
}

/// An error that can tell a promise from a verdict.
pub trait Refused {
    /// Returns what the error means to one who asked `asked`.
    ///
    /// The address decides who spoke: the sentence of another owner is not this owner's.
    fn ruling(&self, asked: &Address) -> Ruling;
}

impl Refused for Refusal {
    fn ruling(&self, asked: &Address) -> Ruling {
        match self.promise(asked) {
            Some(rejection) => Ruling::Promise(rejection),
            None => Ruling::Verdict(self.kind.unwrap_or_default()),
        }
    }
}

impl Refused for Infallible {
    fn ruling(&self, _: &Address) -> Ruling {
        match *self {}
    }
}

impl<T: Refused + ?Sized> Refused for &T {
    fn ruling(&self, asked: &Address) -> Ruling {
        (**self).ruling(asked)
    }
}

impl<T: Refused + ?Sized> Refused for Box<T> {
    fn ruling(&self, asked: &Address) -> Ruling {
        (**self).ruling(asked)
    }
}

impl<T: Refused + ?Sized> Refused for Arc<T> {
    fn ruling(&self, asked: &Address) -> Ruling {
        (**self).ruling(asked)
    }
}

/// An error of a foreign type, with the ruling that its user gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged<E> {
    /// The error.
    pub error: E,
    /// What it means.
    pub ruling: Ruling,
}

impl<E> Judged<E> {
    /// Returns `error` as a promise.
    pub fn promise(error: E, rejection: Rejection) -> Self {
        Self { error, ruling: Ruling::Promise(rejection) }
    }

    /// Returns `error` as a verdict.
    pub fn verdict(error: E, kind: Kind) -> Self {
        Self { error, ruling: Ruling::Verdict(kind) }
    }
}

impl<E> Refused for Judged<E> {
    fn ruling(&self, _: &Address) -> Ruling {
        self.ruling.clone()
    }
}

impl<E: fmt::Display> fmt::Display for Judged<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<E: Error> Error for Judged<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}
