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

use super::ask::{Answer, IntoAnswer};
use crate::{ledger::Charge, unwind::repaired_on_panic};

/// Where an attempt is. Each stage goes to the next, or is dropped with its attempt; where a part of it
/// panics, the attempt begins anew (`R20c`).
#[pin_project(project = StageProj)]
pub(super) enum Stage<Fut, W, Sl> {
    /// Its turn has come, and it waits for its rider to see it, who shows its charge first.
    Begun { shown: bool },
    /// It joins, for so long at most, or rests.
    Waiting {
        #[pin]
        teardown: Option<W>,
        // `None` once it is over.
        #[pin]
        sleep: Option<Sl>,
    },
    /// The wait is over; the ask is held back (`R11`) or spread (`R18c`), until this is `None`.
    Held(#[pin] Option<Sl>),
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

    fn anew(mut self: Pin<&mut Self>) {
        self.set(Stage::Begun { shown: false });
    }
}

impl<Fut, W: Future<Output = ()>, Sl: Future<Output = ()>> Stage<Fut, W, Sl> {
    /// Polls the teardown that it waits for. When that is complete, the stage is over too.
    pub(super) fn poll_teardown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let polled = repaired_on_panic(self.as_mut(), Stage::anew, |stage| match stage.project() {
            StageProj::Waiting { teardown, .. } => teardown.as_pin_mut().map(|it| it.poll(cx)),
            _ => None,
        });
        let polled = polled.unwrap_or(Poll::Pending);
        if polled.is_ready() {
            self.anew();
        }
        polled
    }

    /// Polls its sleep, or the limit of its ask. What is over is put away.
    pub(super) fn poll_sleep(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        repaired_on_panic(self, Stage::anew, |stage| {
            let (StageProj::Waiting { mut sleep, .. }
            | StageProj::Held(mut sleep)
            | StageProj::Asking { limit: mut sleep, .. }) = stage.project()
            else {
                return Poll::Pending;
            };
            let polled = sleep.as_mut().as_pin_mut().map_or(Poll::Ready(()), |it| it.poll(cx));
            if polled.is_ready() {
                sleep.set(None);
            }
            polled
        })
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
