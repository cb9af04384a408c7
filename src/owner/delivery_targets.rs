//! Who at this end of the route is there, who has gone for a while, and who said goodbye?
//!
//! An owner drops a subscriber on a verdict and never on a promise (`R50`). Where deliveries arrive, one
//! whose target is not there could be either: a subscriber in the middle of a roll, or one that is closed
//! for good. Only its goodbye tells them apart, so it is kept (`R49`).
//!
//! # Invariants
//!
//! 1. **A key has one registration, the newest.** Another one takes its place, whatever became of it.
//! 2. **A goodbye speaks for the registration that it names.** Where that is not the newest it does
//!    nothing, so it neither ends a successor nor leaves a tombstone that would hit one. Where the newest
//!    was lost before its goodbye came, the goodbye counts all the same.
//! 3. **Whatever is gone is remembered for a time, and in a bounded number**, the oldest forgotten first.
//!    `departed` holds each once, under the time when it is forgotten.
//! 4. **What is not known is a promise**: what is forgotten costs refused deliveries, never a subscriber.

use std::{
    borrow::Borrow,
    collections::{BTreeMap, HashMap},
    fmt,
    hash::Hash,
    time::{Duration, Instant},
};

use crate::{address::Address, refusal::Refusal, time::later};

/// How long a goodbye is remembered: no shorter than an owner serves a silent subscriber.
const TOMBSTONE_LIFE: Duration = Duration::from_secs(10 * 60);

/// How many that are gone are remembered.
const MOST_TOMBSTONES: usize = 65_536;

/// The targets of deliveries at one place: those who are registered, and those who said goodbye.
///
/// For the side that hands deliveries to subscribers, such as a router, or a client's host. `K` names a
/// target: a stream, an address, or both. `R` names one registration of it: the attempt that its stream
/// was asked for by, or the activation of the subscriber. Two registrations of one key must differ, or
/// the goodbye of one would be the other's.
///
/// Register a target with the answer to its ask, before the first frame behind it: an ask that is refused,
/// such as a refresh beside a live stream, is no registration.
///
/// # Memory
///
/// A registration each. Of those that are gone the newest 65,536 are remembered, for 10 min. Nothing is
/// swept by a timer: [`release`](DeliveryTargets::release) and [`mark_disconnected`](DeliveryTargets::mark_disconnected) forget what is over, and
/// [`expire`](DeliveryTargets::expire) does where they are rare.
///
/// # Examples
///
/// ```
/// use std::time::Instant;
///
/// use rideout::{Address, Kind, owner::DeliveryTargets};
///
/// let client: Address = "clients/7".parse()?;
/// let (mut targets, now) = (DeliveryTargets::new(), Instant::now());
/// targets.register("eur", 1);
/// assert_eq!(targets.deliver(&client, "eur", now), Ok(()));
///
/// // Its host is rolled: it may come back.
/// targets.mark_disconnected("eur", &1, now);
/// let refusal = targets.deliver(&client, "eur", now).unwrap_err();
/// assert!(refusal.promise(&client).is_some() && refusal.target_unserved);
///
/// // It did. What its predecessor still has to say is too late.
/// targets.register("eur", 2);
/// assert!(!targets.release("eur", &1, now));
/// assert_eq!(targets.deliver(&client, "eur", now), Ok(()));
///
/// // It is closed.
/// assert!(targets.release("eur", &2, now));
/// let refusal = targets.deliver(&client, "eur", now).unwrap_err();
/// assert_eq!(refusal.kind, Some(Kind::NotFound));
/// assert!(refusal.target_unserved && refusal.released);
/// # Ok::<_, rideout::address::InvalidAddress>(())
/// ```
pub struct DeliveryTargets<K, R> {
    known: HashMap<K, Target<R>>,
    // Invariant 3. The number tells apart those that are forgotten in one instant.
    departed: BTreeMap<(Instant, u64), K>,
    departures: u64,
    tombstone_life: Duration,
    most_tombstones: usize,
}

