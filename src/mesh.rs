//! What do examples, tests and your own tests run on? On a mesh in one process: real parts, real
//! refusals, and faults that last as long as you say.
//!
//! A [`Mesh`] has hosts, a router, a directory, a store, and one owner at each address that is asked
//! for. An owner is a task with a mailbox; it lives for one activation, refuses from the moment it is
//! told to end, and is started anew by the next ask, since its state outlives it.
//!
//! | to | what happens | who hears of it |
//! |---|---|---|
//! | [`recycle`](Mesh::recycle) | the owner refuses, tears down, dies | subscribers, by news; joiners |
//! | [`dispose`](Mesh::dispose) | the same | joiners alone |
//! | [`kill`](Mesh::kill) | its process is gone; the route refuses until the lease ends | nobody |
//! | [`hold_route`](Mesh::hold_route) | asks go on reaching the activation that died | |
//! | [`refuse_route`](Mesh::refuse_route), [`refuse_host`](Mesh::refuse_host) | the route refuses | |
//!
//! In all of these a live subscription falls silent and never completes: the end of an owner is not
//! the end of what is at the address.
//!
//! # Time
//!
//! Everything goes by tokio's clock, which `tokio::time::pause` makes virtual, and works on a runtime
//! of one thread. What is told happens at once; what takes time takes what the mesh is set to.
//!
//! # Examples
//!
//! An owner is recycled, and comes back with what was written:
//!
//! ```
//! use futures::StreamExt;
//! use rideout::{Address, Kind, News, StreamId, mesh::Mesh};
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (mesh, address) = (Mesh::new(), "prices/eur".parse::<Address>()?);
//! mesh.store(&address, 108);
//! let stream = StreamId::mint();
//! let prices = mesh.subscribe(&address, stream).await?;
//! let mut news = mesh.news(&address);
//!
//! let recycled = mesh.recycle(&address).expect("an owner is there");
//! let refusal = mesh.subscribe(&address, stream).await.unwrap_err();
//! assert_eq!(refusal.activation.as_ref(), Some(&recycled));
//! assert_eq!(refusal.kind, Some(Kind::ShuttingDown));
//!
//! mesh.teardown_of(&recycled).expect("it can be observed").await;
//! assert_eq!(news.next().await, Some(News::Ended(Some(recycled))));
//!
//! let mut prices = mesh.subscribe(&address, stream).await?;
//! assert_eq!(prices.next().await.unwrap()?.value, 108);
//! # Ok(())
//! # }
//! ```

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex},
    time::Duration,
};

mod ask;
mod directory;
mod fault;
mod host;
mod hub;
mod lifecycle;
mod news;
mod router;
mod store;
mod subscription;

pub use self::{
    fault::FaultGuard,
    news::NewsStream,
    subscription::{Subscription, Versioned},
};

use self::{directory::Directory, fault::Faults, host::Hosts, news::Listeners, store::Store};
use crate::{
    activation::Activation,
    address::Address,
    sync::lock,
    teardown::{Completed, Teardown},
};

/// A mesh in this process, whose owners hold values of `T`.
///
/// An owner is known by the path of its address, wherever it is hosted. The tasks of owners run on the
/// runtime of the ask that started them.
///
/// # Clone
///
/// A handle: clones share one mesh. When the last one is dropped the owners' tasks end, open
/// subscriptions say that the mesh is gone, and news ends. Subscriptions, news and guards hold the mesh
/// weakly.
///
/// # Panics
///
/// What may start an owner ([`subscribe`](Mesh::subscribe), [`write`](Mesh::write),
/// [`activate`](Mesh::activate)) panics outside a tokio runtime whose time driver is on.
pub struct Mesh<T> {
    world: Arc<World<T>>,
}

/// What there is. Locks nest in one way only: the store's inside the state's.
struct World<T> {
    store: Arc<Store<T>>,
    // Complete when the mesh is gone.
    gone: Teardown,
    state: Mutex<State<T>>,
}

struct State<T> {
    settings: Settings,
    hosts: Hosts,
    directory: Directory<T>,
    faults: Faults<T>,
    listeners: Listeners,
    // How many subscriptions were asked for, by path.
    asks: HashMap<String, usize>,
}

#[derive(Clone, Copy, Debug)]
struct Settings {
    latency: Duration,
    teardown: Duration,
    lease: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            latency: Duration::ZERO,
            teardown: Duration::from_secs(1),
            lease: Duration::from_secs(5),
        }
    }
}

impl<T> Mesh<T> {
    /// Creates a mesh with one host, `host-1`.
    ///
    /// # Examples
    ///
    /// ```
    /// let mesh = rideout::mesh::Mesh::<String>::new();
    /// assert_eq!(mesh.asks(&"prices/eur".parse()?), 0);
    /// # Ok::<(), rideout::address::InvalidAddress>(())
    /// ```
    pub fn new() -> Self {
        let mut hosts = Hosts::default();
        hosts.add("host-1");
        let state = Mutex::new(State {
            settings: Settings::default(),
            hosts,
            directory: Directory::new(),
            faults: Faults::new(),
            listeners: Listeners::default(),
            asks: HashMap::new(),
        });

        Self { world: Arc::new(World { store: Store::new().into(), gone: Teardown::new(), state }) }
    }

