//! What a read is given beside its ask.

use std::time::Duration;

use futures_core::Stream;

use super::PointRead;
use crate::{
    budget::Budget,
    refusal::News,
    time::{Clock, Timer},
};

impl<A, Fut, E, N, T: Clock> PointRead<A, Fut, E, N, T> {
    /// Sets the deadline (10 s).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use rideout::{PointRead, PointReadError, Refusal};
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let address: rideout::Address = "prices/eur".parse()?;
    /// let leaving = Refusal::host_cannot_route(&address);
    /// let price = PointRead::new(address, move |_| {
    ///     let answer = Err::<u32, _>(leaving.clone());
    ///     async move { answer }
    /// })
    /// .deadline(Duration::from_secs(2));
    ///
    /// let Err(PointReadError::Recycling(spent)) = price.await else { panic!() };
    /// assert_eq!((spent.asks, spent.owners), (4, 0)); // at 0, 500, 1000 and 1500 ms
    /// # Ok(())
    /// # }
    /// ```
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.state.deadline = deadline;
        self
    }

    /// Sets the pace, the hint limit, the spread, and how many rests arrivals may end.
    pub fn budget(mut self, budget: Budget) -> Self {
        self.state.budget = budget;
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
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let address: rideout::Address = "prices/eur".parse()?;
    /// let leaving = Refusal::host_cannot_route(&address);
    /// let price = PointRead::new(address, move |ask| {
    ///     let answer = if ask.attempt == 1 { Err(leaving.clone()) } else { Ok(101) };
    ///     async move { answer }
    /// })
    /// .news(stream::iter([News::Arrived("0B".parse()?)]));
    ///
    /// let began = tokio::time::Instant::now();
    /// assert_eq!(price.await?, 101);
    /// assert!(began.elapsed().is_zero());
    /// # Ok(())
    /// # }
    /// ```
    pub fn news<M: Stream<Item = News>>(self, news: M) -> PointRead<A, Fut, E, M, T> {
        PointRead::from_parts(self.state, Some(news), self.timer)
    }

    /// Gives the read another clock than tokio's.
    pub fn timer<U: Timer>(self, timer: U) -> PointRead<A, Fut, E, N, U> {
        PointRead::from_parts(self.state, self.news, timer)
    }
}
