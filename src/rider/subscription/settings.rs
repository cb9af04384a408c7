//! What a subscription is given beside its ask.

use futures_core::Stream;

use super::RideOut;
use crate::{
    activation::{Activation, StreamId},
    budget::Budget,
    refusal::News,
    rider::{Join, Nudger, Phases, Source},
    time::{Clock, Timer},
};

impl<A: Source<P>, J: Join, N, P, T: Clock> RideOut<A, J, N, P, T> {
    /// Gives the rider an event to wait for: the teardown of the activation that refused.
    ///
    /// `join` is called when an attempt is about to wait, and returns `None` where the teardown
    /// cannot be observed from here, as on another host. Without it none can be (`R18`).
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{TryStreamExt, stream};
    /// use rideout::{Closing, Refusal, RideOut, Seam, Teardown};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let address: rideout::Address = "prices/eur".parse()?;
    /// let owner = Closing::new(address.clone()).activation("0A".parse()?);
    /// let teardown = Teardown::new();
    /// let done = teardown.clone();
    ///
    /// let mut prices = RideOut::new(address, move |ask| {
    ///     let answer = match ask.attempt {
    ///         1 => Err(owner.refuse(Seam::Door, "Subscribe")),
    ///         _ => Ok(stream::iter([Ok::<_, Refusal>(101)])),
    ///     };
    ///     async move { answer }
    /// })
    /// .join(move |_activation| Some(teardown.completed()));
    ///
    /// tokio::spawn(async move { done.complete() });
    /// assert_eq!(prices.try_next().await?, Some(101));
    /// # Ok(())
    /// # }
    /// ```
    pub fn join<F, Fut>(self, join: F) -> RideOut<A, F, N, P, T>
    where
        F: FnMut(Activation) -> Option<Fut>,
        Fut: Future<Output = ()>,
    {
        RideOut::from_ride(self.ride.with_join(join))
    }

    /// Gives the rider news of the address: announced ends, answers to beats, arrivals (`R22`,
    /// `R18b`).
    ///
    /// A stream that ends is no news any more; the rider goes on. Where news is lost, a wait is not
    /// shortened, and an end that was announced is heard of by the next ask only.
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
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let address: rideout::Address = "prices/eur".parse()?;
    /// let leaving = Refusal::host_cannot_route(&address);
    /// let arrival = News::Arrived("0B".parse()?);
    ///
    /// let mut prices = RideOut::new(address, move |ask| {
    ///     let answer = match ask.attempt {
    ///         1 => Err(leaving.clone()),
    ///         _ => Ok(stream::iter([Ok::<_, Refusal>(101)])),
    ///     };
    ///     async move { answer }
    /// })
    /// .budget(Budget::default().pace(Duration::from_secs(3600)))
    /// .news(stream::iter([arrival]));
    /// assert_eq!(prices.try_next().await?, Some(101));
    /// # Ok(())
    /// # }
    /// ```
    pub fn news<M>(self, news: M) -> RideOut<A, J, M, P, T>
    where
        M: Stream<Item = News>,
    {
        RideOut::from_ride(self.ride.with_news(news))
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
    /// let mut prices = RideOut::new(address, move |ask| {
    ///     let answer = if ask.attempt < 3 { Err(leaving.clone()) } else { Ok(stream::iter([Ok(101)])) };
    ///     async move { answer }
    /// })
    /// .timer(Hasty);
    /// assert_eq!(prices.try_next().now_or_never().unwrap()?, Some(101)); // without a runtime
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn timer<U: Timer>(self, timer: U) -> RideOut<A, J, N, P, U> {
        RideOut::from_ride(self.ride.with_timer(timer))
    }

    /// Bounds the rider's ride-outs.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{TryStreamExt, stream};
    /// use rideout::{Budget, Cause, Refusal, RideError, RideOut};
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let address: rideout::Address = "prices/eur".parse()?;
    /// let leaving = Refusal::host_cannot_route(&address);
    /// let mut prices = RideOut::new(address, move |_| {
    ///     let answer = Err::<stream::Empty<Result<u32, _>>, _>(leaving.clone());
    ///     async move { answer }
    /// })
    /// .budget(Budget::default().re_asks(2));
    ///
    /// let Err(RideError::GaveUp { report, .. }) = prices.try_next().await else { panic!() };
    /// assert_eq!((report.cause, report.asks), (Cause::Route, 3));
    /// # Ok(())
    /// # }
    /// ```
    pub fn budget(mut self, budget: Budget) -> Self {
        self.ride.state.set_budget(budget);
        self
    }

    /// Drops items that are not newer than the last one, by their version. `of` captures nothing.
    ///
    /// The first item after each answer always passes, since a new activation's clock may begin
    /// again (`R24`). Without it nothing is dropped.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{TryStreamExt, stream};
    /// use rideout::{Refusal, RideOut};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let prices = RideOut::new("prices/eur".parse()?, |_| async {
    ///     Ok(stream::iter([5, 4, 5, 6].map(Ok::<_, Refusal>)))
    /// })
    /// .version(|sequence| *sequence);
    /// assert_eq!(prices.try_collect::<Vec<u64>>().await?, [5, 6]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn version(mut self, of: fn(&A::Item) -> u64) -> Self {
        self.ride.state.version = Some(of);
        self.watched = true;
        self
    }

    /// Begins behind `token`, as of a rider before this one that gave up.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{TryStreamExt, stream};
    /// use rideout::{Refusal, RideOut};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let lines = RideOut::resuming("log".parse()?, |line: &u32| *line, |ask| async move {
    ///     let from = ask.resume.map_or(1, |last| last + 1);
    ///     Ok(stream::iter([Ok::<_, Refusal>(from)]))
    /// })
    /// .resume_from(41);
    /// assert_eq!(lines.try_collect::<Vec<_>>().await?, [42]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn resume_from(mut self, token: P) -> Self {
        self.ride.state.resume = Some(token);
        self
    }

    /// Asks again where the subscription completes, instead of completing: a rejection by the owner
    /// it was live on (`R21`).
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, TryStreamExt, stream};
    /// use rideout::{Refusal, RideOut};
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let prices = RideOut::new("prices/eur".parse()?, |ask| async move {
    ///     Ok(stream::iter([Ok::<_, Refusal>(ask.attempt)]))
    /// })
    /// .re_ask_on_completion();
    /// assert_eq!(prices.take(3).try_collect::<Vec<_>>().await?, [1, 2, 3]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn re_ask_on_completion(mut self) -> Self {
        self.ride.state.re_ask_on_completion = true;
        self
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
        self.ride.state.carrier.stream_id()
    }

    /// Returns a handle by which any thread may ask for a re-ask.
    pub fn nudger(&self) -> Nudger {
        Nudger { carrier: self.ride.state.carrier.clone() }
    }

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
    pub fn phases(self) -> Phases<A, J, N, P, T> {
        Phases::new(self)
    }
}
