//! How does a chain of stream operators keep one re-ask outstanding, whatever asks for it?
//!
//! By one shared handle. Rejections and triggers go into the [`Carrier`] from any thread, come out of
//! its [`triggers`](Carrier::triggers) one by one, and run through three operators:
//!
//! ```text
//! triggers ──► charge ──► defer ──► concat_attempts ──► answers
//!    ▲        (eager:    (lazy:    (serial: one re-ask
//!    │      accounting) the probe)  outstanding)
//!    └──────────────── refused again ◄────┘
//! ```
//!
//! The operators are [`CarrierExt`]'s. They neither spawn nor log nor read a clock, and any combinator
//! fits between them.
//!
//! # Invariants
//!
//! 1. **One lock.** Ledger, inbox and the bits of the slot change together or not at all.
//! 2. **A rejection is queued, never folded**, and charged in the order of arrival (`R12`, `R14`).
//! 3. **A trigger is a debt, not an entry.** Any number of them are one bit, which every attempt that
//!    begins after them, or asks after them, takes on (`R16`). An attempt that a trigger asked for
//!    begins only while that debt stands.
//! 4. **What is dropped is owed again**: an attempt that is dropped unfinished gives back the place,
//!    the debt that it took on, and its charge, which is not made a second time.
//! 5. **One chain.** The newest [`Triggers`] is the only one that yields, so that a chain that is built
//!    anew takes over; it still waits for the place, while the old one's attempt is out.
//! 6. **An opened subscription makes what was charged before it stale** (`R9`), in whichever chain it
//!    waits: dropped, never run. What is charged after it is kept.

mod charge;
mod concat_attempts;
mod defer;
mod ext;
mod place;
mod ride_error;
mod trigger;
mod triggers;

use std::{collections::VecDeque, fmt};

pub use self::{
    charge::Charges,
    concat_attempts::ConcatAttempts,
    defer::{Attempt, Defer},
    ext::CarrierExt,
    ride_error::{End, RideError},
    trigger::Trigger,
    triggers::Triggers,
};
use crate::{
    activation::StreamId, address::Address, budget::Budget, ledger::Ledger, monitor::Monitor,
    refusal::Rejection, slot, sync::Arc,
};

/// The handle that ties the loop: the ledger, what has arrived, and the place for the one re-ask.
///
/// # Clone
///
/// A handle: clones share one loop, and any thread may [`reject`](Carrier::reject) or
/// [`nudge`](Carrier::nudge).
///
/// # Examples
///
/// A rider of one's own, with the operators of [`CarrierExt`]. Its owner refuses once:
///
/// ```
/// use std::pin::pin;
///
/// use futures::{StreamExt, TryStreamExt};
/// use rideout::{Budget, Carrier, CarrierExt, Refusal};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let address: rideout::Address = "prices/eur".parse()?;
/// let leaving = Refusal::host_cannot_route(&address);
/// let carrier = Carrier::new(address, Budget::default());
/// let mut asks = 0;
/// let mut answers = pin!(
///     carrier
///         .triggers()
///         .charge(&carrier)
///         .inspect(|charge| println!("{charge:?}")) // any combinator fits in between
///         .defer(|_charge| {
///             asks += 1;
///             let answer = if asks == 1 { Err(leaving.clone()) } else { Ok("a subscription") };
///             async move { answer }
///         })
///         .concat_attempts(&carrier)
/// );
/// assert_eq!(answers.try_next().await?, Some("a subscription"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Carrier {
    shared: Arc<Shared>,
}

struct Shared {
    stream: StreamId,
    address: Address,
    state: Monitor<State>,
}

struct State {
    ledger: Ledger,
    // Rejections, and the charges that were given back, in order.
    inbox: VecDeque<Trigger>,
    slot: slot::State,
    // Whether the debt has been handed out as a trigger since it was last incurred.
    offered: bool,
    // Whether the attempt that is out has said that its ask went out.
    asked: bool,
    // Whether a chain found the place taken and waits for it.
    contended: bool,
    // The number of the newest `Triggers`.
    chain: u64,
}

/// What became of an attempt whose turn it was.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// The place is its own.
    Begun,
    /// It is not needed any more: a trigger's whose debt an earlier one has taken on (invariant 3), or
    /// one that is stale (invariant 6).
    Dropped,
}

impl fmt::Debug for Carrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Carrier");
        debug.field("stream", &self.shared.stream).field("address", &self.shared.address);
        self.shared.state.with(|state| {
            debug.field("slot", &state.slot).field("inbox", &state.inbox.len());
        });
        debug.finish_non_exhaustive()
    }
}

impl Carrier {
    /// Creates the carrier of a stream of its own, which asks `address` within `budget`.
    ///
    /// It owes the first ask, so that this one has the same arms as every re-ask (`R20`).
    pub fn new(address: Address, budget: Budget) -> Self {
        Carrier::for_stream(StreamId::mint(), address, budget)
    }

