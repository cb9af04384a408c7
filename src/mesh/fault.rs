//! What is made to go wrong, and for how long? A state that a guard holds, never a moment.

mod inject;

use std::{
    fmt,
    sync::{Arc, Weak},
};

use super::{World, hub::Hub, router::stops};
use crate::{address::Address, owner::HostPhase, sync::lock, unwind::FirstPanic};

/// What a guard keeps in force.
pub(super) enum Fault<T> {
    /// Asks for the owner's address go to it, whatever became of it.
    HeldRoute(Arc<Hub<T>>),
    /// This is out of order for an address.
    Address(Address, Part),
    /// This is out of order for a host.
    Host(String, Away),
}

/// What of an address is out of order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// The route refuses.
    Route,
    /// The owner's door refuses.
    Door,
    /// An owner that starts gets no state.
    State,
    /// Writes wait.
    Store,
    /// Frames are lost.
    Frames,
    /// Goodbyes are lost.
    Goodbyes,
    /// The route does not keep them either.
    Releases,
    /// The change feed is silent.
    Feed,
}

/// How a host is away.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Away {
    /// The route to it refuses.
    Refused,
    /// It was told to stop, and goes on being routed to.
    Lingers,
    /// It was told to stop, and hands off.
    Drains,
    /// Its process is gone.
    Killed,
}

/// The faults in force, each under the number of its guard.
pub(super) struct Faults<T> {
    faults: Vec<(u64, Fault<T>)>,
    minted: u64,
}

impl<T> Faults<T> {
    pub(super) fn new() -> Self {
        Self { faults: Vec::new(), minted: 0 }
    }

    fn begin(&mut self, fault: Fault<T>) -> u64 {
        self.minted += 1;
        self.faults.push((self.minted, fault));
        self.minted
    }

    fn get(&self, number: u64) -> Option<&Fault<T>> {
        self.faults.iter().find(|(own, _)| *own == number).map(|(_, fault)| fault)
    }

    /// Ends a fault, and returns it for the caller to drop.
    fn end(&mut self, number: u64) -> Option<Fault<T>> {
        let at = self.faults.iter().position(|(own, _)| *own == number)?;
        Some(self.faults.remove(at).1)
    }

    /// Returns the activation at which the route to `path` is held; the first guard decides.
    pub(super) fn held_route(&self, path: &str) -> Option<Arc<Hub<T>>> {
        self.faults.iter().find_map(|(_, fault)| match fault {
            Fault::HeldRoute(hub) if hub.lifecycle().address().path() == path => {
                Some(Arc::clone(hub))
            }
            _ => None,
        })
    }

    /// Returns whether `part` of what is at `path` is out of order.
    pub(super) fn has(&self, path: &str, part: Part) -> bool {
        self.faults.iter().any(|(_, fault)| {
            matches!(fault, Fault::Address(address, it) if *it == part && address.path() == path)
        })
    }

    /// Returns whether the host is away so.
    pub(super) fn is_away(&self, host: &str, away: Away) -> bool {
        self.faults
            .iter()
            .any(|(_, fault)| matches!(fault, Fault::Host(name, it) if *it == away && name == host))
    }

    /// Returns whether the host has no process that serves.
    fn is_stopped(&self, host: &str) -> bool {
        [Away::Lingers, Away::Drains, Away::Killed].iter().any(|away| self.is_away(host, *away))
    }
}

/// Guard for the faults of a [`Mesh`](super::Mesh): the fault lasts until it is dropped.
///
/// Guards add up: what two of them refuse is refused until both are dropped. A guard that outlives
/// its mesh does nothing.
///
/// # Examples
///
/// ```
/// use rideout::{Address, StreamId, mesh::Mesh};
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (mesh, address) = (Mesh::new(), "prices/eur".parse::<Address>()?);
/// mesh.store(&address, 108);
///
/// let fault = mesh.refuse_route(&address);
/// assert!(fault.is_in_force());
/// assert!(mesh.subscribe(&address, StreamId::mint()).await.is_err());
///
/// drop(fault);
/// assert!(mesh.subscribe(&address, StreamId::mint()).await.is_ok());
/// # Ok(())
/// # }
/// ```
#[must_use = "a fault ends when its guard is dropped"]
pub struct FaultGuard<T> {
    world: Weak<World<T>>,
    number: u64,
}

impl<T> FaultGuard<T> {
    fn new(world: &Arc<World<T>>, fault: Fault<T>) -> Self {
        let number = lock(&world.state).faults.begin(fault);
        let guard = Self { world: Arc::downgrade(world), number };
        world.look_at(number);
        guard
    }

