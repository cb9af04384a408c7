//! What every stream and every future of the crate keeps, as a harness: bring a [`Case`] of yours, and
//! it is run whole, dropped, moved and woken in every state, and survives what panics.

mod feed;
mod panics;
mod strict;
mod turns;

use std::{
    fmt::Debug,
    mem,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker, ready},
};

use crate::support::by_hand::{Task, kept};
use futures::{Stream, stream::FusedStream};

pub(crate) use self::{
    feed::Feed,
    panics::{outlives_panics, outlives_panics_as_a_future},
    strict::{Strict, pausing},
    turns::{Turns, is_bounded, is_bounded_as_a_future},
};

/// No case takes more polls, so that one that never ends is an error and not a hang.
const POLLS: usize = 10_000;

/// Something to poll, what makes it go on, and what must be true once it is gone.
pub(crate) struct Case<S> {
    subject: Pin<Box<S>>,
    stimulus: Box<dyn FnMut()>,
    gone: Box<dyn FnMut()>,
    // Whether it lets go of everything as soon as it is over.
    lets_go: bool,
    // Whether whoever wakes it may meet a waker that panics.
    wakers_panic: bool,
    task: (Arc<Task>, Waker),
    // How often the task had been woken when the subject was last polled, where it was pending then.
    waits: Option<usize>,
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

    /// Requires that nothing is left as soon as it is over, and not only when it is dropped.
    pub(crate) fn lets_go(self) -> Self {
        Case { lets_go: true, ..self }
    }

    /// Spares who wakes it the wakers that panic: tokio's timers do not survive one.
    pub(crate) fn sound_wakers(self) -> Self {
        Case { wakers_panic: false, ..self }
    }

    /// Stimulates it until it is woken: nobody polls it before.
    fn wait(&mut self) {
        let Some(wakes) = self.waits.take() else { return };
        let mut stimuli = 0;
        while self.task.0.wakes() == wakes {
            (self.stimulus)();
            stimuli += 1;
            assert!(stimuli < POLLS, "it waits, and nobody wakes it");
        }
    }

    /// Goes on in a new task, and returns the old one.
    fn moves(&mut self) -> Arc<Task> {
        self.waits = None;
        let (task, waker) = mem::replace(&mut self.task, Task::new());
        drop(waker);
        task
    }

    /// Drops it, and looks for what is left.
    fn goes(self) {
        let Case { subject, stimulus, mut gone, task, .. } = self;
        drop(subject);
        assert_eq!(kept(&task.0), 0, "it is gone, and its waker is kept");
        drop(stimulus);
        gone();
    }
}

/// A future as the stream of one item. It is kept, and so is its value, until that is dropped.
pub(crate) struct Once<Fut: Future> {
    future: Pin<Box<Fut>>,
    value: Option<Fut::Output>,
}

impl<Fut: Future> Unpin for Once<Fut> {}

impl<Fut: Future> Stream for Once<Fut> {
    type Item = ();

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<()>> {
        if self.is_terminated() {
            return Poll::Ready(None);
        }
        self.value = Some(ready!(self.future.as_mut().poll(cx)));
        Poll::Ready(Some(()))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::from(!self.is_terminated());
        (left, Some(left))
    }
}

impl<Fut: Future> FusedStream for Once<Fut> {
    fn is_terminated(&self) -> bool {
        self.value.is_some()
    }
}

impl<Fut: Future> Case<Fut> {
    fn once(self) -> Case<Once<Fut>> {
        let Case { subject, stimulus, gone, lets_go, wakers_panic, task, waits } = self;
        let subject = Box::pin(Once { future: subject, value: None });
        Case { subject, stimulus, gone, lets_go, wakers_panic, task, waits }
    }
}

/// What its documentation says of a future that is polled after it was ready.
#[derive(Clone, Copy)]
pub(crate) enum After {
    /// It is ready again.
    Ready,
    /// It is pending, whether for the next or for ever.
    Pending,
    /// Nothing, so nobody may.
    Unsaid,
}

