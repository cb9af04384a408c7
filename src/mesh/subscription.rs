//! What does a subscriber hold, and what does its owner keep of it? The two ends of one stream.

use std::{
    collections::HashMap,
    fmt,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll, ready},
};

use futures_core::{FusedStream, Stream};
use tokio::sync::mpsc;

use crate::{
    activation::{Activation, StreamId},
    address::Address,
    refusal::Refusal,
    sync::lock,
    teardown::Completed,
};

/// A value and its place among the writes of its address.
///
/// Versions start at 1 and go on over every activation: the store counts them, not the owner.
///
/// # Examples
///
/// ```
/// use rideout::mesh::Versioned;
///
/// let price = Versioned { version: 7, value: 108.25 };
/// assert!(price.version > 6);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Versioned<T> {
    /// The number of the write.
    pub version: u64,
    /// What was written.
    pub value: T,
}

/// The streams that an owner serves.
pub(super) struct Register<T> {
    streams: Mutex<HashMap<StreamId, mpsc::UnboundedSender<Arc<Versioned<T>>>>>,
}

impl<T> Register<T> {
    pub(super) fn new() -> Self {
        Self { streams: Mutex::default() }
    }

    /// Serves `stream` from `state` on. An ask of a stream that is served already takes the place of
    /// the first: one registration (`R44`).
    pub(super) fn open(
        &self,
        stream: StreamId,
        state: Arc<Versioned<T>>,
    ) -> mpsc::UnboundedReceiver<Arc<Versioned<T>>> {
        let (items, receiver) = mpsc::unbounded_channel();
        // The receiver is at hand, so this cannot fail.
        let _ = items.send(state);
        let mut streams = lock(&self.streams);
        // Those that unsubscribed go before the map would grow for them.
        let closed: Vec<_> = if streams.len() == streams.capacity() {
            streams.extract_if(|_, items| items.is_closed()).collect()
        } else {
            Vec::new()
        };
        let replaced = streams.insert(stream, items);
        drop(streams);

        // Their receivers' wakers are foreign code, and run outside the lock.
        drop((closed, replaced));
        receiver
    }

    /// Sends a change to every stream that is still held.
    pub(super) fn publish(&self, state: &Arc<Versioned<T>>) {
        let streams: Vec<_> = {
            let mut streams = lock(&self.streams);
            streams.retain(|_, items| !items.is_closed());
            streams.values().cloned().collect()
        };
        for items in streams {
            // One that was dropped in between has unsubscribed.
            let _ = items.send(Arc::clone(state));
        }
    }

    /// Returns how many streams are held.
    pub(super) fn count(&self) -> usize {
        lock(&self.streams).values().filter(|items| !items.is_closed()).count()
    }
}

/// Stream for the [`Mesh::subscribe`](super::Mesh::subscribe) method: the full state, then each change.
///
/// It speaks as long as its activation lives, and then falls silent: it does not complete, since the
/// end of an owner is not the end of what is at the address. That an owner ended is news
/// ([`Mesh::news`](super::Mesh::news)), and a killed one says nothing at all. Where the mesh itself is
/// dropped, its last item is the refusal that says so.
///
/// Dropping it unsubscribes, at once.
///
/// # Examples
///
/// ```
/// use futures::StreamExt;
/// use rideout::{Address, StreamId, mesh::{Mesh, Versioned}};
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (mesh, address) = (Mesh::new(), "prices/eur".parse::<Address>()?);
/// mesh.store(&address, 108);
///
/// let mut prices = mesh.subscribe(&address, StreamId::mint()).await?.into_stream();
/// assert_eq!(prices.next().await, Some(Ok(Versioned { version: 1, value: 108 })));
/// assert_eq!(Some(prices.activation()), mesh.activation_of(&address).as_ref());
///
/// drop(prices);
/// assert_eq!(mesh.subscribers(&address), 0);
/// # Ok(())
/// # }
/// ```
#[must_use = "streams do nothing unless polled"]
pub struct Subscription<T> {
    address: Address,
    activation: Activation,
    items: mpsc::UnboundedReceiver<Arc<Versioned<T>>>,
    // `None` once the mesh is gone and the stream has said so.
    mesh_gone: Option<Completed>,
}

impl<T> Subscription<T> {
    pub(super) fn new(
        address: Address,
        activation: Activation,
        items: mpsc::UnboundedReceiver<Arc<Versioned<T>>>,
        mesh_gone: Completed,
    ) -> Self {
        Self { address, activation, items, mesh_gone: Some(mesh_gone) }
    }

    /// Returns the address that was asked.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Returns the activation that serves the stream.
    pub fn activation(&self) -> &Activation {
        &self.activation
    }
}

impl<T> fmt::Debug for Subscription<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription")
            .field("address", &self.address)
            .field("activation", &self.activation)
            .finish_non_exhaustive()
    }
}

impl<T: Clone> Stream for Subscription<T> {
    type Item = Result<Versioned<T>, Refusal>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let Some(mesh_gone) = &mut this.mesh_gone else {
            return Poll::Ready(None);
        };

        // What was sent before the end comes before the end. A closed channel is an owner that fell
        // silent, not the end of the stream.
        if let Poll::Ready(Some(item)) = this.items.poll_recv(cx) {
            return Poll::Ready(Some(Ok(Arc::unwrap_or_clone(item))));
        }
        ready!(Pin::new(mesh_gone).poll(cx));
        this.mesh_gone = None;
        Poll::Ready(Some(Err(Refusal::mesh_cannot_route(&this.address))))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self.mesh_gone {
            Some(_) => (self.items.len(), None),
            None => (0, Some(0)),
        }
    }
}

impl<T: Clone> FusedStream for Subscription<T> {
    fn is_terminated(&self) -> bool {
        self.mesh_gone.is_none()
    }
}
