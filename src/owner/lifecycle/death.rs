//! The death of an owner: its last words, its completed teardown, and the end by force (invariant 4).

use std::mem;

use super::{Lifecycle, RunLevel};
use crate::unwind::FirstPanic;

impl Lifecycle {
    /// Adds what is to be done when it is dead and before its teardown is completed: leave the
    /// registry, cut the routes. Where it is dead already, that is done at once, by the caller.
    ///
    /// Never said for a lifetime that is killed. One that holds a handle of this lifetime keeps it
    /// from ever being so.
    ///
    /// # Panics
    ///
    /// A panic of `last_word` reaches whoever ended the lifetime, after all others were said and the
    /// teardown was completed.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::{Arc, atomic::{AtomicBool, Ordering}};
    ///
    /// use rideout::owner::Lifecycle;
    ///
    /// let owner = Lifecycle::new("prices/eur".parse()?);
    /// let routed = Arc::new(AtomicBool::new(true));
    /// let route = Arc::clone(&routed);
    /// owner.on_death(move || route.store(false, Ordering::Release));
    ///
    /// owner.force();
    /// assert!(!routed.load(Ordering::Acquire));
    /// # Ok::<_, rideout::address::InvalidAddress>(())
    /// ```
    pub fn on_death(&self, last_word: impl FnOnce() + Send + 'static) {
        let mut last_word: Option<Box<dyn FnOnce() + Send>> = Some(Box::new(last_word));
        self.shared.state.with(|state| {
            if state.level < RunLevel::Dead {
                state.last_words.extend(last_word.take());
            }
        });
        if let Some(last_word) = last_word {
            last_word();
        }
    }

    /// Forces the end of the whole subtree, now: children before parents, each says its last words and
    /// completes its teardown, and what the driver still ran is dropped when it is polled next (`R39`).
    ///
    /// A [watchdog](super::Driver) does so by itself.
    ///
    /// # Panics
    ///
    /// Where a last word or a waiter's waker does: the whole subtree is dead first, then the first such
    /// panic goes on.
    ///
    /// # Examples
    ///
    /// ```
    /// use rideout::owner::Lifecycle;
    ///
    /// let parent = Lifecycle::new("prices".parse()?);
    /// let child = parent.child("prices/eur".parse()?)?;
    /// parent.force();
    /// assert!(child.was_forced() && child.teardown().is_complete());
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn force(&self) {
        let subtree = self.freeze_subtree();
        FirstPanic::run_all(subtree.iter().rev().map(|lifecycle| || lifecycle.end_now(true)));
    }

    /// Passes the levels that are left (invariant 4).
    pub(super) fn end_now(&self, by_force: bool) {
        let shared = &self.shared;
        let mut panics = FirstPanic::default();
        let mut last_words = None;
        panics.catch(|| {
            shared.state.announce(|state| {
                state.frozen = true;
                let dies = state.raise(RunLevel::Dead);
                if dies {
                    state.forced = by_force;
                    last_words = Some(mem::take(&mut state.last_words));
                }
                dies
            });
        });
        if let Some(last_words) = last_words {
            panics.catch(|| FirstPanic::run_all(last_words));
            panics.catch(|| shared.teardown.complete());
            panics.catch(|| shared.leave_parent());
        }
        panics.resume();
    }
}
