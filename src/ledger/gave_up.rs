//! The give-up: what was counted, against what, and why that is one too many.

use std::{fmt, time::Duration};

use super::{Axis, Key};
use crate::{activation::StreamId, address::Address, refusal::Rejection};

/// Why a rider gave up, as what it was and not as text alone (`R23`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Cause {
    /// One activation refused for as long as the budget reaches: its teardown is wedged.
    Wedged,
    /// Distinct activations refused one after the other: the owner is recycling in a loop.
    RecycleLoop,
    /// The route refused: no owner recycled.
    Route,
    /// The owner refused and named no activation: a wedge and a loop cannot be told apart.
    Untagged,
    /// The ride-out outlasted its bound by the clock.
    Outlasted {
        /// The bound, [`Budget::longest`](crate::Budget::longest).
        longest: Duration,
    },
}

/// A budget is spent: what was counted, and against what.
///
/// # Examples
///
/// ```
/// use rideout::{Budget, Rejection, activation::StreamId, ledger::{Axis, Cause, Key, Ledger}};
///
/// let mut ledger = Ledger::new(StreamId::mint(), "prices/eur".parse()?, Budget::default().re_asks(0));
/// let gave_up = ledger.charge(Rejection::by_route()).unwrap_err();
/// assert_eq!((gave_up.cause, gave_up.axis, gave_up.key), (Cause::Route, Axis::Time, Key::Route));
/// assert_eq!((gave_up.count, gave_up.budget), (1, 0));
/// # Ok::<_, rideout::address::InvalidAddress>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct GaveUp {
    /// The stream that gave up.
    pub stream: StreamId,
    /// The address that it asked.
    pub address: Address,
    /// Why.
    pub cause: Cause,
    /// The axis of the last charge.
    pub axis: Axis,
    /// Who was counted.
    pub key: Key,
    /// What was counted.
    pub count: u32,
    /// What the count was held against.
    pub budget: u32,
    /// How often the rider asked since it began.
    pub asks: u32,
    /// The rejection that ended it.
    pub rejection: Rejection,
}

impl fmt::Display for GaveUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let GaveUp { address, key, count, budget, asks, .. } = self;
        match self.cause {
            Cause::Wedged => write!(
                f,
                "{address}: activation {key} refused {count} times after its first refusal \
                 (budget {budget}): its teardown is wedged, this is not a slow reader"
            ),
            Cause::RecycleLoop => write!(
                f,
                "{address}: {count} distinct activations refused (budget {budget}), the last one {key}: \
                 the owner is recycling in a loop"
            ),
            Cause::Route => write!(
                f,
                "{address}: the route refused {count} times (budget {budget}): it is unavailable, \
                 and no owner recycled"
            ),
            Cause::Untagged => write!(
                f,
                "{address}: the owner refused {count} times (budget {budget}) without naming an \
                 activation: a wedge and a loop cannot be told apart"
            ),
            Cause::Outlasted { longest } => write!(
                f,
                "{address}: the ride-out outlasted its bound of {longest:?}, last charged to {key} \
                 on the {} axis ({count} of {budget})",
                self.axis
            ),
        }?;
        write!(f, "; gave up after {asks} asks")
    }
}

impl std::error::Error for GaveUp {}