/// Requires of the stream of `case`, which ends, all that every stream keeps.
///
/// # Panics
///
/// Where it is not fused, where its `size_hint` was untrue at any step, where it goes on and nobody was
/// woken, and where, in any state, it leaves a waker or what the case itself looks for when it is
/// dropped, wakes its old task when it is moved, or is stuck once a waker of its has panicked.
pub(crate) fn keeps<St>(case: impl Fn() -> Case<St>)
where
    St: FusedStream<Item: Debug>,
{
    let polls = case().runs_to_its_end();
    for stop in 0..=polls + 1 {
        case().goes_after(stop);
        case().moves_after(stop);
        case().outlives_a_waker_after(stop);
    }
}

/// Requires of the future of `case`, which is ready some time, all that every future keeps.
pub(crate) fn keeps_as_a_future<Fut: Future>(after: After, case: impl Fn() -> Case<Fut>) {
    keeps(|| case().once());

    let mut case = case().once();
    while case.step().is_pending() {}
    for _ in 0..3 {
        let mut cx = Context::from_waker(Waker::noop());
        match after {
            After::Ready => assert!(case.subject.future.as_mut().poll(&mut cx).is_ready()),
            After::Pending => assert!(case.subject.future.as_mut().poll(&mut cx).is_pending()),
            After::Unsaid => {}
        }
    }
    case.goes();
}

impl<St: Stream> Case<St> {
    fn poll(&mut self) -> Poll<Option<St::Item>> {
        let wakes = self.task.0.wakes();
        let polled = self.subject.as_mut().poll_next(&mut Context::from_waker(&self.task.1));
        self.waits = polled.is_pending().then_some(wakes);
        polled
    }

    /// Polls it as an executor does: once it is woken.
    fn step(&mut self) -> Poll<Option<St::Item>> {
        self.wait();
        self.poll()
    }

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

    /// Polls it so often; returns whether it was pending then.
    fn steps(&mut self, polls: usize) -> bool {
        (0..polls).fold(false, |_, _| self.step().is_pending())
    }

    /// C39.
    fn goes_after(mut self, polls: usize) {
        self.steps(polls);
        self.goes();
    }

    /// C38: where it waits then, it goes on in a new task.
    fn moves_after(mut self, polls: usize) {
        if !self.steps(polls) {
            return;
        }
        let old = self.moves();
        // Until it waits: one that has more to do wakes itself.
        loop {
            let wakes = self.task.0.wakes();
            if self.poll().is_ready() {
                return;
            }
            if self.task.0.wakes() == wakes {
                break;
            }
        }
        assert_eq!(Arc::strong_count(&old), 1, "the old task is kept after {polls} polls");
        let (old_wakes, wakes) = (old.wakes(), self.task.0.wakes());
        for _ in 0..POLLS {
            (self.stimulus)();
            assert_eq!(old.wakes(), old_wakes, "the old task is woken after {polls} polls");
            if self.task.0.wakes() > wakes {
                return;
            }
            let polled = self.poll();
            assert!(polled.is_pending(), "after {polls} polls it goes on, and nobody is woken");
        }
        panic!("the new task is not woken after {polls} polls");
    }
}

impl<St: FusedStream<Item: Debug>> Case<St> {
    /// Returns after how many polls it was over.
    fn runs_to_its_end(mut self) -> usize {
        // What was promised, and how many items had come by then.
        let (mut promises, mut items, mut polls) = (Vec::new(), 0, 0);
        loop {
            self.wait();
            promises.push((self.subject.size_hint(), items));
            let terminated = self.subject.is_terminated();
            polls += 1;
            assert!(polls < POLLS, "it never ends");
            match self.poll() {
                Poll::Ready(None) => break,
                polled if terminated => panic!("terminated, and yet {polled:?}"),
                Poll::Ready(Some(_)) => items += 1,
                Poll::Pending => {}
            }
        }
        for ((least, most), before) in promises {
            let came = items - before;
            assert!(least <= came, "at least {least} after {before}, but {came} came");
            assert!(
                most.is_none_or(|most| came <= most),
                "at most {most:?} after {before}, not {came}"
            );
        }
        self.has_ended();
        polls
    }

    fn has_ended(mut self) {
        for _ in 0..3 {
            assert!(self.subject.is_terminated(), "over, and not terminated");
            assert_eq!(self.subject.size_hint(), (0, Some(0)));
            assert!(matches!(self.poll(), Poll::Ready(None)), "not fused");
            if self.lets_go {
                assert_eq!(kept(&self.task.0), 0, "over, and its waker is kept");
                (self.gone)();
            }
            (self.stimulus)();
        }
        self.goes();
    }
}
