//! Where does an ask go? To the owner that the directory has, or to one that is started for it; or
//! nowhere, and then the route says so.

use std::{
    sync::{Arc, OnceLock},
    time::Instant,
};

use super::{
    Settings, State, World,
    fault::{Away, Part},
    hub::Hub,
};
use crate::{
    activation::StreamId,
    address::Address,
    owner::{Ending, LeavingHost, Lifecycle},
    refusal::{News, Refusal, Seam},
    sync::lock,
    time::{Timer, TokioTimer, later},
};

impl<T: Send + Sync + 'static> World<T> {
    /// Returns the owner that `request` for `address` goes to.
    ///
    /// # Errors
    ///
    /// The refusal of the route: it is told to refuse, by address or by host; the owner's process is
    /// gone and its lease is not over; nothing is stored at the address; no host takes it. Or that of the
    /// owner, whose door is told to refuse.
    pub(super) fn route(
        self: &Arc<Self>,
        address: &Address,
        request: &str,
    ) -> Result<Arc<Hub<T>>, Refusal> {
        let mut state = lock(&self.state);
        if state.faults.has(address.path(), Part::Route) {
            return Err(Refusal::mesh_cannot_route(address));
        }
        let held = state.faults.held_route(address.path());
        let hub = match held.or_else(|| state.find(address)) {
            Some(hub) => hub,
            None => {
                drop(state);
                let started = self.find_or_start(address, request)?;
                state = lock(&self.state);
                started
            }
        };
        if hub.is_lost() || state.faults.is_away(hub.host().name(), Away::Refused) {
            return Err(Refusal::host_cannot_route(address));
        }
        if state.faults.has(address.path(), Part::Door) {
            return Err(hub.lifecycle().closing().refuse(Seam::Door, request));
        }
        Ok(hub)
    }

    /// Returns the owner that the directory has, started now where it had none (`R58`).
    pub(super) fn find_or_start(
        self: &Arc<Self>,
        address: &Address,
        request: &str,
    ) -> Result<Arc<Hub<T>>, Refusal> {
        let mut state = lock(&self.state);
        if let Some(hub) = state.find(address) {
            return Ok(hub);
        }
        if self.store.read(address.path()).is_none() {
            return Err(Refusal::no_node(address));
        }
        let (host, lifecycle) = state.place(address, request)?;
        let hub = Hub::start(self, host, lifecycle, state.settings.watchdog);
        let gone = state.directory.enter(&hub);
        let activation = hub.lifecycle().activation().clone();
        let arrival = state.news.prepare(address.path(), News::Arrived(activation), |_| true);

        drop(state);
        drop(gone);
        arrival.tell();
        Ok(hub)
    }

    /// Lets an owner go that is dead. One that leaves with its host moves: its entry and its activation
    /// go together (`R45`).
    pub(super) fn left(self: &Arc<Self>, hub: &Hub<T>) {
        let lifecycle = hub.lifecycle();
        lock(&self.state).directory.leave(lifecycle);
        if lifecycle.is_leaving() {
            // Where nobody takes it, the next ask looks again.
            _ = self.find_or_start(lifecycle.address(), "the hand-off");
        }
    }
}

impl<T> World<T> {
    /// Returns the owner that the directory has at `address`.
    pub(super) fn find(&self, address: &Address) -> Option<Arc<Hub<T>>> {
        lock(&self.state).find(address)
    }

    pub(super) fn settings(&self) -> Settings {
        lock(&self.state).settings
    }

    /// Tells the reader of `stream`.
    pub(super) fn tell(&self, path: &str, stream: StreamId, news: News) {
        let said = lock(&self.state).news.prepare(path, news, |reader| *reader == stream);
        said.tell();
    }

    /// Says to the change feed that a version was written.
    pub(super) fn changed(&self, path: &str, version: u64) {
        let said = {
            let state = lock(&self.state);
            let is_silent = state.faults.has(path, Part::Feed);
            state.feed.prepare(path, version, |()| !is_silent)
        };
        said.tell();
    }

    /// Has an owner that leaves move, where it is idle and somebody takes it (`R45`).
    pub(super) fn hand_off(
        &self,
        lifecycle: &Lifecycle,
        host: &LeavingHost,
        ends: &OnceLock<Instant>,
    ) {
        let teardown = {
            let state = lock(&self.state);
            let active: Vec<_> = state.hosts.active().map(LeavingHost::name).collect();
            let lingers = state.faults.is_away(host.name(), Away::Lingers);
            if lingers || host.hand_off(lifecycle, active).is_none() {
                return;
            }
            state.settings.teardown
        };
        ends.get_or_init(|| later(TokioTimer.now(), teardown));
        lifecycle.dispose(stops(host));
    }
}

/// The end of what a host that stops has.
pub(super) fn stops(host: &LeavingHost) -> Ending {
    Ending::dispose().asked_by(host.name()).reason("the host is stopped")
}

impl<T> State<T> {
    pub(super) fn find(&mut self, address: &Address) -> Option<Arc<Hub<T>>> {
        self.directory.find(address, self.settings.lease)
    }

    /// Returns where the owner of `address` starts, and begins its lifetime: as the child of the one
    /// whose path is the parent of its own, where that one lives.
    ///
    /// # Errors
    ///
    /// The refusal of a parent that is ending; of a host that leaves and is routed to; or of the route.
    fn place(
        &mut self,
        address: &Address,
        request: &str,
    ) -> Result<(LeavingHost, Lifecycle), Refusal> {
        let parent = address.path().rsplit_once('/').and_then(|(parent, _)| parent.parse().ok());
        let parent = parent.and_then(|parent| self.find(&parent)).filter(|parent| {
            // Nothing starts on a host that leaves (`R58`). One that is ending says so itself.
            let (lifecycle, host) = (parent.lifecycle(), parent.host().name());
            let stays = !lifecycle.is_leaving() || lifecycle.ending().is_some();
            stays && !parent.is_lost() && !self.faults.is_away(host, Away::Refused)
        });
        if let Some(parent) = parent {
            let lifecycle = parent.lifecycle().child(address.clone())?;
            return Ok((parent.host().clone(), lifecycle));
        }

        let mut active = self.hosts.active();
        if let Some(host) = active.find(|host| !self.faults.is_away(host.name(), Away::Refused)) {
            return Ok((host.clone(), Lifecycle::new(address.clone())));
        }
        let lingering = self.hosts.names().find(|name| self.faults.is_away(name, Away::Lingers));
        if let Some(host) = lingering.and_then(|name| self.hosts.get(name)) {
            host.inbound(address, None, request)?;
        }
        Err(Refusal::mesh_cannot_route(address))
    }
}

impl<T> Drop for World<T> {
    /// Tells the subscriptions. The owners' tasks end by themselves: their mailboxes have no sender
    /// left.
    fn drop(&mut self) {
        self.gone.complete();
    }
}
