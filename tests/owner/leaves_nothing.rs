//! What a lifetime leaves behind, however deep, however many, however it goes (R37, R38): nothing.

use std::{
    future::{Pending, pending},
    sync::Arc,
    task::Waker,
    thread,
    time::{Duration, Instant},
};

use crate::support::{
    by_hand::poll,
    driven::{child, owner},
    hand_clock::address,
};
use rideout::{
    owner::{Ending, RunLevel},
    time::Timer,
};

/// A chain so deep that anything recursive in it overflows the stack, and anything quadratic never ends.
#[test]
fn a_tree_of_any_depth_is_frozen_ended_forced_and_dropped() {
    const DEPTH: usize = 100_000;
    let chain = || {
        let mut chain = vec![owner()];
        for _ in 1..DEPTH {
            let next = child(chain.last().unwrap());
            chain.push(next);
        }
        chain
    };
    let deep = move || {
        let ended = chain();
        let mut drivers: Vec<_> =
            ended.iter().map(|life| Box::pin(life.driver_on(Never, async {}))).collect();
        assert!(ended[0].dispose(Ending::dispose()));
        assert!((0..DEPTH).all(|_| !ended[0].dispose(Ending::recycle())), "looked at once");
        let mut sample = ended.iter().step_by(9_999); // the last one too
        assert!(sample.all(|life| life.child(address()).is_err()));
        assert_eq!(ended[DEPTH - 1].level(), RunLevel::Starting);
        for driver in &mut drivers {
            let _ = poll(driver, Waker::noop());
        }
        assert!(drivers.iter_mut().rev().all(|driver| poll(driver, Waker::noop()).is_ready()));
        assert!(ended.iter().all(|life| life.teardown().is_complete() && !life.was_forced()));

        let forced = chain();
        forced[0].force();
        assert!(forced.iter().all(|life| life.was_forced() && life.teardown().is_complete()));

        drop(chain());
        let mut bottom_up = chain();
        while bottom_up.pop().is_some() {}
    };
    thread::Builder::new().stack_size(256 * 1024).spawn(deep).unwrap().join().unwrap();
}

/// A clock on which nothing is ever over.
struct Never;

impl Timer for Never {
    type Sleep = Pending<()>;

    fn sleep(&self, _: Duration) -> Pending<()> {
        pending()
    }

    fn now(&self) -> Instant {
        Instant::now()
    }
}

#[test]
fn children_that_come_and_go_leave_nothing() {
    let parent = owner();
    let come_and_go = || {
        drop(child(&parent));
        child(&parent).force();
    };
    come_and_go();
    let held = allocation_counter::measure(|| (0..50_000).for_each(|_| come_and_go()));
    assert!(held.bytes_current.abs() < 1_000, "{held:?}");

    // The control: those that live are held.
    let mut living = Vec::with_capacity(1_000);
    let held = allocation_counter::measure(|| {
        living.extend((0..1_000).map(|_| child(&parent)));
    });
    assert!(held.bytes_current > 100_000, "{held:?}");
    parent.dispose(Ending::dispose());
    let refused = allocation_counter::measure(|| {
        (0..1_000).for_each(|_| drop(parent.child(address())));
    });
    assert!(refused.bytes_current.abs() < 1_000, "{refused:?}");
}

/// A killed process: no last words, and its teardown is never completed. A future that waits for a
/// level is a handle like any other.
#[test]
fn a_killed_lifetime_says_nothing() {
    let parent = owner();
    let said = Arc::new(());
    let killed = child(&parent);
    let word = Arc::clone(&said);
    killed.on_death(move || panic!("said {word:?}"));
    let mut completed = killed.teardown().completed();
    let reply = killed.pending();
    let reached = killed.reached(RunLevel::Dead);
    drop(killed);
    drop(reply);
    assert_eq!(Arc::strong_count(&said), 2, "it is waited for, so it lives");
    drop(reached);
    assert_eq!(Arc::strong_count(&said), 1);
    assert!(poll(&mut completed, Waker::noop()).is_pending());
}
