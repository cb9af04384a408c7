//! How a ride ends other than by its stream's completion: a give-up, or a verdict.

use std::{error::Error, fmt};

use crate::ledger::GaveUp;

/// The error in which a ride ends: a budget was spent, or the address answered with a verdict.
///
/// It is one pointer wide, so that an item's way stays cheap; what it holds is an [`End`].
///
/// It displays as the report of the give-up, whose source is the last error that was ridden out, or as
/// the verdict itself.
///
/// # Examples
///
/// ```
/// use rideout::{Refusal, RideError, carrier::End, refusal::Kind};
///
/// fn ask_again_later(error: &RideError<Refusal>) -> bool {
///     error.gave_up().is_some() // a verdict would be the same later
/// }
///
/// let error = RideError::from(End::Verdict(Refusal::new(Kind::NotFound, "no such price")));
/// assert!(!ask_again_later(&error));
/// assert_eq!(error.verdict().and_then(|refusal| refusal.kind), Some(Kind::NotFound));
/// assert_eq!(error.to_string(), "no such price");
/// ```
pub struct RideError<E>(Box<End<E>>);

/// What a [`RideError`] holds.
///
/// # Examples
///
/// ```
/// use rideout::{Refusal, RideError, carrier::End};
///
/// fn explain(error: RideError<Refusal>) -> String {
///     match error.into_end() {
///         End::GaveUp { report, last: Some(last) } => format!("{report}; last: {last}"),
///         End::GaveUp { report, .. } => report.to_string(),
///         End::Verdict(refusal) => format!("refused: {refusal}"),
///         other => format!("{other:?}"),
///     }
/// }
///
/// let verdict = End::Verdict(Refusal::no_node(&"prices/eur".parse()?));
/// assert_eq!(explain(verdict.into()), "refused: No node found at 'prices/eur'");
/// # Ok::<_, rideout::address::InvalidAddress>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum End<E> {
    /// A budget is spent.
    GaveUp {
        /// What was counted, against what budget, and why it gave up.
        report: GaveUp,
        /// The last error that was ridden out, where there was one.
        last: Option<E>,
    },
    /// An error that is no promise.
    Verdict(E),
}

impl<E: fmt::Debug> fmt::Debug for RideError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<E> RideError<E> {
    /// Returns what ended the ride.
    pub fn end(&self) -> &End<E> {
        &self.0
    }

    /// Returns what ended the ride, by value.
    pub fn into_end(self) -> End<E> {
        *self.0
    }

    /// Returns the report of a give-up, or `None` for a verdict.
    pub fn gave_up(&self) -> Option<&GaveUp> {
        match self.end() {
            End::GaveUp { report, .. } => Some(report),
            End::Verdict(_) => None,
        }
    }

    /// Returns the verdict, or `None` for a give-up.
    pub fn verdict(&self) -> Option<&E> {
        match self.end() {
            End::GaveUp { .. } => None,
            End::Verdict(error) => Some(error),
        }
    }

    /// Returns the error of the ask or its stream: the verdict, or the last error that was ridden out
    /// before a give-up. `None` where a give-up followed no error, such as an announced end.
    pub fn into_inner(self) -> Option<E> {
        match self.into_end() {
            End::GaveUp { last, .. } => last,
            End::Verdict(error) => Some(error),
        }
    }
}

impl<E> From<End<E>> for RideError<E> {
    fn from(end: End<E>) -> Self {
        RideError(Box::new(end))
    }
}

impl<E: fmt::Display> fmt::Display for RideError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.end() {
            End::GaveUp { report, .. } => report.fmt(f),
            End::Verdict(error) => error.fmt(f),
        }
    }
}

impl<E: Error + 'static> Error for RideError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self.end() {
            End::GaveUp { last, .. } => last.as_ref().map(|error| error as _),
            // Displayed as the error itself, so its source is what comes next.
            End::Verdict(error) => error.source(),
        }
    }
}
