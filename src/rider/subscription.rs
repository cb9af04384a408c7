//! The subscription rider.

use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll},
};

use futures_core::{FusedStream, Stream};

use super::{
    ask::Source,
    bell::Gate,
    driver::{Driver, PolledItem, PolledPhase, SHARE},
    given::Given,
    join::Join,
    nudger::Nudger,
    phase::Phase,
};
use crate::{
    activation::StreamId, carrier::RideError, classify::Classifier, refusal::News, time::Timer,
};

/// What a poll of a rider returns.
type Polled<T, E> = Poll<Option<Result<T, RideError<E>>>>;

/// A subscription that rides out its owner's recycling.
///
/// A stream of the subscription's items. Every ask, the first one too, has three outcomes: an answer,
/// whose items are passed on untouched; a promise, which is charged, waited out and asked again; a
/// verdict, which ends the stream in the same poll. A refusal inside the live subscription is handled
/// alike.
///
/// A rider needs nothing but its ask. Its builder takes what else there is:
///
/// | setting | gives |
/// |---|---|
/// | [`join`] | an event to wait for: the teardown of the owner that refused |
/// | [`news`] | what is known of the address: ends that are announced, owners that arrive |
/// | [`builder_resuming`](RideOut::builder_resuming) | a place from which to go on |
/// | [`version`] | a guard against old items |
/// | [`frame_number`] | a guard against lost items |
/// | [`keep_alive`] | beats, which find an owner that moved away silently |
/// | [`budget`] | the bounds of a ride-out, and its waits |
/// | [`classify`] | what an error of another crate's type means |
///
/// [`join`]: super::RideOutBuilder::join
/// [`news`]: super::RideOutBuilder::news
/// [`version`]: super::RideOutBuilder::version
/// [`frame_number`]: super::RideOutBuilder::frame_number
/// [`keep_alive`]: super::RideOutBuilder::keep_alive
/// [`budget`]: super::RideOutBuilder::budget
/// [`classify`]: super::RideOutBuilder::classify
///
/// # What a rider cannot notice
///
/// A process that is killed says nothing: its subscription falls silent, and a rider that is live on it
/// goes on waiting. An arrival ends waits, and means nothing to a live subscription.
///
/// A rider with [`keep_alive`] detects it once a successor answers a beat: that one does not serve the
/// stream. Beats detect nothing while the address has no successor, while its route still ends at the
/// dead process, or where the way by which [`News::NotServing`](crate::News::NotServing) would come is
/// cut, since beats are never awaited. A rider that is not polled neither sends beats nor hears answers.
///
/// A directory or a lease can report it sooner: when an activation vanishes there, send
/// [`News::Ended`](crate::News::Ended) with it. And a timeout in the ask's own stream can end it with a
/// promise when items have been missing for too long. Items that were lost on the way are found by their
/// [numbers][`frame_number`], once another item comes.
///
/// A subscription that lived for less than one pace is asked for again no sooner than a pace after its
/// end, whatever arrives.
///
/// # Completion
///
/// A subscription that completes completes the rider. If your server closes its streams when it shuts
/// down, or drops their senders, set
/// [`re_ask_on_completion`](super::RideOutBuilder::re_ask_on_completion).
///
/// # Errors
///
/// [`RideError`]: a give-up when a budget is spent (one `WARN` names the cause, then comes the error,
/// then the end), or a verdict when the address refused in a way that is no promise. The rider does not
/// retry after either; the reader decides.
///
/// # Panics
///
/// A panic in a closure, a future or a stream that the rider was given reaches the caller of the poll.
/// The rider stays usable: a panicked attempt restarts, a subscription reopens, the news stream is
/// dropped, a beat is skipped.
///
/// # Cancel safety
///
/// Taking the next item is cancel safe: all state is in the rider, none in a call. Dropping the rider
/// in any state drops its ask, its timers, its join and its subscription; nothing was spawned.
///
/// # Examples
///
/// An owner that refuses twice, and comes back:
///
/// ```
/// use futures::{StreamExt, TryStreamExt, stream};
/// use rideout::{Refusal, RideOut, refusal::{Closing, Seam}, rider::Answer};
///
/// # #[cfg(not(feature = "tokio"))]
/// # fn main() {}
/// # #[cfg(feature = "tokio")]
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let address: rideout::Address = "prices/eur".parse()?;
/// let old = Closing::new(address.clone()).activation("0A".parse()?);
///
/// let mut prices = RideOut::new(address, move |ask| {
///     let answer = match ask.attempt {
///         1 | 2 => Err(old.refuse(Seam::Door, "Subscribe")),
///         _ => Ok(stream::iter([Ok::<_, Refusal>(101), Ok(102)])),
///     };
///     async move { answer }
/// });
/// assert_eq!(prices.try_next().await?, Some(101));
/// assert_eq!(prices.try_next().await?, Some(102));
/// assert_eq!(prices.try_next().await?, None);
/// # Ok(())
/// # }
/// ```
#[must_use = "streams do nothing unless polled"]
pub struct RideOut<A: Source<P>, J: Join, N, P, T: Timer> {
    driver: Box<Driver<A, J, N, P, T>>,
}

