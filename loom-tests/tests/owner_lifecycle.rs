//! R37 to R39 under every interleaving: nobody is born unseen, no reply's end is missed, the last words
//! are said once. The production code on loom's primitives, one property a model.

mod common {
    pub(crate) mod check;
    pub(crate) mod counter;
    pub(crate) mod poll_once;
}

use std::{
    future::{Pending, pending},
    pin::Pin,
    sync::Arc as StdArc,
    task::Waker,
    time::{Duration, Instant},
};

use common::{check::check, counter::Counter, poll_once::poll_once};
use loom::{
    future::block_on,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread::{self, JoinHandle},
};
use rideout_under_loom::{
    Address,
    owner::{Driver, Ending, Lifecycle, RunLevel},
    time::Timer,
};

/// A clock on which nothing is ever over: what ends here ends by its events.
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

fn address() -> Address {
    "x".parse().expect("a valid address")
}

fn owner() -> Lifecycle {
    Lifecycle::new(address())
}

type Untimed = Pin<Box<Driver<std::future::Ready<()>, Never>>>;

fn driver(life: &Lifecycle) -> Untimed {
    Box::pin(life.driver_on(Never, std::future::ready(())))
}

fn spawn<T: 'static>(life: &Lifecycle, f: impl FnOnce(Lifecycle) -> T + 'static) -> JoinHandle<T> {
    let life = life.clone();
    thread::spawn(move || f(life))
}

fn dispose(life: Lifecycle) -> bool {
    life.dispose(Ending::dispose())
}

/// A birth races the end of its parent: the child is refused, or it is told.
#[test]
fn who_is_born_is_told() {
    check("born_is_told", None, 2, || {
        let parent = owner();
        let ender = spawn(&parent, |parent| {
            dispose(parent.clone());
            let _ = poll_once(&mut driver(&parent), Waker::noop());
        });
        let born = parent.child(address());
        ender.join().unwrap();
        match born {
            Ok(child) => {
                assert!(child.ending().is_some(), "it was missed");
                assert!(child.child(address()).is_err());
            }
            Err(_) => assert_eq!(parent.level(), RunLevel::Dead),
        }
    });
}

/// A grandchild's birth races the end of the root: once that returns, whoever was born is frozen, and
/// nobody is born in the subtree.
#[test]
fn who_is_born_far_below_is_frozen() {
    check("far_below", None, 2, || {
        let root = owner();
        let middle = root.child(address()).unwrap();
        let ender = spawn(&root, dispose);
        let born = middle.child(address());
        assert!(ender.join().unwrap());
        assert!(middle.child(address()).is_err());
        if let Ok(born) = born {
            assert!(born.child(address()).is_err(), "it was missed");
        }
    });
}

/// Once somebody sees that the root was told, nobody is born below, however far.
#[test]
fn nobody_is_born_below_one_that_was_told() {
    check("told_is_frozen", Some(3), 20, || {
        let root = owner();
        let middle = root.child(address()).unwrap();
        let first = spawn(&root, dispose);
        let second = spawn(&root, |root| dispose(root.clone()) || root.ending().is_some());
        let is_told = root.ending().is_some();
        let born = middle.child(address());
        assert!(!is_told || born.is_err(), "it was told before the subtree was frozen");
        first.join().unwrap();
        assert!(second.join().unwrap(), "who is told that it is told already finds out how");
        assert!(middle.child(address()).is_err());
    });
}

/// The last reply goes out as the end is asked for: one of the two passes on.
#[test]
fn the_last_reply_and_the_end_do_not_miss_each_other() {
    check("last_reply", None, 2, || {
        let life = owner();
        let reply = life.pending();
        let ender = spawn(&life, dispose);
        drop(reply);
        assert!(ender.join().unwrap());
        assert_eq!(life.level(), RunLevel::DisposeHosted);
    });
}

/// The same with two replies, and a driver that waits for both: it is woken, and goes to the end.
#[test]
fn a_driver_that_waits_for_replies_is_woken() {
    check("driver_is_woken", Some(2), 20, || {
        let life = owner();
        let (one, other) = (life.pending(), life.pending());
        let driven = spawn(&life, |life| {
            block_on(driver(&life));
            assert!(life.is_idle(), "a reply is pending");
        });
        let replies = thread::spawn(move || drop(one));
        dispose(life.clone());
        drop(other);
        replies.join().unwrap();
        driven.join().unwrap();
        assert!(life.teardown().is_complete());
    });
}

