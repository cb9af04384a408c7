//! The inside of a hub: a task that works off a mailbox, one request at a time, until it is dead.
//!
//! It is put together from the parts of [`rideout::owner`]: a lifecycle and its tear-down, and gates.
//!
//! # Invariants
//!
//! 1. The door is looked at when a request arrives, the level once more when its turn comes: what was
//!    turned away and what was accepted and then could not be finished are told apart (`R2`).
//! 2. Every request is answered once, unless the hub is killed.
//! 3. The hub's task holds the mesh weakly. Where its mailbox has no sender left, the mesh is gone, and
//!    the task ends.
//! 4. A waker that panics is the affair of who waits with it: the hub and all others go on.
//! 5. A goodbye is heard at any level, and overtakes what waits: the task sends nothing more to one whose
//!    goodbye has come, and announces no end to it.

use std::{
    collections::VecDeque,
    future::{pending, poll_fn},
    pin::pin,
    sync::{Arc, Weak},
    task::Poll,
    time::{Duration, Instant},
};

use rideout::{
    News,
    activation::StreamId,
    owner::{Evictions, Gates, LeavingHost, Lifecycle, RunLevel},
    time::{Timer, TokioTimer},
};
use tokio::{
    select,
    sync::{Notify, mpsc},
    task::{consume_budget, yield_now},
};

use crate::{
    fault::Part,
    hub::{Deadline, Hub, TaskSide},
    panics,
    register::Register,
    request::{Accepted, Request},
    service::Service,
    world::{Settings, World},
};

/// What closes while the state of an owner is held back.
const LOADING: &str = "loading";

/// What closes while the writes of the store are held.
const STORE: &str = "store";

/// Starts a hub on the runtime that this is called in.
pub(crate) fn start<T: Send + Sync + 'static>(
    world: &Arc<World<T>>,
    host: LeavingHost,
    lifecycle: Lifecycle,
    Settings { watchdog, idle_release, .. }: Settings,
) -> Arc<Hub<T>> {
    Hub::start(
        host.clone(),
        lifecycle.clone(),
        |TaskSide { requests, mailbox, seen, look, deadline }| {
            let service = Service {
                world: Arc::downgrade(world),
                store: Arc::clone(&world.store),
                host,
                register: Register::new(lifecycle.clone(), idle_release, seen),
                evictions: Evictions::new(lifecycle.address().clone()),
                lifecycle: lifecycle.clone(),
                mailbox,
                state: None,
            };
            let owner = Owner {
                reads: Gates::new(lifecycle.clone()),
                writes: Gates::new(lifecycle.clone()),
                lifecycle,
                look,
                deadline,
                requests,
                waiting: VecDeque::new(),
                service,
                told: Vec::new(),
            };
            owner.run(watchdog)
        },
    )
}

/// The inside of a hub: what its task owns.
struct Owner<T> {
    lifecycle: Lifecycle,
    reads: Gates<Accepted<T>>,
    writes: Gates<Accepted<T>>,
    look: Arc<Notify>,
    deadline: Arc<Deadline>,
    requests: mpsc::UnboundedReceiver<Request<T>>,
    // What has come, and has not had its turn.
    waiting: VecDeque<Request<T>>,
    service: Service<T>,
    // Who was served at the end.
    told: Vec<StreamId>,
}

