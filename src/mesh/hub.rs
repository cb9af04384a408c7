//! Who serves an address for one lifetime? A hub: a task that works off a mailbox, one request at a
//! time.
//!
//! It is put together from the parts of [`owner`](crate::owner): a lifecycle and its tear-down, gates,
//! served streams.
//!
//! # Invariants
//!
//! 1. The door is looked at when a request arrives, the level once more when its turn comes: what was
//!    turned away and what was accepted and then could not be finished are told apart (`R2`).
//! 2. Every request is answered once, unless the hub is killed.
//! 3. The hub's task holds the mesh weakly. Where its mailbox has no sender left, the mesh is gone, and
//!    the task ends.
//! 4. A waker that panics is the affair of who waits with it: the hub and all others go on.

use std::{
    future::{pending, poll_fn},
    pin::pin,
    sync::{
        Arc, OnceLock, Weak,
        atomic::{AtomicBool, Ordering},
    },
    task::Poll,
    time::{Duration, Instant},
};

use tokio::{
    select,
    sync::{Notify, mpsc},
    task::{AbortHandle, yield_now},
};

use super::{
    Settings, Versioned, World,
    deliveries::Deliveries,
    fault::Part,
    goodbye::Goodbye,
    register::{Due, Held, Register, Sink, subscriber},
    request::{Accepted, Request, answer},
    store::Store,
    subscription::{Body, Frame, Opened},
};
use crate::{
    activation::StreamId,
    owner::{Ending, EvictionCounts, Gates, LeavingHost, Lifecycle, Message, RunLevel},
    refusal::{News, Refusal},
    sync::lock,
    time::{Timer, TokioTimer, later},
    unwind,
};

/// What closes while the state of an owner is held back.
const LOADING: &str = "loading";

/// What closes while the writes of the store are held.
const STORE: &str = "store";

/// The outside of a hub, as the mesh holds it.
pub(super) struct Hub<T> {
    host: LeavingHost,
    lifecycle: Lifecycle,
    register: Arc<Register<T>>,
    mailbox: mpsc::UnboundedSender<Request<T>>,
    // Tells the task to look at the faults, which have changed.
    look: Arc<Notify>,
    // When it is to be dead, once it was told to end.
    ends: Arc<OnceLock<Instant>>,
    task: AbortHandle,
    killed: AtomicBool,
}

impl<T: Send + Sync + 'static> Hub<T> {
    /// Starts a hub on the runtime that this is called in. Whoever starts it has it [leave](Self::leaves)
    /// when it dies, once no lock is held: it may be dead by then, forced by its parent's end.
    pub(super) fn start(
        world: &Arc<World<T>>,
        host: LeavingHost,
        lifecycle: Lifecycle,
        Settings { watchdog, idle_release, .. }: Settings,
    ) -> Arc<Self> {
        let (mailbox, requests) = mpsc::unbounded_channel();
        let register = Arc::new(Register::new(lifecycle.clone(), idle_release));
        let (look, ends) = (Arc::new(Notify::new()), Arc::new(OnceLock::new()));
        let inside = Inside {
            world: Arc::downgrade(world),
            store: Arc::clone(&world.store),
            host: host.clone(),
            reads: Gates::new(lifecycle.clone()),
            writes: Gates::new(lifecycle.clone()),
            lifecycle: lifecycle.clone(),
            register: Arc::clone(&register),
            look: Arc::clone(&look),
            ends: Arc::clone(&ends),
            requests,
            state: None,
            deliveries: Deliveries::new(lifecycle.address().clone()),
            told: Vec::new(),
        };
        let task = tokio::spawn(inside.run(watchdog)).abort_handle();
        let killed = AtomicBool::new(false);
        Arc::new(Self { host, lifecycle, register, mailbox, look, ends, task, killed })
    }

    /// Has the hub leave the directory when it is dead.
    pub(super) fn leaves(self: &Arc<Self>, world: &Arc<World<T>>) {
        let (world, dead) = (Arc::downgrade(world), Arc::downgrade(self));
        self.lifecycle.on_death(move || {
            if let (Some(world), Some(hub)) = (world.upgrade(), dead.upgrade()) {
                world.left(&hub);
            }
        });
    }
}

