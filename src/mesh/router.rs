//! Where does an ask go? To the owner that the directory has, or to one that is started for it; or
//! nowhere, and then the route says so.

use std::{
    mem,
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
    owner::{Ending, HostPhase, LeavingHost, Lifecycle},
    refusal::{News, Party, Refusal, Seam},
    sync::lock,
    time::{Timer, TokioTimer, later},
    unwind,
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
        let (hub, state) = match held.or_else(|| state.find(address)) {
            Some(hub) => (hub, state),
            None => {
                drop(state);
                (self.find_or_start(address, request)?, lock(&self.state))
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
        if !self.store.has(address.path()) {
            return Err(Refusal::no_node(address));
        }
        let (host, lifecycle) = state.place(address, request)?;
        let hub = Hub::start(self, host, lifecycle, state.settings);
        let gone = state.directory.enter(&hub);
        let activation = hub.lifecycle().activation().clone();
        let arrival = state.news.to_all(address.path(), News::Arrived(activation));

        drop(state);
        drop(gone);
        hub.leaves(self);
        arrival.tell();
        Ok(hub)
    }

    /// Lets an owner go that is dead. One that leaves with its host moves: its entry and its activation
    /// go together (`R45`).
    pub(super) fn left(self: &Arc<Self>, hub: &Hub<T>) {
        let lifecycle = hub.lifecycle();
        let mut state = lock(&self.state);
        state.directory.leave(lifecycle);
        if lifecycle.is_leaving() {
            state.displaced.push(lifecycle.address().clone());
            drop(state);
            self.move_displaced();
        }
    }

    /// Starts the owners that left with their host, where that is possible now: a child's when its
    /// parent's has moved. Others wait for the next that leaves, or for an ask.
    fn move_displaced(self: &Arc<Self>) {
        let mut displaced = mem::take(&mut lock(&self.state).displaced);
        // Parents first.
        displaced.sort();
        let mut waiting: Vec<Address> = Vec::new();
        for address in displaced {
            let parent = parent_of(&address);
            // Started before its parent it would have none.
            let waits = waiting.iter().any(|above| Some(above.path()) == parent)
                || match unwind::caught(|| self.find_or_start(&address, "the hand-off")) {
                    Ok(Ok(_)) => false,
                    Ok(Err(refusal)) => refusal.promise(&address).is_some(),
                    // A listener's waker did, when its owner had started: it is found next.
                    Err(_) => true,
                };
            if waits {
                waiting.push(address);
            }
        }
        lock(&self.state).displaced.extend(waiting);
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
        let said = lock(&self.state).news.to(path, &stream, news);
        said.tell();
    }

    /// Says to the change feed that a version was written.
    pub(super) fn changed(&self, path: &str, version: u64) {
        let said = {
            let state = lock(&self.state);
            let is_silent = state.faults.has(path, Part::Feed);
            (!is_silent).then(|| state.feed.to_all(path, version))
        };
        if let Some(said) = said {
            said.tell();
        }
    }

    /// Has an owner that leaves move, where it is idle and somebody takes it (`R45`), and not before those
    /// that it serves are told (`R46`): its streams go with it.
    pub(super) fn hand_off(
        &self,
        lifecycle: &Lifecycle,
        host: &LeavingHost,
        ends: &OnceLock<Instant>,
    ) {
        let teardown = {
            let state = lock(&self.state);
            let takers = state.takers().map(LeavingHost::name);
            let lingers = state.faults.is_away(host.name(), Away::Lingers);
            let is_told = host.phase() == HostPhase::Closed;
            if lingers || !is_told || host.hand_off(lifecycle, takers).is_none() {
                return;
            }
            state.settings.teardown
        };
        lifecycle.dispose(stops(host));
        ends.get_or_init(|| later(TokioTimer.now(), teardown));
    }
}

/// Returns the path whose owner is the parent of the one at `address`.
fn parent_of(address: &Address) -> Option<&str> {
    address.path().rsplit_once('/').map(|(parent, _)| parent)
}

/// What one owner said of another's address, as the route passes it on: the tag is not that of the
/// owner that was asked (`R3`, `R4`).
fn relayed(refusal: Refusal) -> Refusal {
    Refusal { activation: None, ..refusal }.with_speaker(Party::Route)
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
    /// whose path is the parent of its own, where that one lives on a host that serves, or is ending.
    ///
    /// # Errors
    ///
    /// The route's, for a parent that is ending or where no host takes it; or that of a host that leaves
    /// and is routed to.
    fn place(
        &mut self,
        address: &Address,
        request: &str,
    ) -> Result<(LeavingHost, Lifecycle), Refusal> {
        let parent = parent_of(address).and_then(|parent| parent.parse().ok());
        let parent = parent.and_then(|parent| self.find(&parent)).filter(|parent| {
            // Nothing starts on a host that leaves (`R58`), nor on one that is gone, whose owners are being
            // killed. One that is ending says so itself.
            let host = parent.host();
            let is_ending = parent.lifecycle().ending().is_some();
            !parent.is_lost()
                && !self.hosts.is_down(host.name())
                && (is_ending || host.phase() == HostPhase::Active)
                && !self.faults.is_away(host.name(), Away::Refused)
        });
        if let Some(parent) = parent {
            let lifecycle = parent.lifecycle().child(address.clone()).map_err(relayed)?;
            return Ok((parent.host().clone(), lifecycle));
        }

        if let Some(host) = self.takers().next() {
            return Ok((host.clone(), Lifecycle::new(address.clone())));
        }
        let mut up = self.hosts.up();
        let lingering = up.find(|host| {
            let is_away = |away| self.faults.is_away(host.name(), away);
            is_away(Away::Lingers) && !is_away(Away::Refused)
        });
        if let Some(host) = lingering {
            host.inbound(address, None, request)?;
        }
        Err(Refusal::mesh_cannot_route(address))
    }

    /// Returns the hosts on which an owner may start: they serve, and can be reached.
    fn takers(&self) -> impl Iterator<Item = &LeavingHost> {
        let is_refused = |host: &&LeavingHost| self.faults.is_away(host.name(), Away::Refused);
        self.hosts.active().filter(move |host| !is_refused(host))
    }
}

impl<T> Drop for World<T> {
    /// Tells the subscriptions. The owners' tasks end by themselves: their mailboxes have no sender
    /// left.
    fn drop(&mut self) {
        self.gone.complete();
    }
}