impl<T: Send + Sync + 'static> Owner<T> {
    async fn run(mut self, watchdog: Duration) {
        let last = {
            let (world, deadline) = (Weak::clone(&self.service.world), Arc::clone(&self.deadline));
            async move {
                // What waits here is refused first, though the time may be over already.
                yield_now().await;
                until(decided(&world, &deadline)).await;
            }
        };
        // In all it may take four times as long, as by default.
        let driver = self.lifecycle.driver(last);
        let mut end = pin!(driver.watchdog(watchdog).longest(watchdog.saturating_mul(4)));
        // Invariant 4: where it panics it is dead, and its teardown completed.
        let mut end =
            poll_fn(|cx| panics::caught(|| end.as_mut().poll(cx)).unwrap_or(Poll::Ready(())));
        let mut refusing = pin!(self.lifecycle.reached(RunLevel::DisposeHosted));
        let mut swept = false;

        self.look_at_gates();
        self.hand_out();
        loop {
            let next = self.next_look();
            let look = Arc::clone(&self.look);
            let request = select! {
                biased;
                () = &mut end => break,
                () = &mut refusing, if !swept => {
                    swept = true;
                    // Where its parent told it, nobody has decided yet.
                    _ = decided(&self.service.world, &self.deadline);
                    self.sweep();
                    None
                }
                () = look.notified() => None,
                () = until(next) => None,
                request = next_request(&mut self.waiting, &mut self.requests) => match request {
                    Some(request) => Some(request),
                    None => return,
                },
            };
            // Before anything is sent. Invariant 5.
            self.hear_goodbyes();
            if let Some(request) = request {
                self.take(request);
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
        let Some(world) = self.service.world.upgrade() else { return };
        let path = self.lifecycle.address().path();
        let (holds_state, holds_store) = {
            let faults = &world.state().faults;
            (faults.has(path, Part::State), faults.has(path, Part::Store))
        };
        if self.service.state.is_none() {
            if holds_state {
                self.reads.close(LOADING);
                self.writes.close(LOADING);
            } else if self.service.load() {
                self.reads.open(LOADING);
                self.writes.open(LOADING);
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
            self.service.serve(accepted);
        }
        while let Some(accepted) = self.writes.release() {
            self.service.serve(accepted);
        }
    }

    fn look_at_clock(&mut self) {
        let now = TokioTimer.now();
        self.reads.expire(now);
        self.writes.expire(now);
        self.service.release_idle();
    }

    /// Hands its address off where its host leaves and it is idle (`R45`).
    fn look_at_host(&self) {
        if self.lifecycle.is_leaving()
            && self.lifecycle.ending().is_none()
            && let Some(world) = self.service.world.upgrade()
        {
            world.hand_off(&self.lifecycle, &self.service.host, &self.deadline);
        }
    }

    fn next_look(&self) -> Option<Instant> {
        let expiries = [self.reads.next_expiry(), self.writes.next_expiry()];
        expiries.into_iter().flatten().chain(self.service.register.next_release()).min()
    }

    /// Looks through what has come, and hears the goodbyes in it.
    fn hear_goodbyes(&mut self) {
        while let Ok(request) = self.requests.try_recv() {
            match request {
                Request::Goodbye { stream, attempt } => self.service.unsubscribe(stream, attempt),
                request => self.waiting.push_back(request),
            }
        }
    }

    /// Takes up a request whose turn has come.
    fn take(&mut self, request: Request<T>) {
        // Invariant 5.
        if let Request::Goodbye { stream, attempt } = request {
            return self.service.unsubscribe(stream, attempt);
        }
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
            Request::Read { .. } => &mut self.reads,
            Request::Write { .. } | Request::Patch { .. } => &mut self.writes,
            _ => return self.service.serve(accepted),
        };
        if let Some(accepted) = gates.pass(accepted, TokioTimer.now()) {
            self.service.serve(accepted);
        }
    }

    /// Refuses what waits here: nothing of it can be finished any more.
    fn sweep(&mut self) {
        self.reads.tear_down();
        self.writes.tear_down();
        self.hear_goodbyes();
        self.told.extend(self.service.register.end());
    }

    /// It is dead and its teardown completed: refuses what still came, and announces the end where that
    /// is to be announced.
    async fn leave(mut self) {
        self.sweep();
        self.requests.close();
        // One that is being sent at this moment is waited for.
        while let Some(request) = next_request(&mut self.waiting, &mut self.requests).await {
            self.take(request);
        }
        let is_announced = self.lifecycle.ending().is_some_and(|ending| ending.is_announced());
        let activation = self.lifecycle.activation().clone();
        for &stream in self.told.iter().filter(|_| is_announced) {
            self.service.tell(stream, News::Ended(Some(activation.clone())));
        }
    }
}

/// The next request, once there is one; `None` where there will be none. Cancelled, it has taken none.
async fn next_request<T>(
    waiting: &mut VecDeque<Request<T>>,
    requests: &mut mpsc::UnboundedReceiver<Request<T>>,
) -> Option<Request<T>> {
    // However many wait, other tasks have their turn, as a channel sees to by itself.
    consume_budget().await;
    match waiting.pop_front() {
        Some(request) => Some(request),
        None => requests.recv().await,
    }
}

/// When one that was told to end is to be dead.
fn decided<T>(world: &Weak<World<T>>, deadline: &Deadline) -> Option<Instant> {
    deadline.decide(|| world.upgrade().map(|world| world.settings().teardown).unwrap_or_default())
}

/// Waits until `at`, or for ever.
async fn until(at: Option<Instant>) {
    match at {
        Some(at) => TokioTimer.sleep(at.saturating_duration_since(TokioTimer.now())).await,
        None => pending().await,
    }
}
