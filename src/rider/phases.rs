//! A rider's progress, for a screen or for whoever wants events.

use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll},
};

use futures_core::{FusedStream, Stream};

use super::{Join, NoJoin, NoNews, RideOut, Source};
use crate::{
    activation::Activation,
    carrier::RideError,
    ledger::Charge,
    refusal::News,
    time::{Clock, DefaultTimer, Timer},
};

/// What a rider is doing (`R27`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Phase<T> {
    /// A rejection was charged, and is being ridden out: "coming back" on a screen, not an error. Where
    /// a refresh was refused, items of the subscription that it was to replace still come between.
    RidingOut(Charge),
    /// An ask succeeded: a subscription opened, served by this activation where that is known.
    Answered(Option<Activation>),
    /// The subscription is live, and this is its next item.
    Live(T),
}

/// Stream for the [`phases`](RideOut::phases) method.
#[must_use = "streams do nothing unless polled"]
pub struct Phases<A: Source<P>, J: Join = NoJoin, N = NoNews, P = (), T: Clock = DefaultTimer> {
    rider: RideOut<A, J, N, P, T>,
}

impl<A: Source<P>, J: Join, N, P, T: Clock> fmt::Debug for Phases<A, J, N, P, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Phases").field("rider", &self.rider).finish()
    }
}

impl<A: Source<P>, J: Join, N, P, T: Clock> Phases<A, J, N, P, T> {
    pub(super) fn new(rider: RideOut<A, J, N, P, T>) -> Self {
        Phases { rider }
    }

    /// Returns the rider.
    pub fn get_ref(&self) -> &RideOut<A, J, N, P, T> {
        &self.rider
    }

    /// Returns the rider, which goes on as the stream of its items.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, TryStreamExt, stream};
    /// use rideout::{Phase, Refusal, RideOut};
    ///
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
    pub fn into_inner(self) -> RideOut<A, J, N, P, T> {
        self.rider
    }
}

impl<A, J, N, P, T> Stream for Phases<A, J, N, P, T>
where
    A: Source<P, Error: fmt::Display>,
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

impl<A, J, N, P, T> FusedStream for Phases<A, J, N, P, T>
where
    A: Source<P, Error: fmt::Display>,
    J: Join,
    N: Stream<Item = News>,
    P: Clone,
    T: Timer,
{
    fn is_terminated(&self) -> bool {
        self.rider.is_terminated()
    }
}
