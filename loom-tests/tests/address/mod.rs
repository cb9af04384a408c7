//! An address whose first owner goes and is followed by another, for the models of whole riders.

use std::{
    future::{Pending, pending},
    pin::Pin,
    task::{Context, Poll, Waker},
};

use futures_core::Stream;
use loom::{
    cell::Cell,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread::{self, JoinHandle},
};
use rideout_under_loom::{
    Activation, News, Refusal,
    refusal::{Closing, Seam},
    teardown::Teardown,
};

use crate::common::yields::yields;

/// The first owner, and its successor.
pub(crate) const OWNERS: [&str; 2] = ["0A", "0B"];

/// Its owners, what is wanted of them, and what each ask saw of that.
pub(crate) struct World {
    script: Script,
    // From here on the first owner refuses. It is gone when its teardown is complete.
    going: AtomicBool,
    pub(crate) teardown: Teardown,
    pub(crate) feed: Feed,
    // Published plainly, before the trigger: only the rider orders it before the ask that covers it.
    wanted: AtomicBool,
    // Touched by whoever asks alone: loom fails where two do at once.
    ghost: Cell<Ghost>,
}

/// What asks meet, beside the owners as they are.
#[derive(Clone, Copy, Default)]
pub(crate) struct Script {
    /// Each ask is still out when it is polled a second time.
    pub(crate) lingers: bool,
    /// The first ask is never answered.
    pub(crate) is_silent: bool,
    /// The first owner refuses the first ask, whatever has become of that owner since.
    pub(crate) refuses: bool,
}

#[derive(Default)]
struct Ghost {
    out: bool,
    // Whether each ask saw what is wanted.
    asks: Vec<bool>,
}

/// The ask that is out, until it is dropped.
struct Out<'a>(&'a World);

impl<'a> Out<'a> {
    fn new(world: &'a World) -> Self {
        let saw = world.wanted.load(Relaxed);
        world.look(|ghost| {
            assert!(!std::mem::replace(&mut ghost.out, true), "two asks are out");
            ghost.asks.push(saw);
        });
        Out(world)
    }
}

impl Drop for Out<'_> {
    fn drop(&mut self) {
        self.0.look(|ghost| ghost.out = false);
    }
}

impl World {
    pub(crate) fn new(script: Script) -> Arc<World> {
        Arc::new(World {
            script,
            going: AtomicBool::new(false),
            teardown: Teardown::new(),
            feed: Feed::default(),
            wanted: AtomicBool::new(false),
            ghost: Cell::new(Ghost::default()),
        })
    }

    fn look<R>(&self, look: impl FnOnce(&mut Ghost) -> R) -> R {
        let mut ghost = self.ghost.take();
        let seen = look(&mut ghost);
        self.ghost.set(ghost);
        seen
    }

    /// How many asks there were.
    pub(crate) fn asks(&self) -> usize {
        self.look(|ghost| ghost.asks.len())
    }

    /// Whether an ask began after what it wanted was published.
    pub(crate) fn is_covered(&self) -> bool {
        self.look(|ghost| ghost.asks.contains(&true))
    }

    /// Whether an ask is out.
    pub(crate) fn is_out(&self) -> bool {
        self.look(|ghost| ghost.out)
    }

    /// Publishes what is wanted, for a trigger that follows.
    pub(crate) fn want(&self) {
        self.wanted.store(true, Relaxed);
    }

    /// The first owner refuses from here on.
    pub(crate) fn close(&self) {
        self.going.store(true, Relaxed);
    }

    /// The first owner goes, as on a host that is rolled (R46): it refuses, says so, and is torn down.
    pub(crate) fn go(&self) {
        self.close();
        self.feed.announce(News::Ended(Some(activation(0))));
        self.teardown.complete();
    }

    /// Asks; the answer says which owner serves.
    pub(crate) async fn ask(&self) -> Result<usize, Refusal> {
        let _out = Out::new(self);
        let is_first = self.asks() == 1;
        if self.script.lingers {
            yields().await;
        }
        if is_first && self.script.is_silent {
            pending::<()>().await;
        }
        if is_first && self.script.refuses {
            return Err(refusal());
        }
        match self.going.load(Relaxed) {
            false => Ok(0),
            true if self.teardown.is_complete() => Ok(1),
            true => Err(refusal()),
        }
    }
}

pub(crate) fn activation(owner: usize) -> Activation {
    OWNERS[owner].parse().unwrap()
}

fn refusal() -> Refusal {
    Closing::new("prices/eur".parse().unwrap())
        .activation(activation(0))
        .refuse(Seam::Door, "Subscribe")
}

/// A subscription: one item, which says who serves it, and silence.
pub(crate) struct Items(pub(crate) Option<usize>);

impl Stream for Items {
    type Item = Result<usize, Refusal>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.take().map_or(Poll::Pending, |served_by| Poll::Ready(Some(Ok(served_by))))
    }
}

/// News of the address: a channel that loom sees.
#[derive(Clone, Default)]
pub(crate) struct Feed(Arc<Mutex<(Vec<News>, Option<Waker>)>>);

impl Feed {
    pub(crate) fn announce(&self, news: News) {
        let waker = {
            let mut inbox = self.0.lock().unwrap();
            inbox.0.insert(0, news);
            inbox.1.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Stream for Feed {
    type Item = News;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<News>> {
        let mut inbox = self.0.lock().unwrap();
        inbox.1 = Some(cx.waker().clone());
        inbox.0.pop().map_or(Poll::Pending, |news| Poll::Ready(Some(news)))
    }
}

/// A sleep that is never over: what ends in a model ends by its events.
pub(crate) fn sleep() -> Pending<()> {
    pending()
}

pub(crate) fn spawn(world: &Arc<World>, f: impl FnOnce(&World) + 'static) -> JoinHandle<()> {
    let world = Arc::clone(world);
    thread::spawn(move || f(&world))
}

pub(crate) fn join(threads: impl IntoIterator<Item = JoinHandle<()>>) {
    for thread in threads {
        thread.join().unwrap();
    }
}
