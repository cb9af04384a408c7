//! Where a rider starts: the ask, and where that is from.

use std::fmt;

use futures_core::Stream;

use super::RideOutBuilder;
#[cfg(feature = "tokio")]
use crate::classify::Classify;
use crate::{
    address::Address,
    rider::{
        ask::{Ask, IntoAnswer, Source},
        given::Given,
        join::NoJoin,
        news::NoNews,
        subscription::RideOut,
    },
    time::{DefaultTimer, SomeTimer},
};

impl<A: Source<()>> RideOut<A, NoJoin, NoNews, (), SomeTimer> {
    /// Creates the builder of a rider that asks `address` by calling `ask`.
    ///
    /// `ask` returns a future of a stream of results, or of an [`Answer`](crate::rider::Answer) that also says
    /// which activation serves it. It is called once an attempt and never cloned: what its future needs,
    /// it clones for it. The ask and its stream have one error type. Nothing is asked before the first
    /// poll of the rider.
    pub fn builder<Fut, R, E, I>(
        address: Address,
        ask: A,
    ) -> RideOutBuilder<A, NoJoin, NoNews, (), DefaultTimer>
    where
        A: FnMut(Ask) -> Fut,
        Fut: Future<Output = Result<R, E>>,
        R: IntoAnswer<Stream: Stream<Item = Result<I, E>>>,
        E: fmt::Display,
    {
        RideOutBuilder::start(Given::new(address, ask, None))
    }

    /// Creates a rider with every setting at its default: [`builder`](RideOut::builder) and
    /// [`build`](RideOutBuilder::build) in one.
    ///
    /// Only with the feature `tokio`, which brings the default timer.
    #[cfg(feature = "tokio")]
    pub fn new<Fut, R, E, I>(address: Address, ask: A) -> Self
    where
        A: FnMut(Ask) -> Fut + Source<(), Error = E>,
        Fut: Future<Output = Result<R, E>>,
        R: IntoAnswer<Stream: Stream<Item = Result<I, E>>>,
        E: Classify,
    {
        RideOut::builder(address, ask).build()
    }
}

impl<A: Source<P>, P> RideOut<A, NoJoin, NoNews, P, SomeTimer> {
    /// Creates the builder of a rider that asks from where it was: `at` takes a token of an item, and
    /// each ask is told the token of the last one.
    ///
    /// `at` captures nothing, and names the item's type: `|price: &Price| price.sequence`. For `ask` see
    /// [`builder`](RideOut::builder).
    pub fn builder_resuming<Fut, R, E, I>(
        address: Address,
        at: fn(&I) -> P,
        ask: A,
    ) -> RideOutBuilder<A, NoJoin, NoNews, P, DefaultTimer>
    where
        A: FnMut(Ask<P>) -> Fut + Source<P, Item = I>,
        Fut: Future<Output = Result<R, E>>,
        R: IntoAnswer<Stream: Stream<Item = Result<I, E>>>,
        E: fmt::Display,
    {
        RideOutBuilder::start(Given::new(address, ask, Some(at)))
    }

    /// Creates a rider that asks from where it was, with every setting at its default:
    /// [`builder_resuming`](RideOut::builder_resuming) and [`build`](RideOutBuilder::build) in one.
    ///
    /// Only with the feature `tokio`, which brings the default timer.
    ///
    /// # Examples
    ///
    /// A log whose owner goes away in the middle:
    ///
    /// ```
    /// use futures::{TryStreamExt, stream};
    /// use rideout::{RideOut, refusal::{Closing, Seam}};
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let address: rideout::Address = "log".parse()?;
    /// let owner = Closing::new(address.clone()).activation("0A".parse()?);
    ///
    /// let lines = RideOut::resuming(address, |line: &u32| *line, move |ask| {
    ///     let from = ask.resume.map_or(1, |last| last + 1);
    ///     let goes = (from == 1).then(|| Err(owner.refuse(Seam::Mailbox, "Subscribe")));
    ///     async move { Ok(stream::iter([Ok(from), Ok(from + 1)].into_iter().chain(goes))) }
    /// });
    /// assert_eq!(lines.try_collect::<Vec<_>>().await?, [1, 2, 3, 4]);
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "tokio")]
    pub fn resuming<Fut, R, E, I>(address: Address, at: fn(&I) -> P, ask: A) -> Self
    where
        A: FnMut(Ask<P>) -> Fut + Source<P, Item = I, Error = E>,
        Fut: Future<Output = Result<R, E>>,
        R: IntoAnswer<Stream: Stream<Item = Result<I, E>>>,
        E: Classify,
    {
        RideOut::builder_resuming(address, at, ask).build()
    }
}
