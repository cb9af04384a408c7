//! A hub, which serves an address for one lifetime, from outside: a mailbox, and what can be seen of its
//! task.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use rideout::{
    Refusal,
    activation::StreamId,
    owner::{Ending, EvictionCounts, LeavingHost, Lifecycle, Message, RunLevel},
    time::{Timer, TokioTimer},
};
use tokio::{
    sync::{Notify, mpsc, watch},
    task::AbortHandle,
};

use crate::{register::Seen, request::Request};

/// When a hub is to be dead, once it was told to end and that is decided; `None` is never.
#[derive(Default)]
pub(crate) struct Deadline(OnceLock<Option<Instant>>);

impl Deadline {
    /// Decides that the end takes `teardown` from now on, where nothing is decided yet, and returns what
    /// is.
    pub(crate) fn decide(&self, teardown: impl FnOnce() -> Duration) -> Option<Instant> {
        *self.0.get_or_init(|| TokioTimer.now().checked_add(teardown()))
    }
}

/// What the task of a hub has of it: the other ends of what the outside holds.
pub(crate) struct TaskSide<T> {
    pub(crate) requests: mpsc::UnboundedReceiver<Request<T>>,
    // Weak: where there is no other sender left, the mesh is gone.
    pub(crate) mailbox: mpsc::WeakUnboundedSender<Request<T>>,
    pub(crate) seen: watch::Sender<Seen>,
    pub(crate) look: Arc<Notify>,
    pub(crate) deadline: Arc<Deadline>,
}

/// The outside of a hub, as the mesh holds it.
pub(crate) struct Hub<T> {
    host: LeavingHost,
    lifecycle: Lifecycle,
    mailbox: mpsc::UnboundedSender<Request<T>>,
    seen: watch::Receiver<Seen>,
    // Tells the task to look at the faults, which have changed.
    look: Arc<Notify>,
    deadline: Arc<Deadline>,
    task: AbortHandle,
    killed: AtomicBool,
}

impl<T> Hub<T> {
    /// Starts a hub, whose task is what `run` makes, on the runtime that this is called in.
    pub(crate) fn start<F>(
        host: LeavingHost,
        lifecycle: Lifecycle,
        run: impl FnOnce(TaskSide<T>) -> F,
    ) -> Arc<Self>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (mailbox, requests) = mpsc::unbounded_channel();
        let (show, seen) = watch::channel(Seen::default());
        let (look, deadline) = (Arc::new(Notify::new()), Arc::new(Deadline::default()));
        let task = run(TaskSide {
            requests,
            mailbox: mailbox.downgrade(),
            seen: show,
            look: Arc::clone(&look),
            deadline: Arc::clone(&deadline),
        });
        let task = tokio::spawn(task).abort_handle();
        let killed = AtomicBool::new(false);
        Arc::new(Self { host, lifecycle, mailbox, seen, look, deadline, task, killed })
    }

    pub(crate) fn host(&self) -> &LeavingHost {
        &self.host
    }

    pub(crate) fn lifecycle(&self) -> &Lifecycle {
        &self.lifecycle
    }

    /// Returns whether the hub ended without a teardown: killed, or its runtime is gone.
    pub(crate) fn is_lost(&self) -> bool {
        self.killed.load(Ordering::Acquire)
            || (self.mailbox.is_closed() && self.lifecycle.level() < RunLevel::Dead)
    }

    /// Returns whether nothing answers here any more but the door, and perhaps not even that.
    pub(crate) fn is_corpse(&self) -> bool {
        self.is_lost() || self.lifecycle.level() == RunLevel::Dead
    }

    /// Returns how many streams the hub serves.
    pub(crate) fn subscribers(&self) -> usize {
        if self.is_lost() { 0 } else { self.seen.borrow().streams.len() }
    }

    /// Returns the streams that the hub serves.
    pub(crate) fn streams(&self) -> Vec<StreamId> {
        if self.is_lost() {
            return Vec::new();
        }
        self.seen.borrow().streams.iter().copied().collect()
    }

    /// Returns how many of its frames were refused.
    pub(crate) fn evictions(&self) -> EvictionCounts {
        self.seen.borrow().evictions
    }

    /// Decides how long the end takes, where it was asked for: now, or before and this was not decided.
    pub(crate) fn ends_in(&self, teardown: Duration) {
        if self.lifecycle.ending().is_some() {
            self.deadline.decide(|| teardown);
        }
    }

    /// Tells the hub to end, and decides how long that takes.
    pub(crate) fn end(&self, ending: Ending, teardown: Duration) {
        self.lifecycle.dispose(ending);
        self.ends_in(teardown);
    }

    /// Kills the hub: it says nothing more, to anyone.
    pub(crate) fn kill(&self) {
        self.killed.store(true, Ordering::Release);
        self.task.abort();
    }

    /// Has the hub look at the faults, which have changed.
    pub(crate) fn look(&self) {
        self.look.notify_one();
    }

    /// Puts a request into the mailbox, where the door lets it in.
    pub(crate) fn deliver(&self, request: Request<T>) {
        let Some(request) = self.lifecycle.admit(request) else { return };
        if let Err(mpsc::error::SendError(request)) = self.mailbox.send(request) {
            // Closed since: it died, or was lost, between the two looks.
            if self.is_lost() {
                let refusal = Refusal::host_cannot_route(self.lifecycle.address());
                request.refuse(refusal, self.lifecycle.reply_path());
            } else {
                _ = self.lifecycle.admit(request);
            }
        }
    }
}

impl<T> Drop for Hub<T> {
    fn drop(&mut self) {
        // Its mailbox has no sender left, and what it still waits for is nobody's. One that is dead has
        // a last turn, in which it refuses what it had accepted.
        if self.lifecycle.level() < RunLevel::Dead {
            self.task.abort();
        }
    }
}
