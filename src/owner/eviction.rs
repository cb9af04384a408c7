//! When does an owner drop a subscriber that it cannot deliver to (`R50`)?
//!
//! Two facts stand on a refused delivery, and neither says anything about the other: whether its target is
//! served where it was delivered (the stamp), and whether the refusal is a promise or a verdict. A
//! subscriber is dropped where it is unserved **and** that is final. Whoever is in the middle of a roll
//! is unserved by a promise; whoever was forbidden one delivery is served.
//!
//! # Invariants
//!
//! 1. **Never on a promise, never without the stamp.** That the subscriber said goodbye is a third fact,
//!    told and never asked for: it decides nothing.
//! 2. **A streak** is what a subscriber was refused since it was last delivered to, dropped or forgotten.
//!    The oldest are kept where there are too many, so that a storm over any number of subscribers is
//!    seen.
//! 3. **A report is for all streaks there are**, and marks them. So a streak is reported once, and two
//!    reports are the bound apart at least: what was not marked by one began after it.

use std::{
    collections::HashMap,
    fmt,
    hash::Hash,
    time::{Duration, Instant},
};

use crate::{
    address::Address,
    diagnosis::{Line, RefusalLog},
    refusal::Refusal,
};

/// How long a subscriber is refused before that is reported.
const STORM_AFTER: Duration = Duration::from_secs(30 * 60);

/// How many streaks are kept at most.
const MOST_STREAKS: usize = 1024;

/// How many deliveries of an owner were refused, and how.
///
/// Both facts are counted by themselves: `verdicts - evicted` is how many verdicts had no stamp, and
/// `unserved - evicted` how many promises had one.
///
/// # Examples
///
/// ```
/// use std::time::Instant;
///
/// use rideout::{Address, Refusal, owner::Evictions};
///
/// let client: Address = "clients/7".parse()?;
/// let mut evictions = Evictions::new("prices/eur".parse()?);
/// evictions.refused(&1, &client, &Refusal::no_node(&client), Instant::now());
///
/// let counts = evictions.counts();
/// assert_eq!((counts.promises, counts.verdicts, counts.unserved, counts.evicted), (0, 1, 0, 0));
/// # Ok::<_, rideout::address::InvalidAddress>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EvictionCounts {
    /// Refusals that were a promise.
    pub promises: u64,
    /// Refusals that were a verdict.
    pub verdicts: u64,
    /// Refusals with the stamp, of either sort.
    pub unserved: u64,
    /// Verdicts with the stamp: those that evict.
    pub evicted: u64,
}

/// What an owner does with a refused delivery: whom it drops, and what it says of it.
///
/// It logs each refusal at `DEBUG`, and sums them up at `WARN`: a line for a subscriber at once, then at most
/// one a minute ([`RefusalLog`]), and one at `INFO` that tells how many were swallowed when a delivery
/// succeeds again. An eviction is logged at `INFO`: a line for a subscriber, not for each of its deliveries
/// that were under way. A subscriber that is refused for 30 min while it is neither delivered to
/// nor dropped is reported at `WARN`: either something there keeps a promise from being kept, or a goodbye
/// was not heard, and no rule will ever end it but that the subscriber is silent (`R44b`).
///
/// # Memory
///
/// Of at most 1,024 subscriptions that are being refused it is known since when, and of 512 subscribers when
/// the last line was about them.
///
/// # Examples
///
/// With [`Subscribers`](super::Subscribers), and with [`DeliveryTargets`](super::DeliveryTargets) at the other end:
///
/// ```
/// use std::time::Instant;
///
/// use rideout::{Address, owner::{DeliveryTargets, Evictions, Subscribers}};
///
/// let (owner, client): (Address, Address) = ("prices/eur".parse()?, "clients/7".parse()?);
/// let (mut targets, now) = (DeliveryTargets::new(), Instant::now());
/// let (mut subscribers, mut evictions) = (Subscribers::new(), Evictions::new(owner));
/// targets.register(1, 1);
/// let _ = subscribers.ask(1, 1, client, (), now);
///
/// let mut push = |subscribers: &mut Subscribers<_, Address, _>, targets: &DeliveryTargets<_, _>| {
///     for frame in subscribers.publish() {
///         match targets.deliver(&frame.sink, &frame.key, now) {
///             Ok(()) => evictions.delivered(&frame.key, &frame.sink),
///             Err(refusal) if evictions.refused(&frame.key, &frame.sink, &refusal, now) => {
///                 // By its attempt: who has come back since is not hit.
///                 let _ = subscribers.unsubscribe(&frame.key, frame.attempt);
///             }
///             Err(_) => {}
///         }
///     }
/// };
///
/// targets.mark_disconnected(&1, &1, now); // in the middle of a roll
/// push(&mut subscribers, &targets);
/// assert_eq!(subscribers.len(), 1);
///
/// targets.register(1, 2);
/// targets.release(&1, &2, now); // back, and then closed
/// push(&mut subscribers, &targets);
/// assert!(subscribers.is_empty());
/// # Ok::<_, rideout::address::InvalidAddress>(())
/// ```
pub struct Evictions<K> {
    owner: Address,
    counts: EvictionCounts,
    streaks: HashMap<K, Streak>,
    storm_after: Duration,
    // What is told aloud, by the time since `began`.
    log: RefusalLog,
    began: Option<Instant>,
    room_made: Option<Instant>,
}

