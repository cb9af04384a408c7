//! How much of a ride-out is too much?
//!
//! A [`Budget`] bounds it on two separate axes, because two different faults look alike to one
//! counter: an owner that is recycled again and again (many activations, each refusing) and a teardown
//! that does not end (one activation, refusing for ever). Four activations in eleven milliseconds and
//! seventeen refusals over eight seconds are both a reason to stop, and each is reported as what it is.

use std::{fmt, time::Duration};

/// A pace or a join limit below this counts as this, wherever it is waited or measured (`R20b`).
const LEAST_WAIT: Duration = Duration::from_millis(1);

/// The bounds of one ride-out, and the waits within it.
///
/// Every value is safe: counts of 0 give up at once and never mean "unlimited", `u32::MAX` and
/// `Duration::MAX` never end, and arithmetic saturates. Settings that cannot do their work are named
/// by [`Budget::concerns`].
///
/// | setting | default | bounds |
/// |---|---|---|
/// | [`activations`](Budget::activations) | 3 | distinct activations that refuse |
/// | [`re_asks`](Budget::re_asks) | 16 | refusals of one activation that refused before, or of the route |
/// | [`pace`](Budget::pace) | 500 ms | one rest; 16 of them reach the owner's 8 s watchdog |
/// | [`join_limit`](Budget::join_limit) | 8 s | one join |
/// | [`ask_limit`](Budget::ask_limit) | 60 s | one ask |
/// | [`hint_limit`](Budget::hint_limit) | 8 s | a "not before" that a refusal asks for |
/// | [`spread`](Budget::spread) | 0 | the random delay after each wait |
/// | [`watchdog`](Budget::watchdog) | 8 s | what the owner's side is known to force |
/// | [`proven_after`](Budget::proven_after) | none | the life that counts as an answer |
/// | [`longest`](Budget::longest) | none | one ride-out by the clock |
///
/// # How long the defaults last
///
/// About 8 s of a route that refuses, and 16 s of one owner that drains (a join of 8 s, then 16 rests):
/// enough for an actor that is recycled. A pod that is rolled takes longer, and wants more:
///
/// ```
/// use std::time::Duration;
///
/// use rideout::Budget;
///
/// // Drains for up to 30 s, and its successor is ready within two minutes.
/// let roll = Budget::default()
///     .join_limit(Duration::from_secs(35))
///     .re_asks(240) // 240 rests of half a second
///     .longest(Duration::from_secs(150))
///     .watchdog(Duration::from_secs(30));
/// assert!(roll.concerns().is_empty());
/// ```
///
/// # Examples
///
/// ```
/// use std::time::Duration;
///
/// use rideout::Budget;
///
/// let budget = Budget::default().activations(1).re_asks(2).pace(Duration::from_millis(100));
/// assert_eq!(budget.worst_case().asks, 1 + 2 * 2 + 1);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    pub(crate) activations: u32,
    pub(crate) re_asks: u32,
    pub(crate) pace: Duration,
    pub(crate) join_limit: Duration,
    pub(crate) ask_limit: Duration,
    pub(crate) hint_limit: Duration,
    pub(crate) spread: Duration,
    pub(crate) watchdog: Duration,
    pub(crate) proven_after: Option<Duration>,
    pub(crate) longest: Option<Duration>,
}

impl Default for Budget {
    fn default() -> Self {
        Budget::new()
    }
}

impl Budget {
    /// Makes the default budget.
    pub const fn new() -> Self {
        Budget {
            activations: 3,
            re_asks: 16,
            pace: Duration::from_millis(500),
            join_limit: Duration::from_secs(8),
            ask_limit: Duration::from_secs(60),
            hint_limit: Duration::from_secs(8),
            spread: Duration::ZERO,
            watchdog: Duration::from_secs(8),
            proven_after: None,
            longest: None,
        }
    }

    /// Bounds the distinct activations that may refuse in one ride-out (3).
    #[must_use]
    pub const fn activations(mut self, activations: u32) -> Self {
        self.activations = activations;
        self
    }

    /// Bounds the refusals by one activation that refused before, and those by the route (16 each).
    #[must_use]
    pub const fn re_asks(mut self, re_asks: u32) -> Self {
        self.re_asks = re_asks;
        self
    }

    /// Sets the length of one rest (500 ms); less than 1 ms counts as 1 ms (`R20b`).
    #[must_use]
    pub const fn pace(mut self, pace: Duration) -> Self {
        self.pace = at_least_1_ms(pace);
        self
    }

    /// Bounds a join whose event never comes, as of a killed process (8 s); less than 1 ms counts as
    /// 1 ms, or an owner that never repeats an identity would be asked at memory speed (`R20b`).
    #[must_use]
    pub const fn join_limit(mut self, join_limit: Duration) -> Self {
        self.join_limit = at_least_1_ms(join_limit);
        self
    }

