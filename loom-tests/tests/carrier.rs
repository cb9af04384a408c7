//! The carrier and its operators under every interleaving (R9, R12–R16): the production code on
//! loom's primitives, one property a model.

mod common;

use std::{
    future::poll_fn,
    pin::Pin,
    sync::Arc as StdArc,
    task::{Context, Poll, Waker},
};

use common::{Counter, check, poll_once};
use futures_core::Stream;
use loom::{
    cell::Cell,
    future::block_on,
    sync::{
        Arc,
        atomic::{
            AtomicBool,
            Ordering::{Acquire, Relaxed, Release},
        },
    },
    thread::{self, JoinHandle},
};
use rideout_under_loom::{Axis, Budget, Carrier, CarrierExt, Charge, Judged, Rejection, RideError};

type Answer = Option<Result<(), RideError<Judged<()>>>>;
type Chain = Pin<Box<dyn Stream<Item = Result<(), RideError<Judged<()>>>>>>;

/// A carrier, what its triggers want, and what each ask saw of it.
struct World {
    carrier: Carrier,
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
struct Script {
    /// How many asks it refuses, as the route, before it answers.
    refuses: usize,
    /// Whether the first ask is still out when its attempt is polled a second time.
    lingers: bool,
    /// Whether attempts say when their ask goes out.
    says_when: bool,
}

#[derive(Default)]
struct Ghost {
    out: bool,
    asks: Vec<Asked>,
}

#[derive(Debug)]
struct Asked {
    saw: Vec<bool>,
    count: u32,
}

/// The attempt that is out, until it is dropped.
struct Out<'a>(&'a World);

impl<'a> Out<'a> {
    fn new(world: &'a World) -> Self {
        world.look(|ghost| assert!(!std::mem::replace(&mut ghost.out, true), "two are out"));
        Out(world)
    }
}

impl Drop for Out<'_> {
    fn drop(&mut self) {
        self.0.look(|ghost| ghost.out = false);
    }
}

impl World {
    fn new(triggers: usize, script: Script) -> Arc<World> {
        // One repeat by the route, so that a rejection that is charged twice gives up.
        let budget = Budget::default().re_asks(1);
        World::within(budget, triggers, script)
    }

    fn within(budget: Budget, triggers: usize, script: Script) -> Arc<World> {
        Arc::new(World {
            carrier: Carrier::new("prices/eur".parse().unwrap(), budget),
            script,
            wanted: (0..triggers).map(|_| AtomicBool::new(false)).collect(),
            ghost: Cell::new(Ghost::default()),
        })
    }

    fn look<R>(&self, look: impl FnOnce(&mut Ghost) -> R) -> R {
        let mut ghost = self.ghost.take();
        let seen = look(&mut ghost);
        self.ghost.set(ghost);
        seen
    }

    fn nudge(&self, i: usize) {
        self.wanted[i].store(true, Relaxed);
        self.carrier.nudge();
    }

    fn reject(&self, i: usize) {
        self.wanted[i].store(true, Relaxed);
        self.carrier.reject(Rejection::by_route());
    }

    fn ask(&self, charge: &Charge) -> usize {
        let saw = self.wanted.iter().map(|wanted| wanted.load(Relaxed)).collect();
        let asked = Asked { saw, count: charge.count() };
        self.look(|ghost| {
            ghost.asks.push(asked);
            ghost.asks.len()
        })
    }

    fn asks(&self) -> usize {
        self.look(|ghost| ghost.asks.len())
    }

    fn covered(&self, i: usize) -> bool {
        self.look(|ghost| ghost.asks.iter().any(|ask| ask.saw[i]))
    }

    fn all_covered(&self) -> bool {
        (0..self.wanted.len()).all(|i| self.covered(i))
    }

