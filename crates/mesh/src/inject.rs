//! The faults that a mesh can be given.

use rideout::Address;

use crate::{
    fault::{Away, Fault, Part},
    guard::FaultGuard,
    mesh::Mesh,
};

impl<T> Mesh<T> {
    /// Holds the route to `address` at the activation that is there now; `None` where there is none.
    ///
    /// While that one lives nothing changes. From then on asks go on reaching it, and are refused at
    /// its door, with its tag, though its teardown is completed and the directory has let it go.
    ///
    /// # Examples
    ///
    /// ```
    /// use rideout::activation::StreamId;
    /// use rideout_mesh::Mesh;
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
        Some(FaultGuard::new(&self.world, Fault::HeldRoute(hub)))
    }

    /// Makes the route to `address` refuse: no owner is reached, and none is started by an ask.
    ///
    /// # Examples
    ///
    /// ```
    /// use rideout::{Rejection, activation::StreamId};
    /// use rideout_mesh::Mesh;
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
        self.address_fault(address, Part::Route)
    }

    /// Makes the owner of `address` refuse at its door as if it were ending, though it lives: with its
    /// tag, and whoever it is.
    ///
    /// # Examples
    ///
    /// ```
    /// use rideout::activation::StreamId;
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (mesh, address) = (rideout_mesh::Mesh::new(), "prices/eur".parse()?);
    /// mesh.store(&address, 108);
    /// let owner = mesh.activate(&address)?;
    ///
    /// let fault = mesh.refuse_door(&address);
    /// let refusal = mesh.subscribe(&address, StreamId::mint()).await.unwrap_err();
    /// assert_eq!(refusal.activation.as_ref(), Some(&owner));
    ///
    /// drop(fault);
    /// let answer = mesh.subscribe(&address, StreamId::mint()).await?;
    /// assert_eq!(answer.activation(), Some(&owner)); // the same one
    /// # Ok(())
    /// # }
    /// ```
    pub fn refuse_door(&self, address: &Address) -> FaultGuard<T> {
        self.address_fault(address, Part::Door)
    }

    /// Holds back the state of an owner that starts at `address`: asks for a subscription are held, other
    /// requests wait behind its gate.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::FutureExt;
    /// use rideout::activation::StreamId;
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (mesh, address) = (rideout_mesh::Mesh::new(), "prices/eur".parse()?);
    /// mesh.store(&address, 108);
    ///
    /// let fault = mesh.hold_state(&address);
    /// let mut ask = Box::pin(mesh.subscribe(&address, StreamId::mint()));
    /// assert!((&mut ask).now_or_never().is_none());
    /// drop(fault);
    /// assert!(ask.await.is_ok());
    /// # Ok(())
    /// # }
    /// ```
    pub fn hold_state(&self, address: &Address) -> FaultGuard<T> {
        self.address_fault(address, Part::State)
    }

    /// Holds the writes of `address`: its store takes none, and they wait behind their owner's gate.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (mesh, address) = (rideout_mesh::Mesh::new(), "prices/eur".parse()?);
    /// mesh.store(&address, 108);
    ///
    /// let fault = mesh.hold_store(&address);
    /// let write = tokio::spawn({
    ///     let (mesh, address) = (mesh.clone(), address.clone());
    ///     async move { mesh.write(&address, 109).await }
    /// });
    /// assert_eq!(mesh.read(&address).await?.value, 108);
    ///
    /// drop(fault);
    /// assert_eq!(write.await??, 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn hold_store(&self, address: &Address) -> FaultGuard<T> {
        self.address_fault(address, Part::Store)
    }

    /// Loses the frames that the owner of `address` sends to its subscribers; the first one of a
    /// subscription is part of its answer, and is not lost.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::StreamExt;
    /// use rideout::activation::StreamId;
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (mesh, address) = (rideout_mesh::Mesh::new(), "prices/eur".parse()?);
    /// mesh.store(&address, 108);
    /// let mut prices = mesh.subscribe(&address, StreamId::mint()).await?.into_stream();
    /// assert_eq!(prices.next().await.unwrap()?.frame, 1);
    ///
    /// let fault = mesh.drop_frames(&address);
    /// mesh.write(&address, 109).await?;
    /// drop(fault);
    /// mesh.write(&address, 110).await?;
    /// assert_eq!(prices.next().await.unwrap()?.frame, 3); // the second one was lost
    /// # Ok(())
    /// # }
    /// ```
    pub fn drop_frames(&self, address: &Address) -> FaultGuard<T> {
        self.address_fault(address, Part::Frames)
    }

    /// Loses the goodbyes of those who unsubscribe from `address`: its owner goes on serving them until a
    /// frame is refused for good, since the route knows that they are gone, or until it has heard
    /// nothing from them for 10 min.
    ///
    /// # Examples
    ///
    /// ```
    /// use rideout::activation::StreamId;
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (mesh, address) = (rideout_mesh::Mesh::new(), "prices/eur".parse()?);
    /// mesh.store(&address, 108);
    /// let prices = mesh.subscribe(&address, StreamId::mint()).await?.into_stream();
    ///
    /// let fault = mesh.drop_goodbyes(&address);
    /// drop(prices);
    /// assert_eq!(mesh.subscribers(&address), 1);
    /// # drop(fault);
    /// # Ok(())
    /// # }
    /// ```
    pub fn drop_goodbyes(&self, address: &Address) -> FaultGuard<T> {
        self.address_fault(address, Part::Goodbyes)
    }

    /// Has the route forget that readers of `address` are gone: what is delivered to them is refused with
    /// a promise, as if they might come back.
    ///
    /// # Examples
    ///
    /// ```
    /// use rideout::activation::StreamId;
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (mesh, address) = (rideout_mesh::Mesh::new(), "prices/eur".parse()?);
    /// mesh.store(&address, 108);
    /// let known = mesh.subscribe(&address, StreamId::mint()).await?.into_stream();
    /// let unknown = mesh.subscribe(&address, StreamId::mint()).await?.into_stream();
    /// let fault = mesh.drop_goodbyes(&address); // their owner hears of neither
    ///
    /// drop(known);
    /// let forgetful = mesh.forget_releases(&address);
    /// drop(unknown);
    /// mesh.write(&address, 109).await?;
    /// assert_eq!(mesh.evictions(&address).evicted, 1);
    /// assert_eq!(mesh.subscribers(&address), 1); // and is pushed to
    /// # drop((fault, forgetful));
    /// # Ok(())
    /// # }
    /// ```
    pub fn forget_releases(&self, address: &Address) -> FaultGuard<T> {
        self.address_fault(address, Part::Releases)
    }

    /// Silences the change feed of `address`.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{FutureExt, StreamExt};
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (mesh, address) = (rideout_mesh::Mesh::new(), "prices/eur".parse()?);
    /// mesh.store(&address, 108);
    /// let mut changes = mesh.changes(&address);
    ///
    /// let fault = mesh.silence_feed(&address);
    /// mesh.write(&address, 109).await?;
    /// assert_eq!(changes.next().now_or_never(), None);
    /// # drop(fault);
    /// # Ok(())
    /// # }
    /// ```
    pub fn silence_feed(&self, address: &Address) -> FaultGuard<T> {
        self.address_fault(address, Part::Feed)
    }

    /// Makes the route to a host refuse, as one that is leaving: what lives there is not reached, and
    /// nothing starts there.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (mesh, address) = (rideout_mesh::Mesh::new(), "prices/eur".parse()?);
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
        self.host_fault(name, Away::Refused)
    }

    /// Tells a host to stop, and goes on routing to it: what lives there refuses as its owner, those
    /// that it served are told, and no address is handed off until the guard is dropped. Then it does, and
    /// starts anew.
    ///
    /// # Examples
    ///
    /// ```
    /// use rideout::activation::StreamId;
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (mesh, address) = (rideout_mesh::Mesh::new(), "prices/eur".parse()?);
    /// mesh.add_host("host-2");
    /// mesh.store(&address, 108);
    /// let owner = mesh.activate(&address)?;
    ///
    /// let fault = mesh.linger_host("host-1");
    /// let refusal = mesh.subscribe(&address, StreamId::mint()).await.unwrap_err();
    /// assert_eq!(refusal.activation.as_ref(), Some(&owner));
    ///
    /// drop(fault);
    /// mesh.teardown_of(&owner).expect("it can be observed").await;
    /// assert!(mesh.subscribe(&address, StreamId::mint()).await.is_ok());
    /// # Ok(())
    /// # }
    /// ```
    pub fn linger_host(&self, name: &str) -> FaultGuard<T> {
        self.host_fault(name, Away::Lingers)
    }

    /// Tells a host to stop, and lets it: what lives there refuses as its owner, those that it served
    /// are told, and each address is handed off, once its owner is idle, to a host that serves.
    /// Where there is none it stays. The host starts anew when the guard is dropped.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (mesh, address) = (rideout_mesh::Mesh::new(), "prices/eur".parse()?);
    /// mesh.add_host("host-2");
    /// mesh.store(&address, 108);
    /// let owner = mesh.activate(&address)?;
    ///
    /// let fault = mesh.drain_host("host-1");
    /// mesh.teardown_of(&owner).expect("it can be observed").await;
    /// assert_eq!(mesh.host_of(&address).as_deref(), Some("host-2")); // without an ask
    /// # drop(fault);
    /// # Ok(())
    /// # }
    /// ```
    pub fn drain_host(&self, name: &str) -> FaultGuard<T> {
        self.host_fault(name, Away::Drains)
    }

    /// Kills a host: what lives there is [killed](Mesh::kill), and nothing starts there until the guard is
    /// dropped.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (mesh, address) = (rideout_mesh::Mesh::new(), "prices/eur".parse()?);
    /// mesh.add_host("host-2");
    /// mesh.store(&address, 108);
    /// mesh.activate(&address)?;
    ///
    /// let fault = mesh.kill_host("host-1");
    /// tokio::time::advance(Duration::from_secs(5)).await; // its leases are over
    /// mesh.activate(&address)?;
    /// assert_eq!(mesh.host_of(&address).as_deref(), Some("host-2"));
    /// # drop(fault);
    /// # Ok(())
    /// # }
    /// ```
    pub fn kill_host(&self, name: &str) -> FaultGuard<T> {
        self.host_fault(name, Away::Killed)
    }

    fn address_fault(&self, address: &Address, part: Part) -> FaultGuard<T> {
        FaultGuard::new(&self.world, Fault::Address(address.clone(), part))
    }

    fn host_fault(&self, name: &str, away: Away) -> FaultGuard<T> {
        FaultGuard::new(&self.world, Fault::Host(name.to_owned(), away))
    }
}
