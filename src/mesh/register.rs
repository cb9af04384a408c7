//! Whom does a hub serve? Its streams, shared with those who say goodbye to them.

use std::sync::{Mutex, Weak};

use tokio::sync::mpsc;

use super::{
    World,
    fault::Part,
    request::Reply,
    subscription::{Frame, Opened},
};
use crate::{
    activation::StreamId,
    owner::{Lifecycle, PendingReply, Released, Served},
    refusal::Seam,
    sync::lock,
    time::{Timer, TokioTimer},
};

/// Where the frames of a stream go.
pub(super) type Sink<T> = mpsc::UnboundedSender<Frame<T>>;

/// The streams that a hub serves. All but a goodbye is done by the hub's own task, in order; nothing is
/// sent under the lock.
pub(super) struct Register<T> {
    lifecycle: Lifecycle,
    served: Mutex<Served<StreamId, Sink<T>, Held<T>>>,
}

/// The answer to an ask, until there is a state.
pub(super) struct Held<T> {
    pub(super) reply: Reply<Opened<T>>,
    pub(super) opened: Opened<T>,
    pub(super) pending: PendingReply,
}

/// A frame that has come due.
pub(super) type Due<T> = crate::owner::Frame<StreamId, Sink<T>, Held<T>>;

impl<T> Register<T> {
    pub(super) fn new(lifecycle: Lifecycle) -> Self {
        Self { lifecycle, served: Mutex::new(Served::new()) }
    }

    /// Serves a stream; returns its first frame where there is a state.
    pub(super) fn ask(
        &self,
        stream: StreamId,
        attempt: u32,
        sink: Sink<T>,
        held: Held<T>,
    ) -> Option<Due<T>> {
        let asked = lock(&self.served).ask(stream, attempt, sink, held, TokioTimer.now());
        self.refuse(asked.refused);
        asked.frame
    }

    /// Returns the next frame of every stream.
    pub(super) fn publish(&self) -> Vec<Due<T>> {
        lock(&self.served).publish()
    }

    /// Returns whether `stream` is served here.
    pub(super) fn beat(&self, stream: StreamId) -> bool {
        lock(&self.served).beat(&stream, TokioTimer.now())
    }

    fn unsubscribe(&self, stream: StreamId, attempt: u32) {
        let released = lock(&self.served).unsubscribe(&stream, attempt);
        self.refuse_all(released);
    }

    /// Releases the streams whose subscriber gave no sign for long, and returns them: whom to tell.
    pub(super) fn release_idle(&self) -> Vec<StreamId> {
        let released = lock(&self.served).release_idle(TokioTimer.now());
        self.refuse_and_list(released)
    }

    pub(super) fn next_release(&self) -> Option<std::time::Instant> {
        lock(&self.served).next_release()
    }

    /// Ends every stream, and returns them: whom to tell.
    pub(super) fn end(&self) -> Vec<StreamId> {
        let released = lock(&self.served).end();
        self.refuse_and_list(released)
    }

    /// Ends every stream without a word.
    pub(super) fn abandon(&self) {
        let released = lock(&self.served).end();
        drop(released);
    }

    pub(super) fn streams(&self) -> Vec<StreamId> {
        lock(&self.served).iter().map(|(stream, _)| *stream).collect()
    }

    pub(super) fn count(&self) -> usize {
        lock(&self.served).len()
    }

    fn refuse_and_list(
        &self,
        released: Vec<Released<StreamId, Sink<T>, Held<T>>>,
    ) -> Vec<StreamId> {
        let streams = released.iter().map(|released| released.key).collect();
        self.refuse_all(released);
        streams
    }

    fn refuse_all(&self, released: impl IntoIterator<Item = Released<StreamId, Sink<T>, Held<T>>>) {
        released.into_iter().for_each(|released| self.refuse(released.held));
    }

    /// Refuses answers that were held for a state that never came (`R44`).
    fn refuse(&self, held: impl IntoIterator<Item = Held<T>>) {
        for Held { reply, opened, pending } in held {
            // Asked for by nobody any more: its goodbye would be for nothing.
            opened.forget();
            let refusal = self.lifecycle.closing().refuse(Seam::Reassert, "SubscribeRequest");
            _ = reply.send(Err(refusal));
            drop(pending);
        }
    }
}

/// Says goodbye to a stream when it is dropped, in the name of the ask that it was registered by.
pub(super) struct Goodbye<T> {
    pub(super) world: Weak<World<T>>,
    pub(super) register: Weak<Register<T>>,
    pub(super) stream: StreamId,
    pub(super) attempt: u32,
}

impl<T> Drop for Goodbye<T> {
    fn drop(&mut self) {
        let Some(register) = self.register.upgrade() else { return };
        let path = register.lifecycle.address().path();
        let is_lost = self
            .world
            .upgrade()
            .is_some_and(|world| lock(&world.state).faults.has(path, Part::Goodbyes));
        if !is_lost {
            register.unsubscribe(self.stream, self.attempt);
        }
    }
}
