//! What a subscription is given, from its ask to its timer.

mod items;
mod start;

use std::fmt;

use futures_core::Stream;

use super::{
    ask::Source,
    given::Given,
    join::{Join, NoJoin},
    news::NoNews,
    subscription::RideOut,
};
use crate::{
    activation::{Activation, StreamId},
    budget::Budget,
    classify::{ByTrait, Classifier, Classify},
    refusal::News,
    time::{DefaultTimer, Timer},
};

/// A rider before it runs: its ask, and everything else that it is given. Made by
/// [`RideOut::builder`].
///
/// Only the ask is needed; every setting has a default. A running rider has no setters, so no setting can
/// interrupt its subscription.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
///
/// use futures::{TryStreamExt, stream};
/// use rideout::{Budget, Refusal, RideOut};
///
/// # #[cfg(not(feature = "tokio"))]
/// # fn main() {}
/// # #[cfg(feature = "tokio")]
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut prices = RideOut::builder("prices/eur".parse()?, |_| async {
///     Ok(stream::iter([Ok::<_, Refusal>(101)])) // your own: subscribe
/// })
/// .budget(Budget::default().pace(Duration::from_secs(2)))
/// .re_ask_on_completion()
/// .build();
/// assert_eq!(prices.try_next().await?, Some(101));
/// # Ok(())
/// # }
/// ```
#[must_use = "a builder does nothing until `build` is called"]
pub struct RideOutBuilder<A: Source<P>, J, N, P, T, C = ByTrait> {
    given: Given<A, P>,
    join: J,
    news: Option<N>,
    timer: T,
    classify: C,
}

impl<A: Source<P>, J, N, P, T, C> fmt::Debug for RideOutBuilder<A, J, N, P, T, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RideOutBuilder")
            .field("stream_id", &self.given.stream)
            .field("address", &self.given.address)
            .field("budget", &self.given.budget)
            .finish_non_exhaustive()
    }
}

impl<A: Source<P>, P> RideOutBuilder<A, NoJoin, NoNews, P, DefaultTimer> {
    fn start(given: Given<A, P>) -> Self {
        let timer = DefaultTimer::default();
        RideOutBuilder { given, join: NoJoin, news: None, timer, classify: ByTrait }
    }
}

impl<A: Source<P>, J, N, P, T, C> RideOutBuilder<A, J, N, P, T, C> {
    /// Gives the rider an event to wait for: the teardown of the activation that refused.
    ///
    /// `join` is called when an attempt is about to wait, and returns `None` where the teardown
    /// cannot be observed from here, as on another host. Without it none can be (`R18`).
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{TryStreamExt, stream};
    /// use rideout::{Refusal, RideOut, refusal::{Closing, Seam}, teardown::Teardown};
    ///
    /// # #[cfg(not(feature = "tokio"))]
    /// # fn main() {}
    /// # #[cfg(feature = "tokio")]
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let address: rideout::Address = "prices/eur".parse()?;
    /// let owner = Closing::new(address.clone()).activation("0A".parse()?);
    /// let teardown = Teardown::new();
    /// let done = teardown.clone();
    ///
    /// let mut prices = RideOut::builder(address, move |ask| {
    ///     let answer = match ask.attempt {
    ///         1 => Err(owner.refuse(Seam::Door, "Subscribe")),
    ///         _ => Ok(stream::iter([Ok::<_, Refusal>(101)])),
    ///     };
    ///     async move { answer }
    /// })
    /// .join(move |_activation| Some(teardown.completed()))
    /// .build();
    ///
    /// tokio::spawn(async move { done.complete() });
    /// assert_eq!(prices.try_next().await?, Some(101));
    /// # Ok(())
    /// # }
    /// ```
    pub fn join<F, Fut>(self, join: F) -> RideOutBuilder<A, F, N, P, T, C>
    where
        F: FnMut(Activation) -> Option<Fut>,
        Fut: Future<Output = ()>,
    {
        let RideOutBuilder { given, news, timer, classify, .. } = self;
        RideOutBuilder { given, join, news, timer, classify }
    }

    /// Gives the rider news of the address: announced ends, answers to beats, arrivals (`R22`,
    /// `R18b`).
    ///
    /// If the news stream ends, the rider goes on without it. If a piece of news is lost, a wait may take
    /// longer, and an end is noticed only at the next ask.
    ///
    /// # Examples
    ///
    /// The directory shows the successor, which ends the rest:
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use futures::{TryStreamExt, stream};
    /// use rideout::{Budget, News, Refusal, RideOut};
    ///
    /// # #[cfg(not(feature = "tokio"))]
    /// # fn main() {}
    /// # #[cfg(feature = "tokio")]
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let address: rideout::Address = "prices/eur".parse()?;
    /// let leaving = Refusal::host_cannot_route(&address);
    /// let arrival = News::Arrived("0B".parse()?);
    ///
    /// let mut prices = RideOut::builder(address, move |ask| {
    ///     let answer = match ask.attempt {
    ///         1 => Err(leaving.clone()),
    ///         _ => Ok(stream::iter([Ok::<_, Refusal>(101)])),
    ///     };
    ///     async move { answer }
    /// })
    /// .budget(Budget::default().pace(Duration::from_secs(3600)))
    /// .news(stream::iter([arrival]))
    /// .build();
    /// assert_eq!(prices.try_next().await?, Some(101));
    /// # Ok(())
    /// # }
    /// ```
    pub fn news<M>(self, news: M) -> RideOutBuilder<A, J, M, P, T, C>
    where
        M: Stream<Item = News>,
    {
        let RideOutBuilder { given, join, timer, classify, .. } = self;
        RideOutBuilder { given, join, news: Some(news), timer, classify }
    }

