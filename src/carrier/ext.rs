//! The three operators, as methods of every stream.

use futures_core::Stream;

use super::{Attempt, Carrier, Charges, ConcatAttempts, Defer, Trigger};
use crate::{
    classify::{Classifier, Classify},
    ledger::{Charge, GaveUp},
};

/// The operators of a ride-out, for every stream.
///
/// Read in this order they are the machine of the [module's picture](crate::carrier). Each has a file, and the
/// reason why it is eager or lazy stands there.
pub trait CarrierExt: Stream {
    /// Charges each rejection when it arrives, also while an attempt runs (`R12`).
    ///
    /// Yields the charge, or the give-up.
    ///
    /// Eager, because the budget is the owner's behaviour over time, not the reader's progress: three
    /// rejections that arrive while one attempt is stuck are three, whether or not an attempt ever
    /// runs for them.
    ///
    /// # Errors
    ///
    /// [`GaveUp`] when the budget of a rejection's axis and key is spent. The stream has ended then.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{FutureExt, StreamExt, stream};
    /// use rideout::{Budget, Carrier, CarrierExt, Rejection, ledger::Cause};
    ///
    /// let carrier = Carrier::new("prices/eur".parse()?, Budget::default().re_asks(1));
    /// let mut charges = stream::repeat(Rejection::by_route()).charge(&carrier);
    ///
    /// let mut next = || charges.next().now_or_never().flatten();
    /// assert_eq!(next().unwrap().unwrap().count(), 1);
    /// assert_eq!(next().unwrap().unwrap_err().cause, Cause::Route);
    /// assert!(next().is_none());
    /// # Ok::<_, rideout::address::InvalidAddress>(())
    /// ```
    fn charge(self, carrier: &Carrier) -> Charges<Self>
    where
        Self: Sized,
        Self::Item: Into<Trigger>,
    {
        Charges::new(self, carrier.clone())
    }

    /// Makes each charge an attempt that calls `probe` when it is first polled, and not before
    /// (`R13`).
    ///
    /// Lazy, because a probe looks at the world: whether a teardown is over, which host serves now. A
    /// look at the moment of the rejection would be answered by the owner that is going away. An
    /// attempt that is never reached costs nothing.
    ///
    /// There is one `probe` for all attempts, and it is never cloned. A counter inside it counts them all.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::cell::Cell;
    ///
    /// use futures::{FutureExt, StreamExt, stream};
    /// use rideout::{Budget, Carrier, CarrierExt, Rejection};
    ///
    /// let carrier = Carrier::new("prices/eur".parse()?, Budget::default());
    /// let world = Cell::new("draining");
    ///
    /// let mut attempts = stream::iter([Rejection::by_route()])
    ///     .charge(&carrier)
    ///     .defer(|_charge| std::future::ready(world.get()));
    /// let attempt = attempts.next().now_or_never().flatten().unwrap()?;
    ///
    /// world.set("serving");
    /// assert_eq!(attempt.now_or_never(), Some("serving"));
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    fn defer<F, Fut>(self, probe: F) -> Defer<Self, F>
    where
        Self: Sized + Stream<Item = Result<Charge, Box<GaveUp>>>,
        F: FnMut(Charge) -> Fut,
        Fut: Future,
    {
        Defer::new(self, probe)
    }

    /// Runs one attempt at a time, in the order of arrival, and yields the answers (`R14`).
    ///
    /// A promise goes back to `carrier`, and comes round as the next charge. While an attempt runs,
    /// what arrives is charged and queued. A give-up ends the stream at once and drops the attempt
    /// that runs; a verdict ends it too.
    ///
    /// Serial, because otherwise all waiting attempts would reach the returning owner together: exactly one
    /// re-ask is ever outstanding (`R16`).
    ///
    /// # Errors
    ///
    /// [`RideError`](crate::RideError): a give-up when a budget is spent, or the verdict when an attempt ended in an
    /// error that is no promise. The stream has ended then.
    ///
    /// # Cancel safety
    ///
    /// Dropping the stream gives what it had not finished back to `carrier`: the next chain begins
    /// with the attempt that was running, under the charge that it had.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::pin::pin;
    ///
    /// use futures::StreamExt;
    /// use rideout::{Budget, Carrier, CarrierExt, Refusal, refusal::Kind};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let carrier = Carrier::new("prices/eur".parse()?, Budget::default());
    /// let mut answers = pin!(
    ///     carrier
    ///         .triggers()
    ///         .charge(&carrier)
    ///         .defer(|_charge| async { Err::<(), _>(Refusal::new(Kind::NotFound, "no such price")) })
    ///         .concat_attempts(&carrier)
    /// );
    /// let error = answers.next().await.unwrap().unwrap_err();
    /// assert_eq!(error.verdict().unwrap().kind, Some(Kind::NotFound));
    /// assert!(answers.next().await.is_none());
    /// # Ok(())
    /// # }
    /// ```
    fn concat_attempts<F, Fut, A, E>(self, carrier: &Carrier) -> ConcatAttempts<Self, F, Fut, E>
    where
        Self: Sized + Stream<Item = Result<Attempt<F, Fut>, Box<GaveUp>>>,
        F: FnMut(Charge) -> Fut,
        Fut: Future<Output = Result<A, E>>,
        E: Classify,
    {
        self.concat_attempts_by(carrier, E::classify)
    }

    /// Is [`concat_attempts`](CarrierExt::concat_attempts) for an error type of another crate: `classify`
    /// says what an error means to one who asked the address.
    ///
    /// # Errors
    ///
    /// As [`concat_attempts`](CarrierExt::concat_attempts).
    ///
    /// # Cancel safety
    ///
    /// As [`concat_attempts`](CarrierExt::concat_attempts).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::{io, pin::pin};
    ///
    /// use futures::TryStreamExt;
    /// use rideout::{Address, Budget, Carrier, CarrierExt, Kind, Rejection, Ruling};
    ///
    /// fn judge(error: &io::Error, _asked: &Address) -> Ruling {
    ///     match error.kind() {
    ///         io::ErrorKind::ConnectionRefused => Ruling::Promise(Rejection::by_route()),
    ///         _ => Ruling::Verdict(Kind::Failed),
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let carrier = Carrier::new("prices/eur".parse()?, Budget::default());
    /// let mut asks = 0;
    /// let mut answers = pin!(
    ///     carrier
    ///         .triggers()
    ///         .charge(&carrier)
    ///         .defer(|_charge| {
    ///             asks += 1;
    ///             let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
    ///             std::future::ready(if asks == 1 { Err(refused) } else { Ok("a price") })
    ///         })
    ///         .concat_attempts_by(&carrier, judge)
    /// );
    /// assert_eq!(answers.try_next().await?, Some("a price"));
    /// # Ok(())
    /// # }
    /// ```
    fn concat_attempts_by<F, Fut, A, E>(
        self,
        carrier: &Carrier,
        classify: Classifier<E>,
    ) -> ConcatAttempts<Self, F, Fut, E>
    where
        Self: Sized + Stream<Item = Result<Attempt<F, Fut>, Box<GaveUp>>>,
        F: FnMut(Charge) -> Fut,
        Fut: Future<Output = Result<A, E>>,
    {
        ConcatAttempts::new(self, carrier.clone(), classify)
    }
}

impl<St: Stream> CarrierExt for St {}