/// The newest registration of a key.
struct Target<R> {
    registration: R,
    departure: Option<Departure>,
}

#[derive(Clone, Copy)]
struct Departure {
    said_goodbye: bool,
    until: (Instant, u64),
}

impl<K, R> DeliveryTargets<K, R> {
    /// Returns a place where nobody is registered.
    pub fn new() -> Self {
        Self {
            known: HashMap::new(),
            departed: BTreeMap::new(),
            departures: 0,
            tombstone_life: TOMBSTONE_LIFE,
            most_tombstones: MOST_TOMBSTONES,
        }
    }

    /// Sets how long a goodbye is remembered: 10 min by default.
    ///
    /// Shorter than an owner serves a silent subscriber
    /// ([`idle_release`](super::Subscribers::idle_release)), deliveries would meet a promise here where a
    /// verdict is due. It counts for goodbyes from here on.
    #[must_use]
    pub fn tombstone_life(mut self, tombstone_life: Duration) -> Self {
        self.tombstone_life = tombstone_life;
        self
    }

    /// Sets how many that are gone are remembered at most: 65,536 by default.
    ///
    /// What is forgotten early is answered with a promise.
    #[must_use]
    pub fn most_tombstones(mut self, most_tombstones: usize) -> Self {
        self.most_tombstones = most_tombstones;
        self
    }

    /// Returns how many are registered.
    pub fn len(&self) -> usize {
        self.known.len() - self.departed.len()
    }

    /// Returns whether nobody is registered.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns how many that are gone are remembered, with a goodbye or without.
    pub fn remembered(&self) -> usize {
        self.departed.len()
    }

    /// Returns when the next of those that are gone is forgotten.
    ///
    /// Deliveries are answered by the clock, whether it was forgotten or not.
    pub fn next_expiry(&self) -> Option<Instant> {
        self.departed.first_key_value().map(|(&(at, _), _)| at)
    }
}

impl<K: Clone + Eq + Hash, R: PartialEq> DeliveryTargets<K, R> {
    /// Registers a target: it takes the place of the registration before, and clears its tombstone.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Instant;
    ///
    /// use rideout::{Address, owner::DeliveryTargets};
    ///
    /// let client: Address = "clients/7".parse()?;
    /// let (mut targets, now) = (DeliveryTargets::new(), Instant::now());
    /// targets.register("eur", 1);
    /// targets.release("eur", &1, now);
    /// assert!(targets.deliver(&client, "eur", now).is_err());
    ///
    /// targets.register("eur", 2);
    /// assert!(targets.deliver(&client, "eur", now).is_ok());
    /// assert_eq!(targets.next_expiry(), None);
    /// # Ok::<_, rideout::address::InvalidAddress>(())
    /// ```
    pub fn register(&mut self, key: K, registration: R) {
        let before = self.known.insert(key, Target { registration, departure: None });
        if let Some(departure) = before.and_then(|target| target.departure) {
            self.departed.remove(&departure.until);
        }
    }

