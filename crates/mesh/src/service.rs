//! What a hub does for its readers: it answers the requests whose turn has come, and sends frames.
//!
//! It is put together from the parts of [`rideout::owner`]: a register of subscribers, and evictions of
//! those that are gone. A waker or a patch that panics is the affair of whoever gave it: the hub and all
//! others go on.

use std::sync::{Arc, Weak};

use rideout::{
    Address, News,
    activation::StreamId,
    owner::{Ending, Evictions, LeavingHost, Lifecycle},
    time::{Timer, TokioTimer},
};
use tokio::sync::mpsc;

use crate::{
    farewell::Farewell,
    fault::Part,
    frame::{Body, Frame, Patch, Versioned},
    goodbye::Goodbye,
    panics,
    register::{Due, Held, Register, Sink},
    request::{Accepted, Reply, Request, answer},
    store::Store,
    subscription::Opened,
    world::World,
};

/// What a hub serves from.
pub(crate) struct Service<T> {
    pub(crate) world: Weak<World<T>>,
    pub(crate) store: Arc<Store<T>>,
    pub(crate) host: LeavingHost,
    pub(crate) lifecycle: Lifecycle,
    pub(crate) register: Register<T>,
    pub(crate) evictions: Evictions<StreamId>,
    // Where those who were served say goodbye.
    pub(crate) mailbox: mpsc::WeakUnboundedSender<Request<T>>,
    // `None` until it is loaded.
    pub(crate) state: Option<Arc<Versioned<T>>>,
}

