//! How much one poll may do where there is always more to be done (C36).

use std::{
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    task::{Context, Poll},
};

use futures::{Stream, executor::LocalPool, task::LocalSpawnExt};

use crate::support::task::Task;

/// How many polls there are of what never ends.
const POLLS: usize = 100;

/// Counts the turns that parts of the user's have in one poll. One too many panics: a poll that never
/// returns is an error and not a hang.
#[derive(Clone)]
pub(crate) struct Turns {
    most: u32,
    taken: Arc<AtomicU32>,
}

impl Turns {
    /// A part is called, or polled.
    pub(crate) fn take(&self) {
        let taken = self.taken.fetch_add(1, Relaxed);
        assert!(taken < self.most, "more than {} turns in one poll", self.most);
    }

    /// Has `stream` take a turn with each poll.
    pub(crate) fn of<St: Stream>(&self, stream: St) -> impl Stream<Item = St::Item> + use<St> {
        let (turns, mut stream) = (self.clone(), Box::pin(stream));
        futures::stream::poll_fn(move |cx| {
            turns.take();
            stream.as_mut().poll_next(cx)
        })
    }
}

/// Requires of a stream whose input is endless and always at hand that one poll of it takes `most` turns
/// of that at most, that it comes back for more by itself, and that a sibling on its thread goes on.
pub(crate) fn is_bounded<St: Stream + 'static>(most: u32, endless: impl Fn(&Turns) -> St) {
    is_bounded_by(most, endless, |stream, cx| stream.poll_next(cx).map(drop));
}

/// The same of a future, which is not ready meanwhile.
pub(crate) fn is_bounded_as_a_future<Fut: Future + 'static>(
    most: u32,
    endless: impl Fn(&Turns) -> Fut,
) {
    is_bounded_by(most, endless, |future, cx| {
        assert!(future.poll(cx).is_pending(), "its input is endless");
        Poll::Pending
    });
}

fn is_bounded_by<S: 'static>(
    most: u32,
    endless: impl Fn(&Turns) -> S,
    poll: fn(std::pin::Pin<&mut S>, &mut Context<'_>) -> Poll<()>,
) {
    let turns = Turns { most, taken: Arc::default() };
    let mut subject = pin!(endless(&turns));
    let (task, waker) = Task::new();
    let mut taken = 0;
    for _ in 0..POLLS {
        let wakes = task.wakes();
        if poll(subject.as_mut(), &mut Context::from_waker(&waker)).is_pending() {
            assert!(task.wakes() > wakes, "there is more of it, and nobody says so");
        }
        taken += turns.taken.swap(0, Relaxed) as usize;
    }
    assert!(taken >= POLLS, "it takes {taken} of an endless input");

    let (siblings_turns, mut subject) = (turns.clone(), Box::pin(endless(&turns)));
    let mut pool = LocalPool::new();
    let busy = std::future::poll_fn(move |cx| {
        siblings_turns.taken.store(0, Relaxed);
        // Who takes the items of an endless stream lets others have their turn.
        if poll(subject.as_mut(), cx).is_ready() {
            cx.waker().wake_by_ref();
        }
        Poll::<()>::Pending
    });
    pool.spawner().spawn_local(busy).expect("the pool is there");
    let mut turns_left = POLLS;
    pool.run_until(std::future::poll_fn(|cx| {
        if turns_left == 0 {
            return Poll::Ready(());
        }
        turns_left -= 1;
        cx.waker().wake_by_ref();
        Poll::Pending
    }));
}
