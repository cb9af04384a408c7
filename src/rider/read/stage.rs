//! Where a point read is.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use pin_project::pin_project;

use crate::unwind::repaired_on_panic;

/// Where a read is. What is over, by a panic too, makes way for the next ask.
#[pin_project(project = StageProj)]
pub(super) enum Stage<Fut, Sl> {
    /// The ask may go out.
    Due,
    /// The ask is out.
    Asking(#[pin] Fut),
    /// It rests; an arrival may end that.
    Resting(#[pin] Sl),
    /// The rest is over, and the ask is spread (`R18c`).
    Spread(#[pin] Sl),
    /// The read is over.
    Done,
}

impl<Fut: Future, Sl> Stage<Fut, Sl> {
    /// Polls the ask. When it is over, by a panic too, the next one may go out.
    pub(super) fn poll_ask(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Fut::Output> {
        let polled = repaired_on_panic(self.as_mut(), Stage::due, |stage| match stage.project() {
            StageProj::Asking(ask) => ask.poll(cx),
            _ => Poll::Pending,
        });
        if polled.is_ready() {
            self.due();
        }
        polled
    }
}

impl<Fut, Sl: Future<Output = ()>> Stage<Fut, Sl> {
    /// Polls its sleep. When that is over, by a panic too, the ask may go out.
    pub(super) fn poll_sleep(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let polled = repaired_on_panic(self.as_mut(), Stage::due, |stage| match stage.project() {
            StageProj::Resting(sleep) | StageProj::Spread(sleep) => sleep.poll(cx),
            _ => Poll::Pending,
        });
        if polled.is_ready() {
            self.due();
        }
        polled
    }
}

impl<Fut, Sl> Stage<Fut, Sl> {
    fn due(mut self: Pin<&mut Self>) {
        self.set(Stage::Due);
    }
}