/// Invariant 2.
#[derive(Clone, Copy)]
struct Streak {
    since: Instant,
    last: Instant,
    refusals: u64,
    is_reported: bool,
}

impl<K> Evictions<K> {
    /// Returns the evictions of the owner at `owner`: none yet.
    pub fn new(owner: Address) -> Self {
        Self {
            owner,
            counts: EvictionCounts::default(),
            streaks: HashMap::new(),
            storm_after: STORM_AFTER,
            log: RefusalLog::new(),
            began: None,
            room_made: None,
        }
    }

    /// Sets how long a subscriber is refused, and neither delivered to nor dropped, before that is
    /// reported: 30 min by default.
    #[must_use]
    pub fn storm_after(mut self, storm_after: Duration) -> Self {
        self.storm_after = storm_after;
        self
    }

    /// Returns how many deliveries were refused so far.
    pub fn counts(&self) -> EvictionCounts {
        self.counts
    }

    /// Returns how many subscriptions refuse, and were neither delivered to nor dropped since.
    pub fn refusing(&self) -> usize {
        self.streaks.len()
    }
}

impl<K: Clone + Eq + Hash> Evictions<K> {
    /// Takes a refused delivery down, to the subscription `key` of `subscriber`; returns whether the subscriber is to be dropped.
    ///
    /// Drop the registration that the delivery was for, by its key and its attempt
    /// ([`unsubscribe`](super::Subscribers::unsubscribe)): a refusal that was under way for long may meet its
    /// successor.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Instant;
    ///
    /// use rideout::{Address, Refusal, owner::Evictions};
    ///
    /// let client: Address = "clients/7".parse()?;
    /// let mut evictions = Evictions::new("prices/eur".parse()?);
    /// let mut evicts = |refusal: Refusal| evictions.refused(&1, &client, &refusal, Instant::now());
    ///
    /// let (promise, verdict) = (Refusal::host_cannot_route(&client), Refusal::no_node(&client));
    /// assert!(!evicts(promise.clone()));
    /// assert!(!evicts(promise.with_target_unserved()));
    /// assert!(!evicts(verdict.clone()));
    /// assert!(evicts(verdict.with_target_unserved()));
    /// # Ok::<_, rideout::address::InvalidAddress>(())
    /// ```
    pub fn refused(
        &mut self,
        key: &K,
        subscriber: &Address,
        refusal: &Refusal,
        now: Instant,
    ) -> bool {
        let is_promise = refusal.promise(subscriber).is_some();
        // Invariant 1.
        let evicts = refusal.target_unserved && !is_promise;

        self.counts.promises += u64::from(is_promise);
        self.counts.verdicts += u64::from(!is_promise);
        self.counts.unserved += u64::from(refusal.target_unserved);
        self.counts.evicted += u64::from(evicts);
        tracing::debug!(
            owner = %self.owner,
            %subscriber,
            kind = %refusal.kind.unwrap_or_default(),
            is_promise,
            target_unserved = refusal.target_unserved,
            released = refusal.released,
            "a delivery was refused",
        );
        let is_news = self.sum_up(subscriber, refusal, now);
        if evicts {
            // What was refused before may have taken the line.
            let ends_a_streak = self.streaks.remove(key).is_some();
            if is_news || ends_a_streak {
                self.tell_eviction(subscriber, refusal);
            }
        } else {
            self.go_on(key, now);
        }
        evicts
    }