    /// Bounds the rider's ride-outs.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{TryStreamExt, stream};
    /// use rideout::{Budget, Refusal, RideError, RideOut, ledger::Cause};
    ///
    /// # #[cfg(not(feature = "tokio"))]
    /// # fn main() {}
    /// # #[cfg(feature = "tokio")]
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let address: rideout::Address = "prices/eur".parse()?;
    /// let leaving = Refusal::host_cannot_route(&address);
    /// let mut prices = RideOut::builder(address, move |_| {
    ///     let answer = Err::<stream::Empty<Result<u32, _>>, _>(leaving.clone());
    ///     async move { answer }
    /// })
    /// .budget(Budget::default().re_asks(2))
    /// .build();
    ///
    /// let error = prices.try_next().await.unwrap_err();
    /// let report = error.gave_up().expect("the route never serves");
    /// assert_eq!((report.cause, report.asks), (Cause::Route, 3));
    /// # Ok(())
    /// # }
    /// ```
    pub fn budget(mut self, budget: Budget) -> Self {
        self.given.budget = budget;
        self
    }

    /// Has `classify` say what an error of the ask and of its stream means, instead of the error's own
    /// [`Classify`].
    ///
    /// For error types of another crate. `classify` captures nothing. The error reaches the caller as it
    /// is.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::io;
    ///
    /// use futures::{TryStreamExt, stream};
    /// use rideout::{Address, Kind, Rejection, RideOut, Ruling};
    ///
    /// fn judge(error: &io::Error, _asked: &Address) -> Ruling {
    ///     match error.kind() {
    ///         io::ErrorKind::ConnectionRefused => Ruling::Promise(Rejection::by_route()),
    ///         io::ErrorKind::PermissionDenied => Ruling::Verdict(Kind::Forbidden),
    ///         _ => Ruling::Verdict(Kind::Failed),
    ///     }
    /// }
    ///
    /// # #[cfg(not(feature = "tokio"))]
    /// # fn main() {}
    /// # #[cfg(feature = "tokio")]
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut prices = RideOut::builder("prices/eur".parse()?, |ask| async move {
    ///     match ask.attempt {
    ///         1 => Err(io::ErrorKind::ConnectionRefused.into()),
    ///         _ => Ok(stream::iter([Ok(101), Err(io::Error::other("no luck"))])),
    ///     }
    /// })
    /// .classify(judge)
    /// .build();
    /// assert_eq!(prices.try_next().await?, Some(101));
    /// let error = prices.try_next().await.unwrap_err();
    /// assert_eq!(error.verdict().unwrap().to_string(), "no luck");
    /// # Ok(())
    /// # }
    /// ```
    pub fn classify(
        self,
        classify: Classifier<A::Error>,
    ) -> RideOutBuilder<A, J, N, P, T, Classifier<A::Error>> {
        let RideOutBuilder { given, join, news, timer, .. } = self;
        RideOutBuilder { given, join, news, timer, classify }
    }

    /// Gives the rider another clock than tokio's.
    ///
    /// # Examples
    ///
    /// A clock on which every sleep is over at once:
    ///
    /// ```
    /// use std::{future::Ready, time::{Duration, Instant}};
    ///
    /// use futures::{FutureExt, TryStreamExt, stream};
    /// use rideout::{Refusal, RideOut, time::Timer};
    ///
    /// struct Hasty;
    /// impl Timer for Hasty {
    ///     type Sleep = Ready<()>;
    ///     fn sleep(&self, _: Duration) -> Ready<()> {
    ///         std::future::ready(())
    ///     }
    ///     fn now(&self) -> Instant {
    ///         Instant::now()
    ///     }
    /// }
    ///
    /// let address: rideout::Address = "prices/eur".parse()?;
    /// let leaving = Refusal::host_cannot_route(&address);
    /// let mut prices = RideOut::builder(address, move |ask| {
    ///     let answer = if ask.attempt < 3 { Err(leaving.clone()) } else { Ok(stream::iter([Ok(101)])) };
    ///     async move { answer }
    /// })
    /// .timer(Hasty)
    /// .build();
    /// assert_eq!(prices.try_next().now_or_never().unwrap()?, Some(101)); // without a runtime
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn timer<U: Timer>(self, timer: U) -> RideOutBuilder<A, J, N, P, U, C> {
        let RideOutBuilder { given, join, news, classify, .. } = self;
        RideOutBuilder { given, join, news, timer, classify }
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
        self.given.stream
    }
}

impl<A: Source<P>, J: Join, N, P, T> RideOutBuilder<A, J, N, P, T> {
    /// Makes the rider. Nothing is asked before its first poll.
    pub fn build(self) -> RideOut<A, J, N, P, T>
    where
        A::Error: Classify,
        T: Timer,
    {
        let RideOutBuilder { given, join, news, timer, .. } = self;
        RideOut::given(given, A::Error::classify, join, news, timer)
    }
}

impl<A, J, N, P, T> RideOutBuilder<A, J, N, P, T, Classifier<A::Error>>
where
    A: Source<P>,
    J: Join,
{
    /// Makes the rider, whose errors are classified by the function that it was given. Nothing is asked
    /// before its first poll.
    pub fn build(self) -> RideOut<A, J, N, P, T>
    where
        T: Timer,
    {
        let RideOutBuilder { given, join, news, timer, classify } = self;
        RideOut::given(given, classify, join, news, timer)
    }
}
