//! Who leaves? The hosts of a cluster that no address is handed to.

use std::{collections::BTreeSet, fmt};

use crate::sync::{Arc, Mutex, lock};

/// The hosts of a cluster that leave: no address is handed to one of them.
///
/// # Clone
///
/// A handle: clones share one set, and so do all hosts of one process, as in a test.
///
/// # Replication
///
/// In a cluster each process has a set of its own, kept in step by an adapter over whatever the hosts
/// agree by (a lease in a store, a membership protocol). It must provide:
///
/// 1. **Entered, then read.** A host's entry is agreed on before the host is told to stop here, and
///    all entries agreed on before that are in its set by then. Of two hosts that leave at once, one then
///    sees the other; with a set that may lag on both sides they can hand an address to and fro.
/// 2. **The others' entries and returns** are brought into this set, by [`enter`](Self::enter) and
///    [`rejoin`](Self::rejoin), as they are learned of. A set that lags costs a hand-off to a host that
///    refuses, and so one more re-ask.
/// 3. **An entry lasts until its host rejoins.** Nobody else takes it out while it runs; one that is
///    gone for good may be forgotten.
///
/// # Examples
///
/// ```
/// use rideout::owner::DrainSet;
///
/// let leaving = DrainSet::new();
/// assert!(leaving.enter("host-1"));
/// assert!(!leaving.enter("host-1")); // it is in already
/// assert!(leaving.contains("host-1"));
///
/// assert!(leaving.rejoin("host-1")); // it has started anew
/// assert!(!leaving.contains("host-1"));
/// ```
#[derive(Clone, Default)]
pub struct DrainSet {
    hosts: Arc<Mutex<BTreeSet<String>>>,
}

impl DrainSet {
    /// Creates a set without hosts.
    pub fn new() -> Self {
        Self::default()
    }

    /// Enters `host`; returns whether it was not in.
    ///
    /// A [`LeavingHost`](super::LeavingHost) enters itself. A host that was entered and not told to stop serves on, and is
    /// handed nothing more.
    pub fn enter(&self, host: &str) -> bool {
        lock(&self.hosts).insert(host.to_owned())
    }

    /// Takes out `host`, which is back; returns whether it was in.
    pub fn rejoin(&self, host: &str) -> bool {
        lock(&self.hosts).remove(host)
    }

    /// Returns whether `host` leaves.
    pub fn contains(&self, host: &str) -> bool {
        lock(&self.hosts).contains(host)
    }

    /// Returns the hosts that leave, by name.
    ///
    /// # Examples
    ///
    /// ```
    /// let leaving = rideout::owner::DrainSet::new();
    /// leaving.enter("host-2");
    /// leaving.enter("host-1");
    /// assert_eq!(leaving.hosts(), ["host-1", "host-2"]);
    /// ```
    pub fn hosts(&self) -> Vec<String> {
        lock(&self.hosts).iter().cloned().collect()
    }
}

impl fmt::Debug for DrainSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DrainSet").field(&self.hosts()).finish()
    }
}