impl<T> Hub<T> {
    pub(super) fn host(&self) -> &LeavingHost {
        &self.host
    }

    pub(super) fn lifecycle(&self) -> &Lifecycle {
        &self.lifecycle
    }

    /// Returns whether the hub ended without a teardown: killed, or its runtime is gone.
    pub(super) fn is_lost(&self) -> bool {
        self.killed.load(Ordering::Acquire)
            || (self.mailbox.is_closed() && self.lifecycle.level() < RunLevel::Dead)
    }

    /// Returns whether nothing answers here any more but the door, and perhaps not even that.
    pub(super) fn is_corpse(&self) -> bool {
        self.is_lost() || self.lifecycle.level() == RunLevel::Dead
    }

    /// Returns how many streams the hub serves.
    pub(super) fn subscribers(&self) -> usize {
        if self.is_lost() { 0 } else { self.register.count() }
    }

    /// Returns the streams that the hub serves.
    pub(super) fn streams(&self) -> Vec<StreamId> {
        if self.is_lost() { Vec::new() } else { self.register.streams() }
    }

    /// Returns how many of its frames were refused.
    pub(super) fn evictions(&self) -> EvictionCounts {
        self.register.evictions()
    }

    /// Decides how long the end takes, where it was asked for: now, or before and this was not decided.
    pub(super) fn ends_in(&self, teardown: Duration) {
        if self.lifecycle.ending().is_some() {
            self.ends.get_or_init(|| later(TokioTimer.now(), teardown));
        }
    }

    /// Tells the hub to end, and decides how long that takes.
    pub(super) fn end(&self, ending: Ending, teardown: Duration) {
        self.lifecycle.dispose(ending);
        self.ends_in(teardown);
    }

    /// Kills the hub: it says nothing more, to anyone.
    pub(super) fn kill(&self) {
        self.killed.store(true, Ordering::Release);
        self.task.abort();
    }

    /// Has the hub look at the faults, which have changed.
    pub(super) fn look(&self) {
        self.look.notify_one();
    }

