//! What every stream and every future of the crate keeps, as a harness: bring a [`Case`] of yours, and
//! it is run whole, and dropped in every state.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::{
    fmt::Debug,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    task::{Context, Poll, Wake, Waker},
};

use futures::{Stream, stream::FusedStream};

/// No case takes more polls, so that one that never ends is an error and not a hang.
const POLLS: usize = 10_000;

/// Something to poll, what makes it go on, and what must be true once it is gone.
pub(crate) struct Case<S> {
    subject: Pin<Box<S>>,
    stimulus: Box<dyn FnMut()>,
    gone: Box<dyn FnOnce()>,
}

impl<S> Case<S> {
    pub(crate) fn new(subject: S) -> Self {
        Case { subject: Box::pin(subject), stimulus: Box::new(|| {}), gone: Box::new(|| {}) }
    }

    /// Has `stimulus` run whenever the subject is pending.
    pub(crate) fn stimulus(mut self, stimulus: impl FnMut() + 'static) -> Self {
        self.stimulus = Box::new(stimulus);
        self
    }

    /// Has `gone` run, to look for what was left behind, once the subject is dropped.
    pub(crate) fn gone(mut self, gone: impl FnOnce() + 'static) -> Self {
        self.gone = Box::new(gone);
        self
    }
}

/// Keeps count of the wakers that are kept of it.
#[derive(Default)]
struct Task(AtomicUsize);

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Relaxed);
    }
}

/// A stream that panics when it is polled after its end, as streams are allowed to (C37).
#[derive(Debug)]
pub(crate) struct Strict<St> {
    stream: St,
    over: bool,
}

impl<St> Strict<St> {
    pub(crate) fn new(stream: St) -> Self {
        Strict { stream, over: false }
    }
}

impl<St: Stream + Unpin> Stream for Strict<St> {
    type Item = St::Item;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<St::Item>> {
        assert!(!self.over, "polled after its end");
        let polled = Pin::new(&mut self.stream).poll_next(cx);
        self.over = matches!(polled, Poll::Ready(None));
        polled
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.stream.size_hint()
    }
}

/// Requires of the stream of `case`, which ends, all that every stream keeps.
///
/// # Panics
///
/// Where it is not fused, where its `size_hint` was untrue at any step, and where it leaves a waker or
/// what the case itself looks for, wherever it is dropped.
pub(crate) fn keeps<St>(case: impl Fn() -> Case<St>)
where
    St: FusedStream<Item: Debug>,
{
    let polls = runs_to_its_end(case());
    for stop in 0..=polls + 1 {
        leaves_nothing_after(case(), stop, |subject, cx| subject.poll_next(cx).map(drop));
    }
}

/// Requires of the future of `case` that it is ready some time, and leaves nothing wherever it is
/// dropped.
pub(crate) fn keeps_as_a_future<Fut: Future>(case: impl Fn() -> Case<Fut>) {
    let poll = |subject: Pin<&mut Fut>, cx: &mut Context<'_>| subject.poll(cx).map(drop);
    let Case { mut subject, mut stimulus, .. } = case();
    let mut polls = 1;
    while subject.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending() {
        stimulus();
        polls += 1;
        assert!(polls < POLLS, "it is never ready");
    }
    for stop in 0..=polls {
        leaves_nothing_after(case(), stop, poll);
    }
}

/// Returns after how many polls it was over.
fn runs_to_its_end<St: FusedStream<Item: Debug>>(case: Case<St>) -> usize {
    let Case { mut subject, mut stimulus, .. } = case;
    let mut cx = Context::from_waker(Waker::noop());
    // What was promised, and how many items had come by then.
    let (mut promises, mut items, mut polls) = (Vec::new(), 0, 0);
    loop {
        promises.push((subject.size_hint(), items));
        let terminated = subject.is_terminated();
        polls += 1;
        assert!(polls < POLLS, "it never ends");
        match subject.as_mut().poll_next(&mut cx) {
            Poll::Ready(None) => break,
            polled if terminated => panic!("terminated, and yet {polled:?}"),
            Poll::Ready(Some(_)) => items += 1,
            Poll::Pending => stimulus(),
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
    for _ in 0..3 {
        assert!(subject.is_terminated(), "over, and not terminated");
        assert_eq!(subject.size_hint(), (0, Some(0)));
        assert!(matches!(subject.as_mut().poll_next(&mut cx), Poll::Ready(None)), "not fused");
        stimulus();
    }
    polls
}

fn leaves_nothing_after<S>(
    case: Case<S>,
    polls: usize,
    mut poll: impl FnMut(Pin<&mut S>, &mut Context<'_>) -> Poll<()>,
) {
    let Case { mut subject, mut stimulus, gone } = case;
    let task = Arc::new(Task::default());
    {
        let waker = Waker::from(Arc::clone(&task));
        let mut pending = false;
        for _ in 0..polls {
            // Not after the last poll: what it waits for is to be still to come when it is dropped.
            if pending {
                stimulus();
            }
            pending = poll(subject.as_mut(), &mut Context::from_waker(&waker)).is_pending();
        }
    }
    drop(subject);
    assert_eq!(Arc::strong_count(&task), 1, "a waker is left after {polls} polls");
    gone();
}
