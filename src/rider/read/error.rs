//! How a read ends without a value.

use std::{error::Error, fmt, time::Duration};

use crate::{address::Address, diagnosis::Shape};

/// How a read ends without a value (`R29`).
#[derive(Debug)]
#[non_exhaustive]
pub enum PointReadError<E> {
    /// The address answered that there is nothing: the only evidence of absence.
    Absent(E),
    /// The address answered with another verdict.
    Verdict(E),
    /// The deadline was spent on promises: the owner is recycling, and nothing is known of the value.
    Recycling(Recycling<E>),
    /// Neither an answer nor a refusal came before the deadline.
    TimedOut {
        /// The address that was asked.
        address: Address,
        /// How often it was asked.
        asks: u32,
        /// The deadline.
        deadline: Duration,
    },
}

/// A deadline that was spent on promises.
#[derive(Debug)]
#[non_exhaustive]
pub struct Recycling<E> {
    /// The address that was asked.
    pub address: Address,
    /// How often it was asked.
    pub asks: u32,
    /// How many of the asks were refused with a promise.
    pub refusals: u32,
    /// How long the read took.
    pub elapsed: Duration,
    /// The deadline.
    pub deadline: Duration,
    /// How many distinct activations refused.
    pub owners: usize,
    /// What the refusals look like.
    pub shape: Shape,
    /// The last refusal.
    pub last: E,
}

impl<E> fmt::Display for Recycling<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Recycling { address, asks, refusals, elapsed, deadline, shape, .. } = self;
        write!(
            f,
            "{address} is recycling: {refusals} of {asks} asks refused in {elapsed:?} (deadline \
             {deadline:?}); {shape}"
        )
    }
}

impl<E: fmt::Display> fmt::Display for PointReadError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PointReadError::Absent(error) | PointReadError::Verdict(error) => error.fmt(f),
            PointReadError::Recycling(recycling) => recycling.fmt(f),
            PointReadError::TimedOut { address, asks, deadline } => {
                write!(f, "{address} did not answer {asks} asks within the deadline {deadline:?}")
            }
        }
    }
}

impl<E: Error + 'static> Error for PointReadError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            // Displayed as the error itself, so its source is what comes next.
            PointReadError::Absent(error) | PointReadError::Verdict(error) => error.source(),
            PointReadError::Recycling(recycling) => Some(&recycling.last),
            PointReadError::TimedOut { .. } => None,
        }
    }
}
