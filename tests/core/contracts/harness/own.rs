//! What the library's own cases ask for beside that.

use std::task::{Context, Poll, Waker};

use futures::Stream;

use super::{
    case::{Case, POLLS},
    keeps::keeps_as_a_future,
    panics::outlives_panics,
};
use crate::support::mine::Mine;

impl<S> Case<S> {
    /// Requires that nothing is left as soon as it is over, and not only when it is dropped.
    pub(crate) fn lets_go(self) -> Self {
        Case { lets_go: true, ..self }
    }
}

impl<St: Stream> Case<St> {
    /// Returns all that comes to its end.
    pub(crate) fn items(mut self) -> Vec<St::Item> {
        let mut items = Vec::new();
        for _ in 0..POLLS {
            match self.step() {
                Poll::Ready(Some(item)) => items.push(item),
                Poll::Ready(None) => return items,
                Poll::Pending => {}
            }
        }
        panic!("it never ends");
    }
}

/// What its documentation says of a future that is polled after it was ready.
#[derive(Clone, Copy)]
pub(crate) enum After {
    /// It is ready again.
    Ready,
    /// It is pending, whether for the next or for ever.
    Pending,
}

/// Requires of the future of `case` all that every future keeps, and then that it is as it says `after` it
/// was ready.
pub(crate) fn keeps_as_a_future_then<Fut: Future>(after: After, case: impl Fn() -> Case<Fut>) {
    keeps_as_a_future(&case);

    let mut case = case().once();
    while case.step().is_pending() {}
    for _ in 0..3 {
        let polled = case.subject.future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        match after {
            After::Ready => assert!(polled.is_ready()),
            After::Pending => assert!(polled.is_pending()),
        }
    }
    case.goes();
}

/// Requires of the future of `case` what [`outlives_panics`] does of a stream.
pub(crate) fn outlives_panics_as_a_future<Fut: Future>(
    everybody: &[&'static str],
    case: impl Fn(&Mine) -> Case<Fut>,
) {
    outlives_panics(everybody, |mine| case(mine).once());
}
