//! How a rider reads its items, and what keeps its live subscription whole: versions, frame numbers,
//! resume points, beats.

use std::time::Duration;

use super::RideOutBuilder;
use crate::rider::{
    ask::Source,
    keep_alive::{Beat, LEAST_INTERVAL, SendBeat},
};

impl<A: Source<P>, J, N, P, T, C> RideOutBuilder<A, J, N, P, T, C> {
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
    /// # #[cfg(not(feature = "tokio"))]
    /// # fn main() {}
    /// # #[cfg(feature = "tokio")]
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let prices = RideOut::builder("prices/eur".parse()?, |_| async {
    ///     Ok(stream::iter([5, 4, 5, 6].map(Ok::<_, Refusal>)))
    /// })
    /// .version(|sequence| *sequence)
    /// .build();
    /// assert_eq!(prices.try_collect::<Vec<u64>>().await?, [5, 6]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn version(mut self, of: fn(&A::Item) -> u64) -> Self {
        self.given.version = Some(of);
        self
    }

    /// Asks again, uncharged, where a frame is missing, by the frames' numbers. `of` captures nothing.
    ///
    /// Frames of one subscription are numbered one by one, from any number: the first item after each
    /// answer sets the base. A number that is more than one above the highest so far is a gap. It leads to
    /// one refresh, as a [nudge](crate::rider::Nudger::nudge) does: the subscription goes on delivering
    /// until the new one answers. The refresh goes out before the next item but one, and at most once a
    /// pace. Further gaps within one pace share one refresh, at the end of the pace. Gaps during a refresh
    /// need no other.
    ///
    /// Items pass untouched, those around a gap too. A number that is not above the highest so far is not
    /// a gap: it is a duplicate, or a late frame, whose gap was counted when the later frame came first.
    /// Where the rider is [resuming](crate::RideOut::builder_resuming), the resume point stays in front of
    /// the gap until the next answer, so that the missing frame is asked for; the frames behind the gap
    /// then come twice.
    ///
    /// # Examples
    ///
    /// The second frame is lost on its way:
    ///
    /// ```
    /// use futures::{StreamExt, TryStreamExt, stream};
    /// use rideout::{Refusal, RideOut};
    ///
    /// # #[cfg(not(feature = "tokio"))]
    /// # fn main() {}
    /// # #[cfg(feature = "tokio")]
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let frames = RideOut::builder("prices/eur".parse()?, |ask| async move {
    ///     let frames = if ask.attempt == 1 { vec![(1, "a"), (3, "c")] } else { vec![(1, "abc")] };
    ///     Ok(stream::iter(frames.into_iter().map(Ok::<_, Refusal>)).chain(stream::pending()))
    /// })
    /// .frame_number(|(number, _)| *number)
    /// .build();
    /// let texts = frames.map_ok(|(_, text)| text).take(3).try_collect::<Vec<_>>().await?;
    /// assert_eq!(texts, ["a", "c", "abc"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn frame_number(mut self, of: fn(&A::Item) -> u64) -> Self {
        self.given.frame_number = Some(of);
        self
    }

    /// Starts after `token`, for example the last one of an earlier rider that gave up.
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
    /// let lines = RideOut::builder_resuming("log".parse()?, |line: &u32| *line, |ask| async move {
    ///     let from = ask.resume.map_or(1, |last| last + 1);
    ///     Ok(stream::iter([Ok::<_, Refusal>(from)]))
    /// })
    /// .resume_from(41)
    /// .build();
    /// assert_eq!(lines.try_collect::<Vec<_>>().await?, [42]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn resume_from(mut self, token: P) -> Self {
        self.given.resume_from = Some(token);
        self
    }

    /// When the subscription completes, asks again instead of ending. This counts as a rejection by the
    /// owner that served it.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, TryStreamExt, stream};
    /// use rideout::{Refusal, RideOut};
    ///
    /// # #[cfg(not(feature = "tokio"))]
    /// # fn main() {}
    /// # #[cfg(feature = "tokio")]
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let prices = RideOut::builder("prices/eur".parse()?, |ask| async move {
    ///     Ok(stream::iter([Ok::<_, Refusal>(ask.attempt)]))
    /// })
    /// .re_ask_on_completion()
    /// .build();
    /// assert_eq!(prices.take(3).try_collect::<Vec<_>>().await?, [1, 2, 3]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn re_ask_on_completion(mut self) -> Self {
        self.given.re_ask_on_completion = true;
        self
    }

    /// Sends beats while the rider is live, so that an owner that moved away silently is found without
    /// any write (`R26`).
    ///
    /// `beat` is called 5 s after each answer, then every 45 s ([`keep_alive_interval`](RideOutBuilder::keep_alive_interval)). It
    /// says which stream is still read, to whoever serves the address now. What it sends is never
    /// awaited, and nothing is kept of it. It is called within a poll of the rider, so it must not
    /// block: it puts a message into a channel, or spawns. An owner that does not serve that stream
    /// answers [`News::NotServing`](crate::News::NotServing), which comes in by the rider's [news](RideOutBuilder::news), and the rider
    /// asks again; one that answers nothing is as good as one that serves it.
    ///
    /// The beats are the rider's own, by its own timer: nothing is spawned. None is sent while it rides
    /// out, since an ask is a sign of life too, and none after its end or its drop. Beats that were
    /// missed do not pile up: one is sent, and the next an interval later. If items come without a pause,
    /// a beat is late by at most one item.
    ///
    /// A rider that is not polled sends no beats. Its owner may then release the stream as idle (after
    /// 10 min, `R44b`); polled again, the rider sends the beat that is due, and hears of it.
    ///
    /// `beat` must be `Send`, so that it does not stop the rider from being `Send`. If yours is not, send a
    /// message through a channel.
    ///
    /// # Panics
    ///
    /// A panic in `beat` reaches the caller of the poll; the next beat comes an interval later.
    ///
    /// # Examples
    ///
    /// The owner has moved, without a word to its subscribers:
    ///
    /// ```
    /// use futures::{StreamExt, TryStreamExt, channel::mpsc, stream};
    /// use rideout::{News, Refusal, RideOut};
    ///
    /// # #[cfg(not(feature = "tokio"))]
    /// # fn main() {}
    /// # #[cfg(feature = "tokio")]
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (answers, news) = mpsc::unbounded();
    /// let successor: rideout::Activation = "0B".parse()?;
    ///
    /// let mut prices = RideOut::builder("prices/eur".parse()?, |ask| async move {
    ///     Ok(stream::iter([Ok::<_, Refusal>(ask.attempt)]).chain(stream::pending()))
    /// })
    /// .news(news)
    /// .keep_alive(move |beat| {
    ///     println!("{} is still read", beat.stream); // your own: send it, and forget it
    ///     let answer = News::NotServing(Some(successor.clone())); // as the owner answers it
    ///     let _ = answers.unbounded_send(answer);
    /// })
    /// .build();
    /// assert_eq!(prices.try_next().await?, Some(1));
    /// assert_eq!(prices.try_next().await?, Some(2)); // found by the first beat
    /// # Ok(())
    /// # }
    /// ```
    pub fn keep_alive(mut self, beat: impl FnMut(Beat) + Send + 'static) -> Self {
        self.given.beat = Some(SendBeat::new(beat));
        self
    }

    /// Sets the time between two beats (45 s); less than 1 ms counts as 1 ms. Without
    /// [`keep_alive`](RideOutBuilder::keep_alive) there are none.
    ///
    /// The first beat after an answer comes after 5 s, or after one interval where that is shorter.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use futures::{StreamExt, channel::mpsc, stream};
    /// use rideout::{Refusal, RideOut};
    ///
    /// # #[cfg(not(feature = "tokio"))]
    /// # fn main() {}
    /// # #[cfg(feature = "tokio")]
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (sender, beats) = mpsc::unbounded();
    /// let prices = RideOut::builder("prices/eur".parse()?, |_| async {
    ///     Ok(stream::pending::<Result<u32, Refusal>>())
    /// })
    /// .keep_alive(move |beat| sender.unbounded_send(beat).unwrap_or_default())
    /// .keep_alive_interval(Duration::from_secs(60))
    /// .build();
    ///
    /// let hour = tokio::time::timeout(Duration::from_secs(3600), prices.count());
    /// assert!(hour.await.is_err(), "it is live to the end");
    /// assert_eq!(beats.count().await, 60); // at 5 s, 65 s, … 3545 s
    /// # Ok(())
    /// # }
    /// ```
    pub fn keep_alive_interval(mut self, interval: Duration) -> Self {
        self.given.keep_alive_interval = interval.max(LEAST_INTERVAL);
        self
    }
}