    /// Puts a request into the mailbox, where the door lets it in.
    pub(super) fn deliver(&self, request: Request<T>) {
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

/// The inside of a hub: what its task owns.
struct Inside<T> {
    world: Weak<World<T>>,
    store: Arc<Store<T>>,
    host: LeavingHost,
    lifecycle: Lifecycle,
    register: Arc<Register<T>>,
    reads: Gates<Accepted<T>>,
    writes: Gates<Accepted<T>>,
    look: Arc<Notify>,
    ends: Arc<OnceLock<Instant>>,
    requests: mpsc::UnboundedReceiver<Request<T>>,
    // `None` until it is loaded.
    state: Option<Arc<Versioned<T>>>,
    deliveries: Deliveries,
    // Who was served at the end.
    told: Vec<StreamId>,
}

impl<T> Drop for Inside<T> {
    /// Whoever an answer is held for is not to wait for a hub that is lost: the route tells them.
    fn drop(&mut self) {
        self.register.abandon();
    }
}

impl<T: Send + Sync + 'static> Inside<T> {
    async fn run(mut self, watchdog: Duration) {
        let last = {
            let (world, ends) = (Weak::clone(&self.world), Arc::clone(&self.ends));
            async move {
                // What waits here is refused first, though the time may be over already.
                yield_now().await;
                until(Some(decided(&world, &ends))).await;
            }
        };
        // In all it may take four times as long, as by default.
        let driver = self.lifecycle.driver(last);
        let mut end = pin!(driver.watchdog(watchdog).longest(watchdog.saturating_mul(4)));
        // Invariant 4: where it panics it is dead, and its teardown completed.
        let mut end =
            poll_fn(|cx| unwind::caught(|| end.as_mut().poll(cx)).unwrap_or(Poll::Ready(())));
        let mut refusing = pin!(self.lifecycle.reached(RunLevel::DisposeHosted));
        let mut swept = false;

        self.look_at_gates();
        self.hand_out();
        loop {
            let next = self.next_look();
            let look = Arc::clone(&self.look);
            select! {
                biased;
                () = &mut end => break,
                () = &mut refusing, if !swept => {
                    swept = true;
                    // Where its parent told it, nobody has decided yet.
                    _ = decided(&self.world, &self.ends);
                    self.sweep();
                }
                () = look.notified() => {}
                () = until(next) => {}
                request = self.requests.recv() => match request {
                    Some(request) => self.take(request),
                    None => return,
                },
            }
            self.look_at_gates();
            self.look_at_clock();
            self.hand_out();
            self.look_at_host();
        }
        self.leave().await;
    }

    /// Closes and opens the gates as the faults say.
    fn look_at_gates(&mut self) {
        let Some(world) = self.world.upgrade() else { return };
        let path = self.lifecycle.address().path();
        let (holds_state, holds_store) = {
            let faults = &lock(&world.state).faults;
            (faults.has(path, Part::State), faults.has(path, Part::Store))
        };
        if self.state.is_none() {
            if holds_state {
                self.reads.close(LOADING);
                self.writes.close(LOADING);
            } else {
                self.load();
            }
        }
        if holds_store {
            self.writes.close(STORE);
        } else {
            self.writes.open(STORE);
        }
    }

    /// Takes up what may go: a gate has opened, or what stood before it has expired.
    fn hand_out(&mut self) {
        while let Some(accepted) = self.reads.release() {
            self.serve(accepted);
        }
        while let Some(accepted) = self.writes.release() {
            self.serve(accepted);
        }
    }

    /// Reads the state of the activation before this one, and serves from it.
    fn load(&mut self) {
        let Some(state) = self.store.read(self.lifecycle.address().path()) else {
            // Deleted since. Nobody will ever be answered from here.
            self.lifecycle.dispose(Ending::deletion().reason("nothing is stored any more"));
            return;
        };
        self.state = Some(Arc::clone(&state));
        self.lifecycle.started();
        self.publish(&Body::State(state));
        self.reads.open(LOADING);
        self.writes.open(LOADING);
    }

    fn look_at_clock(&mut self) {
        let now = TokioTimer.now();
        self.reads.expire(now);
        self.writes.expire(now);
        // It ends them while it lives, and says so itself (`R43`); where its host has stopped they have
        // been told, and nothing goes out any more (`R46`).
        for stream in self.register.release_idle() {
            self.deliveries.forget(stream);
            if self.host.outbound(self.lifecycle.address()).is_ok() {
                self.tell(stream, News::Ended(Some(self.lifecycle.activation().clone())));
            }
        }
    }

    /// Hands its address off where its host leaves and it is idle (`R45`).
    fn look_at_host(&self) {
        if self.lifecycle.is_leaving()
            && self.lifecycle.ending().is_none()
            && let Some(world) = self.world.upgrade()
        {
            world.hand_off(&self.lifecycle, &self.host, &self.ends);
        }
    }

    fn next_look(&self) -> Option<Instant> {
        let expiries = [self.reads.next_expiry(), self.writes.next_expiry()];
        expiries.into_iter().flatten().chain(self.register.next_release()).min()
    }

    /// Takes up a request whose turn has come.
    fn take(&mut self, request: Request<T>) {
        let asks = matches!(request, Request::Subscribe { .. });
        // Those that a leaving host serves are told once (`R46`): nobody joins them after that.
        if self.lifecycle.level() >= RunLevel::DisposeHosted
            || (asks && self.lifecycle.is_leaving())
        {
            self.lifecycle.discard(request);
            return;
        }
        let pending = self.lifecycle.pending();
        let accepted = Accepted { request, pending };
        let gates = match accepted.request {
            Request::Subscribe { .. } | Request::Beat { .. } => return self.serve(accepted),
            Request::Read { .. } => &mut self.reads,
            Request::Write { .. } | Request::Patch { .. } => &mut self.writes,
        };
        if let Some(accepted) = gates.pass(accepted, TokioTimer.now()) {
            self.serve(accepted);
        }
    }

    fn serve(&mut self, Accepted { request, pending }: Accepted<T>) {
        match request {
            Request::Subscribe { stream, attempt, reply } => {
                let (frames_out, frames) = mpsc::unbounded_channel();
                let sink = Sink { subscriber: subscriber(stream), frames: frames_out };
                let here = (self.lifecycle.address(), &self.host);
                let goodbye = Goodbye::register(&self.world, &self.register, here, stream, attempt);
                let activation = self.lifecycle.activation().clone();
                let opened = Opened { activation, frames, goodbye };
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
            Request::Patch { ref patch, .. } => {
                let Some(state) = &self.state else { return };
                match unwind::caught(|| patch(&state.value)) {
                    Ok(value) => self.patched(value, request),
                    Err(_) => self.lifecycle.failed(request, &PatchPanicked),
                }
            }
            Request::Beat { stream } => {
                if !self.register.beat(stream) {
                    self.tell(stream, News::NotServing(Some(self.lifecycle.activation().clone())));
                }
            }
        }
    }

    /// Stores a value, and says so to the change feed; gives it back where all was deleted meanwhile.
    fn write(&mut self, value: T) -> Result<Arc<Versioned<T>>, T> {
        let path = self.lifecycle.address().path();
        let state = self.store.rewrite(path, value)?;
        self.state = Some(Arc::clone(&state));
        if let Some(world) = self.world.upgrade() {
            unwind::contained(|| world.changed(path, state.version));
        }
        Ok(state)
    }

    /// A patch was applied here: so it is at every subscriber.
    fn patched(&mut self, value: T, request: Request<T>) {
        let Ok(state) = self.write(value) else { return self.lifecycle.discard(request) };
        if let Request::Patch { patch, reply } = request {
            self.publish(&Body::Patch { version: state.version, patch });
            answer(reply, Ok(state.version));
        }
    }

    /// Sends the next frame to every stream.
    fn publish(&mut self, body: &Body<T>) {
        let path = self.lifecycle.address().path();
        let is_silent = self.host.outbound(self.lifecycle.address()).is_err()
            || self
                .world
                .upgrade()
                .is_none_or(|world| lock(&world.state).faults.has(path, Part::Frames));
        let frames = self.register.publish();
        self.deliveries.are_to(frames.iter().map(|due| due.key));
        for due in frames {
            self.send(due, body.clone(), !is_silent);
        }
        self.register.set_evictions(self.deliveries.counts());
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
            unwind::contained(|| _ = due.sink.frames.send(Frame { number: due.number, body }));
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
        let reader = &due.sink.subscriber;
        let Err(refusal) = world.deliver(self.lifecycle.address(), reader, due.key) else {
            self.deliveries.arrived(reader, due.key);
            return true;
        };
        if self.deliveries.refused(reader, due.key, &refusal) {
            self.register.unsubscribe(due.key, due.attempt);
        }
        false
    }

    fn tell(&self, stream: StreamId, news: News) {
        if let Some(world) = self.world.upgrade() {
            unwind::contained(|| world.tell(self.lifecycle.address().path(), stream, news));
        }
    }

    /// Refuses what waits here: nothing of it can be finished any more.
    fn sweep(&mut self) {
        self.reads.tear_down();
        self.writes.tear_down();
        self.told.extend(self.register.end());
    }

    /// It is dead and its teardown completed: refuses what still came, and announces the end where that
    /// is to be announced.
    async fn leave(mut self) {
        self.sweep();
        self.requests.close();
        // One that is being sent at this moment is waited for.
        while let Some(request) = self.requests.recv().await {
            self.lifecycle.discard(request);
        }
        let is_announced = self.lifecycle.ending().is_some_and(|ending| ending.is_announced());
        let activation = self.lifecycle.activation().clone();
        for &stream in self.told.iter().filter(|_| is_announced) {
            self.tell(stream, News::Ended(Some(activation.clone())));
        }
    }
}

/// A patch is the user's code.
#[derive(Debug, thiserror::Error)]
#[error("the patch panicked")]
struct PatchPanicked;

/// When one that was told to end is to be dead.
fn decided<T>(world: &Weak<World<T>>, ends: &OnceLock<Instant>) -> Instant {
    *ends.get_or_init(|| {
        let teardown = world.upgrade().map(|world| world.settings().teardown);
        later(TokioTimer.now(), teardown.unwrap_or_default())
    })
}

/// Waits until `at`, or for ever.
async fn until(at: Option<Instant>) {
    match at {
        Some(at) => TokioTimer.sleep(at.saturating_duration_since(TokioTimer.now())).await,
        None => pending().await,
    }
}
