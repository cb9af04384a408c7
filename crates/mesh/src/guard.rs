//! The guard of a fault, which lasts as long as the guard.

use std::{
    fmt,
    sync::{Arc, Weak},
};

use rideout::owner::HostPhase;

use crate::{
    fault::{Away, Fault, Part},
    world::World,
};

/// Guard for the faults of a [`Mesh`](crate::Mesh): the fault lasts until it is dropped.
///
/// Guards add up: what two of them refuse is refused until both are dropped. A guard that outlives
/// its mesh does nothing.
///
/// # Examples
///
/// ```
/// use rideout::{Address, activation::StreamId};
/// use rideout_mesh::Mesh;
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
    pub(crate) fn new(world: &Arc<World<T>>, fault: Fault<T>) -> Self {
        let number = world.state().faults.begin(fault);
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
            let state = world.state();
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
            let fault = world.state().faults.end(self.number);
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
        let (address, host) = match self.state().faults.get(number) {
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
}
