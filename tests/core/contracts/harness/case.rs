//! Something to poll, by hand and as an executor does.

use std::{
    mem,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use futures::Stream;

use crate::support::task::{Task, kept};

/// No case takes more polls, so that one that never ends is an error and not a hang.
pub(super) const POLLS: usize = 10_000;

/// Something to poll, what makes it go on, and what must be true once it is gone.
pub(crate) struct Case<S> {
    pub(super) subject: Pin<Box<S>>,
    pub(super) stimulus: Box<dyn FnMut()>,
    pub(super) gone: Box<dyn FnMut()>,
    // Whether it lets go of everything as soon as it is over.
    pub(super) lets_go: bool,
    // Whether whoever wakes it may meet a waker that panics.
    pub(super) wakers_panic: bool,
    pub(super) task: (Arc<Task>, Waker),
    // How often the task had been woken when the subject was last polled, where it was pending then.
    pub(super) waits: Option<usize>,
}

impl<S> Case<S> {
    pub(crate) fn new(subject: S) -> Self {
        Case {
            subject: Box::pin(subject),
            stimulus: Box::new(|| {}),
            gone: Box::new(|| {}),
            lets_go: false,
            wakers_panic: true,
            task: Task::new(),
            waits: None,
        }
    }

    /// Has `stimulus` run whenever the subject waits: is pending, and was not woken since.
    pub(crate) fn stimulus(mut self, stimulus: impl FnMut() + 'static) -> Self {
        self.stimulus = Box::new(stimulus);
        self
    }

    /// Has `gone` run, to look for what was left behind, once the subject is dropped.
    pub(crate) fn gone(mut self, gone: impl FnMut() + 'static) -> Self {
        self.gone = Box::new(gone);
        self
    }

    /// Spares who wakes it the wakers that panic: tokio's timers do not survive one.
    pub(crate) fn sound_wakers(self) -> Self {
        Case { wakers_panic: false, ..self }
    }

    /// Stimulates it until it is woken: nobody polls it before.
    pub(super) fn wait(&mut self) {
        let Some(wakes) = self.waits.take() else { return };
        let mut stimuli = 0;
        while self.task.0.wakes() == wakes {
            (self.stimulus)();
            stimuli += 1;
            assert!(stimuli < POLLS, "it waits, and nobody wakes it");
        }
    }

    /// Goes on in a new task, and returns the old one.
    pub(super) fn moves(&mut self) -> Arc<Task> {
        self.waits = None;
        let (task, waker) = mem::replace(&mut self.task, Task::new());
        drop(waker);
        task
    }

    /// Drops it, and looks for what is left.
    pub(super) fn goes(self) {
        let Case { subject, stimulus, mut gone, task, .. } = self;
        drop(subject);
        assert_eq!(kept(&task.0), 0, "it is gone, and its waker is kept");
        drop(stimulus);
        gone();
    }
}

impl<St: Stream> Case<St> {
    pub(super) fn poll(&mut self) -> Poll<Option<St::Item>> {
        let wakes = self.task.0.wakes();
        let polled = self.subject.as_mut().poll_next(&mut Context::from_waker(&self.task.1));
        self.waits = polled.is_pending().then_some(wakes);
        polled
    }

    /// Polls it as an executor does: once it is woken.
    pub(super) fn step(&mut self) -> Poll<Option<St::Item>> {
        self.wait();
        self.poll()
    }

    /// Polls it so often; returns whether it was pending then.
    pub(super) fn steps(&mut self, polls: usize) -> bool {
        (0..polls).fold(false, |_, _| self.step().is_pending())
    }
}