    /// Takes a delivery down that succeeded: whatever the subscriber was refused is over.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Instant;
    ///
    /// use rideout::{Address, Refusal, owner::Evictions};
    ///
    /// let client: Address = "clients/7".parse()?;
    /// let mut evictions = Evictions::new("prices/eur".parse()?);
    /// evictions.refused(&1, &client, &Refusal::host_cannot_route(&client), Instant::now());
    /// assert_eq!(evictions.refusing(), 1);
    /// evictions.delivered(&1, &client);
    /// assert_eq!(evictions.refusing(), 0);
    /// # Ok::<_, rideout::address::InvalidAddress>(())
    /// ```
    pub fn delivered(&mut self, key: &K, subscriber: &Address) {
        self.streaks.remove(key);
        let swallowed = self.log.delivered(subscriber);
        if swallowed > 0 {
            tracing::info!(owner = %self.owner, %subscriber, swallowed, "deliveries arrive again");
        }
    }

    /// Forgets a subscription that is served no longer, for another reason than an eviction: it said goodbye
    /// to the owner, or was silent for too long.
    ///
    /// What was said aloud of its subscriber stays in mind: it may have other subscriptions.
    pub fn forget(&mut self, key: &K) {
        self.streaks.remove(key);
    }

    /// Says what is worth a line (`R51`); returns whether the refusal was.
    fn sum_up(&mut self, subscriber: &Address, refusal: &Refusal, now: Instant) -> bool {
        let began = *self.began.get_or_insert(now);
        let line = self.log.refused(subscriber, now.saturating_duration_since(began));
        let Line::Warn { swallowed } = line else { return false };
        let owner = &self.owner;
        tracing::warn!(%owner, %subscriber, swallowed, "deliveries are refused: {refusal}");
        true
    }

    fn tell_eviction(&self, subscriber: &Address, refusal: &Refusal) {
        tracing::info!(
            owner = %self.owner,
            %subscriber,
            kind = %refusal.kind.unwrap_or_default(),
            released = refusal.released,
            "a subscriber is dropped: a delivery to it was refused for good",
        );
    }

    /// Counts a refusal that ends nothing.
    fn go_on(&mut self, key: &K, now: Instant) {
        if !self.streaks.contains_key(key) && !self.has_room(now) {
            return;
        }
        let streak = self.streaks.entry(key.clone()).or_insert(Streak {
            since: now,
            last: now,
            refusals: 0,
            is_reported: false,
        });
        streak.refusals = streak.refusals.saturating_add(1);
        streak.last = streak.last.max(now);

        let lasting = now.saturating_duration_since(streak.since);
        if lasting >= self.storm_after && !streak.is_reported {
            self.report(now);
        }
    }

    /// Invariant 3.
    fn report(&mut self, now: Instant) {
        let (mut refusals, mut since) = (0_u64, now);
        for streak in self.streaks.values_mut() {
            streak.is_reported = true;
            refusals = refusals.saturating_add(streak.refusals);
            since = since.min(streak.since);
        }
        tracing::warn!(
            owner = %self.owner,
            refusals,
            subscribers = self.streaks.len(),
            lasting = ?now.saturating_duration_since(since),
            "storming refusals, zero evictions: deliveries are refused without end, and nothing says \
             that their subscribers are gone for good",
        );
    }

    /// Where there is no room, those go that were refused nothing for as long as the bound; it looks for
    /// them once in that time.
    fn has_room(&mut self, now: Instant) -> bool {
        let is_recent = |at: Instant| now.saturating_duration_since(at) < self.storm_after;
        if self.streaks.len() >= MOST_STREAKS && !self.room_made.is_some_and(is_recent) {
            self.room_made = Some(now);
            self.streaks.retain(|_, streak| is_recent(streak.last));
        }
        self.streaks.len() < MOST_STREAKS
    }
}

impl<K> fmt::Debug for Evictions<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Evictions")
            .field("owner", &self.owner)
            .field("counts", &self.counts)
            .field("refusing", &self.streaks.len())
            .finish_non_exhaustive()
    }
}
