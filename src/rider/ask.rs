//! What an ask is told, and what it answers with.

use std::fmt;

use futures_core::Stream;

use crate::{
    activation::{Activation, StreamId},
    ledger::Charge,
};

/// What an ask is told: who asks, how often, why, and from where (`R24`).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ask<P = ()> {
    /// The identity of the stream, the same for the rider's whole life.
    pub stream: StreamId,
    /// The number of this ask: 1 for the first.
    pub attempt: u32,
    /// The charge that it runs under; uncharged for the first ask and for a refresh.
    pub charge: Charge,
    /// The resume point: a token of the last item, `None` before the first one.
    ///
    /// A source that can resume goes on behind it, and one that cannot sends its state again. With
    /// [numbered frames](super::RideOutBuilder::frame_number), after a gap it stays at the last item before
    /// the gap.
    pub resume: Option<P>,
}

/// An answer to an ask: the subscription, and the activation that serves it where that is known.
///
/// With it, the rider ignores a late end announcement of the previous owner.
///
/// # Examples
///
/// ```
/// use futures::stream;
/// use rideout::{Activation, rider::Answer};
///
/// let items = stream::iter([Ok::<_, rideout::Refusal>(1)]);
/// let answer = Answer::new(items).served_by("017DA870".parse::<Activation>()?);
/// assert_eq!(answer.activation().unwrap().as_str(), "017DA870");
/// # Ok::<_, rideout::activation::InvalidActivation>(())
/// ```
#[derive(Debug, Clone)]
pub struct Answer<S> {
    stream: S,
    activation: Option<Activation>,
}

impl<S> Answer<S> {
    /// Creates an answer that does not say who serves it.
    pub fn new(stream: S) -> Self {
        Answer { stream, activation: None }
    }

    /// Says which activation serves the subscription, where that is known: an [`Activation`], or an
    /// `Option` of one.
    #[must_use = "it returns the changed answer"]
    pub fn served_by(mut self, activation: impl Into<Option<Activation>>) -> Self {
        self.activation = activation.into();
        self
    }

    /// Returns the activation that serves the subscription, where that is known.
    pub fn activation(&self) -> Option<&Activation> {
        self.activation.as_ref()
    }

    /// Returns the subscription itself.
    pub fn into_stream(self) -> S {
        self.stream
    }

    pub(super) fn into_parts(self) -> (S, Option<Activation>) {
        (self.stream, self.activation)
    }
}

/// What an ask may return: a stream of items, or an [`Answer`] that also says who serves it.
///
/// # Examples
///
/// ```
/// use futures::stream;
/// use rideout::rider::IntoAnswer;
///
/// assert!(stream::iter([1, 2]).into_answer().activation().is_none());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no answer to an ask",
    label = "an ask must return a stream of results, or an `Answer` around one"
)]
pub trait IntoAnswer {
    /// The subscription.
    type Stream: Stream;

    /// Makes it an answer.
    fn into_answer(self) -> Answer<Self::Stream>;
}

impl<S: Stream> IntoAnswer for S {
    type Stream = S;

    fn into_answer(self) -> Answer<S> {
        Answer::new(self)
    }
}

impl<S: Stream> IntoAnswer for Answer<S> {
    type Stream = S;

    fn into_answer(self) -> Answer<S> {
        self
    }
}

/// Where a rider's subscriptions come from: any closure from an [`Ask`] to a future of a stream of
/// results.
///
/// Only closures implement it. It exists to shorten the rider's type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no ask",
    label = "expected a closure from `Ask` to a future of a stream of results",
    note = "the ask returns `Result<S, E>` and its stream `S` yields `Result<T, E>`: the ask and its stream have the same error type, which implements `Display`"
)]
pub trait Source<P> {
    /// The ask, on its way.
    type Future: Future<Output = Result<Self::Answer, Self::Error>>;
    /// What the ask is answered with.
    type Answer: IntoAnswer<Stream = Self::Stream>;
    /// The subscription.
    type Stream: Stream<Item = Result<Self::Item, Self::Error>>;
    /// One item of it.
    type Item;
    /// The error of an ask, and of a subscription.
    type Error: fmt::Display;

    /// Asks.
    fn ask(&mut self, ask: Ask<P>) -> Self::Future;
}

impl<F, P, Fut, R, S, T, E> Source<P> for F
where
    F: FnMut(Ask<P>) -> Fut,
    Fut: Future<Output = Result<R, E>>,
    R: IntoAnswer<Stream = S>,
    S: Stream<Item = Result<T, E>>,
    E: fmt::Display,
{
    type Future = Fut;
    type Answer = R;
    type Stream = S;
    type Item = T;
    type Error = E;

    fn ask(&mut self, ask: Ask<P>) -> Fut {
        self(ask)
    }
}
