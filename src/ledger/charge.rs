//! The accounting decision for one attempt, which travels with it.

use std::{fmt, sync::Arc, time::Duration};

use crate::{
    activation::Activation,
    refusal::{Rejection, Speaker},
};

/// Which bound a rejection counts towards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Axis {
    /// Distinct activations: a new owner refused.
    Activation,
    /// Repeats: the same owner refused again, or the route did.
    Time,
}

impl fmt::Display for Axis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Axis::Activation => "activation",
            Axis::Time => "time",
        })
    }
}

/// Who is counted: the key of a charge.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Key {
    /// The owner's activation of this name.
    Activation(Activation),
    /// The owner, which named no activation.
    Untagged,
    /// The route.
    Route,
}

impl Key {
    /// Who is counted when `speaker` refuses.
    pub(super) fn of(speaker: &Speaker) -> Self {
        match speaker {
            Speaker::Owner(Some(activation)) => Key::Activation(activation.clone()),
            Speaker::Owner(None) => Key::Untagged,
            Speaker::Route => Key::Route,
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Key::Activation(activation) => activation.fmt(f),
            Key::Untagged => f.write_str("(untagged)"),
            Key::Route => f.write_str("(route)"),
        }
    }
}

/// What an attempt waits for before it asks.
///
/// The charge decides and the attempt obeys. [`RideOut`](crate::RideOut) adds what only it can know:
/// arrivals, the first re-ask with nothing to wait for (`R18`), and a life of less than one pace
/// (`R11`).
/// A later version may know other waits. One that you do not know is rested out: see
/// [`rest`](Wait::rest).
///
/// # Examples
///
/// ```
/// use std::time::Duration;
///
/// use rideout::{Budget, Rejection, activation::StreamId, ledger::Ledger};
///
/// let mut ledger = Ledger::new(StreamId::mint(), "prices/eur".parse()?, Budget::default());
/// let charge = ledger.charge(Rejection::by_owner(Some("0A".parse()?)))?;
/// assert_eq!(charge.wait().rest(), Duration::from_millis(500)); // where its teardown cannot be seen
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Wait {
    /// Nothing: the first ask, or one that a trigger asks for.
    Nothing,
    /// The teardown of the charge's activation.
    Join {
        /// The longest to wait for it: a killed process announces nothing.
        limit: Duration,
        /// What to rest instead where the teardown is over or cannot be observed, from the second such
        /// re-ask of a ride-out on.
        rest: Duration,
    },
    /// One pace, or as long as the refusal asked for.
    Rest(Duration),
}

impl Wait {
    /// Returns how long to rest where there is nothing to join; zero where there is nothing to wait for.
    pub fn rest(self) -> Duration {
        match self {
            Wait::Nothing => Duration::ZERO,
            Wait::Join { rest, .. } | Wait::Rest(rest) => rest,
        }
    }
}

/// The accounting decision for one attempt, which it carries to the end (`R15`).
///
/// Displays as a sentence for a log.
///
/// # Examples
///
/// ```
/// use rideout::{Budget, Rejection, activation::StreamId, ledger::Ledger};
///
/// let mut ledger = Ledger::new(StreamId::mint(), "prices/eur".parse()?, Budget::default());
/// let charge = ledger.charge(Rejection::by_route())?;
/// assert_eq!(charge.to_string(),
///     "refused by the route, charged to the time axis (1 of 16), rests 500ms");
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Charge {
    // `None`: uncharged, the first ask or a trigger's. Shared, for an attempt, its rider and the ledger
    // have the same one.
    entry: Option<Arc<Entry>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) rejection: Rejection,
    pub(super) axis: Axis,
    pub(super) count: u32,
    pub(super) budget: u32,
    pub(super) wait: Wait,
    // How many subscriptions had opened when it was charged.
    pub(super) opened: u64,
}

impl fmt::Display for Charge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(Entry { rejection, axis, count, budget, wait, .. }) = self.entry() else {
            return f.write_str("uncharged");
        };
        match &rejection.speaker {
            Speaker::Owner(Some(activation)) => write!(f, "refused by activation {activation}"),
            Speaker::Owner(None) => f.write_str("refused by the owner"),
            Speaker::Route => f.write_str("refused by the route"),
        }?;
        write!(f, ", charged to the {axis} axis ({count} of {budget}), ")?;
        match wait {
            Wait::Nothing => f.write_str("asks at once"),
            Wait::Join { limit, .. } => {
                write!(f, "joins its teardown, if it can be seen, for {limit:?} at most")
            }
            Wait::Rest(rest) => write!(f, "rests {rest:?}"),
        }
    }
}

impl Charge {
    /// The charge of an ask that no rejection asked for.
    pub(crate) const fn uncharged() -> Self {
        Charge { entry: None }
    }

    pub(super) fn of(entry: Arc<Entry>) -> Self {
        Charge { entry: Some(entry) }
    }

    pub(super) fn entry(&self) -> Option<&Entry> {
        self.entry.as_deref()
    }

    /// Returns `true` for the first ask, and for one that a trigger asked for.
    pub fn is_uncharged(&self) -> bool {
        self.entry.is_none()
    }

    /// Returns what the attempt waits for before it asks.
    pub fn wait(&self) -> Wait {
        self.entry.as_ref().map_or(Wait::Nothing, |entry| entry.wait)
    }

    /// Returns the axis that was charged, `None` for an uncharged ask.
    pub fn axis(&self) -> Option<Axis> {
        self.entry.as_ref().map(|entry| entry.axis)
    }

    /// Returns who was counted, `None` for an uncharged ask.
    pub fn key(&self) -> Option<Key> {
        self.entry.as_ref().map(|entry| Key::of(&entry.rejection.speaker))
    }

    /// Returns the activation that refused, where one was named.
    pub fn activation(&self) -> Option<&Activation> {
        match &self.entry.as_ref()?.rejection.speaker {
            Speaker::Owner(activation) => activation.as_ref(),
            Speaker::Route => None,
        }
    }

    /// Returns the rejection that was charged, `None` for an uncharged ask.
    pub fn rejection(&self) -> Option<&Rejection> {
        self.entry.as_ref().map(|entry| &entry.rejection)
    }

    /// Returns the count that this charge reached, 0 for an uncharged ask.
    pub fn count(&self) -> u32 {
        self.entry.as_ref().map_or(0, |entry| entry.count)
    }

    /// Returns the budget that the count is held against, 0 for an uncharged ask.
    pub fn budget(&self) -> u32 {
        self.entry.as_ref().map_or(0, |entry| entry.budget)
    }
}
