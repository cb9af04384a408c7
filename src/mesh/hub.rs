//! Who serves an address for one lifetime? A hub: a task that works off a mailbox, one request at a
//! time.
//!
//! # Invariants
//!
//! 1. The door is looked at when a request arrives, the level once more when its turn comes: what was
//!    turned away and what was accepted and then could not be finished are told apart (`R2`).
//! 2. Every request is answered once, unless the hub is killed.
//! 3. The hub's task holds the mesh weakly. Where its mailbox has no sender left, the mesh is gone, and
//!    the task ends.

use std::{
    pin::pin,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::{mpsc, oneshot},
    task::AbortHandle,
};

use super::{
    Versioned, World,
    lifecycle::{Cause, Ending, Lifecycle, RunLevel},
    store::Store,
    subscription::Register,
};
use crate::{
    activation::{Activation, StreamId},
    address::Address,
    refusal::{Refusal, Seam},
    time::{Timer, TokioTimer},
};

/// The answer to a request, on its way back.
pub(super) type Reply<A> = oneshot::Sender<Result<A, Refusal>>;

/// What can be asked of a hub.
pub(super) enum Request<T> {
    Subscribe { stream: StreamId, reply: Reply<Opened<T>> },
    Write { value: T, reply: Reply<u64> },
}

/// A subscription that was opened: who serves it, and its items.
pub(super) type Opened<T> = (Activation, mpsc::UnboundedReceiver<Arc<Versioned<T>>>);

impl<T> Request<T> {
    fn name(&self) -> &'static str {
        match self {
            Request::Subscribe { .. } => "SubscribeRequest",
            Request::Write { .. } => "WriteRequest",
        }
    }

    /// Answers with a refusal. Where the asker is gone there is nobody to tell.
    fn refuse(self, refusal: Refusal) {
        match self {
            Request::Subscribe { reply, .. } => drop(reply.send(Err(refusal))),
            Request::Write { reply, .. } => drop(reply.send(Err(refusal))),
        }
    }
}

/// The outside of a hub, as the mesh holds it.
pub(super) struct Hub<T> {
    host: Arc<str>,
    lifecycle: Arc<Lifecycle>,
    register: Arc<Register<T>>,
    mailbox: mpsc::UnboundedSender<Request<T>>,
    task: AbortHandle,
    killed: AtomicBool,
}

impl<T: Send + Sync + 'static> Hub<T> {
    /// Starts a hub on the runtime that this is called in.
    pub(super) fn start(
        world: &Arc<World<T>>,
        host: Arc<str>,
        address: Address,
        state: Arc<Versioned<T>>,
    ) -> Arc<Self> {
        let (mailbox, requests) = mpsc::unbounded_channel();
        let lifecycle = Arc::new(Lifecycle::begin(address));
        let register = Arc::new(Register::new());
        let inside = Inside {
            world: Arc::downgrade(world),
            store: Arc::clone(&world.store),
            lifecycle: Arc::clone(&lifecycle),
            register: Arc::clone(&register),
            requests,
            state,
        };
        let task = tokio::spawn(inside.run()).abort_handle();

        Arc::new(Self { host, lifecycle, register, mailbox, task, killed: AtomicBool::new(false) })
    }
}

impl<T> Hub<T> {
    pub(super) fn host(&self) -> &Arc<str> {
        &self.host
    }

    pub(super) fn lifecycle(&self) -> &Lifecycle {
        &self.lifecycle
    }

    /// Returns whether this is the lifetime that `activation` names.
    pub(super) fn is(&self, activation: &Activation) -> bool {
        self.lifecycle.activation() == activation
    }

    /// Returns whether the hub ended without a teardown: killed, or its runtime is gone.
    pub(super) fn is_lost(&self) -> bool {
        self.killed.load(Ordering::Acquire)
            || (self.mailbox.is_closed() && !self.lifecycle.is_dead())
    }

    /// Returns whether nothing answers here any more but the door, and perhaps not even that.
    pub(super) fn is_corpse(&self) -> bool {
        self.is_lost() || self.lifecycle.is_dead()
    }

