//! What an owner sends to a subscriber: the full state, and each change.

use std::sync::Arc;

/// Makes the next state of one, at the owner and at every subscriber.
pub(crate) type Patch<T> = Arc<dyn Fn(&T) -> T + Send + Sync>;

/// A value and its place among the writes of its address.
///
/// Versions start at 1 and go on over every activation: the store counts them, not the owner.
///
/// # Examples
///
/// ```
/// use rideout_mesh::Versioned;
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

/// One item of a [`Subscription`](crate::Subscription): the state after a frame, as far as it is known.
///
/// The frames of one subscription are numbered from 1. A number that is not the next one tells that
/// frames were lost; where what came needs what was lost, the item is the last state that is
/// known, under its own version.
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
/// let mut prices = mesh.subscribe(&address, StreamId::mint()).await?.into_stream();
/// let update = prices.next().await.unwrap()?;
/// assert_eq!((update.frame, update.version, update.value), (1, 1, 108));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Update<T> {
    /// The number of the frame within its subscription.
    pub frame: u64,
    /// The number of the write.
    pub version: u64,
    /// The state.
    pub value: T,
}

/// What an owner sends to a subscriber.
pub(crate) struct Frame<T> {
    pub(crate) number: u64,
    pub(crate) body: Body<T>,
}

pub(crate) enum Body<T> {
    State(Arc<Versioned<T>>),
    Patch { version: u64, patch: Patch<T> },
}

impl<T> Clone for Body<T> {
    fn clone(&self) -> Self {
        match self {
            Body::State(state) => Body::State(Arc::clone(state)),
            Body::Patch { version, patch } => {
                Body::Patch { version: *version, patch: Arc::clone(patch) }
            }
        }
    }
}