/// A driver waits for a child that dies elsewhere: it is woken for that.
#[test]
fn a_driver_that_waits_for_a_child_is_woken() {
    for dropped in [false, true] {
        check("child_goes", Some(3), 10, move || {
            let parent = owner();
            let child = parent.child(address()).unwrap();
            let driven = spawn(&parent, |parent| block_on(driver(&parent)));
            dispose(parent.clone());
            if dropped {
                drop(child)
            } else {
                child.force()
            }
            driven.join().unwrap();
            assert!(parent.teardown().is_complete());
        });
    }
}

/// One of two children goes while the driver looks: it waits for the other.
#[test]
fn a_driver_waits_for_every_child() {
    check("every_child", None, 2, || {
        let parent = owner();
        let (one, other) = (parent.child(address()).unwrap(), parent.child(address()).unwrap());
        dispose(parent.clone());
        let goes = thread::spawn(move || drop(one));
        let mut driver = driver(&parent);
        assert!(poll_once(&mut driver, Waker::noop()).is_pending());
        goes.join().unwrap();
        assert_eq!(parent.level(), RunLevel::DisposeHosted);
        drop(other);
        assert!(poll_once(&mut driver, Waker::noop()).is_ready());
    });
}

/// Force races the driver's own end: dead, the last words once, completed, for all who look.
#[test]
fn the_last_words_are_said_once() {
    check("last_words", Some(3), 20, || {
        let life = owner();
        let said = Arc::new(AtomicUsize::new(0));
        let (dead, words) = (life.clone(), Arc::clone(&said));
        life.on_death(move || {
            assert_eq!(dead.level(), RunLevel::Dead);
            assert!(!dead.teardown().is_complete());
            words.fetch_add(1, Relaxed);
        });
        dispose(life.clone());
        let forces = spawn(&life, |life| life.force());
        let waits = {
            let said = Arc::clone(&said);
            spawn(&life, move |life| {
                if life.teardown().is_complete() {
                    assert_eq!((said.load(Relaxed), life.level()), (1, RunLevel::Dead));
                }
            })
        };
        block_on(driver(&life));
        assert!(life.teardown().is_complete(), "the driver is over when the end is");
        assert_eq!(said.load(Relaxed), 1);
        forces.join().unwrap();
        waits.join().unwrap();
        assert_eq!(said.load(Relaxed), 1);
    });
}

/// A last word that comes as the owner dies is said, by one of the two, and once.
#[test]
fn a_late_last_word_is_said_once() {
    check("late_word", None, 3, || {
        let life = owner();
        let said = Arc::new(AtomicUsize::new(0));
        let forces = spawn(&life, |life| life.force());
        let words = Arc::clone(&said);
        life.on_death(move || _ = words.fetch_add(1, Relaxed));
        forces.join().unwrap();
        assert_eq!(said.load(Relaxed), 1);
    });
}

/// Who waits for a level is ready at its look or woken, whoever passes it.
#[test]
fn no_level_is_missed() {
    check("levels", Some(3), 5, || {
        let life = owner();
        let goes = spawn(&life, |life| {
            life.started();
            dispose(life.clone());
            assert!(poll_once(&mut driver(&life), Waker::noop()).is_ready());
        });
        let waits: Vec<_> = [RunLevel::Started, RunLevel::DisposeHosted, RunLevel::Dead]
            .into_iter()
            .map(|level| {
                let (mut wait, task) = (life.reached(level), StdArc::new(Counter::default()));
                let ready = poll_once(&mut wait, &Waker::from(StdArc::clone(&task))).is_ready();
                (wait, task, ready)
            })
            .collect();
        goes.join().unwrap();
        for (mut wait, task, ready) in waits {
            assert!(ready || task.count() > 0, "it was not woken");
            assert!(poll_once(&mut wait, Waker::noop()).is_ready());
        }
    });
}

/// Who waits for the start is ready at its look or woken by it.
#[test]
fn the_start_is_not_missed() {
    check("start", None, 2, || {
        let life = owner();
        let starts = spawn(&life, |life| life.started());
        block_on(life.reached(RunLevel::Started));
        starts.join().unwrap();
    });
}

/// Two ask for the end: one decides.
#[test]
fn one_decides() {
    check("one_decides", None, 3, || {
        let life = owner();
        let other = spawn(&life, |life| life.dispose(Ending::recycle()));
        let decides = life.dispose(Ending::dispose());
        assert_ne!(other.join().unwrap(), decides);
        assert_eq!(life.ending().unwrap().is_announced(), !decides);
    });
}
