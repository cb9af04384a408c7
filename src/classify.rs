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
///
/// Implement it for the error of a client whose refusals arrive in its own shape; for an error of
/// a foreign type, wrap it as [`Judged`].
///
/// # Examples
///
/// ```
/// use std::fmt;
///
/// use rideout::{Address, Kind, Refusal, Classify, Rejection, Ruling};
///
/// #[derive(Debug)]
/// enum ClientError {
///     Refused(Refusal),
///     HostUnreachable,
///     BadRequest,
/// }
///
/// impl fmt::Display for ClientError {
///     fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
///         match self {
///             ClientError::Refused(refusal) => refusal.fmt(f),
///             ClientError::HostUnreachable => f.write_str("host unreachable"),
///             ClientError::BadRequest => f.write_str("bad request"),
///         }
///     }
/// }
///
/// impl Classify for ClientError {
///     fn classify(&self, asked: &Address) -> Ruling {
///         match self {
///             ClientError::Refused(refusal) => refusal.classify(asked),
///             ClientError::HostUnreachable => Ruling::Promise(Rejection::by_route()),
///             ClientError::BadRequest => Ruling::Verdict(Kind::Rejected),
///         }
///     }
/// }
///
/// let asked: Address = "prices/eur".parse()?;
/// let error = ClientError::Refused(Refusal::no_node(&asked));
/// assert_eq!(error.classify(&asked), Ruling::Verdict(Kind::NotFound));
/// # Ok::<(), rideout::address::InvalidAddress>(())
/// ```
pub trait Classify {
    /// Returns what the error means to one who asked `asked`.
    ///
    /// The address decides who spoke: the sentence of another owner is not this owner's.
    fn classify(&self, asked: &Address) -> Ruling;
}

impl Classify for Refusal {
    fn classify(&self, asked: &Address) -> Ruling {
        match self.promise(asked) {
            Some(rejection) => Ruling::Promise(rejection),
            None => Ruling::Verdict(self.kind.unwrap_or_default()),
        }
    }
}

impl Classify for Infallible {
    fn classify(&self, _: &Address) -> Ruling {
        match *self {}
    }
}

impl<T: Classify + ?Sized> Classify for &T {
    fn classify(&self, asked: &Address) -> Ruling {
        (**self).classify(asked)
    }
}

impl<T: Classify + ?Sized> Classify for Box<T> {
    fn classify(&self, asked: &Address) -> Ruling {
        (**self).classify(asked)
    }
}

impl<T: Classify + ?Sized> Classify for Arc<T> {
    fn classify(&self, asked: &Address) -> Ruling {
        (**self).classify(asked)
    }
}

/// An error of a foreign type, with the ruling that its user gives it.
///
/// It displays as the error itself, and has the source of the error as its source. It is an
/// [`Error`] where that is one: a `Box<dyn Error>` is none, and `anyhow`'s is none, so give it what they
/// were made of, or a type of your own around them.
///
/// # Examples
///
/// ```
/// use std::io;
///
/// use rideout::{Judged, Kind, Rejection};
///
/// fn judge(error: io::Error) -> Judged<io::Error> {
///     match error.kind() {
///         io::ErrorKind::ConnectionRefused => Judged::promise(error, Rejection::by_route()),
///         io::ErrorKind::PermissionDenied => Judged::verdict(error, Kind::Forbidden),
///         _ => Judged::verdict(error, Kind::Failed),
///     }
/// }
///
/// assert_eq!(judge(io::Error::other("no luck")).to_string(), "no luck");
/// ```
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

impl<E> Classify for Judged<E> {
    fn classify(&self, _: &Address) -> Ruling {
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
