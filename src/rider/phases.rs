//! A rider's progress, for a screen or for whoever wants events.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use futures_core::{FusedStream, Stream};

use super::{ask::Source, join::Join, phase::Phase, subscription::RideOut};
use crate::{carrier::RideError, refusal::News, time::Timer};

/// Stream for the [`phases`](RideOut::phases) method of a [`RideOut`], or of a
/// [`BoxRide`](super::BoxRide).
#[derive(Debug)]
#[must_use = "streams do nothing unless polled"]
pub struct Phases<R> {
    rider: R,
}

impl<R> Phases<R> {
    pub(super) fn new(rider: R) -> Self {
        Phases { rider }
    }

    pub(super) fn rider_mut(&mut self) -> &mut R {
        &mut self.rider
    }

    /// Returns the rider.
    pub fn get_ref(&self) -> &R {
        &self.rider
    }

    /// Returns the rider, which goes on as the stream of its items.
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
    /// let mut phases = rider.phases();
    /// assert_eq!(phases.try_next().await?, Some(Phase::Answered(None)));
    /// assert_eq!(phases.into_inner().try_collect::<Vec<_>>().await?, [101]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn into_inner(self) -> R {
        self.rider
    }
}

impl<A: Source<P>, J: Join, N, P, T: Timer> RideOut<A, J, N, P, T> {
    /// Reads the rider as its phases: each charge and each answer, and its items between them.
    ///
    /// A charge is shown before its attempt does anything. The phases are also the observer: there is
    /// no other hook.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, TryStreamExt, stream};
    /// use rideout::{Refusal, RideOut, refusal::Kind, rider::Phase};
    ///
    /// # #[cfg(not(feature = "tokio"))]
    /// # fn main() {}
    /// # #[cfg(feature = "tokio")]
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let rider = RideOut::new("x".parse()?, |ask| {
    ///     let answer = match ask.attempt {
    ///         1 => Err(Refusal::new(Kind::ShuttingDown, "rolling")),
    ///         _ => Ok(stream::iter([Ok(101)])),
    ///     };
    ///     async move { answer }
    /// });
    /// let phases: Vec<_> = rider.phases().try_collect().await?;
    /// let [Phase::RidingOut(charge), Phase::Answered(None), Phase::Live(101)] = &phases[..] else {
    ///     panic!("{phases:?}");
    /// };
    /// assert_eq!(charge.key().unwrap().to_string(), "(route)");
    /// # Ok(())
    /// # }
    /// ```
    pub fn phases(self) -> Phases<Self> {
        Phases::new(self)
    }
}

impl<A, J, N, P, T> Stream for Phases<RideOut<A, J, N, P, T>>
where
    A: Source<P>,
    J: Join,
    N: Stream<Item = News>,
    P: Clone,
    T: Timer,
{
    type Item = Result<Phase<A::Item>, RideError<A::Error>>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().rider.poll_phase(cx)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.rider.size_hint()
    }
}

impl<A, J, N, P, T> FusedStream for Phases<RideOut<A, J, N, P, T>>
where
    A: Source<P>,
    J: Join,
    N: Stream<Item = News>,
    P: Clone,
    T: Timer,
{
    fn is_terminated(&self) -> bool {
        self.rider.is_terminated()
    }
}