impl<A: Source<P>, J: Join, N, P, T: Timer> Unpin for RideOut<A, J, N, P, T> {}

impl<A: Source<P>, J: Join, N, P, T: Timer> fmt::Debug for RideOut<A, J, N, P, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RideOut")
            .field("carrier", &self.driver.carrier)
            .field("live", &self.driver.is_live())
            .finish_non_exhaustive()
    }
}

impl<A: Source<P>, J: Join, N, P, T: Timer> RideOut<A, J, N, P, T> {
    pub(super) fn given(
        given: Given<A, P>,
        classify: Classifier<A::Error>,
        join: J,
        news: Option<N>,
        timer: T,
    ) -> Self {
        RideOut { driver: Box::new(Driver::new(given, classify, join, news, timer)) }
    }

    /// Returns the identity of the stream, which each ask, beat and give-up of the rider carries.
    ///
    /// It is there before anything is asked, so that news of the stream can be listened to from the
    /// start.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{TryStreamExt, stream};
    /// use rideout::{Refusal, RideOut};
    ///
    /// # #[cfg(not(feature = "tokio"))]
    /// # fn main() {}
    /// # #[cfg(feature = "tokio")]
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut asked_for = RideOut::new("x".parse()?, |ask| async move {
    ///     Ok(stream::iter([Ok::<_, Refusal>(ask.stream)]))
    /// });
    /// let stream = asked_for.stream_id();
    /// assert_eq!(asked_for.try_next().await?, Some(stream));
    /// # Ok(())
    /// # }
    /// ```
    pub fn stream_id(&self) -> StreamId {
        self.driver.carrier.stream_id()
    }

    /// Returns a handle by which any thread may ask for a re-ask.
    pub fn nudger(&self) -> Nudger {
        Nudger { carrier: self.driver.carrier.clone() }
    }
}

impl<A, J, N, P, T> RideOut<A, J, N, P, T>
where
    A: Source<P>,
    J: Join,
    N: Stream<Item = News>,
    P: Clone,
    T: Timer,
{
    pub(super) fn poll_phase(&mut self, cx: &mut Context<'_>) -> PolledPhase<A, P> {
        self.driver.poll_phase(None, &mut { SHARE }, cx)
    }

    /// Everything but an item that may pass. `polled` is what the live stream said instead of one.
    #[cold]
    fn poll_slowly(
        &mut self,
        mut polled: Option<PolledItem<A, P>>,
        mut share: u32,
        cx: &mut Context<'_>,
    ) -> Polled<A::Item, A::Error> {
        loop {
            match self.driver.poll_phase(polled.take(), &mut share, cx) {
                Poll::Ready(Some(Ok(Phase::RidingOut(_) | Phase::Answered(_)))) => {}
                Poll::Ready(Some(Ok(Phase::Live(item)))) => return Poll::Ready(Some(Ok(item))),
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(error))),
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}

impl<A, J, N, P, T> Stream for RideOut<A, J, N, P, T>
where
    A: Source<P>,
    J: Join,
    N: Stream<Item = News>,
    P: Clone,
    T: Timer,
{
    type Item = Result<A::Item, RideError<A::Error>>;

    #[inline]
    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let gate = self.driver.bell.gate();
        if gate == Gate::Closed {
            return self.poll_slowly(None, SHARE, cx);
        }
        match self.driver.poll_live(cx) {
            Poll::Ready(Some(Ok(item))) if gate == Gate::Open => Poll::Ready(Some(Ok(item))),
            Poll::Ready(Some(Ok(item))) => match self.driver.read_item(item, false) {
                Some(item) => Poll::Ready(Some(Ok(item))),
                None => self.poll_slowly(None, SHARE - 1, cx),
            },
            polled => self.poll_slowly(Some(polled), SHARE, cx),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        if self.is_terminated() { (0, Some(0)) } else { (0, None) }
    }
}

impl<A, J, N, P, T> FusedStream for RideOut<A, J, N, P, T>
where
    A: Source<P>,
    J: Join,
    N: Stream<Item = News>,
    P: Clone,
    T: Timer,
{
    fn is_terminated(&self) -> bool {
        self.driver.is_over()
    }
}