    /// Every trigger is covered by an ask that began after it, in at most `most` of them; nothing is
    /// owed, and the place is free.
    fn judge(&self, chain: &mut Chain, most: usize) {
        settle(chain);
        let asks = self.look(|Ghost { asks, .. }| {
            for i in 0..self.wanted.len() {
                assert!(asks.iter().any(|ask| ask.saw[i]), "trigger {i} was lost: {asks:?}");
            }
            assert!(asks.len() <= most, "more than {most} asks: {asks:?}");
            asks.len()
        });
        self.carrier.nudge();
        settle(chain);
        assert_eq!(self.asks(), asks + 1, "a nudge while all is quiet is one ask");
    }
}

async fn attempt(world: Arc<World>, charge: Charge) -> Result<(), Judged<()>> {
    let _out = Out::new(&world);
    if world.script.says_when {
        world.carrier.asking();
    }
    let asks = world.ask(&charge);
    if world.script.lingers && asks == 1 {
        yields().await;
    }
    if asks > world.script.refuses {
        Ok(())
    } else {
        Err(Judged::promise((), Rejection::by_route()))
    }
}

/// The newest chain of the carrier.
fn chain(world: &Arc<World>) -> Chain {
    let (carrier, world) = (&world.carrier, Arc::clone(world));
    let probe = move |charge| attempt(Arc::clone(&world), charge);
    Box::pin(carrier.triggers().charge(carrier).defer(probe).concat_attempts(carrier))
}

