//! The carrier and its operators under every interleaving (R9, R12–R16), one chain of them: the
//! production code on loom's primitives, one property a model.

mod common {
    pub(crate) mod check;
    pub(crate) mod counter;
    pub(crate) mod poll_once;
    pub(crate) mod yields;
}
mod world;

use std::{
    future::poll_fn,
    sync::Arc as StdArc,
    task::{Context, Poll, Waker},
};

use common::{check::check, counter::Counter, poll_once::poll_once};
use futures_core::Stream;
use loom::{
    future::block_on,
    sync::{
        Arc,
        atomic::{
            AtomicBool,
            Ordering::{Acquire, Relaxed, Release},
        },
    },
    thread,
};
use rideout_under_loom::{Budget, Carrier, CarrierExt, Rejection, ledger::Axis};
use world::{
    Chain, Script, World, attempt, chain, join, next, ride, settle, spawn, with_an_attempt_out,
};

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
            let script = Script { refuses, lingers: true, says_when: true, ends: false };
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
        let mut chain: Chain = Box::pin(
            carrier
                .triggers()
                .charge(carrier)
                .defer(probe)
                .concat_attempts_by(carrier, |it, _| it.clone()),
        );
        assert!(matches!(next(&mut chain), Some(Ok(()))));
        let during_the_wait = before.load(Relaxed);
        join([feed]);
        settle(&mut chain);
        assert!(!during_the_wait || world.asks() == 1, "asked twice for one trigger");
        world.judge(&mut chain, 2);
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
