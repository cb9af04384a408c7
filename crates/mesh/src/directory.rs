//! The directory: which activation serves an address, and how its teardown stands.
//!
//! A [`Registry`], and what a cluster adds to one: leases for those that were lost, and the teardowns
//! that can be joined.
//!
//! # Invariants
//!
//! 1. The entry of an owner that was lost stays until its lease ends (`R58`). No timer runs for it: it
//!    is looked at when it is looked up.
//! 2. A hub is dropped with no lock held: the streams of an owner end with it, and their wakers are
//!    foreign code.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
    time::{Duration, Instant},
};

use rideout::{
    Activation, Address,
    owner::{Lifecycle, Registry},
    teardown::{Completed, Teardown},
    time::{Timer, TokioTimer},
};

use crate::hub::Hub;

/// How many teardowns that are over can still be looked up.
const REMEMBERED: usize = 1024;

/// The owners by path, and the teardowns by activation.
pub(crate) struct Directory<T> {
    owners: Registry<Arc<Hub<T>>>,
    // When an owner was found to be lost: its lease runs from there.
    lost: HashMap<Activation, Instant>,
    teardowns: HashMap<Activation, Teardown>,
    // Those whose teardown is over, the oldest first.
    over: VecDeque<Activation>,
}

impl<T> Directory<T> {
    pub(crate) fn new() -> Self {
        Self {
            owners: Registry::new(),
            lost: HashMap::new(),
            teardowns: HashMap::new(),
            over: VecDeque::new(),
        }
    }

    /// Returns the owner at `address`, which may be refusing, or lost and within its lease.
    pub(crate) fn find(&mut self, address: &Address, lease: Duration) -> Option<Arc<Hub<T>>> {
        let hub = self.owners.resolve(address)?;
        let is_over = hub.is_lost() && {
            let now = TokioTimer.now();
            let lost = *self.lost.entry(hub.lifecycle().activation().clone()).or_insert(now);
            now.duration_since(lost) >= lease
        };
        (!is_over).then_some(hub)
    }

    /// Enters an owner that has started where none was found, and returns the one whose place it takes.
    pub(crate) fn enter(&mut self, hub: &Arc<Hub<T>>) -> Option<Arc<Hub<T>>> {
        let lifecycle = hub.lifecycle();
        let gone = self.owners.resolve(lifecycle.address());
        if let Some(gone) = &gone {
            self.owners.remove(gone.lifecycle().address(), gone.lifecycle().activation());
            self.lost.remove(gone.lifecycle().activation());
            // It was lost, perhaps without anybody to say so.
            self.teardowns.remove(gone.lifecycle().activation());
        }
        let entered = self.owners.enter(lifecycle, Arc::clone(hub));
        debug_assert!(entered.is_ok(), "nobody lives where none was found");
        self.teardowns.insert(lifecycle.activation().clone(), lifecycle.teardown().clone());
        gone
    }

    /// Removes an owner that is dead, if it still has its entry.
    pub(crate) fn leave(&mut self, lifecycle: &Lifecycle) {
        self.over.push_back(lifecycle.activation().clone());
        if self.over.len() > REMEMBERED
            && let Some(oldest) = self.over.pop_front()
        {
            self.teardowns.remove(&oldest);
        }
        self.owners.remove(lifecycle.address(), lifecycle.activation());
    }

    /// Notes that an owner was killed: its lease runs, its teardown never comes.
    pub(crate) fn lose(&mut self, lifecycle: &Lifecycle) {
        let activation = lifecycle.activation();
        self.lost.entry(activation.clone()).or_insert_with(|| TokioTimer.now());
        self.teardowns.remove(activation);
    }

    /// Returns the owners that are there, in no order.
    pub(crate) fn owners(&self) -> Vec<Arc<Hub<T>>> {
        let living = self.owners.living();
        living.iter().filter_map(|living| self.owners.resolve(living.address())).collect()
    }

    /// Returns when the teardown of `activation` is over, unless it is unknown or cannot be observed.
    pub(crate) fn teardown_of(&self, activation: &Activation) -> Option<Completed> {
        self.teardowns.get(activation).map(Teardown::completed)
    }
}
