//! Where does an ask go? To the owner that the directory has, or to one that is started for it; or
//! nowhere, and then the route says so.

use std::sync::Arc;

use super::{State, World, hub::Hub, lifecycle::Lifecycle};
use crate::{
    address::Address,
    refusal::{News, Refusal},
    sync::lock,
};

impl<T: Send + Sync + 'static> World<T> {
    /// Returns the owner that an ask for `address` goes to.
    ///
    /// # Errors
    ///
    /// The refusal of the route: it is told to refuse, by address or by host; the owner's process is
    /// gone and its lease is not over; nothing is stored at the address; no host takes it.
    pub(super) fn route(self: &Arc<Self>, address: &Address) -> Result<Arc<Hub<T>>, Refusal> {
        let mut state = lock(&self.state);
        if state.faults.refuses_path(address.path()) {
            return Err(Refusal::mesh_cannot_route(address));
        }
        let held = state.faults.held_route(address.path());
        let Some(hub) = held.or_else(|| state.find(address.path())) else {
            drop(state);
            return self.find_or_start(address);
        };
        if hub.is_lost() || state.faults.refuses_host(hub.host()) {
            return Err(Refusal::host_cannot_route(address));
        }
        Ok(hub)
    }

    /// Returns the owner that the directory has, started now where it had none (`R58`).
    pub(super) fn find_or_start(
        self: &Arc<Self>,
        address: &Address,
    ) -> Result<Arc<Hub<T>>, Refusal> {
        let mut state = lock(&self.state);
        if let Some(hub) = state.find(address.path()) {
            return Ok(hub);
        }
        let stored = self.store.read(address.path()).ok_or_else(|| Refusal::no_node(address))?;
        let host = state.hosts.place(|host| state.faults.refuses_host(host));
        let host = host.ok_or_else(|| Refusal::mesh_cannot_route(address))?;

        let hub = Hub::start(self, host, address.clone(), stored);
        let replaced = state.directory.enter(address.path(), Arc::clone(&hub));
        let news = News::Arrived(hub.lifecycle().activation().clone());
        let arrival = state.listeners.prepare(address.path(), news);
        drop(state);
        drop(replaced);
        arrival.tell();
        Ok(hub)
    }
}

impl<T> World<T> {
    /// Returns the owner that the directory has at `address`.
    pub(super) fn find(&self, address: &Address) -> Option<Arc<Hub<T>>> {
        lock(&self.state).find(address.path())
    }

    /// Lets an owner go whose teardown is completed, and announces it to the readers of its address.
    pub(super) fn ended(&self, lifecycle: &Lifecycle, is_announced: bool) {
        let (path, activation) = (lifecycle.address().path(), lifecycle.activation());
        let mut state = lock(&self.state);
        let news = News::Ended(Some(activation.clone()));
        let announcement = is_announced.then(|| state.listeners.prepare(path, news));
        let removed = state.directory.leave(path, activation);

        drop(state);
        drop(removed);
        if let Some(announcement) = announcement {
            announcement.tell();
        }
    }
}

impl<T> State<T> {
    pub(super) fn find(&mut self, path: &str) -> Option<Arc<Hub<T>>> {
        self.directory.find(path, self.settings.lease)
    }
}

impl<T> Drop for World<T> {
    /// Tells the subscriptions. The owners' tasks end by themselves: their mailboxes have no sender
    /// left.
    fn drop(&mut self) {
        self.gone.complete();
    }
}
