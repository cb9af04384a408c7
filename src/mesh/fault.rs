//! What is made to go wrong, and for how long? A state that a guard holds, never a moment.

use std::{
    fmt,
    sync::{Arc, Weak},
};

use super::{
    Mesh, World,
    hub::Hub,
    lifecycle::{Cause, Ending},
};
use crate::{
    activation::Activation,
    address::Address,
    sync::lock,
    time::{Timer, TokioTimer},
};

/// What a guard keeps in force.
pub(super) enum Fault<T> {
    /// The route to this path points at this activation, whatever became of it.
    HeldRoute(String, Arc<Hub<T>>),
    /// The route to this path refuses.
    NoRoute(String),
    /// The route to this host refuses, and nothing starts there.
    NoHost(String),
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
            Fault::HeldRoute(held, hub) if held == path => Some(Arc::clone(hub)),
            _ => None,
        })
    }

    /// Returns whether the route to `path` refuses.
    pub(super) fn refuses_path(&self, path: &str) -> bool {
        self.faults.iter().any(|(_, fault)| matches!(fault, Fault::NoRoute(no) if no == path))
    }

    /// Returns whether the route to `host` refuses.
    pub(super) fn refuses_host(&self, host: &str) -> bool {
        self.faults.iter().any(|(_, fault)| matches!(fault, Fault::NoHost(no) if no == host))
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
    pub(super) fn new(world: &Arc<World<T>>, fault: Fault<T>) -> Self {
        let number = lock(&world.state).faults.begin(fault);
        Self { world: Arc::downgrade(world), number }
    }

    /// Returns whether the fault has an effect now.
    ///
    /// A held route has one once its activation has ended; a host that refuses, once there is such a
    /// host.
    pub fn is_in_force(&self) -> bool {
        self.world.upgrade().is_some_and(|world| {
            let state = lock(&world.state);
            state.faults.get(self.number).is_some_and(|fault| match fault {
                Fault::HeldRoute(_, hub) => hub.is_corpse(),
                Fault::NoRoute(_) => true,
                Fault::NoHost(host) => state.hosts.has(host),
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
            let _fault = lock(&world.state).faults.end(self.number);
        }
    }
}

impl<T> Mesh<T> {
    /// Recycles the owner of `address`, and returns the activation that was told; `None` where the
    /// address has no owner.
    ///
    /// It refuses from here on, with its tag. When the time that its teardown takes is over, it
    /// completes its teardown, announces that it ended (if it had subscribers) and leaves the
    /// directory; the next ask starts a successor. An owner that is ending already goes on as it was
    /// told first.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (mesh, address) = (rideout::mesh::Mesh::new(), "prices/eur".parse()?);
    /// mesh.store(&address, 108);
    /// assert_eq!(mesh.recycle(&address), None);
    ///
    /// let first = mesh.activate(&address)?;
    /// assert_eq!(mesh.recycle(&address).as_ref(), Some(&first));
    /// mesh.teardown_of(&first).expect("it can be observed").await;
    /// assert_ne!(mesh.activate(&address)?, first);
    /// # Ok(())
    /// # }
    /// ```
    pub fn recycle(&self, address: &Address) -> Option<Activation> {
        self.end(address, Cause::Recycle)
    }

    /// Disposes of the owner of `address`: like a [`recycle`](Mesh::recycle), but nobody is told.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (mesh, address) = (rideout::mesh::Mesh::new(), "prices/eur".parse()?);
    /// mesh.store(&address, 108);
    /// assert_eq!(mesh.dispose(&address), None);
    ///
    /// let first = mesh.activate(&address)?;
    /// assert_eq!(mesh.dispose(&address).as_ref(), Some(&first));
    /// mesh.teardown_of(&first).expect("it can be observed").await;
    /// assert_ne!(mesh.activate(&address)?, first);
    /// # Ok(())
    /// # }
    /// ```
    pub fn dispose(&self, address: &Address) -> Option<Activation> {
        self.end(address, Cause::Dispose)
    }

    fn end(&self, address: &Address, cause: Cause) -> Option<Activation> {
        let hub = self.world.find(address).filter(|hub| !hub.is_lost())?;
        let lasts = lock(&self.world.state).settings.teardown;

        hub.end(Ending { cause, told: TokioTimer.now(), lasts });
        Some(hub.lifecycle().activation().clone())
    }

    /// Kills the owner of `address`, and returns the activation that is gone; `None` where the address
    /// has no owner.
    ///
    /// It refuses nothing, announces nothing, and never completes its teardown. Until its lease is over
    /// the route refuses; the next ask after it starts a successor.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use rideout::{Rejection, StreamId, mesh::Mesh};
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (mesh, address) = (Mesh::new(), "prices/eur".parse()?);
    /// mesh.store(&address, 108);
    /// mesh.set_lease(Duration::from_secs(3));
    /// let prices = mesh.subscribe(&address, StreamId::mint()).await?.into_stream();
    ///
    /// let killed = mesh.kill(&address).expect("an owner is there");
    /// let refusal = mesh.subscribe(&address, StreamId::mint()).await.unwrap_err();
    /// assert_eq!(refusal.promise(&address), Some(Rejection::by_route()));
    /// assert!(mesh.teardown_of(&killed).is_none());
    ///
    /// tokio::time::advance(Duration::from_secs(3)).await;
    /// let prices = mesh.subscribe(&address, StreamId::mint()).await?.into_stream();
    /// assert_ne!(prices.activation(), &killed);
    /// # Ok(())
    /// # }
    /// ```
    pub fn kill(&self, address: &Address) -> Option<Activation> {
        let hub = {
            let mut state = lock(&self.world.state);
            let hub = state.find(address.path())?;
            state.directory.lose(address.path());
            hub
        };
        hub.kill();
        Some(hub.lifecycle().activation().clone())
    }

    /// Holds the route to `address` at the activation that is there now; `None` where there is none.
    ///
    /// While that one lives nothing changes. From then on asks go on reaching it, and are refused at
    /// its door, with its tag, though its teardown is completed and the directory has let it go.
    ///
    /// # Examples
    ///
    /// ```
    /// use rideout::{StreamId, mesh::Mesh};
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (mesh, address) = (Mesh::new(), "prices/eur".parse()?);
    /// mesh.store(&address, 108);
    /// mesh.activate(&address)?;
    ///
    /// let fault = mesh.hold_route(&address).expect("an owner is there");
    /// let corpse = mesh.recycle(&address).expect("an owner is there");
    /// mesh.teardown_of(&corpse).expect("it can be observed").await;
    /// assert!(fault.is_in_force());
    /// let refusal = mesh.subscribe(&address, StreamId::mint()).await.unwrap_err();
    /// assert_eq!(refusal.activation, Some(corpse));
    ///
    /// drop(fault);
    /// assert!(mesh.subscribe(&address, StreamId::mint()).await.is_ok());
    /// # Ok(())
    /// # }
    /// ```
    pub fn hold_route(&self, address: &Address) -> Option<FaultGuard<T>> {
        let hub = self.world.find(address)?;
        let fault = Fault::HeldRoute(address.path().to_owned(), hub);
        Some(FaultGuard::new(&self.world, fault))
    }

    /// Makes the route to `address` refuse: no owner is reached, and none is started by an ask.
    ///
    /// # Examples
    ///
    /// ```
    /// use rideout::{Rejection, StreamId, mesh::Mesh};
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (mesh, address) = (Mesh::new(), "prices/eur".parse()?);
    /// mesh.store(&address, 108);
    ///
    /// let fault = mesh.refuse_route(&address);
    /// let refusal = mesh.subscribe(&address, StreamId::mint()).await.unwrap_err();
    /// assert_eq!(refusal.promise(&address), Some(Rejection::by_route()));
    /// assert_eq!(mesh.activation_of(&address), None);
    /// # drop(fault);
    /// # Ok(())
    /// # }
    /// ```
    pub fn refuse_route(&self, address: &Address) -> FaultGuard<T> {
        FaultGuard::new(&self.world, Fault::NoRoute(address.path().to_owned()))
    }

    /// Makes the route to a host refuse, as one that is leaving: what lives there is not reached, and
    /// nothing starts there.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (mesh, address) = (rideout::mesh::Mesh::new(), "prices/eur".parse()?);
    /// mesh.store(&address, 108);
    ///
    /// let fault = mesh.refuse_host("host-1");
    /// assert!(fault.is_in_force());
    /// assert!(mesh.activate(&address).is_err()); // no host is left
    ///
    /// assert!(!mesh.refuse_host("host-2").is_in_force()); // there is no such host
    /// # drop(fault);
    /// # Ok(())
    /// # }
    /// ```
    pub fn refuse_host(&self, name: &str) -> FaultGuard<T> {
        FaultGuard::new(&self.world, Fault::NoHost(name.to_owned()))
    }
}
