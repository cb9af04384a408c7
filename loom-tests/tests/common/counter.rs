//! A task that counts.

use std::{
    sync::{Arc, atomic::Ordering::Relaxed},
    task::Wake,
};

/// A task that counts its wakes; on loom's atomics, or loom would not see that two orders differ.
#[derive(Debug, Default)]
pub(crate) struct Counter(loom::sync::atomic::AtomicUsize);

impl Counter {
    pub(crate) fn count(&self) -> usize {
        self.0.load(Relaxed)
    }
}

impl Wake for Counter {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Relaxed);
    }
}
