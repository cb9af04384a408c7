//! Whom does a hub serve? Its streams, shared with those who say goodbye to them.

use std::{
    sync::Mutex,
    time::{Duration, Instant},
};

use tokio::sync::mpsc;

use super::{
    request::{Reply, answer},
    subscription::{Frame, Opened},
};
use crate::{
    activation::StreamId,
    address::Address,
    owner::{EvictionCounts, Lifecycle, PendingReply, Released, Subscribers},
    refusal::Seam,
    sync::lock,
    time::{Timer, TokioTimer},
    unwind,
};

/// Where the frames of a stream go.
pub(super) struct Sink<T> {
    /// The reader, by the address of its own that its deliveries have.
    pub(super) subscriber: Address,
    pub(super) frames: mpsc::UnboundedSender<Frame<T>>,
}

impl<T> Clone for Sink<T> {
    fn clone(&self) -> Self {
        Self { subscriber: self.subscriber.clone(), frames: self.frames.clone() }
    }
}

/// Returns the address of a stream's reader.
pub(super) fn subscriber(stream: StreamId) -> Address {
    format!("readers/{stream}").parse().expect("digits forge nothing")
}

/// The streams that a hub serves. All but a goodbye is done by the hub's own task, in order; nothing is
/// sent under the lock.
pub(super) struct Register<T> {
    lifecycle: Lifecycle,
    served: Mutex<Subscribers<StreamId, Sink<T>, Held<T>>>,
    // As the hub's task has counted them.
    evictions: Mutex<EvictionCounts>,
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
    pub(super) fn new(lifecycle: Lifecycle, idle_release: Duration) -> Self {
        let served = Mutex::new(Subscribers::new().idle_release(idle_release));
        Self { lifecycle, served, evictions: Mutex::default() }
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
        // The reader before is woken, as in `refuse_all`.
        unwind::contained(|| drop(asked.replaced));
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

    /// Ends the registration of a stream that was asked for by `attempt`.
    pub(super) fn unsubscribe(&self, stream: StreamId, attempt: u32) {
        let released = lock(&self.served).unsubscribe(&stream, attempt);
        self.refuse_all(released);
    }

    /// Ends a stream that is not to be opened after all: its owner leaves.
    pub(super) fn turn_away(&self, due: Due<T>) {
        self.unsubscribe(due.key, due.attempt);
        self.refuse(due.acknowledgements);
    }

    /// Releases the streams whose subscriber gave no sign for long, and returns them: whom to tell.
    pub(super) fn release_idle(&self) -> Vec<StreamId> {
        let released = lock(&self.served).release_idle(TokioTimer.now());
        self.refuse_and_list(released)
    }

    pub(super) fn next_release(&self) -> Option<Instant> {
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
        // One by one: each has wakers of its own.
        for Released { held, sink, .. } in released {
            held.into_iter().for_each(|held| unwind::contained(|| drop(held)));
            unwind::contained(|| drop(sink));
        }
    }

    pub(super) fn streams(&self) -> Vec<StreamId> {
        lock(&self.served).iter().map(|(stream, _)| *stream).collect()
    }

    pub(super) fn count(&self) -> usize {
        lock(&self.served).len()
    }

    pub(super) fn evictions(&self) -> EvictionCounts {
        *lock(&self.evictions)
    }

    pub(super) fn set_evictions(&self, counts: EvictionCounts) {
        *lock(&self.evictions) = counts;
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
        for Released { held, sink, .. } in released {
            self.refuse(held);
            // Its reader is woken, whose waker is foreign code.
            unwind::contained(|| drop(sink));
        }
    }

    /// Refuses answers that were held for a state that never came (`R44`).
    fn refuse(&self, held: impl IntoIterator<Item = Held<T>>) {
        for Held { reply, opened, pending } in held {
            // The register has let go of it already.
            opened.forget();
            let refusal = self.lifecycle.closing().refuse(Seam::Reassert, "SubscribeRequest");
            answer(reply, Err(refusal));
            drop(pending);
        }
    }
}
