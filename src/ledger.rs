//! What does one rejection cost, and when is it one too many?
//!
//! The ledger is the accounting of one rider: a rejection goes in, a [`Charge`] or a [`GaveUp`] comes
//! out. It is pure, and knows no clock: what an answer is, and how long a subscription lived, is told
//! to it.
//!
//! # Invariants
//!
//! 1. A charge counts up first and compares then: budget + 1 gives up (`R8`).
//! 2. Distinct activations are a set, so that A, B, A are two; each time key has a count of its own,
//!    so that alternating keys are bounded too (`R7`).
//! 3. Only [`Ledger::answered`] clears anything (`R9`).
//! 4. A charge carries its verdict. Nothing reads the ledger to find out what a charge meant (`R15`).

use std::{
    collections::{HashMap, HashSet},
    fmt, mem,
    time::Duration,
};

use crate::{
    activation::{Activation, StreamId},
    address::Address,
    budget::Budget,
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

/// The accounting decision for one attempt, which it carries to the end (`R15`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Charge {
    // `None`: uncharged, the first ask or a trigger's.
    entry: Option<Entry>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    rejection: Rejection,
    axis: Axis,
    count: u32,
    budget: u32,
    wait: Wait,
}

impl Charge {
    /// The charge of an ask that no rejection asked for.
    pub(crate) const fn uncharged() -> Self {
        Charge { entry: None }
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
        self.entry.as_ref().map(|entry| key(&entry.rejection.speaker))
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
        /// The bound, [`Budget::longest`].
        longest: Duration,
    },
}

/// A budget is spent: what was counted, and against what.
///
/// # Examples
///
/// ```
/// use rideout::{
///     Budget, Ledger, Rejection,
///     activation::StreamId,
///     ledger::{Axis, Cause, Key},
/// };
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

/// The accounting of one rider, pure.
///
/// | rejection, in this order | axis | key | then |
/// |---|---|---|---|
/// | the route spoke | time | the route | rest |
/// | the owner, an activation that refused before | time | the activation | rest |
/// | the owner, a new activation | activation | the activation | join |
/// | the owner, untagged | activation, one more each | none | rest |
///
/// # Examples
///
/// ```
/// use rideout::{Budget, Ledger, Rejection, activation::StreamId, ledger::Axis};
///
/// let mut ledger = Ledger::new(StreamId::mint(), "prices/eur".parse()?, Budget::default());
/// let draining = Rejection::by_owner(Some("0A".parse()?));
///
/// let first = ledger.charge(draining.clone())?;
/// assert_eq!((first.axis(), first.count()), (Some(Axis::Activation), 1));
///
/// // The same activation again is one that is still draining, not a second one.
/// let again = ledger.charge(draining)?;
/// assert_eq!((again.axis(), again.count()), (Some(Axis::Time), 1));
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Ledger {
    stream: StreamId,
    address: Address,
    budget: Budget,
    asks: u32,
    // Since the last answer: who refused, how many distinct ones (untagged ones included), and how
    // often each time key did.
    refused: HashSet<Activation>,
    distinct: u32,
    repeats: HashMap<Key, u32>,
    // Who refused in the ride-out that the last answer ended (`R22`).
    before: HashSet<Activation>,
    // Since the last charge.
    answered: bool,
    last: Charge,
}

impl Ledger {
    /// Opens the ledger of `stream`, which asks `address`.
    pub fn new(stream: StreamId, address: Address, budget: Budget) -> Self {
        Ledger {
            stream,
            address,
            budget,
            asks: 0,
            refused: HashSet::new(),
            distinct: 0,
            repeats: HashMap::new(),
            before: HashSet::new(),
            answered: false,
            last: Charge::uncharged(),
        }
    }

    /// Returns the stream whose ledger this is.
    pub fn stream(&self) -> StreamId {
        self.stream
    }

