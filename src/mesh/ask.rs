//! How is an owner asked? By a request that is some time on its way, is routed when it arrives, and is
//! answered at that instant.

use tokio::sync::oneshot;

use super::{
    Mesh, Subscription,
    hub::{Reply, Request},
};
use crate::{
    activation::{Activation, StreamId},
    address::Address,
    refusal::Refusal,
    rider::Answer,
    sync::lock,
    time::{Timer, TokioTimer},
};

impl<T: Send + Sync + 'static> Mesh<T> {
    /// Asks the owner of `address` to serve `stream`: its full state, then each change.
    ///
    /// The owner is started where the address has stored state and no owner. An ask for a stream that
    /// the owner serves already takes the place of the first, which falls silent.
    ///
    /// # Errors
    ///
    /// A promise by the owner that is ending, at its door or out of its mailbox, or by the route; or
    /// the verdict `NotFound`, by the route, where nothing is stored at the address.
    ///
    /// # Panics
    ///
    /// Where it starts an owner outside a tokio runtime whose time driver is on.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: the owner serves nothing whose asker is gone.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::StreamExt;
    /// use rideout::{StreamId, mesh::Mesh};
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (mesh, address) = (Mesh::new(), "prices/eur".parse()?);
    /// mesh.store(&address, 108);
    ///
    /// let mut prices = mesh.subscribe(&address, StreamId::mint()).await?.into_stream();
    /// assert_eq!(prices.next().await.unwrap()?.value, 108);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn subscribe(
        &self,
        address: &Address,
        stream: StreamId,
    ) -> Result<Answer<Subscription<T>>, Refusal> {
        *lock(&self.world.state).asks.entry(address.path().to_owned()).or_default() += 1;
        let opened = self.ask(address, |reply| Request::Subscribe { stream, reply });
        let (activation, items) = opened.await?;

        let gone = self.world.gone.completed();
        let subscription = Subscription::new(address.clone(), activation.clone(), items, gone);
        Ok(Answer::new(subscription).served_by(activation))
    }

    /// Writes a value at `address`, and returns its version when its owner has stored it and sent it to
    /// its subscribers.
    ///
    /// # Errors
    ///
    /// Those of [`subscribe`](Mesh::subscribe). Only where the owner was killed meanwhile is it left
    /// open whether the value was written.
    ///
    /// # Panics
    ///
    /// Where it starts an owner outside a tokio runtime whose time driver is on.
    ///
    /// # Cancel safety
    ///
    /// Not cancel safe: once under way, the value may be written or not.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::StreamExt;
    /// use rideout::{StreamId, mesh::Mesh};
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (mesh, address) = (Mesh::new(), "prices/eur".parse()?);
    /// mesh.store(&address, 108);
    /// let mut prices = mesh.subscribe(&address, StreamId::mint()).await?.into_stream();
    ///
    /// assert_eq!(mesh.write(&address, 109).await?, 2);
    /// assert_eq!(prices.next().await.unwrap()?.value, 108);
    /// assert_eq!(prices.next().await.unwrap()?.value, 109);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn write(&self, address: &Address, value: T) -> Result<u64, Refusal> {
        self.ask(address, |reply| Request::Write { value, reply }).await
    }

    /// Starts an owner at `address` where the directory has none, as a placement decision would, and
    /// returns the activation that it has. No route is asked, so that the directory may run ahead of
    /// its routes.
    ///
    /// # Errors
    ///
    /// `NotFound` where nothing is stored at the address; the route's promise where no host takes it.
    ///
    /// # Panics
    ///
    /// Where it starts an owner outside a tokio runtime whose time driver is on.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (mesh, address) = (rideout::mesh::Mesh::new(), "prices/eur".parse()?);
    /// mesh.store(&address, 108);
    ///
    /// let activation = mesh.activate(&address)?;
    /// assert_eq!(mesh.activate(&address)?, activation);
    /// # Ok(())
    /// # }
    /// ```
    pub fn activate(&self, address: &Address) -> Result<Activation, Refusal> {
        let hub = self.world.find_or_start(address)?;
        Ok(hub.lifecycle().activation().clone())
    }

    async fn ask<A>(
        &self,
        address: &Address,
        request: impl FnOnce(Reply<A>) -> Request<T>,
    ) -> Result<A, Refusal> {
        let latency = lock(&self.world.state).settings.latency;
        if !latency.is_zero() {
            TokioTimer.sleep(latency).await;
        }

        let hub = self.world.route(address)?;
        let (reply, answer) = oneshot::channel();
        hub.deliver(request(reply))?;
        // The owner was killed: the route cannot know what it still did.
        let lost = |_| Err(Refusal::host_cannot_route(address).with_never_applied(false));
        answer.await.unwrap_or_else(lost)
    }
}
