//! What every stream and every future keeps, in every state.

use std::{fmt::Debug, sync::Arc, task::Poll};

use futures::{Stream, stream::FusedStream};

use super::case::{Case, POLLS};
use crate::support::task::kept;

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
pub(crate) fn keeps_as_a_future<Fut: Future>(case: impl Fn() -> Case<Fut>) {
    keeps(|| case().once());
}

impl<St: Stream> Case<St> {
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

    /// Looks whether it stays over, and what is left.
    pub(super) fn has_ended(mut self) {
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