    /// Returns the address that is asked.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Returns the budget that is charged.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    pub(crate) fn set_budget(&mut self, budget: Budget) {
        self.budget = budget;
    }

    /// Charges one rejection (`R7`).
    ///
    /// # Errors
    ///
    /// [`GaveUp`] when the count of its axis and key exceeds the budget (`R8`).
    pub fn charge(&mut self, rejection: Rejection) -> Result<Charge, Box<GaveUp>> {
        self.answered = false;
        let rest = Wait::Rest(self.budget.rest(rejection.not_before));
        let (axis, count, budget, wait) = match &rejection.speaker {
            Speaker::Owner(Some(tag)) if !self.refused.contains(tag) => {
                self.refused.insert(tag.clone());
                let join = Wait::Join {
                    limit: self.budget.join_limit,
                    rest: self.budget.rest(rejection.not_before),
                };
                (Axis::Activation, count_up(&mut self.distinct), self.budget.activations, join)
            }
            Speaker::Owner(None) => {
                (Axis::Activation, count_up(&mut self.distinct), self.budget.activations, rest)
            }
            repeated => {
                let count = self.repeats.entry(key(repeated)).or_default();
                (Axis::Time, count_up(count), self.budget.re_asks, rest)
            }
        };
        self.last = Charge { entry: Some(Entry { rejection, axis, count, budget, wait }) };
        if count > budget {
            return Err(self.give_up(self.cause(axis)));
        }
        Ok(self.last.clone())
    }

    /// Clears every count: an ask was answered (`R9`).
    pub fn answered(&mut self) {
        if !self.answered {
            self.answered = true;
            mem::swap(&mut self.before, &mut self.refused);
            self.refused.clear();
        }
        self.distinct = 0;
        self.repeats.clear();
    }

    /// Returns whether `activation` has refused since the last answer.
    pub fn has_refused(&self, activation: &Activation) -> bool {
        self.refused.contains(activation)
    }

    /// Returns whether `activation` refused in the ride-out that led to the subscription that is live
    /// now (`R22`): the last one that was answered, or the one that goes on.
    pub fn led_here(&self, activation: &Activation) -> bool {
        if self.answered { &self.before } else { &self.refused }.contains(activation)
    }

    /// Counts an ask that goes out, and returns its number: 1 for the first.
    pub(crate) fn asked(&mut self) -> u32 {
        count_up(&mut self.asks)
    }

    /// Reports a ride-out that outlasted its bound by the clock, `None` where none is going on.
    pub(crate) fn outlasted(&self, longest: Duration) -> Option<Box<GaveUp>> {
        self.last.entry.is_some().then(|| self.give_up(Cause::Outlasted { longest }))
    }

    fn give_up(&self, cause: Cause) -> Box<GaveUp> {
        let entry = self.last.entry.as_ref().expect("gives up on a charge only");
        Box::new(GaveUp {
            stream: self.stream,
            address: self.address.clone(),
            cause,
            axis: entry.axis,
            key: key(&entry.rejection.speaker),
            count: entry.count,
            budget: entry.budget,
            asks: self.asks,
            rejection: entry.rejection.clone(),
        })
    }

    /// Why the last charge is one too many.
    fn cause(&self, axis: Axis) -> Cause {
        let speaker = self.last.rejection().map(|rejection| &rejection.speaker);
        match (axis, speaker) {
            (Axis::Time, Some(Speaker::Route)) => Cause::Route,
            (Axis::Time, _) => Cause::Wedged,
            // One named activation among untagged ones may be all of them; two are a loop for certain.
            (Axis::Activation, _) if self.named_all() || self.refused.len() > 1 => {
                Cause::RecycleLoop
            }
            (Axis::Activation, _) => Cause::Untagged,
        }
    }

    fn named_all(&self) -> bool {
        usize::try_from(self.distinct).is_ok_and(|distinct| distinct == self.refused.len())
    }
}

/// Counts up, at most to `u32::MAX`, and returns the count (invariant 1).
fn count_up(count: &mut u32) -> u32 {
    *count = count.saturating_add(1);
    *count
}

fn key(speaker: &Speaker) -> Key {
    match speaker {
        Speaker::Owner(Some(activation)) => Key::Activation(activation.clone()),
        Speaker::Owner(None) => Key::Untagged,
        Speaker::Route => Key::Route,
    }
}
