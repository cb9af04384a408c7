//! R16 under every interleaving: one outstanding, no trigger lost, none doubled. The production
//! code on loom's primitives, one property a model.

mod common {
    pub(crate) mod check;
    pub(crate) mod counter;
    pub(crate) mod poll_once;
}

use std::{
    sync::Arc as StdArc,
    task::{Poll, Waker},
};

use common::{check::check, counter::Counter, poll_once::poll_once};
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
use rideout_under_loom::slot::{Permit, Slot};

/// A slot, what its triggers want, and what each ask saw of it.
struct World {
    slot: Slot,
    // Published plainly, before the trigger: only the slot orders it before the ask that covers it.
    wanted: Vec<AtomicBool>,
    // Touched by the permit's holder alone: loom fails on two holders at once, and on any two asks
    // of which neither is ordered before the other.
    asks: Cell<Vec<Vec<bool>>>,
}

impl World {
    fn new(triggers: usize) -> Arc<World> {
        Arc::new(World {
            slot: Slot::new(),
            wanted: (0..triggers).map(|_| AtomicBool::new(false)).collect(),
            asks: Cell::new(Vec::new()),
        })
    }

    fn trigger(&self, i: usize) {
        self.wanted[i].store(true, Relaxed);
        self.slot.owe();
    }

    fn ask(&self, _permit: &Permit) {
        let mut asks = self.asks.take();
        asks.push(self.wanted.iter().map(|wanted| wanted.load(Relaxed)).collect());
        self.asks.set(asks);
    }

    /// Asks as long as there is a permit to.
    fn drive(&self, mut permit: Option<Permit>) {
        while let Some(ask) = permit {
            self.ask(&ask);
            permit = ask.settle();
        }
    }

    /// Waits for permits and asks, until every trigger is covered.
    fn ride(&self) {
        loop {
            let permit = block_on(self.slot.claim());
            self.drive(Some(permit));
            if (0..self.wanted.len()).all(|i| self.covered(i)) {
                return;
            }
        }
    }

    fn covered(&self, i: usize) -> bool {
        let asks = self.asks.take();
        let covered = asks.iter().any(|seen| seen[i]);
        self.asks.set(asks);
        covered
    }

