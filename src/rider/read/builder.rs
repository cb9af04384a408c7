//! What a read is given beside its ask.

use std::{fmt, time::Duration};

use futures_core::Stream;

use super::{PointRead, State};
use crate::{
    address::Address,
    budget::Budget,
    classify::{ByTrait, Classifier, Classify},
    refusal::News,
    rider::{ask::Ask, news::NoNews},
    time::{DefaultTimer, SomeTimer, Timer},
};

/// A read before it runs. Made by [`PointRead::builder`].
#[must_use = "a builder does nothing until `build` is called"]
pub struct PointReadBuilder<A, N, T, C = ByTrait> {
    address: Address,
    ask: A,
    deadline: Duration,
    budget: Budget,
    news: Option<N>,
    timer: T,
    classify: C,
}

impl<A, N, T, C> fmt::Debug for PointReadBuilder<A, N, T, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PointReadBuilder")
            .field("address", &self.address)
            .field("deadline", &self.deadline)
            .field("budget", &self.budget)
            .finish_non_exhaustive()
    }
}

impl<A, Fut, E> PointRead<A, Fut, E, NoNews, SomeTimer> {
    /// Creates the builder of a read that asks `address` by calling `ask`, within 10 s.
    ///
    /// `ask` is called once an attempt. It must be ready to receive the reply before it sends the
    /// request. Nothing is asked before the first poll of the read.
    pub fn builder<V>(address: Address, ask: A) -> PointReadBuilder<A, NoNews, DefaultTimer>
    where
        A: FnMut(Ask) -> Fut,
        Fut: Future<Output = Result<V, E>>,
        E: fmt::Display,
    {
        PointReadBuilder {
            address,
            ask,
            deadline: Duration::from_secs(10),
            budget: Budget::default(),
            news: None,
            timer: DefaultTimer::default(),
            classify: ByTrait,
        }
    }

    /// Creates a read with every setting at its default: [`builder`](PointRead::builder) and
    /// [`build`](PointReadBuilder::build) in one.
    ///
    /// Only with the feature `tokio`, which brings the default timer.
    #[cfg(feature = "tokio")]
    pub fn new<V>(address: Address, ask: A) -> Self
    where
        A: FnMut(Ask) -> Fut,
        Fut: Future<Output = Result<V, E>>,
        E: Classify,
    {
        PointRead::builder(address, ask).build()
    }
}

