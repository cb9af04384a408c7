//! Whether an error is a promise, to be ridden out, or a verdict, which is final.
//!
//! An error type of yours says so by the trait [`Classify`]. For an error type of another crate, give
//! the builder or the operator a function instead: see
//! [`RideOutBuilder::classify`](crate::rider::RideOutBuilder::classify).

use std::{convert::Infallible, fmt, sync::Arc};

use crate::{
    address::Address,
    refusal::{Kind, Refusal, Rejection},
};

/// What an error means to a rider.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ruling {
    /// The address may come back: ride it out, and account for this rejection.
    Promise(Rejection),
    /// It is final.
    Verdict(Kind),
}

/// An error that can tell a promise from a verdict.
///
/// Implement it for the error type of your client. For the error type of another crate, pass a function
/// of the same shape to [`RideOutBuilder::classify`](crate::rider::RideOutBuilder::classify),
/// [`PointReadBuilder::classify`](crate::rider::PointReadBuilder::classify) or
/// [`concat_attempts_by`](crate::CarrierExt::concat_attempts_by).
///
/// The text that [`Display`](fmt::Display) gives is shown in the warning of a give-up.
///
/// # Examples
///
/// ```
/// use std::fmt;
///
/// use rideout::{Address, Classify, Kind, Refusal, Rejection, Ruling};
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
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say whether it is a promise or a verdict",
    label = "the error type of the ask and its stream must implement `Classify`",
    note = "implement `rideout::Classify` for it, or classify it by a function: the builders of riders and reads have `.classify(function)`, and a chain has `concat_attempts_by`"
)]
pub trait Classify: fmt::Display {
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

/// A function that says what an error means to one who asked an address. It captures nothing.
///
/// [`Classify::classify`] is one.
pub type Classifier<E> = fn(&E, &Address) -> Ruling;

/// Says that errors classify themselves, by the trait [`Classify`].
///
/// The last type parameter of a builder that was given no function.
#[derive(Debug, Clone, Copy, Default)]
pub struct ByTrait;
