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
//! 4. A charge says all that it means. Nothing reads the ledger to find out what it meant (`R15`).

mod charge;
mod gave_up;
mod refused;

use std::{mem, sync::Arc, time::Duration};

use self::{charge::Entry, refused::Refused};
pub use self::{
    charge::{Axis, Charge, Key, Wait},
    gave_up::{Cause, GaveUp},
};
use crate::{
    activation::{Activation, StreamId},
    address::Address,
    budget::Budget,
    refusal::{Rejection, Speaker},
};

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
/// use rideout::{Budget, Rejection, activation::StreamId, ledger::{Axis, Ledger}};
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
    // How many subscriptions have opened: what was charged before the last one is stale (`R9`).
    opened: u64,
    // Since the last answer: who refused, and how often again; how many distinct ones (untagged ones
    // included); and how often the route did.
    refused: Refused,
    distinct: u32,
    by_route: u32,
    // Who refused in the ride-out that the last answer ended (`R22`).
    before: Refused,
    // Since the last charge.
    answered: bool,
    // The last charge. Its place is used again once no attempt has it any more.
    last: Option<Arc<Entry>>,
}

impl Ledger {
    /// Opens the ledger of `stream`, which asks `address`.
    pub fn new(stream: StreamId, address: Address, budget: Budget) -> Self {
        Ledger {
            stream,
            address,
            budget,
            asks: 0,
            opened: 0,
            refused: Refused::default(),
            distinct: 0,
            by_route: 0,
            before: Refused::default(),
            answered: false,
            last: None,
        }
    }

    /// Returns the stream whose ledger this is.
    pub fn stream_id(&self) -> StreamId {
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

    /// Charges one rejection (`R7`).
    ///
    /// # Errors
    ///
    /// [`GaveUp`] when the count of its axis and key exceeds the budget (`R8`).
    ///
    /// # Examples
    ///
    /// ```
    /// use rideout::{Budget, Rejection, activation::StreamId, ledger::{Axis, Cause, Ledger}};
    ///
    /// let budget = Budget::default().activations(2);
    /// let mut ledger = Ledger::new(StreamId::mint(), "prices/eur".parse()?, budget);
    /// let mut by = |tag: &str| ledger.charge(Rejection::by_owner(tag.parse().ok()));
    ///
    /// assert_eq!(by("0A")?.axis(), Some(Axis::Activation));
    /// assert_eq!(by("0B")?.axis(), Some(Axis::Activation));
    /// assert_eq!(by("0A")?.axis(), Some(Axis::Time)); // two in all, not three
    /// assert_eq!(by("0C").unwrap_err().cause, Cause::RecycleLoop);
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn charge(&mut self, rejection: Rejection) -> Result<Charge, Box<GaveUp>> {
        self.answered = false;
        let rest = self.budget.rest(rejection.not_before);
        let (axis, count, wait) = match &rejection.speaker {
            Speaker::Route => (Axis::Time, count_up(&mut self.by_route), Wait::Rest(rest)),
            Speaker::Owner(None) => {
                (Axis::Activation, count_up(&mut self.distinct), Wait::Rest(rest))
            }
            Speaker::Owner(Some(tag)) => match self.refused.repeats(tag) {
                Some(repeats) => (Axis::Time, count_up(repeats), Wait::Rest(rest)),
                None => {
                    self.refused.insert(tag.clone());
                    let join = Wait::Join { limit: self.budget.join_limit, rest };
                    (Axis::Activation, count_up(&mut self.distinct), join)
                }
            },
        };
        let budget = match axis {
            Axis::Activation => self.budget.activations,
            Axis::Time => self.budget.re_asks,
        };
        let opened = self.opened;
        let entry = self.note(|| Entry { rejection, axis, count, budget, wait, opened });
        if count > budget {
            return Err(self.give_up(&entry, self.cause(&entry)));
        }
        Ok(Charge::of(entry))
    }

    /// Keeps the last charge, and shares it with its attempt.
    #[inline(always)]
    fn note(&mut self, entry: impl FnOnce() -> Entry) -> Arc<Entry> {
        if let Some(last) = &mut self.last
            && let Some(place) = Arc::get_mut(last)
        {
            *place = entry();
            return Arc::clone(last);
        }
        Arc::clone(self.last.insert(Arc::new(entry())))
    }

    /// Clears every count: an ask was answered (`R9`).
    ///
    /// # Examples
    ///
    /// ```
    /// use rideout::{Budget, Rejection, activation::StreamId, ledger::Ledger};
    ///
    /// let mut ledger = Ledger::new(StreamId::mint(), "prices/eur".parse()?, Budget::default());
    /// let tag = "0A".parse()?;
    /// ledger.charge(Rejection::by_owner(Some("0A".parse()?)))?;
    /// assert!(ledger.has_refused(&tag));
    ///
    /// ledger.answered();
    /// assert!(!ledger.has_refused(&tag));
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn answered(&mut self) {
        if !self.answered {
            self.answered = true;
            self.before = mem::take(&mut self.refused);
        }
        self.distinct = 0;
        self.by_route = 0;
    }

    /// Returns whether `activation` has refused since the last answer.
    pub fn has_refused(&self, activation: &Activation) -> bool {
        self.refused.contains(activation)
    }

    /// Returns who refused in the ride-out that led to the subscription that is live now: the last one
    /// that was answered, or the one that goes on. A goodbye of one of them that comes late is no news.
    ///
    /// # Examples
    ///
    /// ```
    /// use rideout::{Budget, Rejection, activation::StreamId, ledger::Ledger};
    ///
    /// let mut ledger = Ledger::new(StreamId::mint(), "prices/eur".parse()?, Budget::default());
    /// ledger.charge(Rejection::by_owner(Some("0A".parse()?)))?;
    /// ledger.answered();
    /// assert!(ledger.who_led_here().eq([&"0A".parse()?]));
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn who_led_here(&self) -> impl Iterator<Item = &Activation> {
        // R22.
        if self.answered { &self.before } else { &self.refused }.iter()
    }

    /// Makes what has been charged so far stale: a subscription opened (`R9`).
    pub(crate) fn opened(&mut self) {
        self.opened += 1;
    }

    /// Returns whether a subscription has opened since `charge` was made.
    pub(crate) fn is_stale(&self, charge: &Charge) -> bool {
        charge.entry().is_some_and(|entry| entry.opened < self.opened)
    }

    /// Counts an ask that goes out, and returns its number: 1 for the first.
    pub(crate) fn asked(&mut self) -> u32 {
        count_up(&mut self.asks)
    }

    /// Reports a ride-out that outlasted its bound by the clock, `None` where none is going on.
    pub(crate) fn outlasted(&self, longest: Duration) -> Option<Box<GaveUp>> {
        self.last.as_ref().map(|entry| self.give_up(entry, Cause::Outlasted { longest }))
    }

    #[cold]
    fn give_up(&self, entry: &Entry, cause: Cause) -> Box<GaveUp> {
        Box::new(GaveUp {
            stream: self.stream,
            address: self.address.clone(),
            cause,
            axis: entry.axis,
            key: Key::of(&entry.rejection.speaker),
            count: entry.count,
            budget: entry.budget,
            asks: self.asks,
            rejection: entry.rejection.clone(),
        })
    }

    /// Why a charge is one too many.
    #[cold]
    fn cause(&self, entry: &Entry) -> Cause {
        match (entry.axis, &entry.rejection.speaker) {
            (Axis::Time, Speaker::Route) => Cause::Route,
            (Axis::Time, Speaker::Owner(_)) => Cause::Wedged,
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