impl<A, N, T, C> PointReadBuilder<A, N, T, C> {
    /// Sets the deadline (10 s).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use rideout::{PointRead, Refusal};
    ///
    /// # #[cfg(not(feature = "tokio"))]
    /// # fn main() {}
    /// # #[cfg(feature = "tokio")]
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let address: rideout::Address = "prices/eur".parse()?;
    /// let leaving = Refusal::host_cannot_route(&address);
    /// let price = PointRead::builder(address, move |_| {
    ///     let answer = Err::<u32, _>(leaving.clone());
    ///     async move { answer }
    /// })
    /// .deadline(Duration::from_secs(2))
    /// .build();
    ///
    /// let error = price.await.unwrap_err();
    /// let spent = error.recycling().expect("the route refused until the deadline");
    /// assert_eq!((spent.asks, spent.owners), (4, 0)); // at 0, 500, 1000 and 1500 ms
    /// # Ok(())
    /// # }
    /// ```
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Sets the pace, the hint limit, the spread, and how many rests arrivals may end.
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }

    /// Gives the read news of the address: an arrival ends a rest. Other news is nothing to a read.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::stream;
    /// use rideout::{News, PointRead, Refusal};
    ///
    /// # #[cfg(not(feature = "tokio"))]
    /// # fn main() {}
    /// # #[cfg(feature = "tokio")]
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let address: rideout::Address = "prices/eur".parse()?;
    /// let leaving = Refusal::host_cannot_route(&address);
    /// let price = PointRead::builder(address, move |ask| {
    ///     let answer = if ask.attempt == 1 { Err(leaving.clone()) } else { Ok(101) };
    ///     async move { answer }
    /// })
    /// .news(stream::iter([News::Arrived("0B".parse()?)]))
    /// .build();
    ///
    /// let began = tokio::time::Instant::now();
    /// assert_eq!(price.await?, 101);
    /// assert!(began.elapsed().is_zero());
    /// # Ok(())
    /// # }
    /// ```
    pub fn news<M: Stream<Item = News>>(self, news: M) -> PointReadBuilder<A, M, T, C> {
        let PointReadBuilder { address, ask, deadline, budget, timer, classify, .. } = self;
        PointReadBuilder { address, ask, deadline, budget, news: Some(news), timer, classify }
    }

    /// Gives the read another clock than tokio's.
    pub fn timer<U: Timer>(self, timer: U) -> PointReadBuilder<A, N, U, C> {
        let PointReadBuilder { address, ask, deadline, budget, news, classify, .. } = self;
        PointReadBuilder { address, ask, deadline, budget, news, timer, classify }
    }

    /// Has `classify` say what an error of the ask means, instead of the error's own [`Classify`]: for
    /// error types of another crate. `classify` captures nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::io;
    ///
    /// use rideout::{Address, Kind, PointRead, Rejection, Ruling};
    ///
    /// fn judge(error: &io::Error, _asked: &Address) -> Ruling {
    ///     match error.kind() {
    ///         io::ErrorKind::ConnectionRefused => Ruling::Promise(Rejection::by_route()),
    ///         _ => Ruling::Verdict(Kind::Failed),
    ///     }
    /// }
    ///
    /// # #[cfg(not(feature = "tokio"))]
    /// # fn main() {}
    /// # #[cfg(feature = "tokio")]
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let price = PointRead::builder("prices/eur".parse()?, |ask| async move {
    ///     if ask.attempt == 1 { Err(io::ErrorKind::ConnectionRefused.into()) } else { Ok(101) }
    /// })
    /// .classify(judge)
    /// .build();
    /// assert_eq!(price.await?, 101);
    /// # Ok(())
    /// # }
    /// ```
    pub fn classify<Fut, V, E>(
        self,
        classify: Classifier<E>,
    ) -> PointReadBuilder<A, N, T, Classifier<E>>
    where
        A: FnMut(Ask) -> Fut,
        Fut: Future<Output = Result<V, E>>,
    {
        let PointReadBuilder { address, ask, deadline, budget, news, timer, .. } = self;
        PointReadBuilder { address, ask, deadline, budget, news, timer, classify }
    }
}

impl<A, N, T> PointReadBuilder<A, N, T> {
    /// Makes the read. Nothing is asked before its first poll.
    pub fn build<Fut, V, E>(self) -> PointRead<A, Fut, E, N, T>
    where
        A: FnMut(Ask) -> Fut,
        Fut: Future<Output = Result<V, E>>,
        E: Classify,
        T: Timer,
    {
        let classify: Classifier<E> = E::classify;
        let PointReadBuilder { address, ask, deadline, budget, news, timer, .. } = self;
        PointReadBuilder { address, ask, deadline, budget, news, timer, classify }.build()
    }
}

impl<A, E, N, T> PointReadBuilder<A, N, T, Classifier<E>> {
    /// Makes the read, whose errors are classified by the function that it was given. Nothing is asked
    /// before its first poll.
    pub fn build<Fut, V>(self) -> PointRead<A, Fut, E, N, T>
    where
        A: FnMut(Ask) -> Fut,
        Fut: Future<Output = Result<V, E>>,
        T: Timer,
    {
        let PointReadBuilder { address, ask, deadline, budget, news, timer, classify } = self;
        let state = State::new(ask, address, deadline, budget, classify);
        PointRead::start(state, news, timer)
    }
}
