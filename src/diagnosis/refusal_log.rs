//! Which of many refusals is worth a line in the log (`R51`)?

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    time::Duration,
};

use crate::address::Address;

/// How long after a line the next one of its address may come.
const EVERY: Duration = Duration::from_secs(60);

/// How many addresses are known at most.
const MOST_ADDRESSES: usize = 512;

/// An address that was refused nothing for so many times the time between two lines is idle.
const IDLE: u32 = 10;

/// What is to be said of one refusal.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
///
/// use rideout::diagnosis::{Line, RefusalLog};
///
/// let said = match RefusalLog::new().refused(&"prices/eur".parse()?, Duration::ZERO) {
///     Line::Warn { swallowed: 0 } => "refused".to_owned(),
///     Line::Warn { swallowed } => format!("refused, and {swallowed} times since the last line"),
///     Line::Debug => String::new(),
/// };
/// assert_eq!(said, "refused");
/// # Ok::<_, rideout::address::InvalidAddress>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Line {
    /// A line at `WARN`, which also stands for those that were swallowed.
    Warn {
        /// How many refusals of this address were no line at `WARN` since the last that was.
        swallowed: u64,
    },
    /// A repeat: a line at `DEBUG`, if any.
    Debug,
}

/// Decides which refusals of an address are told aloud: the first at once, then one a minute that sums
/// up the rest.
///
/// It decides about lines only. The refusal itself is always sent, and the caller writes the line: this
/// has neither clock nor log. Time is counted from wherever the caller likes, such as its start.
///
/// No timer runs, so what is swallowed is told with the next refusal after the minute, or when a delivery
/// [succeeds](RefusalLog::delivered).
///
/// # Memory
///
/// At most 512 addresses. One that was refused nothing for ten minutes is forgotten, and so is the one
/// that was refused the longest ago where there are too many; its next refusal counts as its first.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
///
/// use rideout::{Address, diagnosis::{Line, RefusalLog}};
///
/// let address: Address = "prices/eur".parse()?;
/// let mut log = RefusalLog::new();
/// let at = Duration::from_secs;
///
/// assert_eq!(log.refused(&address, at(5)), Line::Warn { swallowed: 0 });
/// assert_eq!(log.refused(&address, at(6)), Line::Debug);
/// assert_eq!(log.refused(&address, at(64)), Line::Debug);
/// assert_eq!(log.refused(&address, at(65)), Line::Warn { swallowed: 2 });
///
/// log.delivered(&address);
/// assert_eq!(log.refused(&address, at(66)), Line::Warn { swallowed: 0 }); // news again
/// # Ok::<_, rideout::address::InvalidAddress>(())
/// ```
pub struct RefusalLog {
    addresses: HashMap<Address, Refused>,
    // Each address once, by its last refusal. The number tells apart those of one moment.
    recent: BTreeMap<(Duration, u64), Address>,
    refusals: u64,
    every: Duration,
    most_addresses: usize,
}

/// What is known of an address.
struct Refused {
    warned: Duration,
    swallowed: u64,
    recent: (Duration, u64),
}

impl RefusalLog {
    /// Returns a log that knows no address.
    pub fn new() -> Self {
        Self {
            addresses: HashMap::new(),
            recent: BTreeMap::new(),
            refusals: 0,
            every: EVERY,
            most_addresses: MOST_ADDRESSES,
        }
    }

    /// Sets how long after a line the next one of its address may come: a minute by default.
    ///
    /// An address is forgotten after ten times as long. Zero makes every refusal a line.
    #[must_use]
    pub fn every(mut self, every: Duration) -> Self {
        self.every = every;
        self
    }

    /// Sets how many addresses are known at most: 512 by default.
    ///
    /// Where more than that are refused by turns, each refusal may be a line.
    #[must_use]
    pub fn most_addresses(mut self, most_addresses: usize) -> Self {
        self.most_addresses = most_addresses;
        self
    }

    /// Takes a refusal down, and returns what is to be said of it.
    pub fn refused(&mut self, address: &Address, now: Duration) -> Line {
        self.forget_idle(now);
        self.refusals = self.refusals.saturating_add(1);
        let mut recent = (now, self.refusals);

        let known = self.addresses.remove(address).inspect(|known| {
            self.recent.remove(&known.recent);
            // A clock that was read earlier takes nothing back.
            recent.0 = now.max(known.recent.0);
        });
        let (line, warned, swallowed) = match known {
            Some(known) if now.saturating_sub(known.warned) < self.every => {
                (Line::Debug, known.warned, known.swallowed.saturating_add(1))
            }
            Some(known) => (Line::Warn { swallowed: known.swallowed }, now, 0),
            None => (Line::Warn { swallowed: 0 }, now, 0),
        };

        self.addresses.insert(address.clone(), Refused { warned, swallowed, recent });
        self.recent.insert(recent, address.clone());
        if self.addresses.len() > self.most_addresses {
            self.forget_first();
        }
        line
    }

    /// Clears an address: a delivery to it succeeded, so its next refusal is news.
    ///
    /// Returns how many refusals were swallowed since its last line, for a line that tells the end.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use rideout::{Address, diagnosis::RefusalLog};
    ///
    /// let address: Address = "prices/eur".parse()?;
    /// let mut log = RefusalLog::new();
    /// for second in 0..4 {
    ///     log.refused(&address, Duration::from_secs(second));
    /// }
    /// assert_eq!(log.delivered(&address), 3);
    /// assert_eq!(log.delivered(&address), 0);
    /// # Ok::<_, rideout::address::InvalidAddress>(())
    /// ```
    pub fn delivered(&mut self, address: &Address) -> u64 {
        self.addresses.remove(address).map_or(0, |known| {
            self.recent.remove(&known.recent);
            known.swallowed
        })
    }

    /// Returns how many addresses are known.
    pub fn len(&self) -> usize {
        self.addresses.len()
    }

    /// Returns whether no address is known.
    pub fn is_empty(&self) -> bool {
        self.addresses.is_empty()
    }

    fn forget_idle(&mut self, now: Duration) {
        let idle = self.every.saturating_mul(IDLE);
        while let Some((&(last, _), _)) = self.recent.first_key_value()
            && now.saturating_sub(last) > idle
        {
            self.forget_first();
        }
    }

    fn forget_first(&mut self) {
        if let Some((_, address)) = self.recent.pop_first() {
            self.addresses.remove(&address);
        }
    }
}

impl Default for RefusalLog {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for RefusalLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RefusalLog")
            .field("addresses", &self.addresses.len())
            .field("every", &self.every)
            .finish_non_exhaustive()
    }
}