async fn yields() {
    let mut yielded = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Waits for the next answer.
fn next(chain: &mut Chain) -> Answer {
    block_on(poll_fn(|cx| chain.as_mut().poll_next(cx)))
}

fn poll(chain: &mut Chain) -> Poll<Answer> {
    chain.as_mut().poll_next(&mut Context::from_waker(Waker::noop()))
}

/// Runs whatever there is to run.
fn settle(chain: &mut Chain) {
    while let Poll::Ready(answer) = poll(chain) {
        assert!(matches!(answer, Some(Ok(()))), "{answer:?}");
    }
}

/// Waits for answers until `enough`, which may look at the ghost: an answer is after its attempt.
fn ride(chain: &mut Chain, enough: impl Fn() -> bool) {
    loop {
        let answer = next(chain);
        assert!(matches!(answer, Some(Ok(()))), "{answer:?}");
        if enough() {
            return;
        }
    }
}

fn spawn(world: &Arc<World>, f: impl FnOnce(&World) + 'static) -> JoinHandle<()> {
    let world = Arc::clone(world);
    thread::spawn(move || f(&world))
}

fn join(threads: impl IntoIterator<Item = JoinHandle<()>>) {
    for thread in threads {
        thread.join().unwrap();
    }
}

/// A chain whose first attempt is out.
fn with_an_attempt_out(world: &Arc<World>) -> Chain {
    let mut chain = chain(world);
    assert!(poll(&mut chain).is_pending());
    assert_eq!(world.asks(), 1);
    chain
}

/// A chain waits, another side rejects: it hears it, and one attempt follows.
#[test]
fn a_rejection_is_not_lost_between_look_and_wait() {
    check("rejection", Some(4), 10, || {
        let world = World::new(1, Script::default());
        let feed = spawn(&world, |world| world.reject(0));
        let mut chain = chain(&world);
        ride(&mut chain, || world.all_covered());
        join([feed]);
        world.judge(&mut chain, 2);
    });
}

/// A chain waits, another side nudges: it hears it.
#[test]
fn a_nudge_is_not_lost_between_look_and_wait() {
    check("nudge", Some(4), 10, || {
        let world = World::new(1, Script::default());
        let feed = spawn(&world, |world| world.nudge(0));
        let mut chain = chain(&world);
        ride(&mut chain, || world.all_covered());
        join([feed]);
        world.judge(&mut chain, 2);
    });
}

/// Two sides nudge while a chain runs: one ask at a time, both are covered, none is doubled.
#[test]
fn two_nudges_are_covered_one_ask_at_a_time() {
    check("two_nudges", Some(2), 100, || {
        let world = World::new(2, Script::default());
        let feeds: Vec<_> = (0..2).map(|i| spawn(&world, move |world| world.nudge(i))).collect();
        let mut chain = chain(&world);
        ride(&mut chain, || world.all_covered());
        join(feeds);
        world.judge(&mut chain, 3);
    });
}

/// One side rejects and one nudges while a chain runs, whose first ask is refused too.
#[test]
fn a_rejection_and_a_nudge_are_covered_one_ask_at_a_time() {
    check("rejection_and_nudge", Some(2), 100, || {
        let script = Script { refuses: 1, ..Script::default() };
        let world = World::within(Budget::default().re_asks(2), 2, script);
        let feeds = [spawn(&world, |world| world.reject(0)), spawn(&world, |world| world.nudge(1))];
        let mut chain = chain(&world);
        ride(&mut chain, || world.all_covered());
        join(feeds);
        world.judge(&mut chain, 4);
    });
}

/// A nudge while an ask is out becomes exactly one more; and where that ask is refused, the next
/// attempt is that one.
#[test]
fn a_nudge_while_an_ask_is_out_is_one_more() {
    for (refuses, name) in [(0, "one_more"), (1, "the_next_attempt_is_that_one")] {
        check(name, Some(4), 10, move || {
            let script = Script { refuses, lingers: true, says_when: true };
            let world = World::new(1, script);
            let mut chain = with_an_attempt_out(&world);
            let feed = spawn(&world, |world| world.nudge(0));
            ride(&mut chain, || world.all_covered());
            join([feed]);
            settle(&mut chain);
            // By the refused ask's own attempt, or by one more after an answer.
            let most = if world.covered(0) { 2 + refuses } else { 2 };
            world.judge(&mut chain, most);
        });
    }
}

/// A nudge during the wait is satisfied by the ask at its end; one after it is one more.
#[test]
fn an_ask_covers_what_came_during_its_wait_and_nothing_later() {
    check("during_the_wait", Some(4), 10, || {
        let world = World::new(1, Script { says_when: true, ..Script::default() });
        let nudged = Arc::new(AtomicBool::new(false));
        let feed = {
            let nudged = Arc::clone(&nudged);
            spawn(&world, move |world| {
                world.nudge(0);
                nudged.store(true, Release);
            })
        };

        // The wait is this poll's: the probe is called when the attempt has its place.
        let before = Arc::new(AtomicBool::new(false));
        let probe = {
            let (world, before) = (Arc::clone(&world), Arc::clone(&before));
            move |charge| {
                before.store(nudged.load(Acquire), Relaxed);
                attempt(Arc::clone(&world), charge)
            }
        };
        let carrier = &world.carrier;
        let mut chain: Chain =
            Box::pin(carrier.triggers().charge(carrier).defer(probe).concat_attempts(carrier));
        assert!(matches!(next(&mut chain), Some(Ok(()))));
        let during_the_wait = before.load(Relaxed);
        join([feed]);
        settle(&mut chain);
        assert!(!during_the_wait || world.asks() == 1, "asked twice for one trigger");
        world.judge(&mut chain, 2);
    });
}

/// A chain is dropped while its attempt is out, and another is built: that one is told what the
/// first had taken on, charges nothing a second time, and never overlaps it.
#[test]
fn a_dropped_chain_gives_back_place_debt_and_charge() {
    check("dropped", None, 10, || {
        let world = World::new(1, Script { lingers: true, ..Script::default() });
        world.reject(0);
        // The first ask is taken on by the attempt for the rejection, which comes first.
        let old = with_an_attempt_out(&world);
        let dropped = thread::spawn(move || drop(old));
        let mut new = chain(&world);
        assert!(matches!(next(&mut new), Some(Ok(()))));
        join([dropped]);
        let counts = world.look(|ghost| ghost.asks.iter().map(|ask| ask.count).collect::<Vec<_>>());
        assert_eq!(counts, [1, 1], "charged once, attempted twice");
        world.judge(&mut new, 2);
    });
}

/// As before with the first ask, which has no charge, and a nudge in the race.
#[test]
fn a_dropped_chain_gives_back_what_it_had_covered() {
    check("dropped_uncharged", Some(2), 100, || {
        let world = World::new(1, Script { lingers: true, says_when: true, ..Script::default() });
        let old = with_an_attempt_out(&world);
        let dropped = thread::spawn(move || drop(old));
        let feed = spawn(&world, |world| world.nudge(0));
        let mut new = chain(&world);
        ride(&mut new, || world.asks() > 1 && world.all_covered());
        join([dropped, feed]);
        world.judge(&mut new, 3);
    });
}

/// Two chains, the old one's attempt still out on another thread: the new one waits for the place,
/// and has its turn.
#[test]
fn a_new_chain_waits_for_the_old_ones_attempt() {
    check("two_chains", Some(4), 10, || {
        let world = World::new(1, Script { lingers: true, ..Script::default() });
        let mut old = with_an_attempt_out(&world);
        let finishes = thread::spawn(move || {
            assert!(matches!(next(&mut old), Some(Ok(()))));
            assert!(next(&mut old).is_none(), "it has been taken over");
        });
        let mut new = chain(&world);
        world.nudge(0);
        assert!(matches!(next(&mut new), Some(Ok(()))));
        join([finishes]);
        world.judge(&mut new, 2);
    });
}

/// As before, but the old one's attempt is refused: the rejection comes to the new chain, which has
/// heard of nothing else.
#[test]
fn what_the_old_ones_attempt_is_refused_comes_to_the_new_chain() {
    check("two_chains_refused", Some(4), 10, || {
        let world = World::new(0, Script { lingers: true, refuses: 1, ..Script::default() });
        let mut old = with_an_attempt_out(&world);
        let mut new = chain(&world);
        let finishes = thread::spawn(move || assert!(next(&mut old).is_none(), "taken over"));
        assert!(matches!(next(&mut new), Some(Ok(()))));
        join([finishes]);
        world.judge(&mut new, 2);
    });
}

/// As before, while the new chain has something charged of its own, which waits for the place.
#[test]
fn a_charged_attempt_waits_for_the_old_ones_attempt() {
    check("two_chains_charged", Some(3), 10, || {
        let script = Script { lingers: true, refuses: 1, ..Script::default() };
        let world = World::within(Budget::default().re_asks(2), 1, script);
        let mut old = with_an_attempt_out(&world);
        let mut new = chain(&world);
        let finishes = thread::spawn(move || assert!(next(&mut old).is_none(), "taken over"));
        world.reject(0);
        ride(&mut new, || world.all_covered());
        join([finishes]);
        world.judge(&mut new, 3);
    });
}

/// A chain is taken over while it runs on another thread, and a nudge comes: it ends, and what it
/// leaves the new one does.
#[test]
fn a_chain_that_is_taken_over_ends_and_leaves_nothing_undone() {
    check("taken_over", Some(3), 10, || {
        let world = World::new(1, Script::default());
        let mut old = chain(&world);
        let runs = thread::spawn(move || while next(&mut old).is_some() {});
        world.nudge(0);
        let mut new = chain(&world);
        join([runs]);
        world.judge(&mut new, 2);
    });
}

/// An answer clears the ledger while another side rejects: the rejection counts before it or after
/// it, wholly.
#[test]
fn a_charge_is_before_the_answer_or_after_it() {
    check("answered", None, 5, || {
        let carrier = Carrier::new("prices/eur".parse().unwrap(), Budget::default());
        let owner = || Rejection::by_owner(Some("0A".parse().unwrap()));
        let mut charges = Box::pin(carrier.triggers().charge(&carrier));
        let mut charge = |rejection| {
            carrier.reject(rejection);
            let charge = block_on(poll_fn(|cx| charges.as_mut().poll_next(cx)));
            let charge = charge.expect("open").expect("within the budget");
            (charge.axis().unwrap(), charge.count())
        };
        assert_eq!(charge(owner()), (Axis::Activation, 1));
        assert_eq!(charge(Rejection::by_route()), (Axis::Time, 1));

        let reader = {
            let carrier = carrier.clone();
            thread::spawn(move || carrier.answered())
        };
        let counts = [charge(owner()), charge(Rejection::by_route())];
        reader.join().unwrap();

        let (new, again) = ((Axis::Activation, 1), (Axis::Time, 1));
        let after = [charge(owner()), charge(Rejection::by_route())];
        let expected = match counts {
            // Both before the answer.
            [owner, route] if owner == again && route == (Axis::Time, 2) => [new, (Axis::Time, 1)],
            // The answer came between.
            [owner, route] if owner == again && route == (Axis::Time, 1) => [new, (Axis::Time, 2)],
            // Both after it.
            [owner, route] if owner == new && route == (Axis::Time, 1) => [again, (Axis::Time, 2)],
            torn => panic!("torn: {torn:?}"),
        };
        assert_eq!(after, expected, "after {counts:?}");
    });
}

/// A subscription opens while another side rejects: what comes after it is attempted.
#[test]
fn a_rejection_after_the_answer_is_kept() {
    check("opened", None, 5, || {
        let world = World::new(1, Script { lingers: true, ..Script::default() });
        let mut chain = with_an_attempt_out(&world);
        let opened = Arc::new(AtomicBool::new(false));
        let after = Arc::new(AtomicBool::new(false));
        let feed = {
            let (opened, after) = (Arc::clone(&opened), Arc::clone(&after));
            spawn(&world, move |world| {
                after.store(opened.load(Acquire), Relaxed);
                world.reject(0);
            })
        };
        assert!(matches!(next(&mut chain), Some(Ok(()))));
        opened.store(true, Release);
        join([feed]);
        settle(&mut chain);
        if after.load(Relaxed) {
            world.judge(&mut chain, 2);
        } else {
            assert!(world.asks() <= 2);
        }
    });
}

/// An old chain's attempt opens while the new chain has something charged: what was charged before
/// is stale, what was charged after is attempted, and neither is stuck.
#[test]
fn what_a_new_chain_charged_before_the_old_one_opened_is_stale() {
    check("opened_by_the_old", None, 5, || {
        let script = Script { lingers: true, ..Script::default() };
        let world = World::within(Budget::default().re_asks(2), 1, script);
        let mut old = with_an_attempt_out(&world);
        let mut new = chain(&world);
        world.carrier.reject(Rejection::by_route());
        assert!(poll(&mut new).is_pending(), "charged, and waits for the place");
        let opens = thread::spawn(move || assert!(matches!(next(&mut old), Some(Ok(())))));
        assert!(poll(&mut new).is_pending(), "stale, or waits for the place");
        join([opens]);
        settle(&mut new);
        assert_eq!(world.asks(), 1, "a stale attempt ran");
        world.reject(0);
        world.judge(&mut new, 2);
    });
}

/// Two attempts of one chain on two threads: the one closure is called by one at a time, and who
/// finds it in use is woken when it is put back.
#[test]
fn one_probe_serves_attempts_on_two_threads() {
    check("probe", None, 4, || {
        let carrier = Carrier::new("prices/eur".parse().unwrap(), Budget::default());
        let mut calls = 0;
        let probe = move |_| {
            calls += 1;
            std::future::ready(calls)
        };
        let mut attempts = Box::pin(carrier.triggers().charge(&carrier).defer(probe));
        carrier.reject(Rejection::by_route());
        let [one, mut other] = [(); 2].map(|()| {
            let polled = attempts.as_mut().poll_next(&mut Context::from_waker(Waker::noop()));
            let Poll::Ready(Some(Ok(attempt))) = polled else { panic!("{polled:?}") };
            attempt
        });

        let one = thread::spawn(move || block_on(one));
        let task = StdArc::new(Counter::default());
        let waker = Waker::from(StdArc::clone(&task));
        let mut polled = poll_once(&mut other, &waker);
        let waited = polled.is_pending();
        let first = one.join().unwrap();
        assert_eq!(task.count(), usize::from(waited));
        if waited {
            polled = poll_once(&mut other, &waker);
        }
        let Poll::Ready(second) = polled else { panic!("in use by nobody") };
        assert_eq!((first + second, first * second), (3, 2), "one closure counts");
    });
}
