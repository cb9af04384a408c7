//! The way of an ask: to the owner that the directory has, or to one that is started for it; or nowhere, and
//! then the route says so.

use std::{mem, sync::Arc};

use rideout::{
    Address, News, Refusal,
    owner::{HostPhase, LeavingHost, Lifecycle},
    refusal::{Party, Seam},
};

use crate::{
    fault::{Away, Part},
    hub::Hub,
    owner::start,
    panics,
    world::{State, World},
};

impl<T: Send + Sync + 'static> World<T> {
    /// Returns the owner that `request` for `address` goes to.
    ///
    /// # Errors
    ///
    /// The refusal of the route: it is told to refuse, by address or by host; the owner's process is
    /// gone and its lease is not over; nothing is stored at the address; no host takes it. Or that of the
    /// owner, whose door is told to refuse.
    pub(crate) fn route(
        self: &Arc<Self>,
        address: &Address,
        request: &str,
    ) -> Result<Arc<Hub<T>>, Refusal> {
        let mut state = self.state();
        if state.faults.has(address.path(), Part::Route) {
            return Err(Refusal::mesh_cannot_route(address));
        }
        let held = state.faults.held_route(address.path());
        let (hub, state) = match held.or_else(|| state.find(address)) {
            Some(hub) => (hub, state),
            None => {
                drop(state);
                (self.find_or_start(address, request)?, self.state())
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
    pub(crate) fn find_or_start(
        self: &Arc<Self>,
        address: &Address,
        request: &str,
    ) -> Result<Arc<Hub<T>>, Refusal> {
        let mut state = self.state();
        if let Some(hub) = state.find(address) {
            return Ok(hub);
        }
        if !self.store.has(address.path()) {
            return Err(Refusal::no_node(address));
        }
        let (host, lifecycle) = state.place(address, request)?;
        let hub = start(self, host, lifecycle, state.settings);
        let gone = state.directory.enter(&hub);
        let activation = hub.lifecycle().activation().clone();
        let arrival = state.news.to_all(address.path(), News::Arrived(activation));

        drop(state);
        drop(gone);
        self.has_leave(&hub);
        arrival.tell();
        Ok(hub)
    }

    /// Has a hub leave the directory when it is dead. Called once no lock is held: it may be dead already,
    /// forced by its parent's end.
    fn has_leave(self: &Arc<Self>, hub: &Arc<Hub<T>>) {
        let (world, dead) = (Arc::downgrade(self), Arc::downgrade(hub));
        hub.lifecycle().on_death(move || {
            if let (Some(world), Some(hub)) = (world.upgrade(), dead.upgrade()) {
                world.left(&hub);
            }
        });
    }

    /// Lets an owner go that is dead. One that leaves with its host moves: its entry and its activation
    /// go together (`R45`).
    fn left(self: &Arc<Self>, hub: &Hub<T>) {
        let lifecycle = hub.lifecycle();
        let mut state = self.state();
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
        let mut displaced = mem::take(&mut self.state().displaced);
        // Parents first.
        displaced.sort();
        let mut waiting: Vec<Address> = Vec::new();
        for address in displaced {
            let parent = parent_of(&address);
            // Started before its parent it would have none.
            let waits = waiting.iter().any(|above| Some(above.path()) == parent)
                || match panics::caught(|| self.find_or_start(&address, "the hand-off")) {
                    Ok(Ok(_)) => false,
                    Ok(Err(refusal)) => refusal.promise(&address).is_some(),
                    // A listener's waker did, when its owner had started: it is found next.
                    Err(_) => true,
                };
            if waits {
                waiting.push(address);
            }
        }
        self.state().displaced.extend(waiting);
    }
}

/// Returns the path whose owner is the parent of the one at `address`.
fn parent_of(address: &Address) -> Option<&str> {
    address.path().rsplit_once('/').map(|(parent, _)| parent)
}

/// What one owner said of another's address, as the route passes it on: the tag is not that of the
/// owner that was asked (`R3`, `R4`).
fn relayed(refusal: Refusal) -> Refusal {
    let mut relayed = refusal.with_speaker(Party::Route);
    relayed.activation = None;
    relayed
}

impl<T> State<T> {
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
}