    /// Returns whether the fault has an effect now.
    ///
    /// A held route has one once its activation has ended; what befalls a host, where there is such a
    /// host.
    pub fn is_in_force(&self) -> bool {
        self.world.upgrade().is_some_and(|world| {
            let state = lock(&world.state);
            state.faults.get(self.number).is_some_and(|fault| match fault {
                Fault::HeldRoute(hub) => hub.is_corpse(),
                Fault::Address(..) => true,
                Fault::Host(host, Away::Refused) => state.hosts.get(host).is_some(),
                Fault::Host(host, Away::Killed) => state.hosts.is_down(host),
                Fault::Host(host, Away::Lingers | Away::Drains) => {
                    state.hosts.get(host).is_some_and(|side| side.phase() > HostPhase::Active)
                }
            })
        })
    }
}

impl<T> fmt::Debug for FaultGuard<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FaultGuard")
            .field("number", &self.number)
            .field("is_in_force", &self.is_in_force())
            .finish()
    }
}

impl<T> Drop for FaultGuard<T> {
    fn drop(&mut self) {
        if let Some(world) = self.world.upgrade() {
            // Bound, so that it is dropped when the lock no longer is held.
            let fault = lock(&world.state).faults.end(self.number);
            match fault {
                Some(Fault::Address(address, part)) => {
                    if part == Part::Route {
                        world.say_goodbyes();
                    }
                    world.look(&address);
                }
                Some(Fault::Host(host, away)) => world.is_back(&host, away),
                Some(Fault::HeldRoute(_)) | None => {}
            }
        }
    }
}

impl<T> World<T> {
    /// A fault has begun: does what it does at once.
    fn look_at(&self, number: u64) {
        let (address, host) = match lock(&self.state).faults.get(number) {
            Some(Fault::Address(address, _)) => (Some(address.clone()), None),
            Some(Fault::Host(host, _)) => (None, Some(host.clone())),
            Some(Fault::HeldRoute(_)) | None => (None, None),
        };
        if let Some(address) = address {
            self.look(&address);
        }
        if let Some(host) = host {
            self.look_at_host(&host);
        }
    }

    /// A guard of a host has begun, or the host was added that a guard waited for. What has happened to
    /// it already happens no second time.
    pub(super) fn look_at_host(&self, host: &str) {
        let [lingers, drains, is_killed] = {
            let faults = &lock(&self.state).faults;
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
    fn look(&self, address: &Address) {
        if let Some(hub) = self.find(address) {
            hub.look();
        }
    }

    /// Has every owner look at who takes the address of one that leaves.
    pub(super) fn look_at_hosts(&self) {
        let owners = lock(&self.state).directory.owners();
        owners.iter().filter(|hub| hub.lifecycle().is_leaving()).for_each(|hub| hub.look());
    }

    fn owners_on(&self, host: &str) -> Vec<Arc<Hub<T>>> {
        let mut owners = lock(&self.state).directory.owners();
        owners.retain(|hub| hub.host().name() == host && !hub.is_lost());
        owners
    }

    /// Tells a host to stop: in this order it is in the drain set and refuses what comes in, announces
    /// to those that it served, and closes what goes out (`R46`). Then its owners move, once they are
    /// idle.
    fn stop(&self, host: &str) {
        let Some(side) = lock(&self.state).hosts.get(host).cloned() else { return };
        side.stop();
        let owners = self.owners_on(host);
        for hub in &owners {
            hub.lifecycle().leave();
        }
        let is_let_out = |hub: &&Arc<Hub<T>>| side.announcement(hub.lifecycle().address()).is_ok();
        let announcements = owners.iter().filter(is_let_out).map(|hub| || self.announce_end(hub));
        // A listener whose waker panics holds up neither the others nor the host.
        let mut panics = FirstPanic::default();
        panics.catch(|| FirstPanic::run_all(announcements));
        side.close();
        for hub in &owners {
            hub.look();
        }
        panics.resume();
    }

    /// The process of a host is gone: it says nothing more.
    fn kill_host(&self, host: &str) {
        lock(&self.state).hosts.lose(host);
        for hub in self.owners_on(host) {
            lock(&self.state).directory.lose(hub.lifecycle());
            hub.kill();
        }
    }

    /// A guard of a host was dropped. Where it was the last, the host starts anew, and what its process
    /// before still had ends with that.
    fn is_back(&self, host: &str, away: Away) {
        let mut state = lock(&self.state);
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
}
