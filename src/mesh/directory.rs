//! Which activation serves an address, and how does its teardown stand?
//!
//! # Invariants
//!
//! 1. A dead owner is never handed out (`R42`); one that is still disposing is, since its refusal is
//!    what makes callers re-ask.
//! 2. Removal is by identity: a successor is not removed by its predecessor (`R42`).
//! 3. The entry of an owner that was lost stays until its lease ends (`R58`). No timer runs for it: it
//!    is looked at when it is looked up.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
    time::{Duration, Instant},
};

use super::hub::Hub;
use crate::{
    activation::Activation,
    teardown::{Completed, Teardown},
    time::{Timer, TokioTimer},
};

/// How many teardowns that are over can still be looked up.
const REMEMBERED: usize = 1024;

/// The owners by path, and the teardowns by activation.
pub(super) struct Directory<T> {
    entries: HashMap<String, Entry<T>>,
    teardowns: HashMap<Activation, Teardown>,
    // Those whose teardown is over, the oldest first.
    over: VecDeque<Activation>,
}

/// An owner, as the directory knows it. It is dropped by the caller, with no lock held: the streams of
/// an owner end with it, and their wakers are foreign code.
pub(super) struct Entry<T> {
    hub: Arc<Hub<T>>,
    // When the owner was found to be lost: its lease runs from there.
    lost: Option<Instant>,
}

impl<T> Directory<T> {
    pub(super) fn new() -> Self {
        Self { entries: HashMap::new(), teardowns: HashMap::new(), over: VecDeque::new() }
    }

    /// Returns the owner at `path`, which may be refusing, or lost and within its lease.
    pub(super) fn find(&mut self, path: &str, lease: Duration) -> Option<Arc<Hub<T>>> {
        let entry = self.entries.get_mut(path)?;
        if entry.hub.lifecycle().is_dead() {
            return None;
        }
        if entry.hub.is_lost() {
            let now = TokioTimer.now();
            let lost = *entry.lost.get_or_insert(now);
            if now.duration_since(lost) >= lease {
                return None;
            }
        }
        Some(Arc::clone(&entry.hub))
    }

    /// Enters an owner that has started, and returns the entry that it replaces.
    pub(super) fn enter(&mut self, path: &str, hub: Arc<Hub<T>>) -> Option<Entry<T>> {
        let lifecycle = hub.lifecycle();
        self.teardowns.insert(lifecycle.activation().clone(), lifecycle.teardown().clone());
        self.entries.insert(path.to_owned(), Entry { hub, lost: None })
    }

    /// Removes an owner whose teardown is over, and returns its entry if it still had one.
    pub(super) fn leave(&mut self, path: &str, activation: &Activation) -> Option<Entry<T>> {
        self.over.push_back(activation.clone());
        if self.over.len() > REMEMBERED
            && let Some(oldest) = self.over.pop_front()
        {
            self.teardowns.remove(&oldest);
        }
        let is_its_own = self.entries.get(path).is_some_and(|entry| entry.hub.is(activation));
        if is_its_own { self.entries.remove(path) } else { None }
    }

    /// Notes that the owner at `path` was killed: its lease runs, its teardown never comes.
    pub(super) fn lose(&mut self, path: &str) {
        if let Some(entry) = self.entries.get_mut(path) {
            entry.lost.get_or_insert_with(|| TokioTimer.now());
            self.teardowns.remove(entry.hub.lifecycle().activation());
        }
    }

    /// Returns when the teardown of `activation` is over, unless it is unknown or cannot be observed.
    pub(super) fn teardown_of(&self, activation: &Activation) -> Option<Completed> {
        self.teardowns.get(activation).map(Teardown::completed)
    }
}
