//! The handle to a mesh, and its settings.

use std::{fmt, sync::Arc, time::Duration};

use rideout::Address;

use crate::world::World;

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
/// See [the crate](crate) for a recycle, and [`FaultGuard`](crate::FaultGuard) for a fault. Two readers of one mesh:
///
/// ```
/// use rideout::activation::StreamId;
/// use rideout_mesh::Mesh;
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
    pub(crate) world: Arc<World<T>>,
}

impl<T> Mesh<T> {
    /// Creates a mesh with one host, `host-1`.
    ///
    /// # Examples
    ///
    /// ```
    /// let mesh = rideout_mesh::Mesh::<String>::new();
    /// assert_eq!(mesh.asks(&"prices/eur".parse()?), 0);
    /// # Ok::<(), rideout::address::InvalidAddress>(())
    /// ```
    pub fn new() -> Self {
        let world = World::new();
        world.state().hosts.add("host-1");
        Self { world: Arc::new(world) }
    }

    /// Sets how long a request is on its way to its owner (0). The answer is there at that instant.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use rideout::Address;
    /// use rideout_mesh::Mesh;
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
        self.world.state().settings.latency = latency;
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
    /// rideout_mesh::Mesh::<String>::new().set_teardown(Duration::MAX);
    /// ```
    pub fn set_teardown(&self, teardown: Duration) {
        self.world.state().settings.teardown = teardown;
    }

    /// Sets after how long without progress a teardown is forced (8 s), or after four times that in all,
    /// for owners that start from here on.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// // A teardown that is wedged stays so.
    /// let mesh = rideout_mesh::Mesh::<String>::new();
    /// mesh.set_watchdog(Duration::MAX);
    /// mesh.set_teardown(Duration::MAX);
    /// ```
    pub fn set_watchdog(&self, watchdog: Duration) {
        self.world.state().settings.watchdog = watchdog;
    }

    /// Sets how long an owner serves a reader that gives no sign (10 min), for owners that start from
    /// here on.
    ///
    /// The route remembers for 10 min that a reader is gone: one that was not pushed to meanwhile, and
    /// whose goodbye was lost, is refused with a promise after that, until this time is over.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// // A reader that is gone without a word is served for ever.
    /// rideout_mesh::Mesh::<String>::new().set_idle_release(Duration::MAX);
    /// ```
    pub fn set_idle_release(&self, idle_release: Duration) {
        self.world.state().settings.idle_release = idle_release;
    }

    /// Sets how long the entry of a killed owner stays in the directory (5 s).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// // A killed owner is replaced by the next ask.
    /// rideout_mesh::Mesh::<String>::new().set_lease(Duration::ZERO);
    /// ```
    pub fn set_lease(&self, lease: Duration) {
        self.world.state().settings.lease = lease;
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
    /// use rideout::Address;
    /// use rideout_mesh::Mesh;
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
        self.world.state().hosts.add(name);
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
    /// let (mesh, address) = (rideout_mesh::Mesh::new(), "prices/eur".parse()?);
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
            let state = self.world.state();
            (state.settings, format!("{:?}", state.hosts))
        };
        f.debug_struct("Mesh")
            .field("settings", &settings)
            .field("hosts", &format_args!("{hosts}"))
            .finish_non_exhaustive()
    }
}