    /// Takes a goodbye down: the registration is over, and leaves a tombstone.
    ///
    /// Returns false where it changes nothing: it names a predecessor, or nobody who is known, or was
    /// said before.
    pub fn release<Q>(&mut self, key: &Q, registration: &R, now: Instant) -> bool
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.record_departure(key, registration, true, now)
    }

    /// Ends a registration that went without a goodbye: its connection was cut, its host is rolled.
    ///
    /// It leaves no tombstone, so that deliveries are answered with a promise; but its goodbye may still
    /// come ([`release`](DeliveryTargets::release)). Returns false where it changes nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Instant;
    ///
    /// use rideout::{Address, owner::DeliveryTargets};
    ///
    /// let client: Address = "clients/7".parse()?;
    /// let (mut targets, now) = (DeliveryTargets::new(), Instant::now());
    /// targets.register("eur", 1);
    /// assert!(targets.mark_disconnected("eur", &1, now));
    /// assert!(!targets.deliver(&client, "eur", now).unwrap_err().released);
    ///
    /// assert!(targets.release("eur", &1, now)); // overtaken by the cut
    /// assert!(targets.deliver(&client, "eur", now).unwrap_err().released);
    /// # Ok::<_, rideout::address::InvalidAddress>(())
    /// ```
    pub fn mark_disconnected<Q>(&mut self, key: &Q, registration: &R, now: Instant) -> bool
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.record_departure(key, registration, false, now)
    }

    /// Looks for the target of a delivery to `address`.
    ///
    /// # Errors
    ///
    /// The route's refusal, stamped as [`target_unserved`](Refusal::target_unserved). Of one that said
    /// goodbye it is a verdict, `NotFound`, and stamped as [`released`](Refusal::released) too; of
    /// everybody else a promise.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    ///
    /// use rideout::{Address, owner::DeliveryTargets};
    ///
    /// let client: Address = "clients/7".parse()?;
    /// let (mut targets, now) = (DeliveryTargets::new(), Instant::now());
    /// targets.register("eur", 1);
    /// targets.release("eur", &1, now);
    ///
    /// let released = |now| targets.deliver(&client, "eur", now).unwrap_err().released;
    /// let over = now + Duration::from_secs(600);
    /// assert!(released(over - Duration::from_nanos(1)));
    /// assert!(!released(over)); // to the instant, though nothing was swept
    /// # Ok::<_, rideout::address::InvalidAddress>(())
    /// ```
    pub fn deliver<Q>(&self, address: &Address, key: &Q, now: Instant) -> Result<(), Refusal>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        match self.known.get(key).map(|target| target.departure) {
            Some(None) => Ok(()),
            Some(Some(departure)) if departure.said_goodbye && now < departure.until.0 => {
                Err(Refusal::no_node(address).with_target_unserved().with_released())
            }
            // Invariant 4.
            Some(Some(_)) | None => Err(Refusal::host_cannot_route(address).with_target_unserved()),
        }
    }

    /// Forgets those that are gone and whose time is over.
    ///
    /// Deliveries do not need it; it gives memory back where nobody comes or goes.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Instant;
    ///
    /// use rideout::owner::DeliveryTargets;
    ///
    /// let mut targets = DeliveryTargets::new();
    /// targets.register("eur", 1);
    /// targets.release("eur", &1, Instant::now());
    ///
    /// targets.expire(targets.next_expiry().expect("one tombstone"));
    /// assert_eq!(targets.remembered(), 0);
    /// ```
    pub fn expire(&mut self, now: Instant) {
        while self.next_expiry().is_some_and(|at| at <= now) {
            self.forget_oldest();
        }
    }

    fn record_departure<Q>(
        &mut self,
        key: &Q,
        registration: &R,
        said_goodbye: bool,
        now: Instant,
    ) -> bool
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.expire(now);
        let Some((key, target)) = self.known.get_key_value(key) else {
            return false;
        };
        // Invariant 2.
        let is_news =
            target.departure.is_none_or(|departure| said_goodbye && !departure.said_goodbye);
        if target.registration != *registration || !is_news {
            return false;
        }

        let key = key.clone();
        self.departures += 1;
        let departure =
            Departure { said_goodbye, until: (later(now, self.tombstone_life), self.departures) };
        let target = self.known.get_mut(key.borrow()).expect("it was found");
        if let Some(lost) = target.departure.replace(departure) {
            self.departed.remove(&lost.until);
        }
        self.departed.insert(departure.until, key);
        // Invariant 3.
        if self.departed.len() > self.most_tombstones {
            self.forget_oldest();
        }
        true
    }

    fn forget_oldest(&mut self) {
        if let Some((_, key)) = self.departed.pop_first() {
            self.known.remove(key.borrow());
        }
    }
}

impl<K, R> Default for DeliveryTargets<K, R> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K, R> fmt::Debug for DeliveryTargets<K, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeliveryTargets")
            .field("registered", &self.len())
            .field("remembered", &self.remembered())
            .finish_non_exhaustive()
    }
}
