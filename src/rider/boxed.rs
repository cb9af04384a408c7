//! A rider whose type does not name its closures.

use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll},
};

use futures_core::{FusedStream, Stream};

use super::{
    ask::Source, join::Join, nudger::Nudger, phase::Phase, phases::Phases, subscription::RideOut,
};
use crate::{activation::StreamId, carrier::RideError, refusal::News, time::Timer};

/// A rider of items `T` and errors `E`, in a box: a type that a field or a signature can name. Made by
/// [`RideOut::boxed`].
///
/// It is what the rider was, with its [`phases`](BoxRide::phases), [`nudger`](BoxRide::nudger) and
/// [`stream_id`](BoxRide::stream_id). The box costs one allocation, and an item's way one call through a
/// pointer.
///
/// # Cancel safety
///
/// As [`RideOut`]: all state is in the rider, none in a call.
///
/// # Examples
///
/// ```
/// use futures::{TryStreamExt, stream};
/// use rideout::{Refusal, RideOut, rider::BoxRide};
///
/// struct Screen {
///     prices: BoxRide<u32, Refusal>,
/// }
///
/// # #[cfg(not(feature = "tokio"))]
/// # fn main() {}
/// # #[cfg(feature = "tokio")]
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let prices = RideOut::new("prices/eur".parse()?, |_| async {
///     Ok(stream::iter([Ok::<_, Refusal>(101)]))
/// });
/// let mut screen = Screen { prices: prices.boxed() };
/// assert_eq!(screen.prices.try_next().await?, Some(101));
/// # Ok(())
/// # }
/// ```
#[must_use = "streams do nothing unless polled"]
pub struct BoxRide<T, E> {
    rider: Box<dyn Rider<T, E> + Send>,
}

/// What a box asks of the rider in it.
trait Rider<T, E> {
    fn poll_item(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<T, RideError<E>>>>;
    fn poll_phase(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Phase<T>, RideError<E>>>>;
    fn is_over(&self) -> bool;
    fn nudger(&self) -> Nudger;
    fn stream_id(&self) -> StreamId;
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

impl<A, J, N, P, T> Rider<A::Item, A::Error> for RideOut<A, J, N, P, T>
where
    A: Source<P>,
    J: Join,
    N: Stream<Item = News>,
    P: Clone,
    T: Timer,
{
    fn poll_item(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<A::Item, RideError<A::Error>>>> {
        Pin::new(self).poll_next(cx)
    }

    fn poll_phase(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Phase<A::Item>, RideError<A::Error>>>> {
        RideOut::poll_phase(self, cx)
    }

    fn is_over(&self) -> bool {
        self.is_terminated()
    }

    fn nudger(&self) -> Nudger {
        RideOut::nudger(self)
    }

    fn stream_id(&self) -> StreamId {
        RideOut::stream_id(self)
    }

    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl<A, J, N, P, T> RideOut<A, J, N, P, T>
where
    A: Source<P>,
    J: Join,
    N: Stream<Item = News>,
    P: Clone,
    T: Timer,
    Self: Send + 'static,
{
    /// Puts the rider into a box, so that its type names its items and errors alone.
    pub fn boxed(self) -> BoxRide<A::Item, A::Error> {
        BoxRide { rider: Box::new(self) }
    }
}

impl<T, E> fmt::Debug for BoxRide<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rider.fmt(f)
    }
}

impl<T, E> BoxRide<T, E> {
    /// Returns the identity of the stream, as [`RideOut::stream_id`] does.
    pub fn stream_id(&self) -> StreamId {
        self.rider.stream_id()
    }

    /// Returns a handle by which any thread may ask for a re-ask, as [`RideOut::nudger`] does.
    pub fn nudger(&self) -> Nudger {
        self.rider.nudger()
    }

    /// Reads the rider as its phases, as [`RideOut::phases`] does.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{TryStreamExt, stream};
    /// use rideout::{Refusal, RideOut, rider::Phase};
    ///
    /// # #[cfg(not(feature = "tokio"))]
    /// # fn main() {}
    /// # #[cfg(feature = "tokio")]
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let rider = RideOut::new("prices/eur".parse()?, |_| async {
    ///     Ok(stream::iter([Ok::<_, Refusal>(101)]))
    /// });
    /// let mut phases = rider.boxed().phases();
    /// assert_eq!(phases.try_next().await?, Some(Phase::Answered(None)));
    /// assert_eq!(phases.try_next().await?, Some(Phase::Live(101)));
    /// # Ok(())
    /// # }
    /// ```
    pub fn phases(self) -> Phases<BoxRide<T, E>> {
        Phases::new(self)
    }
}

impl<T, E> Stream for BoxRide<T, E> {
    type Item = Result<T, RideError<E>>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().rider.poll_item(cx)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        if self.is_terminated() { (0, Some(0)) } else { (0, None) }
    }
}

impl<T, E> FusedStream for BoxRide<T, E> {
    fn is_terminated(&self) -> bool {
        self.rider.is_over()
    }
}

impl<T, E> Stream for Phases<BoxRide<T, E>> {
    type Item = Result<Phase<T>, RideError<E>>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().rider_mut().rider.poll_phase(cx)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.get_ref().size_hint()
    }
}

impl<T, E> FusedStream for Phases<BoxRide<T, E>> {
    fn is_terminated(&self) -> bool {
        self.get_ref().is_terminated()
    }
}
