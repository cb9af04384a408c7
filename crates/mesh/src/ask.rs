//! The requests of a mesh. Each is some time on its way, is routed when it arrives, and is answered at that
//! instant.

use std::sync::{Arc, Weak};

use rideout::{
    Activation, Address, Kind, News, Refusal,
    activation::StreamId,
    owner::Message,
    rider::Answer,
    time::{Timer, TokioTimer},
};
use tokio::{select, sync::oneshot};

use crate::{
    frame::{Patch, Versioned},
    mesh::Mesh,
    request::{Reply, Request},
    subscription::Subscription,
    world::World,
};

impl<T: Send + Sync + 'static> Mesh<T> {
    /// Asks the owner of `address` to serve `stream`: its full state, then each change.
    ///
    /// The owner is started where the address has stored state and no owner. An ask for a stream that
    /// the owner serves already is a refresh: it takes the place of the first, which falls silent.
    ///
    /// # Errors
    ///
    /// A promise by the owner that is ending, at its door or for what it had accepted, or by the route;
    /// or the verdict `NotFound`, by the route, where nothing is stored at the address.
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
    /// use rideout::activation::StreamId;
    /// use rideout_mesh::Mesh;
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
        subscribe(&Arc::downgrade(&self.world), address, stream).await
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
    /// use rideout::activation::StreamId;
    /// use rideout_mesh::Mesh;
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
        ask(&Arc::downgrade(&self.world), address, |reply| Request::Write { value, reply }).await
    }

    /// Changes the value at `address`, and returns its version when its owner has stored it; the change
    /// itself is sent to its subscribers, and applied there.
    ///
    /// # Errors
    ///
    /// Those of [`write`](Mesh::write), and `Failed` where the patch panics at the owner.
    ///
    /// # Panics
    ///
    /// Where it starts an owner outside a tokio runtime whose time driver is on.
    ///
    /// # Cancel safety
    ///
    /// Not cancel safe: once under way, the value may be changed or not.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::StreamExt;
    /// use rideout::activation::StreamId;
    /// use rideout_mesh::Mesh;
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (mesh, address) = (Mesh::new(), "fruit".parse()?);
    /// mesh.store(&address, vec!["pear"]);
    /// let mut fruit = mesh.subscribe(&address, StreamId::mint()).await?.into_stream();
    ///
    /// mesh.patch(&address, |fruit| fruit.push("plum")).await?;
    /// assert_eq!(fruit.next().await.unwrap()?.value, ["pear"]);
    /// assert_eq!(fruit.next().await.unwrap()?.value, ["pear", "plum"]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn patch(
        &self,
        address: &Address,
        patch: impl Fn(&mut T) + Send + Sync + 'static,
    ) -> Result<u64, Refusal>
    where
        T: Clone,
    {
        let patch: Patch<T> = Arc::new(move |state| {
            let mut state = state.clone();
            patch(&mut state);
            state
        });
        ask(&Arc::downgrade(&self.world), address, |reply| Request::Patch { patch, reply }).await
    }

    /// Reads the value at `address` from its owner.
    ///
    /// # Errors
    ///
    /// Those of [`subscribe`](Mesh::subscribe), and `Failed` where its owner gets no state for 30 s.
    ///
    /// # Panics
    ///
    /// Where it starts an owner outside a tokio runtime whose time driver is on.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a read changes nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use rideout_mesh::{Mesh, Versioned};
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (mesh, address) = (Mesh::new(), "prices/eur".parse()?);
    /// mesh.store(&address, 108);
    /// assert_eq!(mesh.read(&address).await?, Versioned { version: 1, value: 108 });
    /// # Ok(())
    /// # }
    /// ```
    pub async fn read(&self, address: &Address) -> Result<Versioned<T>, Refusal>
    where
        T: Clone,
    {
        let world = Arc::downgrade(&self.world);
        let state = ask(&world, address, |reply| Request::Read { reply }).await?;
        Ok(Arc::unwrap_or_clone(state))
    }

    /// Sends a beat of `stream` to the owner of `address`, and returns at once.
    ///
    /// It starts an owner where an ask would. One that does not serve the stream answers
    /// [`NotServing`](News::NotServing), as [`news`](Mesh::news) of that stream; where nothing is stored
    /// at the address, the router does, naming nobody.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime whose time driver is on.
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
    /// let owner = mesh.activate(&address)?;
    /// let stream = StreamId::mint();
    /// let mut news = mesh.news(&address, stream);
    ///
    /// mesh.beat(&address, stream);
    /// assert_eq!(news.next().await, Some(News::NotServing(Some(owner))));
    /// # Ok(())
    /// # }
    /// ```
    pub fn beat(&self, address: &Address, stream: StreamId) {
        let latency = self.world.settings().latency;
        if latency.is_zero() {
            return self.world.beat(address, stream);
        }
        let (world, address) = (Arc::downgrade(&self.world), address.clone());
        let gone = self.world.gone.completed();
        tokio::spawn(async move {
            select! {
                biased;
                () = gone => {}
                () = TokioTimer.sleep(latency) => {
                    if let Some(world) = world.upgrade() {
                        world.beat(&address, stream);
                    }
                }
            }
        });
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
    /// let (mesh, address) = (rideout_mesh::Mesh::new(), "prices/eur".parse()?);
    /// mesh.store(&address, 108);
    ///
    /// let activation = mesh.activate(&address)?;
    /// assert_eq!(mesh.activate(&address)?, activation);
    /// # Ok(())
    /// # }
    /// ```
    pub fn activate(&self, address: &Address) -> Result<Activation, Refusal> {
        let hub = self.world.find_or_start(address, "the placement")?;
        Ok(hub.lifecycle().activation().clone())
    }
}