impl<T: Send + Sync + 'static> Service<T> {
    /// Reads the state of the activation before this one, and serves from it; returns whether there is one.
    pub(crate) fn load(&mut self) -> bool {
        let Some(state) = self.store.read(self.lifecycle.address().path()) else {
            // Deleted since. Nobody will ever be answered from here.
            self.lifecycle.dispose(Ending::deletion().reason("nothing is stored any more"));
            return false;
        };
        self.state = Some(Arc::clone(&state));
        self.lifecycle.started();
        self.publish(&Body::State(state));
        true
    }

    /// Answers a request whose turn has come.
    pub(crate) fn serve(&mut self, Accepted { request, pending }: Accepted<T>) {
        match request {
            Request::Subscribe { stream, attempt, reply } => {
                let (frames_out, frames) = mpsc::unbounded_channel();
                let sink = Sink { subscriber: subscriber(stream), frames: frames_out };
                let activation = self.lifecycle.activation().clone();
                let opened = Opened { activation, frames, goodbye: self.goodbye(stream, attempt) };
                let held = Held { reply, opened, pending };
                let due = self.register.ask(stream, attempt, sink, held);
                if let (Some(due), Some(state)) = (due, &self.state) {
                    self.send(due, Body::State(Arc::clone(state)), true);
                }
            }
            Request::Read { reply } => {
                if let Some(state) = &self.state {
                    answer(reply, Ok(Arc::clone(state)));
                }
            }
            Request::Write { value, reply } => match self.write(value) {
                Ok(state) => {
                    self.publish(&Body::State(Arc::clone(&state)));
                    answer(reply, Ok(state.version));
                }
                Err(value) => self.lifecycle.discard(Request::Write { value, reply }),
            },
            Request::Patch { patch, reply } => self.patch(patch, reply),
            Request::Beat { stream } => {
                if !self.register.beat(stream) {
                    self.tell(stream, News::NotServing(Some(self.lifecycle.activation().clone())));
                }
            }
            Request::Goodbye { stream, attempt } => self.unsubscribe(stream, attempt),
        }
    }

    /// A reader has said goodbye to one of its registrations. What it was refused is part of no storm any
    /// more.
    pub(crate) fn unsubscribe(&mut self, stream: StreamId, attempt: u32) {
        if self.register.unsubscribe(stream, attempt) {
            self.evictions.forget(&stream);
        }
    }

    /// Releases the streams whose readers gave no sign for long.
    pub(crate) fn release_idle(&mut self) {
        // It ends them while it lives, and says so itself (`R43`); where its host has stopped they have
        // been told, and nothing goes out any more (`R46`).
        for stream in self.register.release_idle() {
            self.evictions.forget(&stream);
            if self.host.outbound(self.lifecycle.address()).is_ok() {
                self.tell(stream, News::Ended(Some(self.lifecycle.activation().clone())));
            }
        }
    }

    /// Tells the reader of `stream`.
    pub(crate) fn tell(&self, stream: StreamId, news: News) {
        if let Some(world) = self.world.upgrade() {
            panics::contained(|| world.tell(self.lifecycle.address().path(), stream, news));
        }
    }

    /// Registers the reader's end of a stream: deliveries find it from here on (`R49`), and where it is
    /// dropped it says goodbye to this registration.
    fn goodbye(&self, stream: StreamId, attempt: u32) -> Goodbye {
        let owner = self.lifecycle.address().clone();
        if let Some(world) = self.world.upgrade() {
            world.register_reader(&owner, stream, attempt);
        }
        let mailbox = self.mailbox.clone();
        let farewell = Farewell { owner, host: self.host.clone(), stream, attempt, mailbox };
        let world = Weak::clone(&self.world);
        Goodbye::new(stream, move || {
            if let Some(world) = world.upgrade() {
                world.reader_is_gone(farewell);
            }
        })
    }

    /// Stores a value, and says so to the change feed; gives it back where all was deleted meanwhile.
    fn write(&mut self, value: T) -> Result<Arc<Versioned<T>>, T> {
        let path = self.lifecycle.address().path();
        let state = self.store.rewrite(path, value)?;
        self.state = Some(Arc::clone(&state));
        if let Some(world) = self.world.upgrade() {
            panics::contained(|| world.changed(path, state.version));
        }
        Ok(state)
    }

    /// Applies a patch here; so it is at every subscriber.
    fn patch(&mut self, patch: Patch<T>, reply: Reply<u64>) {
        let Some(state) = &self.state else { return };
        let Ok(value) = panics::caught(|| patch(&state.value)) else {
            return self.lifecycle.failed(Request::Patch { patch, reply }, &PatchPanicked);
        };
        let Ok(state) = self.write(value) else {
            return self.lifecycle.discard(Request::Patch { patch, reply });
        };
        self.publish(&Body::Patch { version: state.version, patch });
        answer(reply, Ok(state.version));
    }

    /// Sends the next frame to every stream.
    fn publish(&mut self, body: &Body<T>) {
        let owner = self.lifecycle.address();
        let is_silent = self.host.outbound(owner).is_err()
            || self
                .world
                .upgrade()
                .is_none_or(|it| it.state().faults.has(owner.path(), Part::Frames));
        for due in self.register.publish() {
            self.send(due, body.clone(), !is_silent);
        }
    }

    /// Sends a frame, where it goes out, and gives the answers that waited for it.
    fn send(&mut self, due: Due<T>, body: Body<T>, goes_out: bool) {
        // Looked at once it is registered: who leaves after this look finds it among those to tell.
        if !due.acknowledgements.is_empty() && self.lifecycle.is_leaving() {
            return self.register.turn_away(due);
        }
        // The first frame is part of the answer, and goes its way; it is delivered like all others.
        if (goes_out || due.number == 1) && self.delivers(&due) {
            // One that was dropped since has said goodbye, or will be found to be gone.
            panics::contained(|| _ = due.sink.frames.send(Frame { number: due.number, body }));
        }
        for Held { reply, opened, pending } in due.acknowledgements {
            // An asker that is gone drops what was opened, and so says goodbye.
            answer(reply, Ok(opened));
            drop(pending);
        }
    }

    /// Returns whether a frame finds its reader. One that is gone for good is dropped (`R50`).
    fn delivers(&mut self, due: &Due<T>) -> bool {
        let Some(world) = self.world.upgrade() else { return false };
        let (stream, reader) = (due.key, &due.sink.subscriber);
        let Err(refusal) = world.deliver(self.lifecycle.address(), reader, stream) else {
            self.evictions.delivered(&stream, reader);
            return true;
        };
        if self.evictions.refused(&stream, reader, &refusal, TokioTimer.now()) {
            self.register.unsubscribe(stream, due.attempt);
        }
        self.register.show_evictions(self.evictions.counts());
        false
    }
}

/// Returns the address of a stream's reader.
fn subscriber(stream: StreamId) -> Address {
    format!("readers/{stream}").parse().expect("digits forge nothing")
}

/// A patch is the user's code.
#[derive(Debug, thiserror::Error)]
#[error("the patch panicked")]
struct PatchPanicked;
