//! What do examples, tests and your own tests run on? On a mesh in one process: real parts, real
//! refusals, and faults that last as long as you say.
//!
//! A [`Mesh`] has hosts, a router, a directory, a store, and one owner at each address that is asked
//! for. An owner is a task with a mailbox; it lives for one activation, refuses from the moment it is
//! told to end, and is started anew by the next ask, since its state outlives it. It is put together
//! from the parts of [`owner`](crate::owner), which you can take for owners of your own.
//!
//! # What is asked
//!
//! [`subscribe`](Mesh::subscribe), [`read`](Mesh::read), [`write`](Mesh::write),
//! [`patch`](Mesh::patch), [`beat`](Mesh::beat). Beside the answers there are
//! [`news`](Mesh::news) for a reader, [`teardown_of`](Mesh::teardown_of) to join, and the
//! [`changes`](Mesh::changes) of an address. [`ride_out`](Mesh::ride_out) is a rider that has them all.
//!
//! # How owners end
//!
//! | by | what happens | who hears of it |
//! |---|---|---|
//! | [`recycle`](Mesh::recycle) | the owner refuses, tears down, dies | those it served, by news; joiners |
//! | [`land`](Mesh::land) | a set of addresses is recycled as one wave | the same |
//! | [`delete`](Mesh::delete) | the same as a recycle, and nothing is stored any more | the same |
//! | [`dispose`](Mesh::dispose) | the same as a recycle | joiners alone; readers by their beats |
//! | its parent's end | the same as a dispose | the same |
//! | its host's stop | it moves to another host | those it served, by news, at once; joiners |
//! | [`kill`](Mesh::kill) | its process is gone; the route refuses until the lease ends | nobody; readers by their beats |
//!
//! In all of these a live subscription falls silent and never completes: the end of an owner is not
//! the end of what is at the address.
//!
//! # Faults
//!
//! Each is a state that a [`FaultGuard`] holds, and says whether it is in force.
//!
//! | of | fault |
//! |---|---|
//! | a route | [`hold_route`](Mesh::hold_route) at the activation that died, [`refuse_route`](Mesh::refuse_route) |
//! | an owner | [`refuse_door`](Mesh::refuse_door), [`hold_state`](Mesh::hold_state), [`hold_store`](Mesh::hold_store) |
//! | what is sent | [`drop_frames`](Mesh::drop_frames), [`silence_feed`](Mesh::silence_feed), [`drop_goodbyes`](Mesh::drop_goodbyes), [`forget_releases`](Mesh::forget_releases) |
//! | a host | [`refuse_host`](Mesh::refuse_host), [`linger_host`](Mesh::linger_host), [`drain_host`](Mesh::drain_host), [`kill_host`](Mesh::kill_host) |
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
//! let prices = mesh.subscribe(&address, stream).await?.into_stream();
//! let mut news = mesh.news(&address, stream);
//!
//! let recycled = mesh.recycle(&address).expect("an owner is there");
//! let refusal = mesh.subscribe(&address, stream).await.unwrap_err();
//! assert_eq!(refusal.activation.as_ref(), Some(&recycled));
//! assert_eq!(refusal.kind, Some(Kind::ShuttingDown));
//!
//! mesh.teardown_of(&recycled).expect("it can be observed").await;
//! assert_eq!(news.next().await, Some(News::Ended(Some(recycled))));
//!
//! let mut prices = mesh.subscribe(&address, stream).await?.into_stream();
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
mod deliveries;
mod directory;
mod end;
mod fault;
mod goodbye;
mod host;
mod hub;
mod news;
mod observe;
mod register;
mod request;
mod ride;
mod router;
mod store;
mod subscription;

pub use self::{
    fault::FaultGuard,
    news::{Changes, NewsStream},
    subscription::{Subscription, Update, Versioned},
};

