//! Probing lazily: an attempt looks at the world when it runs, not when its rejection arrived.

use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures_core::{FusedStream, Stream};
use pin_project::{pin_project, pinned_drop};

use crate::{
    ledger::{Charge, GaveUp},
    monitor::{Monitor, Ticket},
    sync::Arc,
    unwind::poll_and_clear,
};

// Where the one closure lies while nobody calls it. Empty during a call: no user code runs under a
// lock.
type Place<F> = Arc<Monitor<Option<F>>>;

/// Stream for the [`defer`](super::CarrierExt::defer) method.
#[pin_project]
#[must_use = "streams do nothing unless polled"]
pub struct Defer<St, F> {
    #[pin]
    stream: St,
    probe: Place<F>,
    // Whether the stream has ended.
    done: bool,
}

impl<St: fmt::Debug, F> fmt::Debug for Defer<St, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Defer").field("stream", &self.stream).finish_non_exhaustive()
    }
}

impl<St, F> Defer<St, F> {
    pub(super) fn new(stream: St, probe: F) -> Self {
        Defer { stream, probe: Arc::new(Monitor::new(Some(probe))), done: false }
    }

    /// Returns the stream underneath.
    pub fn get_ref(&self) -> &St {
        &self.stream
    }

    /// Returns the stream underneath, mutably.
    pub fn get_mut(&mut self) -> &mut St {
        &mut self.stream
    }
}

impl<St, F, Fut> Stream for Defer<St, F>
where
    St: Stream<Item = Result<Charge, Box<GaveUp>>>,
    F: FnMut(Charge) -> Fut,
    Fut: Future,
{
    type Item = Result<Attempt<F, Fut>, Box<GaveUp>>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.project();
        if *this.done {
            return Poll::Ready(None);
        }
        let charge = ready!(this.stream.poll_next(cx));
        *this.done = charge.is_none();
        let attempt = |charge| {
            let (probe, ticket) = (Arc::clone(this.probe), Ticket::default());
            Attempt { charge, probe, ticket, future: None }
        };
        Poll::Ready(charge.map(|charge| charge.map(attempt)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        if self.done { (0, Some(0)) } else { self.stream.size_hint() }
    }
}

impl<St, F, Fut> FusedStream for Defer<St, F>
where
    St: Stream<Item = Result<Charge, Box<GaveUp>>>,
    F: FnMut(Charge) -> Fut,
    Fut: Future,
{
    fn is_terminated(&self) -> bool {
        self.done
    }
}

/// One attempt of a chain: a future that calls the probe when it is first polled.
///
/// Polled again after it was ready, it begins anew.
///
/// # Panics
///
/// When the probe panics, or the future that it returned. Polled again, the attempt begins anew.
///
/// # Cancel safety
///
/// Dropped before its first poll it has called nothing. Dropped later it drops what the probe
/// returned.
///
/// # Examples
///
/// A plain future, which whatever drives futures drives:
///
/// ```
/// use futures::{StreamExt, TryStreamExt, stream};
/// use rideout::{Budget, Carrier, CarrierExt, Rejection};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let carrier = Carrier::new("prices/eur".parse()?, Budget::default());
/// let mut attempts = stream::iter([Rejection::by_route(), Rejection::by_route()])
///     .charge(&carrier)
///     .defer(|charge| async move { charge.count() });
/// let (one, two) = (attempts.try_next().await?.unwrap(), attempts.try_next().await?.unwrap());
/// assert_eq!(one.charge().count(), 1);
/// assert_eq!(tokio::join!(two, one), (2, 1));
/// # Ok(())
/// # }
/// ```
#[pin_project(PinnedDrop)]
#[must_use = "futures do nothing unless polled"]
pub struct Attempt<F, Fut> {
    charge: Charge,
    probe: Place<F>,
    ticket: Ticket,
    // What the probe returned; `None` before the first poll, and when it is over, by a panic too.
    #[pin]
    future: Option<Fut>,
}

impl<F, Fut> fmt::Debug for Attempt<F, Fut> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attempt").field("charge", &self.charge).finish_non_exhaustive()
    }
}

impl<F, Fut> Attempt<F, Fut> {
    /// Returns the charge that pays for it.
    pub fn charge(&self) -> &Charge {
        &self.charge
    }

    /// Returns what the probe returned, `None` before the first poll.
    pub fn future(self: Pin<&mut Self>) -> Option<Pin<&mut Fut>> {
        self.project().future.as_pin_mut()
    }
}

impl<F, Fut> Future for Attempt<F, Fut>
where
    F: FnMut(Charge) -> Fut,
    Fut: Future,
{
    type Output = Fut::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Fut::Output> {
        let mut this = self.project();
        if this.future.is_none() {
            // Where another attempt of this chain is calling it right now, on its return.
            let mut probe = ready!(Taken::poll(this.probe, this.ticket, cx));
            let future = probe.call(this.charge.clone());
            this.future.set(Some(future));
        }
        poll_and_clear(this.future, cx)
    }
}

#[pinned_drop]
impl<F, Fut> PinnedDrop for Attempt<F, Fut> {
    fn drop(self: Pin<&mut Self>) {
        let this = self.project();
        this.probe.forget(this.ticket);
    }
}

/// The closure, taken out for a call. Puts it back when dropped, on unwind too.
struct Taken<'a, F> {
    probe: Option<F>,
    place: &'a Place<F>,
}

impl<'a, F> Taken<'a, F> {
    fn poll(place: &'a Place<F>, ticket: &mut Ticket, cx: &mut Context<'_>) -> Poll<Self> {
        place.poll(ticket, cx, Option::take).map(|probe| Taken { probe: Some(probe), place })
    }

    fn call<Fut>(&mut self, charge: Charge) -> Fut
    where
        F: FnMut(Charge) -> Fut,
    {
        let probe = self.probe.as_mut().expect("there until it is dropped");
        probe(charge)
    }
}

impl<F> Drop for Taken<'_, F> {
    fn drop(&mut self) {
        self.place.announce(|place| {
            *place = self.probe.take();
            true
        });
    }
}
