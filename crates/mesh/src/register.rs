//! The streams that a hub serves, and what of them can be seen from outside.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use rideout::{
    Address,
    activation::StreamId,
    owner::{EvictionCounts, Frame as DueFrame, Lifecycle, PendingReply, Released, Subscribers},
    refusal::Seam,
    time::{Timer, TokioTimer},
};
use tokio::sync::{mpsc, watch};

use crate::{
    frame::Frame,
    panics,
    request::{Reply, answer},
    subscription::Opened,
};

/// Where the frames of a stream go.
pub(crate) struct Sink<T> {
    /// The reader, by the address of its own that its deliveries have.
    pub(crate) subscriber: Address,
    pub(crate) frames: mpsc::UnboundedSender<Frame<T>>,
}

impl<T> Clone for Sink<T> {
    fn clone(&self) -> Self {
        Self { subscriber: self.subscriber.clone(), frames: self.frames.clone() }
    }
}

/// The answer to an ask, until there is a state.
pub(crate) struct Held<T> {
    pub(crate) reply: Reply<Opened<T>>,
    pub(crate) opened: Opened<T>,
    pub(crate) pending: PendingReply,
}

/// A frame that has come due.
pub(crate) type Due<T> = DueFrame<StreamId, Sink<T>, Held<T>>;

/// What can be seen of a register from outside, as its hub shows it.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) streams: BTreeSet<StreamId>,
    pub(crate) evictions: EvictionCounts,
}

/// The streams that a hub serves. All is done by the hub's own task, in order.
pub(crate) struct Register<T> {
    lifecycle: Lifecycle,
    subscribers: Subscribers<StreamId, Sink<T>, Held<T>>,
    seen: watch::Sender<Seen>,
}

impl<T> Register<T> {
    pub(crate) fn new(
        lifecycle: Lifecycle,
        idle_release: Duration,
        seen: watch::Sender<Seen>,
    ) -> Self {
        Self { lifecycle, subscribers: Subscribers::new().idle_release(idle_release), seen }
    }

    /// Serves a stream; returns its first frame where there is a state.
    pub(crate) fn ask(
        &mut self,
        stream: StreamId,
        attempt: u32,
        sink: Sink<T>,
        held: Held<T>,
    ) -> Option<Due<T>> {
        let asked = self.subscribers.ask(stream, attempt, sink, held, TokioTimer.now());
        if asked.refused.is_none() {
            self.seen.send_modify(|seen| _ = seen.streams.insert(stream));
        }
        self.refuse(asked.refused);
        // The reader before is woken, as in `refuse_all`.
        panics::contained(|| drop(asked.replaced));
        asked.frame
    }

    /// Returns the next frame of every stream.
    pub(crate) fn publish(&mut self) -> Vec<Due<T>> {
        self.subscribers.publish()
    }

    /// Returns whether `stream` is served here.
    pub(crate) fn beat(&mut self, stream: StreamId) -> bool {
        self.subscribers.beat(&stream, TokioTimer.now())
    }

    /// Ends the registration of a stream that was asked for by `attempt`; returns whether it was there.
    pub(crate) fn unsubscribe(&mut self, stream: StreamId, attempt: u32) -> bool {
        let released = self.subscribers.unsubscribe(&stream, attempt);
        let was_there = released.is_some();
        self.refuse_all(released);
        was_there
    }

    /// Ends a stream that is not to be opened after all: its owner leaves.
    pub(crate) fn turn_away(&mut self, due: Due<T>) {
        self.unsubscribe(due.key, due.attempt);
        self.refuse(due.acknowledgements);
    }

    /// Releases the streams whose subscriber gave no sign for long, and returns them: whom to tell.
    pub(crate) fn release_idle(&mut self) -> Vec<StreamId> {
        let released = self.subscribers.release_idle(TokioTimer.now());
        self.refuse_all(released)
    }

    pub(crate) fn next_release(&self) -> Option<Instant> {
        self.subscribers.next_release()
    }

    /// Ends every stream, and returns them: whom to tell.
    pub(crate) fn end(&mut self) -> Vec<StreamId> {
        let released = self.subscribers.end();
        self.refuse_all(released)
    }

    /// Shows how many deliveries were refused.
    pub(crate) fn show_evictions(&self, counts: EvictionCounts) {
        self.seen.send_modify(|seen| seen.evictions = counts);
    }

    fn no_longer_seen(&self, stream: StreamId) {
        self.seen.send_modify(|seen| _ = seen.streams.remove(&stream));
    }

    /// Refuses what was held for streams that were released, and returns them.
    fn refuse_all(
        &self,
        released: impl IntoIterator<Item = Released<StreamId, Sink<T>, Held<T>>>,
    ) -> Vec<StreamId> {
        let end = |Released { key, held, sink, .. }| {
            self.no_longer_seen(key);
            self.refuse(held);
            // Its reader is woken, whose waker is foreign code.
            panics::contained(|| drop(sink));
            key
        };
        released.into_iter().map(end).collect()
    }

    /// Refuses answers that were held for a state that never came (`R44`). What was opened for them says
    /// a goodbye that ends nothing: the register has let go of it already.
    fn refuse(&self, held: impl IntoIterator<Item = Held<T>>) {
        for Held { reply, opened, pending } in held {
            drop(opened);
            let refusal = self.lifecycle.closing().refuse(Seam::Reassert, "SubscribeRequest");
            answer(reply, Err(refusal));
            drop(pending);
        }
    }
}

impl<T> Drop for Register<T> {
    /// Ends every stream without a word: whoever an answer is held for is not to wait for a hub that is
    /// lost, and the route tells them.
    fn drop(&mut self) {
        // One by one: each has wakers of its own.
        for Released { key, held, sink, .. } in self.subscribers.end() {
            self.no_longer_seen(key);
            held.into_iter().for_each(|held| panics::contained(|| drop(held)));
            panics::contained(|| drop(sink));
        }
    }
}