    /// Bounds an ask that is neither answered nor refused (60 s); it then counts as refused by the
    /// route (`R20`).
    #[must_use]
    pub const fn ask_limit(mut self, ask_limit: Duration) -> Self {
        self.ask_limit = ask_limit;
        self
    }

    /// Bounds how far a refusal's own "not before" lengthens a rest (8 s); zero ignores hints (`R7b`).
    #[must_use]
    pub const fn hint_limit(mut self, hint_limit: Duration) -> Self {
        self.hint_limit = hint_limit;
        self
    }

    /// Adds a random delay of up to `spread` after every wait (0), so that riders that waited for one
    /// event do not ask in one instant (`R18c`).
    #[must_use]
    pub const fn spread(mut self, spread: Duration) -> Self {
        self.spread = spread;
        self
    }

    /// Says how long the owner's side lets a teardown hang before it forces it (8 s). Nothing waits by
    /// it; [`Budget::concerns`] measures against it.
    #[must_use]
    pub const fn watchdog(mut self, watchdog: Duration) -> Self {
        self.watchdog = watchdog;
        self
    }

    /// Asks for a life of this length before a subscription counts as an answer (none: its first item
    /// does, or one pace). It bounds an owner that answers and dies for ever (`R9`).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use futures::{StreamExt, stream};
    /// use rideout::{Budget, Refusal, RideOut};
    ///
    /// # #[cfg(not(feature = "tokio"))]
    /// # fn main() {}
    /// # #[cfg(feature = "tokio")]
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let dies = RideOut::builder("prices/eur".parse()?, |_| async {
    ///     Ok(stream::iter([Ok::<_, Refusal>(101)]))
    /// })
    /// .re_ask_on_completion()
    /// .budget(Budget::default().proven_after(Duration::from_secs(5)))
    /// .build();
    /// assert_eq!(dies.count().await, 4 + 1); // the 4th unnamed end is one too many
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn proven_after(mut self, proven_after: Duration) -> Self {
        self.proven_after = Some(proven_after);
        self
    }

    /// Bounds one ride-out by the clock (none): a running wait or ask is cut short and the rider gives
    /// up (`R9`).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use futures::{TryStreamExt, stream};
    /// use rideout::{Budget, Refusal, RideError, RideOut, ledger::Cause};
    ///
    /// # #[cfg(not(feature = "tokio"))]
    /// # fn main() {}
    /// # #[cfg(feature = "tokio")]
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let address: rideout::Address = "prices/eur".parse()?;
    /// let leaving = Refusal::host_cannot_route(&address);
    /// let longest = Duration::from_secs(1);
    /// let mut prices = RideOut::builder(address, move |_| {
    ///     let answer = Err::<stream::Empty<Result<u32, _>>, _>(leaving.clone());
    ///     async move { answer }
    /// })
    /// .budget(Budget::default().longest(longest))
    /// .build();
    ///
    /// let error = prices.try_next().await.unwrap_err();
    /// let report = error.gave_up().expect("the route never serves");
    /// assert_eq!(report.cause, Cause::Outlasted { longest });
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn longest(mut self, longest: Duration) -> Self {
        self.longest = Some(longest);
        self
    }

    /// Computes the most that one ride-out can cost: by its counts, and by `longest` where that is less.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use rideout::Budget;
    ///
    /// // 3 activations, then 16 refusals of each of them and of the route, then the one too many.
    /// let worst = Budget::default().worst_case();
    /// assert_eq!(worst.asks, 3 + 4 * 16 + 1);
    /// // 3 joins and 64 rests of up to 8 s, since hints are honoured.
    /// assert_eq!(worst.waits, Duration::from_secs(8 * 67));
    ///
    /// let deaf = Budget::default().hint_limit(Duration::ZERO).worst_case();
    /// assert_eq!(deaf.waits, Duration::from_secs(8 * 3 + 64 / 2));
    /// ```
    pub fn worst_case(&self) -> WorstCase {
        let activations = u64::from(self.activations);
        // At most 2^64 - 2^32: no product of two u32 and what is added here overflows.
        let rests = (activations + 1).saturating_mul(u64::from(self.re_asks));
        let rest = self.rest(Some(Duration::MAX));
        // An untagged refusal, or one whose teardown cannot be seen, rests instead of joining.
        let join = self.join_limit.max(rest);
        let waits = times(join, activations)
            .saturating_add(times(rest, rests))
            .saturating_add(times(self.spread, activations.saturating_add(rests)))
            .min(self.longest.unwrap_or(Duration::MAX));
        WorstCase { asks: activations.saturating_add(rests).saturating_add(1), waits }
    }

    /// Names the settings that cannot do their work (`C10`). None is an error, and each has its use
    /// in a test.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use rideout::{Budget, budget::Concern};
    ///
    /// assert!(Budget::default().concerns().is_empty());
    ///
    /// let hasty = Budget::default().join_limit(Duration::from_secs(2));
    /// assert!(matches!(hasty.concerns()[..], [Concern::JoinBelowWatchdog { .. }]));
    /// ```
    pub fn concerns(&self) -> Vec<Concern> {
        let watchdog = self.watchdog;
        let rests = times(self.pace, u64::from(self.re_asks));
        let least = self.proven_after.filter(|life| *life <= self.pace);
        let longest = self.longest.filter(|longest| *longest < watchdog);
        [
            (self.activations == 0).then_some(Concern::NoActivations),
            (self.re_asks == 0).then_some(Concern::NoReAsks),
            (self.ask_limit.is_zero()).then_some(Concern::NoTimeToAnswer),
            (self.join_limit < watchdog)
                .then_some(Concern::JoinBelowWatchdog { join_limit: self.join_limit, watchdog }),
            (rests < watchdog).then_some(Concern::RestsBelowWatchdog { rests, watchdog }),
            longest.map(|longest| Concern::LongestBelowWatchdog { longest, watchdog }),
            least.map(|proven_after| Concern::ProvenWithinPace { proven_after, pace: self.pace }),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// One rest under the hint of a refusal (`R7b`).
    pub(crate) fn rest(&self, not_before: Option<Duration>) -> Duration {
        match not_before {
            None => self.pace,
            Some(hint) => self.pace.max(hint.min(self.hint_limit)),
        }
    }
}

const fn at_least_1_ms(wait: Duration) -> Duration {
    if wait.as_nanos() < LEAST_WAIT.as_nanos() { LEAST_WAIT } else { wait }
}

/// `duration`, `count` times over, at most `Duration::MAX`.
fn times(duration: Duration, count: u64) -> Duration {
    match u32::try_from(count) {
        Ok(count) => duration.saturating_mul(count),
        Err(_) => Duration::try_from_secs_f64(duration.as_secs_f64() * count as f64)
            .unwrap_or(Duration::MAX),
    }
}

/// The most that one ride-out without an answer can cost. Made by [`Budget::worst_case`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorstCase {
    /// The asks, the first refused one included (`R10`).
    pub asks: u64,
    /// The sum of all waits. How long the asks themselves take, up to `ask_limit` each, is not in it.
    pub waits: Duration,
}

/// A setting of a [`Budget`] that cannot do its work. Made by [`Budget::concerns`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Concern {
    /// No owner's refusal is ridden out.
    NoActivations,
    /// No refusal by the route, and no second one by the same owner, is ridden out.
    NoReAsks,
    /// Every ask that is not answered at once counts as refused.
    NoTimeToAnswer,
    /// A join ends before the owner's watchdog has forced the teardown.
    JoinBelowWatchdog {
        /// The limit of a join.
        join_limit: Duration,
        /// The owner's watchdog.
        watchdog: Duration,
    },
    /// All rests together end before the owner's watchdog has forced the teardown.
    RestsBelowWatchdog {
        /// Pace times re-asks.
        rests: Duration,
        /// The owner's watchdog.
        watchdog: Duration,
    },
    /// A ride-out is cut short before the owner's watchdog has forced the teardown.
    LongestBelowWatchdog {
        /// The bound of a ride-out.
        longest: Duration,
        /// The owner's watchdog.
        watchdog: Duration,
    },
    /// The life asked for is no longer than the one pace that counts anyway, so it proves no more.
    ProvenWithinPace {
        /// The life that counts as an answer.
        proven_after: Duration,
        /// One pace.
        pace: Duration,
    },
}

impl fmt::Display for Concern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Concern::NoActivations => {
                f.write_str("activations is 0: gives up on an owner's first refusal")
            }
            Concern::NoReAsks => f.write_str("re_asks is 0: gives up on the route's first refusal"),
            Concern::NoTimeToAnswer => {
                f.write_str("ask_limit is 0: an ask has no time to be answered")
            }
            Concern::JoinBelowWatchdog { join_limit, watchdog } => {
                write!(f, "join_limit {join_limit:?} is below the owner's watchdog {watchdog:?}")
            }
            Concern::RestsBelowWatchdog { rests, watchdog } => {
                write!(f, "pace × re_asks {rests:?} is below the owner's watchdog {watchdog:?}")
            }
            Concern::LongestBelowWatchdog { longest, watchdog } => {
                write!(f, "longest {longest:?} is below the owner's watchdog {watchdog:?}")
            }
            Concern::ProvenWithinPace { proven_after, pace } => {
                write!(f, "proven_after {proven_after:?} is not above the pace {pace:?}")
            }
        }
    }
}