    /// Every trigger is covered by an ask that began after it, and in at most `most` of them.
    fn judge(&self, most: usize) {
        let asks = self.asks.take();
        for i in 0..self.wanted.len() {
            assert!(asks.iter().any(|seen| seen[i]), "trigger {i} was lost: {asks:?}");
        }
        assert!(asks.len() <= most, "more than {most} asks: {asks:?}");
        assert!(self.slot.try_claim().is_none(), "something is owed still");
        self.slot.owe();
        assert!(
            self.slot.try_claim().is_some_and(|p| p.settle().is_none()),
            "the place is taken still"
        );
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

fn racing(triggers: usize) {
    let world = World::new(triggers);
    let fire = |i| {
        move |world: &World| {
            world.trigger(i);
            world.drive(world.slot.try_claim());
        }
    };
    let others: Vec<_> = (1..triggers).map(|i| spawn(&world, fire(i))).collect();
    fire(0)(&world);
    join(others);
    world.judge(triggers);
}

/// Two triggers race: each is covered by an ask that starts after it, one ask at a time, two at
/// most.
#[test]
fn two_racing_triggers_are_covered_one_ask_at_a_time() {
    check("two_triggers", None, 5, || racing(2));
}

/// Three triggers race: those that meet an outstanding ask fold into one more.
#[test]
fn three_racing_triggers_are_covered_one_ask_at_a_time() {
    check("three_triggers", Some(3), 10, || racing(3));
}

/// A trigger comes between a claimer's look and its wait: the claimer hears it.
#[test]
fn a_trigger_is_not_lost_between_look_and_wait() {
    check("look_and_wait", None, 5, || {
        let world = World::new(1);
        let feed = spawn(&world, |world| world.trigger(0));
        world.ride();
        join([feed]);
        world.judge(1);
    });
}

/// Two sides trigger while a task rides: it hears both, in two asks at most.
#[test]
fn a_waiting_claimer_hears_every_trigger() {
    check("hears_every", Some(3), 10, || {
        let world = World::new(2);
        let feeds: Vec<_> = (0..2).map(|i| spawn(&world, move |world| world.trigger(i))).collect();
        world.ride();
        join(feeds);
        // An ask may have seen what a trigger wants before it fired: it is owed all the same.
        world.drive(world.slot.try_claim());
        world.judge(2);
    });
}

/// An ask is cancelled while a task waits to claim and another side triggers: the debt that the ask
/// had taken on is owed again, and the waiter is woken for it.
#[test]
fn a_cancelled_permit_gives_back_the_debt() {
    check("cancelled", Some(3), 10, || {
        let world = World::new(1);
        let cancelled = spawn(&world, |world| drop(world.slot.try_claim()));
        let feed = spawn(&world, |world| world.trigger(0));
        world.ride();
        join([cancelled, feed]);
        world.judge(1);
    });
}

/// One ask is settled, one is cancelled, in every order: what the cancelled one leaves owed is
/// claimable afterwards, and then nothing is lost.
#[test]
fn completion_and_cancellation_in_every_order_lose_nothing() {
    check("every_order", None, 5, || {
        let world = World::new(2);
        let cancelled = spawn(&world, |world| {
            world.trigger(1);
            drop(world.slot.try_claim());
        });
        world.trigger(0);
        world.drive(world.slot.try_claim());
        join([cancelled]);
        world.drive(world.slot.try_claim());
        world.judge(3);
    });
}

/// As before, with a third trigger in the race.
#[test]
fn three_triggers_of_which_one_is_cancelled_lose_nothing() {
    check("every_order_of_three", Some(3), 10, || {
        let world = World::new(3);
        let cancelled = spawn(&world, |world| {
            world.trigger(1);
            drop(world.slot.try_claim());
        });
        let settled = spawn(&world, |world| {
            world.trigger(2);
            world.drive(world.slot.try_claim());
        });
        world.trigger(0);
        world.drive(world.slot.try_claim());
        join([cancelled, settled]);
        world.drive(world.slot.try_claim());
        world.judge(4);
    });
}

/// The permit for one more, dropped, is left to a task that waits.
#[test]
fn a_dropped_follow_up_is_left_to_a_waiting_claimer() {
    check("follow_up", None, 5, || {
        let world = World::new(1);
        world.slot.owe();
        let ask = world.slot.try_claim().unwrap();
        let waiting = spawn(&world, World::ride);
        world.trigger(0);
        drop(ask.settle());
        join([waiting]);
        world.judge(1);
    });
}

/// A claimer that begins to wait after a trigger was claimed away is not woken for it.
#[test]
fn a_trigger_wakes_nobody_who_came_after_it() {
    check("came_after", None, 2, || {
        let world = World::new(1);
        let feed = spawn(&world, |world| world.trigger(0));
        let permit = world.slot.try_claim();
        if permit.is_some() {
            let (mut claim, task) = (world.slot.claim(), StdArc::new(Counter::default()));
            assert!(poll_once(&mut claim, &Waker::from(StdArc::clone(&task))).is_pending());
            feed.join().unwrap();
            assert_eq!(task.count(), 0);
        } else {
            feed.join().unwrap();
        }
    });
}

/// A permit that settles while something is owed has the one more itself: nobody comes between.
#[test]
fn settling_lets_nobody_in_between() {
    check("in_between", None, 2, || {
        let world = World::new(1);
        world.slot.owe();
        let ask = world.slot.try_claim().unwrap();
        world.trigger(0);
        let other = spawn(&world, |world| {
            assert!(world.slot.try_claim().is_none(), "it came between");
        });
        let one_more = ask.settle();
        assert!(one_more.is_some());
        other.join().unwrap();
        world.drive(one_more);
        world.judge(1);
    });
}

/// Two tasks wait for one debt: one gets it, and the other is not forgotten when the first gives it
/// back.
#[test]
fn two_waiting_claimers_take_turns() {
    check("take_turns", Some(3), 10, || {
        let world = World::new(1);
        // Each is cancelled after its turn, and so hands the debt on to the other.
        let turns: Vec<_> = (0..2)
            .map(|_| spawn(&world, |world| world.ask(&block_on(world.slot.claim()))))
            .collect();
        world.trigger(0);
        join(turns);
        world.drive(world.slot.try_claim());
        world.judge(3);
    });
}

/// A claimer waits, and is dropped, woken or not (C12): the other one still gets the permit, unless
/// the first had it.
#[test]
fn a_claimer_that_is_dropped_takes_nobodys_wake_up_along() {
    check("claimer_dropped", Some(3), 10, || {
        let world = World::new(1);
        let quitter = spawn(&world, |world| {
            let _ = poll_once(&mut world.slot.claim(), Waker::noop());
        });
        let stayer = spawn(&world, World::ride);
        world.trigger(0);
        join([quitter, stayer]);
        world.judge(1);
    });
}

/// A claimer leaves while it waits (C39), beside a trigger: nothing of it stays.
#[test]
fn a_claimer_that_leaves_early_is_forgotten() {
    check("claimer_forgotten", None, 2, || {
        let world = World::new(1);
        let task = StdArc::new(Counter::default());
        let feed = spawn(&world, |world| world.trigger(0));
        _ = poll_once(&mut world.slot.claim(), &Waker::from(StdArc::clone(&task)));
        assert_eq!(StdArc::strong_count(&task), 1, "its waker is kept");
        join([feed]);
        world.drive(world.slot.try_claim());
        world.judge(1);
    });
}

/// A claimer is moved to another task while it waits (C38): that one is woken.
#[test]
fn a_moved_claimer_is_woken_where_it_was_polled_last() {
    check("claimer_moved", None, 5, || {
        let world = World::new(1);
        let feed = spawn(&world, |world| world.trigger(0));
        let mut claim = world.slot.claim();
        let permit = match poll_once(&mut claim, Waker::noop()) {
            Poll::Ready(permit) => permit,
            Poll::Pending => block_on(claim),
        };
        world.drive(Some(permit));
        join([feed]);
        world.judge(1);
    });
}

/// What became owed before the ask went out is satisfied by it; what comes later is one more.
#[test]
fn covering_takes_on_what_came_before_it_and_nothing_later() {
    check("cover", None, 5, || {
        let world = World::new(1);
        world.slot.owe();
        let ask = world.slot.try_claim().unwrap();
        let over = Arc::new(AtomicBool::new(false));
        let feed = {
            let over = Arc::clone(&over);
            spawn(&world, move |world| {
                world.trigger(0);
                over.store(true, Release);
            })
        };

        let came_before = over.load(Acquire);
        ask.cover();
        world.ask(&ask);
        let one_more = ask.settle();
        assert!(!(came_before && one_more.is_some()), "asked twice for one trigger");
        world.drive(one_more);
        join([feed]);
        world.drive(world.slot.try_claim());
        world.judge(2);
    });
}

/// A permit that covered is cancelled: what it covered is owed again, whoever waits.
#[test]
fn a_cancelled_permit_gives_back_what_it_covered() {
    check("cover_cancelled", None, 5, || {
        let world = World::new(1);
        world.slot.owe();
        let ask = world.slot.try_claim().unwrap();
        let cancelled = thread::spawn(move || {
            ask.cover();
            drop(ask);
        });
        world.trigger(0);
        world.ride();
        cancelled.join().unwrap();
        world.judge(1);
    });
}
