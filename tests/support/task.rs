//! Tasks that count.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    task::{Wake, Waker},
};

/// A task that counts its wakes. How many hold it shows whether a waker of it is kept anywhere.
#[derive(Default)]
pub(crate) struct Task(AtomicUsize);

impl Task {
    pub(crate) fn new() -> (Arc<Task>, Waker) {
        let task = Arc::new(Task::default());
        (Arc::clone(&task), Waker::from(Arc::clone(&task)))
    }

    pub(crate) fn wakes(&self) -> usize {
        self.0.load(Relaxed)
    }
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Relaxed);
    }
}

/// How many wakers of the task are kept, beside the one the test holds.
pub(crate) fn kept(task: &Arc<Task>) -> usize {
    Arc::strong_count(task) - 2
}