    /// Creates the carrier of the stream `stream`, whose identity was minted before, so that news of it
    /// could be listened to from the start.
    ///
    /// Otherwise it is as [`new`](Carrier::new) creates it.
    ///
    /// # Examples
    ///
    /// ```
    /// use rideout::{Budget, Carrier, activation::StreamId};
    ///
    /// let stream = StreamId::mint();
    /// let carrier = Carrier::for_stream(stream, "prices/eur".parse()?, Budget::default());
    /// assert_eq!(carrier.stream_id(), stream);
    /// # Ok::<_, rideout::address::InvalidAddress>(())
    /// ```
    pub fn for_stream(stream: StreamId, address: Address, budget: Budget) -> Self {
        let mut slot = slot::State::default();
        slot.owe();
        let state = State {
            ledger: Ledger::new(stream, address.clone(), budget),
            inbox: VecDeque::new(),
            slot,
            offered: false,
            asked: false,
            contended: false,
            chain: 0,
        };
        Carrier { shared: Arc::new(Shared { stream, address, state: Monitor::new(state) }) }
    }

    /// Returns the identity of the stream, the same for the carrier's whole life (`R24`).
    pub fn stream_id(&self) -> StreamId {
        self.shared.stream
    }

    /// Returns the address that is asked.
    pub fn address(&self) -> &Address {
        &self.shared.address
    }

    /// Hands in a rejection: it is charged, and becomes one attempt.
    ///
    /// For what ends a subscription; the refusal of an ask comes here by itself.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{FutureExt, StreamExt};
    /// use rideout::{Budget, Carrier, CarrierExt, Rejection};
    ///
    /// let carrier = Carrier::new("prices/eur".parse()?, Budget::default());
    /// let mut charges = carrier.triggers().charge(&carrier);
    /// carrier.clone().reject(Rejection::by_route()); // from any thread
    /// assert_eq!(charges.next().now_or_never().flatten().unwrap()?.count(), 1);
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn reject(&self, rejection: Rejection) {
        self.shared.state.announce(|state| {
            state.inbox.push_back(Trigger::Rejected(rejection));
            true
        });
    }

    /// Asks for a re-ask that nothing is charged for.
    ///
    /// Any number of nudges are satisfied by one ask that goes out after them; one while an ask is out
    /// becomes one more after it (`R16`).
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{FutureExt, StreamExt};
    /// use rideout::{Budget, Carrier, carrier::Trigger};
    ///
    /// let carrier = Carrier::new("prices/eur".parse()?, Budget::default());
    /// carrier.nudge();
    /// carrier.nudge(); // with the first ask, which is owed already, these are one
    /// let mut triggers = carrier.triggers();
    /// assert_eq!(triggers.next().now_or_never(), Some(Some(Trigger::Ask)));
    /// assert!(triggers.next().now_or_never().is_none());
    /// # Ok::<_, rideout::address::InvalidAddress>(())
    /// ```
    pub fn nudge(&self) {
        self.shared.state.announce(|state| {
            state.offered = false;
            state.slot.owe();
            true
        });
    }

    /// Reports that an ask was answered: every count is cleared (`R9`).
    ///
    /// An ask that succeeded is not yet an answer: a subscription that opened and then refused has
    /// answered nothing. Call it at the first item, or where one pace was lived without one.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{FutureExt, StreamExt, stream};
    /// use rideout::{Budget, Carrier, CarrierExt, Rejection};
    ///
    /// let carrier = Carrier::new("prices/eur".parse()?, Budget::default());
    /// let mut charges = stream::repeat(Rejection::by_route()).charge(&carrier);
    /// let mut count = || charges.next().now_or_never().flatten().unwrap().unwrap().count();
    /// assert_eq!((count(), count()), (1, 2));
    /// carrier.answered();
    /// assert_eq!(count(), 1);
    /// # Ok::<_, rideout::address::InvalidAddress>(())
    /// ```
    pub fn answered(&self) {
        self.with_ledger(Ledger::answered);
    }

    /// Marks the moment at which the running attempt's ask goes out, and returns the ask's number: 1
    /// for the first.
    ///
    /// What was triggered while the attempt waited is satisfied by this ask (`R16`). If an attempt never
    /// calls this, it counts as one ask when it ends, and triggers from its wait cause another.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{FutureExt, StreamExt};
    /// use rideout::{Budget, Carrier, CarrierExt, Refusal};
    ///
    /// let carrier = Carrier::new("prices/eur".parse()?, Budget::default());
    /// let attempts = carrier.triggers().charge(&carrier).defer(|_charge| {
    ///     carrier.nudge(); // during the wait: this ask is the nudge's too
    ///     std::future::ready(Ok::<_, Refusal>(carrier.asking()))
    /// });
    /// let mut answers = attempts.concat_attempts(&carrier);
    /// assert!(matches!(answers.next().now_or_never(), Some(Some(Ok(1)))));
    /// assert!(answers.next().now_or_never().is_none());
    /// # Ok::<_, rideout::address::InvalidAddress>(())
    /// ```
    pub fn asking(&self) -> u32 {
        self.shared.state.with(|state| {
            if state.slot.is_taken() {
                state.slot.cover();
            }
            state.asked = true;
            state.ledger.asked()
        })
    }
}
