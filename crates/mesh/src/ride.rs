//! A rider with all that a mesh gives one.

use std::sync::{Arc, Weak};

use rideout::{
    Address, Refusal, RideOut,
    rider::{Join, RideOutBuilder, Source},
    time::TokioTimer,
};

use crate::{ask::subscribe, frame::Update, mesh::Mesh, news::NewsStream};

impl<T: Clone + Send + Sync + 'static> Mesh<T> {
    /// Returns a rider that follows the value at `address`: with teardowns to join, news, beats, and a
    /// refresh where a frame is missing or old.
    ///
    /// It holds the mesh weakly; once that is gone, the route refuses. For a rider with other settings
    /// see [`ride_out_builder`](Mesh::ride_out_builder).
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::TryStreamExt;
    /// use rideout::Address;
    /// use rideout_mesh::Mesh;
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (mesh, address) = (Mesh::new(), "prices/eur".parse::<Address>()?);
    /// mesh.store(&address, 108);
    /// let mut prices = mesh.ride_out(&address);
    /// assert_eq!(prices.try_next().await?.unwrap().value, 108);
    ///
    /// mesh.dispose(&address); // nobody is told: its beat finds it out
    /// mesh.store(&address, 109);
    /// assert_eq!(prices.try_next().await?.unwrap().value, 109);
    /// # Ok(())
    /// # }
    /// ```
    pub fn ride_out(
        &self,
        address: &Address,
    ) -> RideOut<
        impl Source<(), Future: Send, Stream: Send, Item = Update<T>, Error = Refusal> + Send + use<T>,
        impl Join<Teardown: Send> + Send + use<T>,
        NewsStream,
        (),
        TokioTimer,
    > {
        self.ride_out_builder(address).build()
    }

    /// Returns the builder of such a rider, for what else it is to have.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use futures::TryStreamExt;
    /// use rideout::{Address, Budget};
    /// use rideout_mesh::Mesh;
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (mesh, address) = (Mesh::new(), "prices/eur".parse::<Address>()?);
    /// mesh.store(&address, 108);
    /// let budget = Budget::default().pace(Duration::from_secs(1));
    /// let mut prices = mesh.ride_out_builder(&address).budget(budget).build();
    /// assert_eq!(prices.try_next().await?.unwrap().value, 108);
    /// # Ok(())
    /// # }
    /// ```
    pub fn ride_out_builder(
        &self,
        address: &Address,
    ) -> RideOutBuilder<
        impl Source<(), Future: Send, Stream: Send, Item = Update<T>, Error = Refusal> + Send + use<T>,
        impl Join<Teardown: Send> + Send + use<T>,
        NewsStream,
        (),
        TokioTimer,
    > {
        let [asked, joined, beating] = [(); 3].map(|()| Arc::downgrade(&self.world));
        let (asking, read) = (address.clone(), address.clone());
        let rider = RideOut::builder(address.clone(), move |ask| {
            let (world, address) = (Weak::clone(&asked), asking.clone());
            async move { subscribe(&world, &address, ask.stream).await }
        });
        let news = self.news(address, rider.stream_id());
        rider
            .join(move |activation| Mesh { world: joined.upgrade()? }.teardown_of(&activation))
            .news(news)
            .keep_alive(move |beat| {
                if let Some(world) = beating.upgrade() {
                    Mesh { world }.beat(&read, beat.stream);
                }
            })
            .frame_number(|update| update.frame)
            .version(|update| update.version)
    }
}
