//! What becomes of those who live on a host that stops, is killed, or comes back.

use std::{panic, sync::Arc};

use rideout::{Address, News};

use crate::{fault::Away, host::stops, hub::Hub, panics, world::World};

impl<T> World<T> {
    /// A guard of a host has begun, or the host was added that a guard waited for. What has happened to
    /// it already happens no second time.
    pub(crate) fn look_at_host(&self, host: &str) {
        let [lingers, drains, is_killed] = {
            let faults = &self.state().faults;
            [Away::Lingers, Away::Drains, Away::Killed].map(|away| faults.is_away(host, away))
        };
        if lingers || drains {
            self.stop(host);
        }
        if is_killed {
            self.kill_host(host);
        }
    }

    /// Has the owner of `address` look at the faults.
    pub(crate) fn look(&self, address: &Address) {
        if let Some(hub) = self.find(address) {
            hub.look();
        }
    }

    /// Has every owner look at who takes the address of one that leaves.
    pub(crate) fn look_at_hosts(&self) {
        let owners = self.state().directory.owners();
        owners.iter().filter(|hub| hub.lifecycle().is_leaving()).for_each(|hub| hub.look());
    }

    fn owners_on(&self, host: &str) -> Vec<Arc<Hub<T>>> {
        let mut owners = self.state().directory.owners();
        owners.retain(|hub| hub.host().name() == host && !hub.is_lost());
        owners
    }

    /// Tells a host to stop: in this order it is in the drain set and refuses what comes in, announces
    /// to those that it served, and closes what goes out (`R46`). Then its owners move, once they are
    /// idle.
    fn stop(&self, host: &str) {
        let Some(side) = self.state().hosts.get(host).cloned() else { return };
        side.stop();
        let owners = self.owners_on(host);
        for hub in &owners {
            hub.lifecycle().leave();
        }
        let is_let_out = |hub: &&Arc<Hub<T>>| side.announcement(hub.lifecycle().address()).is_ok();
        let announcements = owners.iter().filter(is_let_out).map(|hub| || self.announce_end(hub));
        // A listener whose waker panics holds up neither the others nor the host.
        let told = panics::caught(|| panics::all(announcements));
        side.close();
        for hub in &owners {
            hub.look();
        }
        if let Err(payload) = told {
            panic::resume_unwind(payload);
        }
    }

    /// The process of a host is gone: it says nothing more.
    fn kill_host(&self, host: &str) {
        self.state().hosts.lose(host);
        for hub in self.owners_on(host) {
            self.state().directory.lose(hub.lifecycle());
            hub.kill();
        }
    }

    /// A guard of a host was dropped. Where it was the last, the host starts anew, and what its process
    /// before still had ends with that.
    pub(crate) fn is_back(&self, host: &str, away: Away) {
        let mut state = self.state();
        let restarts = away != Away::Refused && !state.faults.is_stopped(host);
        if restarts {
            state.hosts.restart(host);
        }
        let teardown = state.settings.teardown;
        // Taken in the same step: what starts on the host after it is of its new life.
        let owners = state.directory.owners();
        drop(state);

        let of_its_last_life =
            |hub: &&Arc<Hub<T>>| hub.host().name() == host && hub.lifecycle().is_leaving();
        for hub in owners.iter().filter(of_its_last_life).filter(|_| restarts) {
            hub.end(stops(hub.host()), teardown);
        }
        self.say_goodbyes();
        self.look_at_hosts();
    }

    /// Tells those that a hub serves that it ends.
    fn announce_end(&self, hub: &Hub<T>) {
        let lifecycle = hub.lifecycle();
        panics::all(hub.streams().into_iter().map(|stream| {
            let news = News::Ended(Some(lifecycle.activation().clone()));
            move || self.tell(lifecycle.address().path(), stream, news)
        }));
    }
}
