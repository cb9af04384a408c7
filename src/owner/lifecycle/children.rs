//! Parents and children: who is born below whom, and that nobody is born in what is going (invariant 3).

use std::sync::{Arc, Weak};

use super::{Ending, Lifecycle, RunLevel, Shared, State};
use crate::{
    address::Address,
    refusal::{Refusal, Seam},
    unwind::FirstPanic,
};

impl Lifecycle {
    /// Begins the lifetime of a child, which is told to end when its parent's hosted ones are.
    ///
    /// The parent waits for it to be gone, dead or dropped, but not for ever: see
    /// [`Driver::children`](super::Driver::children).
    ///
    /// # Errors
    ///
    /// The promise of a parent that is ending, or stands below one: nobody is born in what is going
    /// (`R37`).
    ///
    /// # Examples
    ///
    /// ```
    /// use rideout::{Address, owner::{Ending, Lifecycle}};
    ///
    /// let prices: Address = "prices".parse()?;
    /// let parent = Lifecycle::new(prices.clone());
    /// let child = parent.child("prices/eur".parse()?)?;
    ///
    /// parent.dispose(Ending::dispose());
    /// let refusal = parent.child("prices/usd".parse()?).unwrap_err();
    /// assert!(refusal.promise(&prices).is_some());
    /// assert!(child.child("prices/eur/spot".parse()?).is_err()); // the whole subtree is frozen
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn child(&self, address: Address) -> Result<Self, Refusal> {
        let child = Self::begin(address, Some(Arc::downgrade(&self.shared)));
        let entry = Arc::downgrade(&child.shared);
        let is_entered = self.shared.state.with(|state| {
            let enters = !state.frozen && !state.leaving;
            if enters {
                state.children.insert(child.shared.born, entry);
            }
            enters
        });
        if is_entered {
            Ok(child)
        } else {
            Err(self.closing().refuse(Seam::Creation, child.address().as_str()))
        }
    }

    /// Freezes the creation of children in the subtree, from the top down, and returns it, parents
    /// before their children.
    pub(super) fn freeze_subtree(&self) -> Vec<Self> {
        let mut frozen = vec![self.clone()];
        let mut next = 0;
        while let Some(lifecycle) = frozen.get(next).cloned() {
            lifecycle.shared.state.with(|state| state.frozen = true);
            frozen.extend(lifecycle.living_children());
            next += 1;
        }
        frozen
    }

    /// Returns the children that are neither dead nor dropped.
    pub(super) fn living_children(&self) -> Vec<Self> {
        let living =
            |state: &mut State| state.children.values().filter_map(Weak::upgrade).collect();
        let children: Vec<_> = self.shared.state.with(living);
        children.into_iter().map(|shared| Self { shared }).collect()
    }

    /// Tells the children to end, all together; the subtree is frozen since this one was told.
    pub(super) fn end_children(&self) {
        let ending = self.ending().unwrap_or_else(Ending::dispose);
        let told = self.living_children().into_iter().map(|child| {
            let ending = ending.of_children(self.address());
            move || _ = child.set_ending(ending)
        });
        FirstPanic::run_all(told);
    }
}

impl Shared {
    /// A child is gone: its parent may have waited for that.
    pub(super) fn leave_parent(&self) {
        if let Some(parent) = self.parent.as_ref().and_then(Weak::upgrade) {
            parent.state.announce(|state| {
                let went = state.children.remove(&self.born).is_some();
                state.progress += u64::from(went);
                // Before it is told, nobody waits for a child.
                went && state.level >= RunLevel::Quiescing
            });
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.leave_parent();
    }
}