use self::{
    directory::Directory,
    fault::Faults,
    goodbye::Goodbye,
    host::Hosts,
    news::{FeedListeners, NewsListeners},
    store::Store,
};
use crate::{
    activation::StreamId,
    address::Address,
    owner::{DeliveryTargets, Waves},
    sync::lock,
    teardown::Teardown,
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
/// # Examples
///
/// See [the module](self) for a recycle, and [`FaultGuard`] for a fault. Two readers of one mesh:
///
/// ```
/// use rideout::{StreamId, mesh::Mesh};
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (mesh, address) = (Mesh::new(), "prices/eur".parse()?);
/// mesh.store(&address, 108);
///
/// let elsewhere = mesh.clone();
/// let one = mesh.subscribe(&address, StreamId::mint()).await?.into_stream();
/// let two = elsewhere.subscribe(&address, StreamId::mint()).await?.into_stream();
/// assert_eq!(one.activation(), two.activation());
/// # Ok(())
/// # }
/// ```
pub struct Mesh<T> {
    world: Arc<World<T>>,
}

/// What there is. Locks nest in one way only: the store's inside the state's.
struct World<T> {
    store: Arc<Store<T>>,
    // Complete when the mesh is gone.
    gone: Teardown,
    waves: Waves,
    state: Mutex<State<T>>,
}

struct State<T> {
    settings: Settings,
    hosts: Hosts,
    directory: Directory<T>,
    faults: Faults<T>,
    // The addresses whose owner left with its host, and that have none yet.
    displaced: Vec<Address>,
    // The readers' ends of the streams, by the owner that serves them: one identity may be asked for at
    // two addresses. And what they could not say yet.
    targets: DeliveryTargets<(Address, StreamId), u32>,
    goodbyes: Vec<Goodbye<T>>,
    news: NewsListeners,
    feed: FeedListeners,
    // How many subscriptions were asked for, by path, and the number of the last ask.
    asks: HashMap<String, usize>,
    attempts: u32,
}

#[derive(Clone, Copy, Debug)]
struct Settings {
    latency: Duration,
    teardown: Duration,
    watchdog: Duration,
    idle_release: Duration,
    lease: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            latency: Duration::ZERO,
            teardown: Duration::from_secs(1),
            watchdog: Duration::from_secs(8),
            idle_release: Duration::from_secs(10 * 60),
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
            displaced: Vec::new(),
            targets: DeliveryTargets::new(),
            goodbyes: Vec::new(),
            news: NewsListeners::default(),
            feed: FeedListeners::default(),
            asks: HashMap::new(),
            attempts: 0,
        });
        let (store, gone) = (Arc::new(Store::new()), Teardown::new());
        Self { world: Arc::new(World { store, gone, waves: Waves::new(), state }) }
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
    /// told from here on. Replies that are pending, and children, may make it longer; the
    /// [watchdog](Mesh::set_watchdog), shorter.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// // No owner gets done with its teardown, until it is forced.
    /// rideout::mesh::Mesh::<String>::new().set_teardown(Duration::MAX);
    /// ```
    pub fn set_teardown(&self, teardown: Duration) {
        lock(&self.world.state).settings.teardown = teardown;
    }

    /// Sets after how long without progress a teardown is forced (8 s), or after four times that in all,
    /// for owners that start from here on (`R39`).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// // A teardown that is wedged stays so.
    /// let mesh = rideout::mesh::Mesh::<String>::new();
    /// mesh.set_watchdog(Duration::MAX);
    /// mesh.set_teardown(Duration::MAX);
    /// ```
    pub fn set_watchdog(&self, watchdog: Duration) {
        lock(&self.world.state).settings.watchdog = watchdog;
    }

    /// Sets how long an owner serves a reader that gives no sign (10 min), for owners that start from
    /// here on (`R44b`).
    ///
    /// The route remembers for 10 min that a reader is gone (`R49`): one that was not pushed to meanwhile, and
    /// whose goodbye was lost, is refused with a promise after that, until this time is over.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// // A reader that is gone without a word is served for ever.
    /// rideout::mesh::Mesh::<String>::new().set_idle_release(Duration::MAX);
    /// ```
    pub fn set_idle_release(&self, idle_release: Duration) {
        lock(&self.world.state).settings.idle_release = idle_release;
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
    /// An owner starts on the host of its parent, where that lives and its host serves: the owner whose
    /// path is its own up to the last `/`. Otherwise on the first host, in the order in which they were
    /// added, that serves and whose route does not refuse. A host that is added under a guard of its name
    /// is away from the first.
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
        self.world.look_at_host(name);
        // Who leaves may have waited for it.
        self.world.look_at_hosts();
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
        // Whoever writes it down is foreign code, and finds no lock held.
        let (settings, hosts) = {
            let state = lock(&self.world.state);
            (state.settings, format!("{:?}", state.hosts))
        };
        f.debug_struct("Mesh")
            .field("settings", &settings)
            .field("hosts", &format_args!("{hosts}"))
            .finish_non_exhaustive()
    }
}
