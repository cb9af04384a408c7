//! One attempt of a subscription: wait, then ask.
//!
//! [`concat_attempts`](crate::CarrierExt::concat_attempts) says whose turn it is, and polls the ask.
//! What stands around the ask is its rider's to drive, because arrivals end waits and announcements
//! end asks, and both come in by the rider: it starts the attempt, ends its waits, and looks at its
//! timers last, after the answers and the news of the same instant.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use pin_project::pin_project;

use super::{Answer, IntoAnswer};
use crate::ledger::Charge;

/// Where an attempt is. Each stage goes to the next, or is dropped with its attempt.
#[pin_project(project = StageProj)]
pub(super) enum Stage<Fut, W, Sl> {
    /// Its turn has come, and it waits for its rider to see it, who shows its charge first.
    Begun { shown: bool },
    /// It joins, for so long at most, or rests.
    Waiting {
        #[pin]
        teardown: Option<W>,
        #[pin]
        sleep: Sl,
    },
    /// The wait is over; the ask is held back (`R11`) or spread (`R18c`).
    Held(#[pin] Sl),
    /// The ask may go out.
    Due,
    /// The ask is out. Its limit is made when it is first found pending.
    Asking {
        #[pin]
        ask: Fut,
        #[pin]
        limit: Option<Sl>,
    },
}

impl<Fut, W, Sl> Stage<Fut, W, Sl> {
    /// The probe of a subscription: the attempt's turn has come.
    pub(super) fn begin(_: Charge) -> Self {
        Stage::Begun { shown: false }
    }
}

impl<Fut, W, Sl, R, E> Future for Stage<Fut, W, Sl>
where
    Fut: Future<Output = Result<R, E>>,
    R: IntoAnswer,
{
    type Output = Result<Answer<R::Stream>, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project() {
            StageProj::Asking { ask, .. } => {
                ask.poll(cx).map(|answer| answer.map(IntoAnswer::into_answer))
            }
            // Its rider goes on with it in the same poll.
            _ => Poll::Pending,
        }
    }
}
