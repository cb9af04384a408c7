//! The bell: whether anything but the live stream may have something to say.
//!
//! News, the chain of attempts, timers and beats are polled with a waker of the rider's own. Woken, it
//! rings: it sets one flag and wakes the task that polled the rider last. The live stream is polled with
//! that task's own waker. So an item's way reads one byte, and a wake-up by the stream alone looks at the
//! stream alone.
//!
//! # Invariants
//!
//! 1. The flag is cleared before a look, and stays clear only if every input was polled to pending in that
//!    look. An item, a phase, a panic, or the end of a poll's share leave it set.
//! 2. An input that is made during a look is polled in that look.
//! 3. A poll that returns pending registers its task's waker where that changed, and then reads the flag
//!    again: what rings between the look and the wait is heard.
//! 4. A completion or a refusal of the live stream looks at the news first, rung or not.
//! 5. One look of bounded work a poll, then the stream has its turn. Dropped, the bell lets go of the
//!    task's waker.

use std::{
    sync::Arc,
    task::{Context, Wake, Waker},
};

use crate::sync::{AtomicU8, Mutex, Ordering, lock};

/// It rang, and nobody has looked since.
const RUNG: u8 = 1;
/// The next item is not to be passed on unseen: nothing is live, or its first item is to come.
const CLOSED: u8 = 2;
/// Each item is read, for its resume point, its version or its number.
const READS: u8 = 4;

/// The bell of one rider.
pub(super) struct Bell {
    shared: Arc<Shared>,
    waker: Waker,
}

/// What the wakers of its inputs share with the rider.
struct Shared {
    gate: AtomicU8,
    // Who polled the rider last, and waits.
    task: Mutex<Option<Waker>>,
}

/// A look at everything: dropped, it sets the flag again, but for one that is all pending (invariant 1).
pub(super) struct Look {
    shared: Option<Arc<Shared>>,
}

/// How an item may pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gate {
    /// Unseen.
    Open,
    /// Once it is read.
    Reads,
    /// After a look.
    Closed,
}

impl Bell {
    /// Creates a bell that has rung.
    pub(super) fn new(reads_items: bool) -> Self {
        let gate = AtomicU8::new(RUNG | CLOSED | if reads_items { READS } else { 0 });
        let shared = Arc::new(Shared { gate, task: Mutex::new(None) });
        let waker = Waker::from(Arc::clone(&shared));
        Bell { shared, waker }
    }

    /// The waker with which everything but the live stream is polled.
    pub(super) fn waker(&self) -> &Waker {
        &self.waker
    }

    /// How the next item may pass.
    #[inline]
    pub(super) fn gate(&self) -> Gate {
        match self.shared.gate.load(Ordering::Acquire) {
            0 => Gate::Open,
            READS => Gate::Reads,
            _ => Gate::Closed,
        }
    }

    /// Whether it has rung since the last look.
    pub(super) fn is_rung(&self) -> bool {
        self.shared.gate.load(Ordering::SeqCst) & RUNG != 0
    }

    /// Has the next poll look, of the rider's own accord: nobody waits for it.
    pub(super) fn look_next(&self) {
        self.shared.gate.fetch_or(RUNG, Ordering::SeqCst);
    }

    /// Lets items pass from here on, or has the next one seen.
    pub(super) fn set_open(&self, open: bool) {
        if open {
            self.shared.gate.fetch_and(!CLOSED, Ordering::SeqCst);
        } else {
            self.shared.gate.fetch_or(CLOSED, Ordering::SeqCst);
        }
    }

    /// Begins a look at everything (invariant 1).
    pub(super) fn look(&self) -> Look {
        self.shared.gate.fetch_and(!RUNG, Ordering::SeqCst);
        Look { shared: Some(Arc::clone(&self.shared)) }
    }

    /// The poll is to return pending: has its task woken by the next ring. Returns false where it has
    /// rung already (invariant 3).
    pub(super) fn wait(&self, cx: &Context<'_>) -> bool {
        self.register(cx.waker());
        !self.is_rung()
    }

    fn register(&self, waker: &Waker) {
        let is_registered =
            lock(&self.shared.task).as_ref().is_some_and(|registered| registered.will_wake(waker));
        if !is_registered {
            // A waker's clone and drop are foreign code, and run outside the lock.
            let fresh = waker.clone();
            let replaced = lock(&self.shared.task).replace(fresh);
            drop(replaced);
        }
    }
}

impl Drop for Bell {
    fn drop(&mut self) {
        let registered = lock(&self.shared.task).take();
        drop(registered);
    }
}

impl Look {
    /// Every input was polled to pending: the flag stays clear, unless it has rung since.
    pub(super) fn all_pending(mut self) {
        self.shared = None;
    }
}

impl Drop for Look {
    fn drop(&mut self) {
        if let Some(shared) = &self.shared {
            shared.gate.fetch_or(RUNG, Ordering::SeqCst);
        }
    }
}

impl Wake for Shared {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.gate.fetch_or(RUNG, Ordering::SeqCst);
        let task = lock(&self.task).take();
        if let Some(task) = task {
            task.wake();
        }
    }
}
