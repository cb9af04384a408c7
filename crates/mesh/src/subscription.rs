//! What a subscriber holds: the full state, and each change.

use std::{
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use futures_core::{FusedStream, Stream};
use rideout::{Activation, Address, Refusal, activation::StreamId, teardown::Completed};
use tokio::sync::mpsc;

use crate::{
    frame::{Body, Frame, Update, Versioned},
    goodbye::Goodbye,
};

/// A subscription that an owner has opened: who serves it, its frames, and its goodbye, which is said
/// wherever this is dropped.
pub(crate) struct Opened<T> {
    pub(crate) activation: Activation,
    pub(crate) frames: mpsc::UnboundedReceiver<Frame<T>>,
    pub(crate) goodbye: Goodbye,
}

/// Stream for the [`Mesh::subscribe`](crate::Mesh::subscribe) method: the full state, then each change.
///
/// It speaks as long as its activation lives, and then falls silent: it does not complete, since the
/// end of an owner is not the end of what is at the address. That an owner ended is news
/// ([`Mesh::news`](crate::Mesh::news)), and a killed one says nothing at all. Where the mesh itself is
/// dropped, its last item is the refusal that says so.
///
/// Dropping it unsubscribes: a goodbye is put into its owner's mailbox at once. It names the stream and the ask, so
/// that it ends this registration and no later one, and it overtakes what waits there: nothing more is sent.
///
/// # Panics
///
/// Where a patch does, or the clone of a value: polled again it goes on, as if that frame had been lost on
/// its way.
///
/// # Examples
///
/// ```
/// use futures::StreamExt;
/// use rideout::{Address, activation::StreamId};
/// use rideout_mesh::Mesh;
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (mesh, address) = (Mesh::new(), "prices/eur".parse::<Address>()?);
/// mesh.store(&address, 108);
///
/// let mut prices = mesh.subscribe(&address, StreamId::mint()).await?.into_stream();
/// assert_eq!(prices.next().await.unwrap()?.value, 108);
/// assert_eq!(Some(prices.activation()), mesh.activation_of(&address).as_ref());
///
/// drop(prices);
/// tokio::task::yield_now().await; // its owner hears that
/// assert_eq!(mesh.subscribers(&address), 0);
/// # Ok(())
/// # }
/// ```
#[must_use = "streams do nothing unless polled"]
pub struct Subscription<T> {
    address: Address,
    opened: Opened<T>,
    known: Option<Known<T>>,
    // `None` once the mesh is gone and the stream has said so.
    mesh_gone: Option<Completed>,
}

/// The last state that a subscriber knows.
struct Known<T> {
    state: Versioned<T>,
    // The frame that it is of; no patch but the next one fits.
    frame: u64,
}

impl<T> Subscription<T> {
    pub(crate) fn new(address: Address, opened: Opened<T>, mesh_gone: Completed) -> Self {
        Self { address, opened, known: None, mesh_gone: Some(mesh_gone) }
    }

    /// Returns the address that was asked.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Returns the stream that it was asked for by.
    pub fn stream_id(&self) -> StreamId {
        self.opened.goodbye.stream
    }

    /// Returns the activation that serves the stream.
    pub fn activation(&self) -> &Activation {
        &self.opened.activation
    }
}

impl<T: Clone> Subscription<T> {
    /// Takes a frame in; `None` where nothing is known yet that it could be told by.
    fn update(&mut self, frame: Frame<T>) -> Option<Update<T>> {
        match frame.body {
            Body::State(state) => {
                let state = Arc::unwrap_or_clone(state);
                self.known = Some(Known { state, frame: frame.number });
            }
            Body::Patch { version, patch } => {
                let known = self.known.as_mut()?;
                if known.frame.checked_add(1) == Some(frame.number) {
                    known.state.value = patch(&known.state.value);
                    known.state.version = version;
                    known.frame = frame.number;
                }
            }
        }
        let Versioned { version, value } = self.known.as_ref()?.state.clone();
        Some(Update { frame: frame.number, version, value })
    }
}

impl<T> fmt::Debug for Subscription<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription")
            .field("address", &self.address)
            .field("activation", self.activation())
            .finish_non_exhaustive()
    }
}

// What it holds is never pinned in place.
impl<T> Unpin for Subscription<T> {}

impl<T: Clone> Stream for Subscription<T> {
    type Item = Result<Update<T>, Refusal>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        if this.mesh_gone.is_none() {
            return Poll::Ready(None);
        }

        // What was sent before the end comes before the end. A closed channel is an owner that fell
        // silent, not the end of the stream.
        while let Poll::Ready(Some(frame)) = this.opened.frames.poll_recv(cx) {
            if let Some(update) = this.update(frame) {
                return Poll::Ready(Some(Ok(update)));
            }
        }
        if let Some(mesh_gone) = &mut this.mesh_gone {
            ready!(Pin::new(mesh_gone).poll(cx));
        }
        if !this.opened.frames.is_empty() {
            // Tokio lets a task take no more of a channel at once, or they came since the look above.
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        this.mesh_gone = None;
        Poll::Ready(Some(Err(Refusal::mesh_cannot_route(&this.address))))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self.mesh_gone {
            Some(_) => (self.opened.frames.len(), None),
            None => (0, Some(0)),
        }
    }
}

impl<T: Clone> FusedStream for Subscription<T> {
    fn is_terminated(&self) -> bool {
        self.mesh_gone.is_none()
    }
}
