//! What the futures of an owner's end keep: a wait for a level, the driver, a wave.

use std::{cell::RefCell, future::pending, task::Poll};

use crate::contracts::harness::{
    After, Case, Feed, Strict, is_bounded_as_a_future, keeps_as_a_future_then,
    outlives_panics_as_a_future,
};
use crate::support::hand_clock::{Clock, Count, address};
use futures::{StreamExt, future};
use rideout::owner::{Driver, Ending, Lifecycle, RunLevel, Waves};

fn owner() -> Lifecycle {
    Lifecycle::new(address())
}

fn child(parent: &Lifecycle) -> Lifecycle {
    parent.child("prices/eur/spot".parse().expect("an address")).expect("its parent lives")
}

#[test]
fn a_wait_for_a_level_keeps_what_futures_keep() {
    for level in [RunLevel::Quiescing, RunLevel::DisposeHosted, RunLevel::Dead] {
        keeps_as_a_future_then(After::Ready, || {
            let life = owner();
            let reply = RefCell::new(Some(life.pending()));
            Case::new(life.reached(level))
                .stimulus(move || {
                    if life.ending().is_none() {
                        life.dispose(Ending::dispose());
                    } else if reply.take().is_none() {
                        life.force();
                    }
                })
                .lets_go()
        });
    }
}

/// What goes on in an owner's end, wherever its driver waits.
#[derive(Clone, Copy)]
enum Next {
    Told,
    Replied,
    ChildGone,
    LastDone,
    Time,
}

/// An owner with a reply that is pending, a child, and last code, whose end comes about by `happens`, and
/// then by time alone.
fn ends(happens: Vec<Next>) -> Case<Driver<impl Future<Output = ()>, Clock>> {
    let (clock, alive, done) = (Clock::new(), Count::default(), Feed::<()>::new());
    let life = owner();
    let (reply, child) = (RefCell::new(Some(life.pending())), child(&life));
    let (token, mut last) = (alive.one(), done.stream());
    let last = Strict::new(future::poll_fn(move |cx| {
        let _ = &token;
        last.poll_next_unpin(cx).map(drop)
    }));
    let driver = life.driver_on(clock.clone(), last);

    let (time, mut happens) = (clock.clone(), happens.into_iter());
    let does = move || match happens.next().unwrap_or(Next::Time) {
        Next::Told => _ = life.dispose(Ending::dispose()),
        Next::Replied => drop(reply.take()),
        Next::ChildGone => child.force(),
        Next::LastDone => done.send(()),
        Next::Time => _ = time.skip(),
    };
    Case::new(driver)
        .stimulus(does)
        .gone(move || assert_eq!((alive.get(), clock.sleeps()), (0, 0)))
        .lets_go()
}

#[test]
fn a_driver_keeps_what_futures_keep() {
    use Next::{ChildGone, LastDone, Replied, Time, Told};

    for happens in [
        vec![Told, Replied, ChildGone, LastDone],
        vec![Told, Time, ChildGone, LastDone],
        vec![Told, Replied, Time, LastDone],
        // By its watchdog.
        vec![Told],
    ] {
        keeps_as_a_future_then(After::Ready, || ends(happens.clone()));
    }
}

/// Each of them holds nobody up, and no phase is passed over for the sake of a timer that panics.
#[test]
fn a_driver_outlives_panics() {
    let everybody = ["last word", "last, polled", "now", "sleep", "sleep, polled"];
    outlives_panics_as_a_future(&everybody, |mine| {
        let (clock, life) = (mine.clock(), owner());
        let (reply, hangs) = (life.pending(), child(&life));
        let word = mine.clone();
        life.on_death(move || word.step("last word"));
        let last = Strict::new(pending()).mined("last, polled", mine);
        let driver = life.driver_on(clock.clone(), last);

        let (told, time, mine) = (life.clone(), clock.clone(), mine.clone());
        Case::new(driver)
            .stimulus(move || {
                let _ = &reply;
                if !told.dispose(Ending::dispose()) {
                    time.skip();
                }
            })
            .gone(move || {
                assert_eq!(clock.sleeps(), 0);
                let is_over = life.teardown().is_complete();
                let is_harmless = mine.went_off() != Some("sleep, polled");
                if is_over && is_harmless {
                    assert!(life.quiesce_timed_out() && hangs.ending().is_some());
                }
            })
    });
}

/// Last code that never pauses.
#[test]
fn a_driver_polls_the_last_code_once_a_poll() {
    is_bounded_as_a_future(1, |turns| {
        let (life, turns) = (owner(), turns.clone());
        life.dispose(Ending::dispose());
        let busy = future::poll_fn(move |cx| {
            turns.take();
            cx.waker().wake_by_ref();
            Poll::Pending
        });
        life.driver_on(Clock::new(), busy)
    });
}

#[test]
fn a_wave_keeps_what_futures_keep() {
    keeps_as_a_future_then(After::Ready, || {
        let members: Vec<_> = (0..3).map(|_| owner()).collect();
        let waves = Waves::new();
        let wave = waves.land(|| members.clone(), Ending::recycle());
        let left: Vec<_> = members.iter().map(|member| member.teardown().clone()).collect();
        let mut ending = members.into_iter();
        Case::new(wave)
            .stimulus(move || ending.next().into_iter().for_each(|member| member.force()))
            .gone(move || assert!(left.iter().all(|teardown| teardown.waiters() == 0)))
            .lets_go()
    });
}
