//! Which owner serves an address now? The one that was entered last, unless it is dead.
//!
//! # Invariants
//!
//! 1. **A dead owner is never handed out** (`R42`): one that was dead when it was asked for is not, by
//!    whatever it is asked for. One that is still disposing is: its refusal is what makes callers
//!    re-ask.
//! 2. **One lives at a path.** Who is entered replaces none but a dead one, and finding it dead and
//!    replacing it is one step.
//! 3. **Removal is by identity** (`R42`): it takes out the very activation that it names, so a
//!    predecessor that goes late does not take its successor along.
//! 4. **No user's value is cloned or dropped under the lock.** Under it entries are moved, and counted
//!    by how many hold them.

use std::{collections::BTreeMap, error::Error, fmt};

use super::{Lifecycle, RunLevel};
use crate::{
    activation::Activation,
    address::Address,
    sync::{Arc, Mutex, lock},
};

/// The owners of a host, or of whatever else resolves addresses, by path.
///
/// An owner is whatever its requests are handed to: the sender of a mailbox, an `Arc` of a service. It
/// is entered with its [`Lifecycle`], which says whether it lives and which activation it is; the
/// registry watches nothing and runs no task. Have an owner taken out when it dies, once it is entered:
/// an entry that stays hands nothing out, yet holds the owner until it is replaced. One whose task is
/// gone and that nobody has ended lives here for ever: see [`Lifecycle`] for its guard.
///
/// # Clone
///
/// A handle: clones share the entries.
///
/// # Examples
///
/// ```
/// use rideout::{Address, owner::{Ending, Lifecycle, Registry}};
///
/// let address: Address = "prices/eur".parse()?;
/// let owners = Registry::new();
/// let enter = |owner: &'static str| {
///     let lifecycle = Lifecycle::new(address.clone());
///     owners.enter(&lifecycle, owner)?;
///     let (owners, gone) = (owners.clone(), lifecycle.activation().clone());
///     let address = address.clone();
///     lifecycle.on_death(move || _ = owners.remove(&address, &gone));
///     Ok::<_, Box<dyn std::error::Error>>(lifecycle)
/// };
///
/// let first = enter("the first")?;
/// first.dispose(Ending::recycle());
/// assert_eq!(owners.resolve(&address), Some("the first")); // it refuses, and so its callers re-ask
///
/// first.force();
/// assert_eq!(owners.resolve(&address), None);
///
/// enter("the second")?;
/// assert!(!owners.remove(&address, first.activation())); // it is no longer there
/// assert_eq!(owners.resolve(&address), Some("the second"));
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
pub struct Registry<O> {
    entries: Arc<Mutex<Entries<O>>>,
}

// By path.
type Entries<O> = BTreeMap<String, Arc<Entry<O>>>;

struct Entry<O> {
    lifecycle: Lifecycle,
    owner: O,
}

impl<O> Entry<O> {
    fn is_dead(&self) -> bool {
        self.lifecycle.level() == RunLevel::Dead
    }
}

impl<O> Registry<O> {
    /// Creates a registry without entries.
    pub fn new() -> Self {
        Self { entries: Arc::new(Mutex::new(Entries::new())) }
    }

    /// Enters `owner`, whose lifetime is `lifecycle`, at the path of its address. An owner that is dead
    /// is replaced, and dropped unless somebody uses it still.
    ///
    /// # Errors
    ///
    /// [`AlreadyServed`], which gives `owner` back, where one lives at the path already, be it
    /// disposing: what can still refuse for the address speaks for it alone.
    ///
    /// # Examples
    ///
    /// ```
    /// use rideout::owner::{Lifecycle, Registry};
    ///
    /// let (first, second) = (Lifecycle::new("eur".parse()?), Lifecycle::new("eur".parse()?));
    /// let owners = Registry::new();
    /// owners.enter(&first, "the first")?;
    ///
    /// let refused = owners.enter(&second, "the second").unwrap_err();
    /// assert_eq!(refused.living().activation(), first.activation());
    ///
    /// first.force();
    /// owners.enter(&second, refused.into_owner())?;
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn enter(&self, lifecycle: &Lifecycle, owner: O) -> Result<(), AlreadyServed<O>> {
        let path = lifecycle.address().path();

        let mut entries = lock(&self.entries);
        if let Some(there) = entries.get(path)
            && !there.is_dead()
        {
            let living = there.lifecycle.clone();
            drop(entries);
            return Err(AlreadyServed { owner, living });
        }
        let entry = Arc::new(Entry { lifecycle: lifecycle.clone(), owner });
        let replaced = entries.insert(path.to_owned(), entry);
        drop(entries);
        drop(replaced); // Invariant 4.
        Ok(())
    }

