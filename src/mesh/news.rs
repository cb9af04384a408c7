//! How does a reader hear of an address, besides by its answers?

use std::{
    collections::HashMap,
    fmt,
    pin::Pin,
    task::{Context, Poll},
};

use futures_core::Stream;
use tokio::sync::mpsc;

use crate::refusal::News;

/// Who listens to which address, by path.
#[derive(Debug, Default)]
pub(super) struct Listeners {
    paths: HashMap<String, Vec<mpsc::UnboundedSender<News>>>,
}

impl Listeners {
    /// Adds a listener to `path`.
    pub(super) fn add(&mut self, path: &str) -> NewsStream {
        let (sender, news) = mpsc::unbounded_channel();
        let listeners = self.paths.entry(path.to_owned()).or_default();

        listeners.retain(|listener| !listener.is_closed());
        listeners.push(sender);
        NewsStream { news }
    }

    /// Prepares news of `path`, to be told when no lock is held: a listener's waker is foreign code.
    pub(super) fn prepare(&self, path: &str, news: News) -> Announcement {
        Announcement { listeners: self.paths.get(path).cloned().unwrap_or_default(), news }
    }
}

/// News that is still to be told.
#[must_use = "news is of use only when it is told"]
pub(super) struct Announcement {
    listeners: Vec<mpsc::UnboundedSender<News>>,
    news: News,
}

impl Announcement {
    pub(super) fn tell(self) {
        for listener in self.listeners {
            // One that was dropped listens no more.
            let _ = listener.send(self.news.clone());
        }
    }
}

/// Stream for the [`Mesh::news`](super::Mesh::news) method.
///
/// It ends when the mesh is dropped.
///
/// # Examples
///
/// ```
/// use futures::StreamExt;
/// use rideout::{Address, News, mesh::Mesh};
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (mesh, address) = (Mesh::new(), "prices/eur".parse::<Address>()?);
/// mesh.store(&address, 108);
/// let mut news = mesh.news(&address);
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
        let waiting = self.news.len();
        (waiting, self.news.is_closed().then_some(waiting))
    }
}
