//! The ways in which an owner is ended: it is recycled, disposed of, deleted, or killed.

use std::{sync::Arc, time::Duration};

use rideout::{
    Activation, Address,
    owner::{Ending, Lifecycle, Wave},
};

use crate::{hub::Hub, mesh::Mesh};

impl<T> Mesh<T> {
    /// Recycles the owner of `address`, and returns the activation that was told; `None` where the
    /// address has no owner, or one that is left alone.
    ///
    /// Once no reply is pending, for 2 s at most, it refuses, with its tag. When the time that its
    /// teardown takes is over, it leaves the directory, completes its teardown, and its end is announced
    /// to those that it served; the next ask starts a successor. An owner that is ending already goes
    /// on as it was told first, and one that was started in a [wave](Mesh::land) is left alone while that
    /// is on.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (mesh, address) = (rideout_mesh::Mesh::new(), "prices/eur".parse()?);
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
        let (hub, teardown) = self.living(address)?;
        self.world.waves.recycle(hub.lifecycle(), Ending::recycle());
        // One that is left alone goes on, and its time does not run.
        hub.lifecycle().ending()?;
        hub.ends_in(teardown);
        Some(hub.lifecycle().activation().clone())
    }

    /// Disposes of the owner of `address`: like a [`recycle`](Mesh::recycle), but nobody is told.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (mesh, address) = (rideout_mesh::Mesh::new(), "prices/eur".parse()?);
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
        let (hub, teardown) = self.living(address)?;
        hub.end(Ending::dispose(), teardown);
        Some(hub.lifecycle().activation().clone())
    }

    /// Deletes what is at `address`, and returns the activation that was told; `None` where the address
    /// has no owner.
    ///
    /// Nothing is stored there any more. The owner ends as in a [`recycle`](Mesh::recycle), and whoever
    /// asks after that is told `NotFound`.
    ///
    /// # Examples
    ///
    /// ```
    /// use rideout::{Kind, activation::StreamId};
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (mesh, address) = (rideout_mesh::Mesh::new(), "prices/eur".parse()?);
    /// mesh.store(&address, 108);
    /// let owner = mesh.activate(&address)?;
    ///
    /// assert_eq!(mesh.delete(&address).as_ref(), Some(&owner));
    /// mesh.teardown_of(&owner).expect("it can be observed").await;
    /// let refusal = mesh.subscribe(&address, StreamId::mint()).await.unwrap_err();
    /// assert_eq!(refusal.kind, Some(Kind::NotFound));
    /// # Ok(())
    /// # }
    /// ```
    pub fn delete(&self, address: &Address) -> Option<Activation> {
        let deleted = self.world.store.delete(address.path());
        drop(deleted);
        let (hub, teardown) = self.living(address)?;
        hub.end(Ending::deletion(), teardown);
        Some(hub.lifecycle().activation().clone())
    }

    /// Recycles the owners of `addresses` as one wave: what a landing does.
    ///
    /// Each that lives now is told once; while the wave is on, no successor is, whatever recycles its
    /// address.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (mesh, address) = (rideout_mesh::Mesh::new(), "prices/eur".parse()?);
    /// mesh.store(&address, 108);
    /// let first = mesh.activate(&address)?;
    ///
    /// let wave = mesh.land(&[address.clone()]);
    /// mesh.teardown_of(&first).expect("it can be observed").await;
    /// wave.await;
    /// assert_ne!(mesh.activate(&address)?, first);
    /// # Ok(())
    /// # }
    /// ```
    pub fn land(&self, addresses: &[Address]) -> Wave {
        let mut living = Vec::new();
        let members = || {
            living.extend(addresses.iter().filter_map(|address| self.living(address)));
            living.iter().map(|(hub, _)| hub.lifecycle().clone()).collect::<Vec<Lifecycle>>()
        };
        let wave = self.world.waves.land(members, Ending::recycle().reason("a landing"));
        living.iter().for_each(|(hub, teardown)| hub.ends_in(*teardown));
        wave
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
    /// use rideout::{Rejection, activation::StreamId};
    /// use rideout_mesh::Mesh;
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
            let mut state = self.world.state();
            let hub = state.find(address)?;
            state.directory.lose(hub.lifecycle());
            hub
        };
        hub.kill();
        Some(hub.lifecycle().activation().clone())
    }

    /// The owner of `address`, where it is not lost, and how long its teardown takes.
    fn living(&self, address: &Address) -> Option<(Arc<Hub<T>>, Duration)> {
        let mut state = self.world.state();
        let teardown = state.settings.teardown;
        let hub = state.find(address).filter(|hub| !hub.is_lost())?;
        Some((hub, teardown))
    }
}
