//! What to take along: an owner that refuses well. Its readers are known by their channels: one that is
//! closed has gone. Where nothing tells, serve beats, and release who is idle.

use std::{pin::pin, sync::Arc, sync::atomic::AtomicU64, sync::atomic::Ordering, time::Duration};

use rideout::{
    Activation, Address, Refusal,
    activation::StreamId,
    owner::{Gates, Lifecycle, Message, Registry, ReplyPath, RunLevel, Subscribers},
    refusal::Wording,
    time::{Timer, TokioTimer},
};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{sleep, sleep_until};

/// What arrives, with the means to refuse it.
pub(crate) struct Request(pub(crate) What, pub(crate) Reply);
type Reply = oneshot::Sender<Result<Activation, Refusal>>;

pub(crate) enum What {
    Subscribe { stream: StreamId, attempt: u32, sink: Sink },
    Set { price: u64 },
}
type Sink = mpsc::UnboundedSender<Result<u64, Refusal>>;

impl Message for Request {
    fn name(&self) -> &str {
        if let What::Set { .. } = self.0 { "SetRequest" } else { "SubscribeRequest" }
    }

    fn refuse(self, refusal: Refusal, _: ReplyPath) {
        _ = self.1.send(Err(refusal)); // an asker that is gone misses nothing
    }
}

/// The door to whoever owns the price now, and what outlives each owner.
#[derive(Clone)]
pub(crate) struct Prices {
    pub(crate) address: Address,
    pub(crate) owners: Registry<(Lifecycle, mpsc::UnboundedSender<Request>)>,
    pub(crate) stored: Arc<AtomicU64>,
}

impl Prices {
    pub(crate) fn deliver(&self, request: Request) {
        let (owner, mailbox) = self.find_or_start();
        if let Some(request) = owner.admit(request)
            && let Err(mpsc::error::SendError(request)) = mailbox.send(request)
        {
            owner.discard(request); // it has begun to refuse in between
        }
    }

    fn find_or_start(&self) -> (Lifecycle, mpsc::UnboundedSender<Request>) {
        loop {
            if let Some(owner) = self.owners.resolve(&self.address) {
                return owner;
            }
            let (mailbox, requests) = mpsc::unbounded_channel();
            let lifecycle = Lifecycle::new(self.address.clone());
            if self.owners.enter(&lifecycle, (lifecycle.clone(), mailbox)).is_ok() {
                tokio::spawn(lifecycle.driver(work(500))); // flushes, closes files
                let (gates, stored) = (Gates::new(lifecycle.clone()), Arc::clone(&self.stored));
                let owner = Owner { lifecycle, gates, subscribers: Subscribers::new(), stored };
                tokio::spawn(owner.run(requests));
            } // else another request was faster
        }
    }
}

/// One lifetime.
struct Owner {
    lifecycle: Lifecycle,
    gates: Gates<Request>,
    subscribers: Subscribers<StreamId, Sink, Reply>,
    stored: Arc<AtomicU64>,
}

impl Owner {
    async fn run(mut self, mut requests: mpsc::UnboundedReceiver<Request>) {
        let mut refusing = pin!(self.lifecycle.reached(RunLevel::DisposeHosted));
        let mut loading = pin!(work(300)); // reads files
        self.gates.close("loading");
        loop {
            let (now, expiry) = (TokioTimer.now(), self.gates.next_expiry());
            tokio::select! {
                biased;
                () = &mut refusing => break,
                () = &mut loading, if self.gates.is_closed("loading") => {
                    self.subscribers.publish(); // there is a state from here on
                    self.gates.open("loading");
                    self.lifecycle.started();
                }
                () = sleep_until(expiry.unwrap_or(now).into()), if expiry.is_some() => {
                    self.gates.expire(TokioTimer.now());
                }
                Some(request) = requests.recv() => {
                    if let Some(request) = self.gates.pass(request, TokioTimer.now()) {
                        self.handle(request);
                    }
                }
            }
            while let Some(request) = self.gates.release() {
                self.handle(request);
            }
        }
        self.gates.tear_down(); // what is parked, then what is queued
        requests.close();
        while let Some(request) = requests.recv().await {
            self.lifecycle.discard(request);
        }
        let ended = self.subscribers.end();
        self.lifecycle.teardown().completed().await;
        // Whom it served is told, and asks again.
        if self.lifecycle.ending().is_some_and(|ending| ending.is_announced()) {
            let end = self
                .lifecycle
                .closing()
                .refuse(Wording::accepted("cannot go on with"), "SubscribeRequest");
            ended.into_iter().for_each(|it| _ = it.sink.send(Err(end.clone())));
        }
    }

    // Where it waited for others, it would hold `lifecycle.pending()` until it has replied.
    fn handle(&mut self, Request(what, reply): Request) {
        let owner = self.lifecycle.activation().clone();
        let frames = match what {
            What::Subscribe { stream, attempt, sink } => {
                let asked = self.subscribers.ask(stream, attempt, sink, reply, TokioTimer.now());
                asked.frame.into_iter().collect()
            }
            What::Set { price } => {
                self.stored.store(price, Ordering::Relaxed);
                _ = reply.send(Ok(owner.clone()));
                self.subscribers.publish()
            }
        };
        for frame in frames {
            if frame.sink.send(Ok(self.stored.load(Ordering::Relaxed))).is_err() {
                self.subscribers.unsubscribe(&frame.key, frame.attempt); // its reader is gone
            }
            frame.acknowledgements.into_iter().for_each(|reply| _ = reply.send(Ok(owner.clone())));
        }
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.lifecycle.force(); // one that panicked is dead too, and another may start
    }
}

async fn work(millis: u64) {
    sleep(Duration::from_millis(millis)).await;
}
