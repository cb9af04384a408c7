//! A carrier, its chains and an owner that keeps a record, for the models.

use std::{
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll, Waker},
};

use futures_core::Stream;
use loom::{
    cell::Cell,
    future::block_on,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread::{self, JoinHandle},
};
use rideout_under_loom::{
    Budget, Carrier, CarrierExt, Kind, Rejection, RideError, Ruling, ledger::Charge,
};

use crate::common::yields::yields;

pub(crate) type Answer = Option<Result<(), RideError<Ruling>>>;
pub(crate) type Chain = Pin<Box<dyn Stream<Item = Result<(), RideError<Ruling>>>>>;

/// A carrier, what its triggers want, and what each ask saw of it.
pub(crate) struct World {
    pub(crate) carrier: Carrier,
    script: Script,
    // Published plainly, before the trigger: only the carrier orders it before the ask that covers
    // it.
    wanted: Vec<AtomicBool>,
    // Touched by the attempt that is out alone: loom fails on two at once, and on any two of which
    // neither is ordered before the other.
    ghost: Cell<Ghost>,
}

/// What the owner does.
#[derive(Clone, Copy, Default)]
pub(crate) struct Script {
    /// How many asks it refuses, as the route, before it answers.
    pub(crate) refuses: usize,
    /// Whether the first ask ends in a verdict.
    pub(crate) ends: bool,
    /// Whether the first ask is still out when its attempt is polled a second time.
    pub(crate) lingers: bool,
    /// Whether attempts say when their ask goes out.
    pub(crate) says_when: bool,
}

#[derive(Default)]
pub(crate) struct Ghost {
    out: bool,
    pub(crate) asks: Vec<Asked>,
}

#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) saw: Vec<bool>,
    pub(crate) charge: Charge,
}

/// The attempt that is out, until it is dropped.
struct Out(Arc<World>);

impl Out {
    fn new(world: Arc<World>) -> Self {
        world.look(|ghost| assert!(!std::mem::replace(&mut ghost.out, true), "two are out"));
        Out(world)
    }
}

impl Drop for Out {
    fn drop(&mut self) {
        self.0.look(|ghost| ghost.out = false);
    }
}

impl World {
    pub(crate) fn new(triggers: usize, script: Script) -> Arc<World> {
        // One repeat by the route, so that a rejection that is charged twice gives up.
        let budget = Budget::default().re_asks(1);
        World::within(budget, triggers, script)
    }

    pub(crate) fn within(budget: Budget, triggers: usize, script: Script) -> Arc<World> {
        Arc::new(World {
            carrier: Carrier::new("prices/eur".parse().unwrap(), budget),
            script,
            wanted: (0..triggers).map(|_| AtomicBool::new(false)).collect(),
            ghost: Cell::new(Ghost::default()),
        })
    }

    pub(crate) fn look<R>(&self, look: impl FnOnce(&mut Ghost) -> R) -> R {
        let mut ghost = self.ghost.take();
        let seen = look(&mut ghost);
        self.ghost.set(ghost);
        seen
    }

    pub(crate) fn nudge(&self, i: usize) {
        self.wanted[i].store(true, Relaxed);
        self.carrier.nudge();
    }

    pub(crate) fn reject(&self, i: usize) {
        self.wanted[i].store(true, Relaxed);
        self.carrier.reject(Rejection::by_route());
    }

    fn ask(&self, charge: &Charge) -> usize {
        let saw = self.wanted.iter().map(|wanted| wanted.load(Relaxed)).collect();
        let asked = Asked { saw, charge: charge.clone() };
        self.look(|ghost| {
            ghost.asks.push(asked);
            ghost.asks.len()
        })
    }

    pub(crate) fn asks(&self) -> usize {
        self.look(|ghost| ghost.asks.len())
    }

    pub(crate) fn covered(&self, i: usize) -> bool {
        self.look(|ghost| ghost.asks.iter().any(|ask| ask.saw[i]))
    }

    pub(crate) fn all_covered(&self) -> bool {
        (0..self.wanted.len()).all(|i| self.covered(i))
    }

    /// Every trigger is covered by an ask that began after it, in at most `most` of them; nothing is
    /// owed, and the place is free.
    pub(crate) fn judge(&self, chain: &mut Chain, most: usize) {
        settle(chain);
        let asks = self.look(|Ghost { asks, .. }| {
            for i in 0..self.wanted.len() {
                assert!(asks.iter().any(|ask| ask.saw[i]), "trigger {i} was lost: {asks:?}");
            }
            for Asked { charge, .. } in asks.iter() {
                assert!(charge.count() <= charge.budget(), "charged beyond the budget: {asks:?}");
            }
            assert!(asks.len() <= most, "more than {most} asks: {asks:?}");
            asks.len()
        });
        self.carrier.nudge();
        settle(chain);
        assert_eq!(self.asks(), asks + 1, "a nudge while all is quiet is one ask");
    }
}

/// An ask, from its first poll on, and until it is dropped, which may be after its answer.
pub(crate) fn attempt(
    world: Arc<World>,
    charge: Charge,
) -> impl Future<Output = Result<(), Ruling>> {
    let mut ask = Box::pin(ask(Arc::clone(&world), charge));
    let mut out = None;
    poll_fn(move |cx| {
        out.get_or_insert_with(|| Out::new(Arc::clone(&world)));
        ask.as_mut().poll(cx)
    })
}

async fn ask(world: Arc<World>, charge: Charge) -> Result<(), Ruling> {
    if world.script.says_when {
        world.carrier.asking();
    }
    let asks = world.ask(&charge);
    if world.script.lingers && asks == 1 {
        yields().await;
    }
    if world.script.ends && asks == 1 {
        Err(Ruling::Verdict(Kind::NotFound))
    } else if asks > world.script.refuses {
        Ok(())
    } else {
        Err(Ruling::Promise(Rejection::by_route()))
    }
}

/// The newest chain of the carrier.
pub(crate) fn chain(world: &Arc<World>) -> Chain {
    let (carrier, world) = (&world.carrier, Arc::clone(world));
    let probe = move |charge| attempt(Arc::clone(&world), charge);
    Box::pin(
        carrier
            .triggers()
            .charge(carrier)
            .defer(probe)
            .concat_attempts_by(carrier, |it, _| it.clone()),
    )
}

/// Waits for the next answer.
pub(crate) fn next(chain: &mut Chain) -> Answer {
    block_on(poll_fn(|cx| chain.as_mut().poll_next(cx)))
}

pub(crate) fn poll(chain: &mut Chain) -> Poll<Answer> {
    chain.as_mut().poll_next(&mut Context::from_waker(Waker::noop()))
}

/// Runs whatever there is to run.
pub(crate) fn settle(chain: &mut Chain) {
    while let Poll::Ready(answer) = poll(chain) {
        assert!(matches!(answer, Some(Ok(()))), "{answer:?}");
    }
}

/// Waits for answers until `enough`, which may look at the ghost: an answer is after its attempt.
pub(crate) fn ride(chain: &mut Chain, enough: impl Fn() -> bool) {
    loop {
        let answer = next(chain);
        assert!(matches!(answer, Some(Ok(()))), "{answer:?}");
        if enough() {
            return;
        }
    }
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

/// A chain whose first attempt is out.
pub(crate) fn with_an_attempt_out(world: &Arc<World>) -> Chain {
    let mut chain = chain(world);
    assert!(poll(&mut chain).is_pending());
    assert_eq!(world.asks(), 1);
    chain
}
