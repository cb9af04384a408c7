//! What can be seen of a mesh from outside: who serves an address, whom it serves, and when its teardown is over.

use rideout::{
    Activation, Address, activation::StreamId, owner::EvictionCounts, teardown::Completed,
};

use crate::{
    mesh::Mesh,
    news::{Changes, NewsStream},
};

impl<T> Mesh<T> {
    /// Returns the activation that the directory has at `address`.
    ///
    /// It may be ending, or killed and within its lease.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (mesh, address) = (rideout_mesh::Mesh::new(), "prices/eur".parse()?);
    /// mesh.store(&address, 108);
    /// assert_eq!(mesh.activation_of(&address), None);
    ///
    /// let activation = mesh.activate(&address)?;
    /// assert_eq!(mesh.activation_of(&address), Some(activation));
    /// # Ok(())
    /// # }
    /// ```
    pub fn activation_of(&self, address: &Address) -> Option<Activation> {
        let hub = self.world.find(address)?;
        Some(hub.lifecycle().activation().clone())
    }

    /// Returns the name of the host on which the directory has an activation at `address`.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (mesh, address) = (rideout_mesh::Mesh::new(), "prices/eur".parse()?);
    /// mesh.store(&address, 108);
    /// mesh.activate(&address)?;
    /// assert_eq!(mesh.host_of(&address).as_deref(), Some("host-1"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn host_of(&self, address: &Address) -> Option<String> {
        self.world.find(address).map(|hub| hub.host().name().to_owned())
    }

    /// Returns how many subscriptions the current owner of `address` serves: those that are held.
    ///
    /// One that was dropped is counted until its owner's task has run and heard the goodbye.
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
    /// let prices = mesh.subscribe(&address, StreamId::mint()).await?.into_stream();
    /// assert_eq!(mesh.subscribers(&address), 1);
    /// # drop(prices);
    /// # Ok(())
    /// # }
    /// ```
    pub fn subscribers(&self, address: &Address) -> usize {
        self.world.find(address).map_or(0, |hub| hub.subscribers())
    }

    /// Returns the streams that the current owner of `address` serves, in no order.
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
    /// let prices = mesh.subscribe(&address, StreamId::mint()).await?.into_stream();
    /// assert_eq!(mesh.streams(&address), [prices.stream_id()]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn streams(&self, address: &Address) -> Vec<StreamId> {
        self.world.find(address).map(|hub| hub.streams()).unwrap_or_default()
    }

    /// Returns how many frames of the current owner of `address` were refused, and how many of its
    /// readers it dropped for that.
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
    /// let fault = mesh.drop_goodbyes(&address);
    /// drop(mesh.subscribe(&address, StreamId::mint()).await?.into_stream());
    ///
    /// mesh.write(&address, 109).await?;
    /// assert_eq!(mesh.evictions(&address).evicted, 1);
    /// # drop(fault);
    /// # Ok(())
    /// # }
    /// ```
    pub fn evictions(&self, address: &Address) -> EvictionCounts {
        self.world.find(address).map(|hub| hub.evictions()).unwrap_or_default()
    }

    /// Returns how often a subscription to `address` was asked for, whatever became of it.
    ///
    /// # Examples
    ///
    /// ```
    /// use rideout::{Kind, activation::StreamId};
    /// use rideout_mesh::Mesh;
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (mesh, address) = (Mesh::<u64>::new(), "prices/eur".parse()?);
    /// let refusal = mesh.subscribe(&address, StreamId::mint()).await.unwrap_err();
    /// assert_eq!(refusal.kind, Some(Kind::NotFound));
    /// assert_eq!(mesh.asks(&address), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn asks(&self, address: &Address) -> usize {
        self.world.state().asks.get(address.path()).copied().unwrap_or(0)
    }

    /// Returns when the teardown of `activation` is over: what a rider joins.
    ///
    /// It is `None` where nothing is known of the activation, or its teardown cannot be observed: it
    /// was killed, or is over since long (the last 1,024 that are over are remembered).
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (mesh, address) = (rideout_mesh::Mesh::new(), "prices/eur".parse()?);
    /// mesh.store(&address, 108);
    /// let activation = mesh.activate(&address)?;
    ///
    /// mesh.dispose(&address);
    /// mesh.teardown_of(&activation).expect("it can be observed").await;
    /// assert_eq!(mesh.activation_of(&address), None);
    /// # Ok(())
    /// # }
    /// ```
    pub fn teardown_of(&self, activation: &Activation) -> Option<Completed> {
        self.world.state().directory.teardown_of(activation)
    }

    /// Returns what the reader of `stream` hears of `address` from here on.
    ///
    /// [`Arrived`](rideout::News::Arrived) comes from the directory, for every activation that starts.
    /// [`Ended`](rideout::News::Ended) is the announcement of an owner that served the stream and was recycled or
    /// deleted, once its teardown is completed, or leaves with its host.
    /// [`NotServing`](rideout::News::NotServing) answers a [beat](Mesh::beat) of the stream.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::StreamExt;
    /// use rideout::{News, activation::StreamId};
    /// use rideout_mesh::Mesh;
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (mesh, address) = (Mesh::new(), "prices/eur".parse()?);
    /// mesh.store(&address, 108);
    /// let mut news = mesh.news(&address, StreamId::mint());
    /// let activation = mesh.activate(&address)?;
    /// assert_eq!(news.next().await, Some(News::Arrived(activation)));
    /// # Ok(())
    /// # }
    /// ```
    pub fn news(&self, address: &Address, stream: StreamId) -> NewsStream {
        NewsStream::new(self.world.state().news.add(address.path(), stream))
    }

    /// Returns the change feed of `address` from here on: the version of each write.
    ///
    /// # Examples
    ///
    /// See [`Changes`].
    pub fn changes(&self, address: &Address) -> Changes {
        Changes::new(self.world.state().feed.add(address.path(), ()))
    }
}