    /// Removes the entry of `activation` at `address`; returns whether it was there. That of another
    /// activation at the same path stays.
    ///
    /// # Examples
    ///
    /// See [`Registry`].
    pub fn remove(&self, address: &Address, activation: &Activation) -> bool {
        let path = address.path();

        let mut entries = lock(&self.entries);
        // Invariant 3.
        let is_its_own =
            entries.get(path).is_some_and(|entry| entry.lifecycle.activation() == activation);
        let removed = if is_its_own { entries.remove(path) } else { None };
        drop(entries);
        removed.is_some() // Dropped here, after the lock (invariant 4).
    }

    /// Returns the lifetimes that are not over, by path: what a landing [recycles](super::Waves), or a
    /// host that stops tells to leave.
    ///
    /// # Examples
    ///
    /// ```
    /// use rideout::owner::{Lifecycle, Registry};
    ///
    /// let (eur, usd) = (Lifecycle::new("eur".parse()?), Lifecycle::new("usd".parse()?));
    /// let owners = Registry::new();
    /// owners.enter(&usd, ())?;
    /// owners.enter(&eur, ())?;
    /// usd.force();
    ///
    /// let living = owners.living();
    /// assert_eq!(living.len(), 1);
    /// assert_eq!(living[0].activation(), eur.activation());
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn living(&self) -> Vec<Lifecycle> {
        let entries: Vec<_> = lock(&self.entries).values().cloned().collect();
        let living = entries.iter().filter(|entry| !entry.is_dead());
        living.map(|entry| entry.lifecycle.clone()).collect()
    }
}

impl<O: Clone> Registry<O> {
    /// Returns the owner that serves `address`, found by its path; none where it is dead.
    ///
    /// It may be disposing, or die before it is used: then it refuses, or does not answer.
    ///
    /// # Examples
    ///
    /// ```
    /// use rideout::owner::{Lifecycle, Registry};
    ///
    /// let owners = Registry::new();
    /// owners.enter(&Lifecycle::new("eur~host-7".parse()?), "euros")?;
    /// assert_eq!(owners.resolve(&"eur".parse()?), Some("euros"));
    /// assert_eq!(owners.resolve(&"usd".parse()?), None);
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn resolve(&self, address: &Address) -> Option<O> {
        let entry = lock(&self.entries).get(address.path()).cloned()?;
        // Invariants 1 and 4: looked at and cloned after the lock, the entry being held.
        (!entry.is_dead()).then(|| entry.owner.clone())
    }
}

impl<O> Clone for Registry<O> {
    fn clone(&self) -> Self {
        Self { entries: Arc::clone(&self.entries) }
    }
}

impl<O> Default for Registry<O> {
    fn default() -> Self {
        Self::new()
    }
}

impl<O> fmt::Debug for Registry<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry").field("living", &self.living()).finish()
    }
}

/// Says that an owner was not entered, since another one lives at its path; and gives it back.
///
/// # Examples
///
/// See [`Registry::enter`].
pub struct AlreadyServed<O> {
    owner: O,
    living: Lifecycle,
}

impl<O> AlreadyServed<O> {
    /// Returns the lifetime that is not over. Its death is the event to wait for.
    pub fn living(&self) -> &Lifecycle {
        &self.living
    }

    /// Returns the owner that was not entered.
    pub fn into_owner(self) -> O {
        self.owner
    }
}

impl<O> fmt::Debug for AlreadyServed<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AlreadyServed").field("living", &self.living).finish_non_exhaustive()
    }
}

impl<O> fmt::Display for AlreadyServed<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (address, activation) = (self.living.address(), self.living.activation());
        write!(
            f,
            "{address} is served by {activation}, which is not dead (expected none that lives)"
        )
    }
}

impl<O> Error for AlreadyServed<O> {}