    /// Returns how many subscriptions the hub serves.
    pub(super) fn subscribers(&self) -> usize {
        if self.is_lost() { 0 } else { self.register.count() }
    }

    /// Tells the hub to end.
    pub(super) fn end(&self, ending: Ending) {
        self.lifecycle.end(ending);
    }

    /// Kills the hub: it says nothing more, to anyone.
    pub(super) fn kill(&self) {
        self.killed.store(true, Ordering::Release);
        self.task.abort();
    }

    /// Puts a request into the mailbox, where the door lets it in.
    pub(super) fn deliver(&self, request: Request<T>) -> Result<(), Refusal> {
        if self.lifecycle.is_refusing() {
            return Err(self.turn_away(&request));
        }
        // Closed since: it died, or was lost, between the two looks.
        self.mailbox.send(request).map_err(|mpsc::error::SendError(request)| {
            if self.is_lost() {
                Refusal::host_cannot_route(self.lifecycle.address())
            } else {
                self.turn_away(&request)
            }
        })
    }

    fn turn_away(&self, request: &Request<T>) -> Refusal {
        self.lifecycle.closing().refuse(Seam::Door, request.name())
    }
}

/// The inside of a hub: what its task owns.
struct Inside<T> {
    world: Weak<World<T>>,
    store: Arc<Store<T>>,
    lifecycle: Arc<Lifecycle>,
    register: Arc<Register<T>>,
    requests: mpsc::UnboundedReceiver<Request<T>>,
    state: Arc<Versioned<T>>,
}

impl<T: Send + Sync + 'static> Inside<T> {
    async fn run(mut self) {
        self.lifecycle.rise(RunLevel::Started);
        if self.live().await && self.tear_down().await {
            self.leave();
        }
    }

    /// Serves until the end is asked for; returns false if the mesh is gone.
    async fn live(&mut self) -> bool {
        let lifecycle = Arc::clone(&self.lifecycle);
        let mut told = pin!(lifecycle.told());
        loop {
            tokio::select! {
                biased;
                () = &mut told => return true,
                request = self.requests.recv() => match request {
                    Some(request) => self.serve(request),
                    None => return false,
                },
            }
        }
    }

    /// Refuses what is still in the mailbox until the time is over; returns false if the mesh is gone.
    async fn tear_down(&mut self) -> bool {
        let left = self.lifecycle.ending().map_or(Duration::ZERO, |ending| {
            ending.lasts.saturating_sub(TokioTimer.now().duration_since(ending.told))
        });
        let mut over = pin!(TokioTimer.sleep(left));
        loop {
            tokio::select! {
                biased;
                request = self.requests.recv() => match request {
                    Some(request) => self.discard(request),
                    None => return false,
                },
                () = &mut over => return true,
            }
        }
    }

    /// Dies, completes the teardown, announces it where it is to be announced, and leaves the
    /// directory.
    fn leave(&mut self) {
        // Dead first: a closed mailbox of one that is not dead is that of a lost hub.
        self.lifecycle.die();
        self.requests.close();
        while let Ok(request) = self.requests.try_recv() {
            self.discard(request);
        }

        let is_announced = self.register.count() > 0
            && self.lifecycle.ending().is_some_and(|ending| ending.cause == Cause::Recycle);
        self.lifecycle.teardown().complete();
        if let Some(world) = self.world.upgrade() {
            world.ended(&self.lifecycle, is_announced);
        }
    }

    fn serve(&mut self, request: Request<T>) {
        match request {
            Request::Subscribe { stream, reply } => {
                let items = self.register.open(stream, Arc::clone(&self.state));
                // An asker that is gone drops the items, and so has unsubscribed.
                drop(reply.send(Ok((self.lifecycle.activation().clone(), items))));
            }
            Request::Write { value, reply } => {
                self.state = self.store.write(self.lifecycle.address().path(), value);
                self.register.publish(&self.state);
                drop(reply.send(Ok(self.state.version)));
            }
        }
    }

    fn discard(&self, request: Request<T>) {
        let refusal = self.lifecycle.closing().refuse(Seam::Mailbox, request.name());
        request.refuse(refusal);
    }
}
