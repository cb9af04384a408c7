//! Charging eagerly: when the rejection arrives, whatever else is going on.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures_core::{FusedStream, Stream};
use pin_project::pin_project;

use super::{Carrier, Trigger};
use crate::ledger::{Charge, GaveUp};

/// Stream for the [`charge`](super::CarrierExt::charge) method.
#[pin_project]
#[derive(Debug)]
#[must_use = "streams do nothing unless polled"]
pub struct Charges<St> {
    #[pin]
    stream: St,
    carrier: Carrier,
    // Whether the stream has ended, or a budget was spent.
    done: bool,
}

impl<St> Charges<St> {
    pub(super) fn new(stream: St, carrier: Carrier) -> Self {
        Charges { stream, carrier, done: false }
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

impl<St> Stream for Charges<St>
where
    St: Stream<Item: Into<Trigger>>,
{
    type Item = Result<Charge, Box<GaveUp>>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.project();
        if *this.done {
            return Poll::Ready(None);
        }
        let charge = match ready!(this.stream.poll_next(cx)).map(Into::into) {
            None => None,
            Some(Trigger::Ask) => Some(Ok(Charge::uncharged())),
            Some(Trigger::Owed(charge)) => Some(Ok(charge)),
            Some(Trigger::Rejected(rejection)) => Some(this.carrier.charge(rejection)),
        };
        *this.done = !matches!(charge, Some(Ok(_)));
        Poll::Ready(charge)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        if self.done {
            return (0, Some(0));
        }
        // One for each of the stream's, unless a give-up ends it early.
        let (least, most) = self.stream.size_hint();
        (least.min(1), most)
    }
}

impl<St> FusedStream for Charges<St>
where
    St: Stream<Item: Into<Trigger>>,
{
    fn is_terminated(&self) -> bool {
        self.done
    }
}