/// Asks for a subscription; see [`Mesh::subscribe`]. Whoever waits for it keeps no mesh alive.
pub(crate) async fn subscribe<T: Send + Sync + 'static>(
    world: &Weak<World<T>>,
    address: &Address,
    stream: StreamId,
) -> Result<Answer<Subscription<T>>, Refusal> {
    let (attempt, gone) = {
        let world = reached(world, address)?;
        let mut state = world.state();
        *state.asks.entry(address.path().to_owned()).or_default() += 1;
        state.attempts = state.attempts.wrapping_add(1);
        (state.attempts, world.gone.completed())
    };
    let opened = ask(world, address, |reply| Request::Subscribe { stream, attempt, reply }).await?;

    let activation = opened.activation.clone();
    let subscription = Subscription::new(address.clone(), opened, gone);
    Ok(Answer::new(subscription).served_by(activation))
}

async fn ask<T: Send + Sync + 'static, A>(
    world: &Weak<World<T>>,
    address: &Address,
    request: impl FnOnce(Reply<A>) -> Request<T>,
) -> Result<A, Refusal> {
    let latency = reached(world, address)?.settings().latency;
    if !latency.is_zero() {
        TokioTimer.sleep(latency).await;
    }

    let (reply, answer) = oneshot::channel();
    {
        let (world, request) = (reached(world, address)?, request(reply));
        world.route(address, request.name())?.deliver(request);
    }
    // The owner was killed, or went with the mesh: the route cannot know what it still did.
    let lost = |_| Err(Refusal::host_cannot_route(address).with_never_applied(false));
    answer.await.unwrap_or_else(lost)
}

/// The mesh, where it is there.
fn reached<T>(world: &Weak<World<T>>, address: &Address) -> Result<Arc<World<T>>, Refusal> {
    world.upgrade().ok_or_else(|| Refusal::mesh_cannot_route(address))
}

impl<T: Send + Sync + 'static> World<T> {
    /// A beat arrives.
    fn beat(self: &Arc<Self>, address: &Address, stream: StreamId) {
        let request = Request::Beat { stream };
        match self.route(address, request.name()) {
            Ok(hub) => hub.deliver(request),
            Err(refusal) if refusal.kind == Some(Kind::NotFound) => {
                self.tell(address.path(), stream, News::NotServing(None));
            }
            // Nobody waits for the answer to a beat (`R40`).
            Err(_) => {}
        }
    }
}