    /// Sets how long a request is on its way to its owner (0). The answer is there at that instant.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use rideout::{Address, mesh::Mesh};
    /// use tokio::time::Instant;
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (mesh, address) = (Mesh::new(), "prices/eur".parse::<Address>()?);
    /// mesh.store(&address, 108);
    /// mesh.set_latency(Duration::from_millis(20));
    ///
    /// let sent = Instant::now();
    /// mesh.write(&address, 109).await?;
    /// assert_eq!(sent.elapsed(), Duration::from_millis(20));
    /// # Ok(())
    /// # }
    /// ```
    pub fn set_latency(&self, latency: Duration) {
        lock(&self.world.state).settings.latency = latency;
    }

    /// Sets how long an owner takes from being told to end to being dead (1 s), for those that are
    /// told from here on.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// // No owner gets done with its teardown.
    /// rideout::mesh::Mesh::<String>::new().set_teardown(Duration::MAX);
    /// ```
    pub fn set_teardown(&self, teardown: Duration) {
        lock(&self.world.state).settings.teardown = teardown;
    }

    /// Sets how long the entry of a killed owner stays in the directory (5 s).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// // A killed owner is replaced by the next ask.
    /// rideout::mesh::Mesh::<String>::new().set_lease(Duration::ZERO);
    /// ```
    pub fn set_lease(&self, lease: Duration) {
        lock(&self.world.state).settings.lease = lease;
    }

    /// Adds a host; one of that name that is there already stays as it is.
    ///
    /// An owner starts on the first host, in the order in which they were added, whose route does not
    /// refuse.
    ///
    /// # Examples
    ///
    /// ```
    /// use rideout::{Address, mesh::Mesh};
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (mesh, address) = (Mesh::new(), "prices/eur".parse::<Address>()?);
    /// mesh.store(&address, 108);
    /// mesh.add_host("host-2");
    ///
    /// let fault = mesh.refuse_host("host-1");
    /// mesh.activate(&address)?;
    /// assert_eq!(mesh.host_of(&address).as_deref(), Some("host-2"));
    /// # drop(fault);
    /// # Ok(())
    /// # }
    /// ```
    pub fn add_host(&self, name: &str) {
        lock(&self.world.state).hosts.add(name);
    }

    /// Stores a value, as an earlier activation would have written it, and returns its version.
    ///
    /// An owner that lives does not learn of it: it read its state when it started.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mesh, address) = (rideout::mesh::Mesh::new(), "prices/eur".parse()?);
    /// assert_eq!(mesh.store(&address, 108), 1);
    /// assert_eq!(mesh.store(&address, 109), 2);
    /// # Ok::<(), rideout::address::InvalidAddress>(())
    /// ```
    pub fn store(&self, address: &Address, value: T) -> u64 {
        self.world.store.write(address.path(), value).version
    }

    /// Returns the activation that the directory has at `address`.
    ///
    /// It may be ending, or killed and within its lease.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (mesh, address) = (rideout::mesh::Mesh::new(), "prices/eur".parse()?);
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
    /// let (mesh, address) = (rideout::mesh::Mesh::new(), "prices/eur".parse()?);
    /// mesh.store(&address, 108);
    /// mesh.activate(&address)?;
    /// assert_eq!(mesh.host_of(&address).as_deref(), Some("host-1"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn host_of(&self, address: &Address) -> Option<String> {
        self.world.find(address).map(|hub| hub.host().to_string())
    }

    /// Returns how many subscriptions the current owner of `address` serves: those that are held.
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
    /// let prices = mesh.subscribe(&address, StreamId::mint()).await?;
    /// assert_eq!(mesh.subscribers(&address), 1);
    /// # drop(prices);
    /// # Ok(())
    /// # }
    /// ```
    pub fn subscribers(&self, address: &Address) -> usize {
        self.world.find(address).map_or(0, |hub| hub.subscribers())
    }

    /// Returns how often a subscription to `address` was asked for, whatever became of it.
    ///
    /// # Examples
    ///
    /// ```
    /// use rideout::{Kind, StreamId, mesh::Mesh};
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
        lock(&self.world.state).asks.get(address.path()).copied().unwrap_or(0)
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
    /// let (mesh, address) = (rideout::mesh::Mesh::new(), "prices/eur".parse()?);
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
        lock(&self.world.state).directory.teardown_of(activation)
    }

    /// Returns what is told of `address` from here on.
    ///
    /// [`Arrived`](crate::News::Arrived) comes from the directory, for every activation that starts.
    /// [`Ended`](crate::News::Ended) is the announcement of an owner that was recycled, once its teardown is
    /// completed, to the readers of its address, if it had a subscriber.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::StreamExt;
    /// use rideout::{News, mesh::Mesh};
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (mesh, address) = (Mesh::new(), "prices/eur".parse()?);
    /// mesh.store(&address, 108);
    /// let mut news = mesh.news(&address);
    /// let activation = mesh.activate(&address)?;
    /// assert_eq!(news.next().await, Some(News::Arrived(activation)));
    /// # Ok(())
    /// # }
    /// ```
    pub fn news(&self, address: &Address) -> NewsStream {
        lock(&self.world.state).listeners.add(address.path())
    }
}

impl<T> Clone for Mesh<T> {
    fn clone(&self) -> Self {
        Self { world: Arc::clone(&self.world) }
    }
}

impl<T> Default for Mesh<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for Mesh<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = lock(&self.world.state);
        f.debug_struct("Mesh")
            .field("settings", &state.settings)
            .field("hosts", &state.hosts)
            .finish_non_exhaustive()
    }
}
