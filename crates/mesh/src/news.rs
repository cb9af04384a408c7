//! What a reader hears of an address besides its answers: news, and the change feed.

use std::{
    collections::HashMap,
    fmt,
    hash::Hash,
    pin::Pin,
    task::{Context, Poll},
};

use futures_core::{Stream, stream::FusedStream};
use rideout::{News, activation::StreamId};
use tokio::sync::mpsc;

use crate::panics;

type Sender<M> = mpsc::UnboundedSender<M>;

/// Who listens to what is said of which address, by path: `M` is said, and `L` is a listener's own.
///
/// To come, and to be told alone, costs no more where there are thousands.
#[derive(Debug)]
pub(crate) struct Listeners<L, M> {
    paths: HashMap<String, AtPath<L, M>>,
}

#[derive(Debug)]
struct AtPath<L, M> {
    // In the order in which they came.
    all: Vec<Sender<M>>,
    // The same, by whose they are.
    own: HashMap<L, Vec<Sender<M>>>,
    // How many there may be before those that are gone are put away.
    room: usize,
}

impl<L, M> Default for Listeners<L, M> {
    fn default() -> Self {
        Self { paths: HashMap::new() }
    }
}

impl<L, M> Default for AtPath<L, M> {
    fn default() -> Self {
        Self { all: Vec::new(), own: HashMap::new(), room: 0 }
    }
}

impl<L: Eq + Hash, M: Clone> Listeners<L, M> {
    /// Adds a listener to `path`.
    pub(crate) fn add(&mut self, path: &str, listener: L) -> mpsc::UnboundedReceiver<M> {
        let (sender, receiver) = mpsc::unbounded_channel();
        let here = self.paths.entry(path.to_owned()).or_default();

        here.put_away();
        here.own.entry(listener).or_default().push(sender.clone());
        here.all.push(sender);
        receiver
    }

    /// Prepares to say something of `path` to all who listen, when no lock is held: a listener's waker
    /// is foreign code.
    pub(crate) fn to_all(&self, path: &str, said: M) -> Announcement<M> {
        let listeners = self.paths.get(path).map(|here| here.all.clone());
        Announcement { listeners: listeners.unwrap_or_default(), said }
    }

    /// The same, to one of them.
    pub(crate) fn to(&self, path: &str, listener: &L, said: M) -> Announcement<M> {
        let listeners = self.paths.get(path).and_then(|here| here.own.get(listener)).cloned();
        Announcement { listeners: listeners.unwrap_or_default(), said }
    }
}

impl<L: Eq + Hash, M> AtPath<L, M> {
    /// Puts away those that are gone, once for as many that came.
    fn put_away(&mut self) {
        if self.all.len() < self.room {
            return;
        }
        self.all.retain(|sender| !sender.is_closed());
        self.own.retain(|_, own| {
            own.retain(|sender| !sender.is_closed());
            !own.is_empty()
        });
        self.room = 2 * self.all.len() + 8;
    }
}

/// Something that is still to be said.
#[must_use = "what is not said is heard by nobody"]
pub(crate) struct Announcement<M> {
    listeners: Vec<Sender<M>>,
    said: M,
}

impl<M: Clone> Announcement<M> {
    /// Tells all of them; where the waker of one panics, that goes on after.
    pub(crate) fn tell(self) {
        // One that was dropped listens no more.
        panics::all(self.listeners.iter().map(|listener| || _ = listener.send(self.said.clone())));
    }
}

/// Who listens to news: the reader of one stream.
pub(crate) type NewsListeners = Listeners<StreamId, News>;

/// Who listens to an address's change feed.
pub(crate) type FeedListeners = Listeners<(), u64>;

/// Stream for the [`Mesh::news`](crate::Mesh::news) method.
///
/// It ends when the mesh is dropped.
///
/// # Examples
///
/// ```
/// use futures::StreamExt;
/// use rideout::{Address, News, activation::StreamId};
/// use rideout_mesh::Mesh;
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (mesh, address) = (Mesh::new(), "prices/eur".parse::<Address>()?);
/// mesh.store(&address, 108);
/// let mut news = mesh.news(&address, StreamId::mint());
///
/// let activation = mesh.activate(&address)?;
/// assert_eq!(news.next().await, Some(News::Arrived(activation)));
///
/// drop(mesh);
/// assert_eq!(news.next().await, None);
/// # Ok(())
/// # }
/// ```
#[must_use = "streams do nothing unless polled"]
pub struct NewsStream {
    news: mpsc::UnboundedReceiver<News>,
}

impl NewsStream {
    pub(crate) fn new(news: mpsc::UnboundedReceiver<News>) -> Self {
        Self { news }
    }
}

impl fmt::Debug for NewsStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewsStream").field("waiting", &self.news.len()).finish_non_exhaustive()
    }
}

impl Stream for NewsStream {
    type Item = News;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<News>> {
        self.get_mut().news.poll_recv(cx)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        size_hint(&self.news)
    }
}

impl FusedStream for NewsStream {
    fn is_terminated(&self) -> bool {
        is_over(&self.news)
    }
}

/// Stream for the [`Mesh::changes`](crate::Mesh::changes) method: the version of each write.
///
/// It ends when the mesh is dropped.
///
/// # Examples
///
/// ```
/// use futures::StreamExt;
/// use rideout::Address;
/// use rideout_mesh::Mesh;
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (mesh, address) = (Mesh::new(), "prices/eur".parse::<Address>()?);
/// mesh.store(&address, 108);
/// let mut changes = mesh.changes(&address);
///
/// mesh.write(&address, 109).await?;
/// assert_eq!(changes.next().await, Some(2));
/// # Ok(())
/// # }
/// ```
#[must_use = "streams do nothing unless polled"]
pub struct Changes {
    versions: mpsc::UnboundedReceiver<u64>,
}

impl Changes {
    pub(crate) fn new(versions: mpsc::UnboundedReceiver<u64>) -> Self {
        Self { versions }
    }
}

impl fmt::Debug for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Changes").field("waiting", &self.versions.len()).finish_non_exhaustive()
    }
}

impl Stream for Changes {
    type Item = u64;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<u64>> {
        self.get_mut().versions.poll_recv(cx)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        size_hint(&self.versions)
    }
}

impl FusedStream for Changes {
    fn is_terminated(&self) -> bool {
        is_over(&self.versions)
    }
}

fn size_hint<M>(receiver: &mpsc::UnboundedReceiver<M>) -> (usize, Option<usize>) {
    let waiting = receiver.len();
    (waiting, receiver.is_closed().then_some(waiting))
}

fn is_over<M>(receiver: &mpsc::UnboundedReceiver<M>) -> bool {
    receiver.is_closed() && receiver.is_empty()
}
