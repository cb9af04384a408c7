//! One attempt, from its turn to its answer: it waits, is held back, is due, asks. The subscription and
//! the read use the same.
//!
//! [`concat_attempts`](crate::CarrierExt::concat_attempts) says whose turn it is, and polls the ask. What
//! stands around the ask is its rider's to drive, because arrivals end waits and announcements end asks,
//! and both come in by the rider: it starts the attempt, ends its waits, and looks at its clock last,
//! after the answers and the news of the same instant.

use std::{
    pin::Pin,
    task::{Context, Poll},
    time::{Duration, Instant},
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
        clock: Option<Clock<Sl>>,
    },
    /// The wait is over; the ask is held back (`R11`) or spread (`R18c`), until this is `None`.
    Held(#[pin] Option<Clock<Sl>>),
    /// The ask may go out.
    Due,
    /// The ask is out. Its limit is made when it is first found pending.
    Asking {
        #[pin]
        ask: Fut,
        #[pin]
        clock: Option<Clock<Sl>>,
    },
}

/// The one clock of an attempt: a sleep, which the bound of its ride-out may have cut short.
#[pin_project]
pub(super) struct Clock<Sl> {
    #[pin]
    sleep: Sl,
    until: Instant,
    cut: Duration,
}

impl<Sl> Clock<Sl> {
    /// A sleep that would last until `until`, but for what was cut off it.
    pub(super) fn new(sleep: Sl, until: Instant, cut: Duration) -> Self {
        Clock { sleep, until, cut }
    }
}

impl<Fut, W, Sl> Stage<Fut, W, Sl> {
    /// The probe of a subscription: the attempt's turn has come.
    pub(super) fn begin(_: Charge) -> Self {
        Stage::Begun { shown: false }
    }

    /// Where the ask is out.
    pub(super) fn asking(ask: Fut) -> Self {
        Stage::Asking { ask, clock: None }
    }

    /// Where it rests.
    pub(super) fn resting(clock: Clock<Sl>) -> Self {
        Stage::Waiting { teardown: None, clock: Some(clock) }
    }

    fn begin_anew(mut self: Pin<&mut Self>) {
        self.set(Stage::Begun { shown: false });
    }

    fn clock(self: Pin<&mut Self>) -> Option<Pin<&mut Option<Clock<Sl>>>> {
        match self.project() {
            StageProj::Waiting { clock, .. }
            | StageProj::Held(clock)
            | StageProj::Asking { clock, .. } => Some(clock),
            StageProj::Begun { .. } | StageProj::Due => None,
        }
    }

    /// Gives the stage another clock.
    pub(super) fn set_clock(self: Pin<&mut Self>, clock: Clock<Sl>) {
        if let Some(mut place) = self.clock() {
            place.set(Some(clock));
        }
    }

    /// When the clock would be over, but for what was cut off it.
    pub(super) fn until(self: Pin<&mut Self>) -> Option<Instant> {
        Some(self.clock()?.as_pin_mut()?.until)
    }
}

impl<Fut, W: Future<Output = ()>, Sl> Stage<Fut, W, Sl> {
    /// Polls the teardown that it waits for. When that is complete, the stage is over too.
    pub(super) fn poll_teardown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let polled =
            repaired_on_panic(self.as_mut(), Stage::begin_anew, |stage| match stage.project() {
                StageProj::Waiting { teardown, .. } => teardown.as_pin_mut().map(|it| it.poll(cx)),
                _ => None,
            });
        let polled = polled.unwrap_or(Poll::Pending);
        if polled.is_ready() {
            self.begin_anew();
        }
        polled
    }
}

impl<Fut, W, Sl: Future<Output = ()>> Stage<Fut, W, Sl> {
    /// Polls its clock. One that is over is dropped; returns what was cut off it.
    pub(super) fn poll_clock(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Duration> {
        repaired_on_panic(self, Stage::begin_anew, |stage| {
            let Some(mut place) = stage.clock() else { return Poll::Pending };
            let Some(clock) = place.as_mut().as_pin_mut() else {
                return Poll::Ready(Duration::ZERO);
            };
            let clock = clock.project();
            let cut = *clock.cut;
            let polled = clock.sleep.poll(cx).map(|()| cut);
            if polled.is_ready() {
                place.set(None);
            }
            polled
        })
    }
}

impl<Fut: Future, W, Sl> Stage<Fut, W, Sl> {
    /// Polls the ask. Where that panics, the attempt begins anew.
    pub(super) fn poll_ask(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Fut::Output> {
        repaired_on_panic(self, Stage::begin_anew, |stage| match stage.project() {
            StageProj::Asking { ask, .. } => ask.poll(cx),
            // Its rider goes on with it in the same poll.
            _ => Poll::Pending,
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
