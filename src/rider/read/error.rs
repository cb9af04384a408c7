//! How a read ends without a value.

use std::{error::Error, fmt, time::Duration};

use crate::{address::Address, diagnosis::Shape};

/// The error in which a read ends: nothing is there, a verdict, or the deadline.
///
/// It is one pointer wide; what it holds is a [`PointReadEnd`]. It displays as the error of the ask
/// where there is nothing or a verdict, and otherwise says how often it asked, and within which deadline.
///
/// # Examples
///
/// ```
/// use rideout::{PointRead, Refusal, rider::PointReadEnd};
///
/// # #[cfg(not(feature = "tokio"))]
/// # fn main() {}
/// # #[cfg(feature = "tokio")]
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let address: rideout::Address = "prices/eur".parse()?;
/// let absent = Refusal::no_node(&address);
/// let price = PointRead::new(address, |_| std::future::ready(Err::<u32, _>(absent.clone())));
///
/// match price.await.map_err(|error| error.into_end()) {
///     Ok(price) => println!("{price}"),
///     Err(PointReadEnd::Absent(_)) => println!("no price yet"),
///     Err(PointReadEnd::Recycling(_) | PointReadEnd::TimedOut { .. }) => println!("unknown for now"),
///     Err(other) => println!("failed: {other:?}"),
/// }
/// # Ok(())
/// # }
/// ```
pub struct PointReadError<E>(Box<PointReadEnd<E>>);

/// What a [`PointReadError`] holds.
#[derive(Debug)]
#[non_exhaustive]
pub enum PointReadEnd<E> {
    /// The address answered that nothing is there: the only evidence of absence.
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

impl<E: fmt::Debug> fmt::Debug for PointReadError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<E> PointReadError<E> {
    /// Returns what ended the read.
    pub fn end(&self) -> &PointReadEnd<E> {
        &self.0
    }

    /// Returns what ended the read, by value.
    pub fn into_end(self) -> PointReadEnd<E> {
        *self.0
    }

    /// Returns the refusal that is evidence of absence, where that ended the read.
    pub fn absent(&self) -> Option<&E> {
        match self.end() {
            PointReadEnd::Absent(error) => Some(error),
            _ => None,
        }
    }

    /// Returns the verdict, where one other than absence ended the read.
    pub fn verdict(&self) -> Option<&E> {
        match self.end() {
            PointReadEnd::Verdict(error) => Some(error),
            _ => None,
        }
    }

    /// Returns what the deadline was spent on, where that was promises.
    pub fn recycling(&self) -> Option<&Recycling<E>> {
        match self.end() {
            PointReadEnd::Recycling(recycling) => Some(recycling),
            _ => None,
        }
    }

    /// Returns the last error of an ask; `None` where no ask was refused.
    pub fn into_inner(self) -> Option<E> {
        match self.into_end() {
            PointReadEnd::Absent(error) | PointReadEnd::Verdict(error) => Some(error),
            PointReadEnd::Recycling(recycling) => Some(recycling.last),
            PointReadEnd::TimedOut { .. } => None,
        }
    }
}

impl<E> From<PointReadEnd<E>> for PointReadError<E> {
    fn from(end: PointReadEnd<E>) -> Self {
        PointReadError(Box::new(end))
    }
}

impl<E: fmt::Display> fmt::Display for PointReadError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.end() {
            PointReadEnd::Absent(error) | PointReadEnd::Verdict(error) => error.fmt(f),
            PointReadEnd::Recycling(recycling) => recycling.fmt(f),
            PointReadEnd::TimedOut { address, asks, deadline } => {
                write!(f, "{address} did not answer {asks} asks within the deadline {deadline:?}")
            }
        }
    }
}

impl<E: Error + 'static> Error for PointReadError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self.end() {
            // Displayed as the error itself, so its source is what comes next.
            PointReadEnd::Absent(error) | PointReadEnd::Verdict(error) => error.source(),
            PointReadEnd::Recycling(recycling) => Some(&recycling.last),
            PointReadEnd::TimedOut { .. } => None,
        }
    }
}
