//! Two chains on one carrier under every interleaving (R9, R16): the old one's attempt is still out,
//! on another thread, or is dropped. One property a model.

mod common {
    pub(crate) mod check;
    pub(crate) mod counter;
    pub(crate) mod yields;
}
mod world;

use std::{
    sync::Arc as StdArc,
    task::{Context, Waker},
};

use common::{check::check, counter::Counter};
use futures_core::Stream;
use loom::{sync::Arc, thread};
use rideout_under_loom::{Budget, CarrierExt, Rejection};
use world::{
    Script, World, attempt, chain, join, next, poll, ride, settle, spawn, with_an_attempt_out,
};

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
        let counts =
            world.look(|ghost| ghost.asks.iter().map(|ask| ask.charge.count()).collect::<Vec<_>>());
        assert_eq!(counts, [1, 1], "charged once, attempted twice");
        world.judge(&mut new, 2);
    });
}

/// As before with the first ask, which has no charge: its debt alone is left.
#[test]
fn a_dropped_chain_gives_back_its_debt() {
    check("dropped_debt", None, 5, || {
        let world = World::new(0, Script { lingers: true, ..Script::default() });
        let old = with_an_attempt_out(&world);
        let dropped = thread::spawn(move || drop(old));
        let mut new = chain(&world);
        assert!(matches!(next(&mut new), Some(Ok(()))));
        join([dropped]);
        world.judge(&mut new, 2);
    });
}

/// As before, and a nudge in the race.
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
            old // is not polled any more, and not dropped yet
        });
        let mut new = chain(&world);
        world.nudge(0);
        assert!(matches!(next(&mut new), Some(Ok(()))));
        assert!(next(&mut finishes.join().unwrap()).is_none(), "it has been taken over");
        world.judge(&mut new, 2);
    });
}

/// As before, but the old one ends in a verdict, and what waits for the place is charged.
#[test]
fn a_charged_attempt_waits_for_an_old_one_that_ends() {
    check("two_chains_verdict", Some(4), 10, || {
        let world = World::new(1, Script { lingers: true, ends: true, ..Script::default() });
        let mut old = with_an_attempt_out(&world);
        let mut new = chain(&world);
        let ends = thread::spawn(move || {
            let end = next(&mut old).and_then(Result::err);
            assert!(end.is_some_and(|error| error.verdict().is_some()));
        });
        world.reject(0);
        assert!(matches!(next(&mut new), Some(Ok(()))));
        join([ends]);
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

/// The old one's attempt is ended from outside, and the old one is not polled any more: the attempt is
/// gone before its place is free, and the rejection comes to the new chain.
#[test]
fn what_is_rejected_from_outside_comes_to_the_new_chain() {
    check("rejected_from_outside", None, 5, || {
        let world = World::new(0, Script { lingers: true, ..Script::default() });
        let (carrier, asked) = (world.carrier.clone(), Arc::clone(&world));
        let probe = move |charge| attempt(Arc::clone(&asked), charge);
        let old = carrier
            .triggers()
            .charge(&carrier)
            .defer(probe)
            .concat_attempts_by(&carrier, |it, _| it.clone());
        let mut old = Box::pin(old);
        let mut cx = Context::from_waker(Waker::noop());
        assert!(old.as_mut().poll_next(&mut cx).is_pending());

        let mut new = chain(&world);
        let announces = thread::spawn(move || {
            old.as_mut().reject(Rejection::by_route(), None);
            old
        });
        assert!(matches!(next(&mut new), Some(Ok(()))));
        drop(announces.join().unwrap());
        world.judge(&mut new, 2);
    });
}

/// A chain goes while it waits, for a trigger or for the place (C39): nothing of it stays.
#[test]
fn a_chain_that_goes_while_it_waits_is_forgotten() {
    check("chain_forgotten", None, 2, || {
        let world = World::new(1, Script { lingers: true, ..Script::default() });
        let first = with_an_attempt_out(&world);
        let task = StdArc::new(Counter::default());
        let feed = spawn(&world, |world| world.nudge(0));
        let mut second = chain(&world);
        // It waits for a trigger, or with one in hand for the place.
        let waker = Waker::from(StdArc::clone(&task));
        assert!(second.as_mut().poll_next(&mut Context::from_waker(&waker)).is_pending());
        drop((second, waker));
        assert_eq!(StdArc::strong_count(&task), 1, "its waker is kept");
        join([feed]);
        assert!(task.count() <= 1, "one nudge wakes it {} times", task.count());
        drop(first);
        world.judge(&mut chain(&world), 2);
    });
}

/// A chain is taken over while it runs on another thread, and a nudge comes: it ends, and what it
/// leaves the new one does.
#[test]
fn a_chain_that_is_taken_over_ends_and_leaves_nothing_undone() {
    check("taken_over", Some(3), 5, || {
        let world = World::new(1, Script::default());
        let mut old = chain(&world);
        let runs = thread::spawn(move || while next(&mut old).is_some() {});
        world.nudge(0);
        let mut new = chain(&world);
        join([runs]);
        world.judge(&mut new, 2);
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
