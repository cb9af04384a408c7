//! R38 under every interleaving: completed once, replayed, any number of waiters, cancel safe. The
//! production code on loom's primitives, one property a model.

mod common {
    pub(crate) mod check;
    pub(crate) mod counter;
    pub(crate) mod poll_once;
}

use std::{
    sync::Arc as StdArc,
    task::{Poll, Wake, Waker},
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
use rideout_under_loom::teardown::Teardown;

fn spawn<T: 'static>(
    teardown: &Teardown,
    f: impl FnOnce(Teardown) -> T + 'static,
) -> JoinHandle<T> {
    let teardown = teardown.clone();
    thread::spawn(move || f(teardown))
}

fn wait(teardown: Teardown) {
    block_on(teardown.completed());
}

fn complete(teardown: Teardown) -> bool {
    teardown.complete()
}

/// Two sides complete: exactly one of them did it.
#[test]
fn exactly_one_call_completes() {
    check("once", None, 2, || {
        let teardown = Teardown::new();
        let other = spawn(&teardown, complete);
        let did_it = teardown.complete();
        assert!(teardown.is_complete());
        assert!(other.join().unwrap() ^ did_it);
    });
}

/// The completion comes before, between or after the making of the join, its look and its wait
/// (C11): the waiter hears it.
#[test]
fn a_completion_is_not_lost_between_look_and_wait() {
    check("look_and_wait", None, 5, || {
        let teardown = Teardown::new();
        let owner = spawn(&teardown, complete);
        wait(teardown.clone());
        assert!(owner.join().unwrap());
        assert_eq!(teardown.waiters(), 0);
    });
}

/// Two tasks wait, one comes late: all are told.
#[test]
fn every_waiter_hears_it() {
    check("every_waiter", Some(3), 10, || {
        let teardown = Teardown::new();
        let waiters = [spawn(&teardown, wait), spawn(&teardown, wait)];
        assert!(teardown.complete());
        for waiter in waiters {
            waiter.join().unwrap();
        }
        wait(teardown.clone());
        assert_eq!(teardown.waiters(), 0);
    });
}

/// Many wait in one task, each with a waker of its own: each is ready at its look, or woken once.
#[test]
fn each_of_many_is_ready_or_woken() {
    check("many", None, 5, || {
        let teardown = Teardown::new();
        let owner = spawn(&teardown, complete);
        let waiters: Vec<_> = (0..4)
            .map(|_| {
                let (mut join, task) = (teardown.completed(), StdArc::new(Counter::default()));
                let ready = poll_once(&mut join, &Waker::from(StdArc::clone(&task))).is_ready();
                (join, task, ready)
            })
            .collect();
        owner.join().unwrap();
        for (mut join, task, ready) in waiters {
            assert_eq!(task.count(), usize::from(!ready));
            assert!(poll_once(&mut join, Waker::noop()).is_ready());
        }
    });
}

/// A waiter is dropped after its first poll, woken or not (C12): the other is told, and nothing
/// stays registered.
#[test]
fn a_waiter_that_is_dropped_takes_nobodys_wake_up_along() {
    check("waiter_dropped", Some(3), 10, || {
        let teardown = Teardown::new();
        let quitter = spawn(&teardown, |teardown| {
            let _ = poll_once(&mut teardown.completed(), Waker::noop());
        });
        let stayer = spawn(&teardown, wait);
        teardown.complete();
        quitter.join().unwrap();
        stayer.join().unwrap();
        assert_eq!(teardown.waiters(), 0);
    });
}

/// Two waiters leave before any completion (C39): nothing of them stays.
#[test]
fn a_waiter_that_leaves_early_is_forgotten() {
    check("forgotten", None, 5, || {
        let teardown = Teardown::new();
        let quit = |teardown: Teardown| {
            assert!(poll_once(&mut teardown.completed(), Waker::noop()).is_pending());
        };
        let other = spawn(&teardown, quit);
        quit(teardown.clone());
        other.join().unwrap();
        assert_eq!(teardown.waiters(), 0);
    });
}

/// A waiter is moved to another task in mid-join (C38): the task that polled it last is woken, and that
/// it has left is not, unless the completion found it there.
#[test]
fn a_moved_waiter_is_woken_where_it_was_polled_last() {
    check("moved", None, 5, || {
        let teardown = Teardown::new();
        let owner = spawn(&teardown, complete);
        let mut join = teardown.completed();
        let [left, last] = [(); 2].map(|()| StdArc::new(Counter::default()));
        let [was_ready, is_ready] = [&left, &last]
            .map(|task| poll_once(&mut join, &Waker::from(StdArc::clone(task))).is_ready());
        assert!(owner.join().unwrap());
        let wakes = match (was_ready, is_ready) {
            (true, _) => (0, 0),
            (false, true) => (1, 0),
            (false, false) => (0, 1),
        };
        assert_eq!((left.count(), last.count()), wakes);
        assert!(poll_once(&mut join, Waker::noop()).is_ready());
    });
}

/// What was done before the completion is seen by whoever was told: by the question, by an early
/// waiter, by a late one.
#[test]
fn completing_publishes_what_was_done_before() {
    check("publish", None, 2, || {
        let (teardown, work) = (Teardown::new(), Arc::new(AtomicUsize::new(0)));
        let reader = {
            let work = Arc::clone(&work);
            spawn(&teardown, move |teardown| {
                if teardown.is_complete() {
                    assert_eq!(work.load(Relaxed), 1, "by the question");
                }
                block_on(teardown.completed());
                assert_eq!(work.load(Relaxed), 1, "by the future");
            })
        };
        work.store(1, Relaxed);
        teardown.complete();
        reader.join().unwrap();
    });
}

/// A task whose wake completes the teardown that wakes it, and looks at it.
struct Reentrant(Teardown, Arc<AtomicUsize>);

impl Wake for Reentrant {
    fn wake(self: StdArc<Self>) {
        assert!(!self.0.complete(), "it was completed before anyone was woken");
        assert_eq!(self.0.waiters(), 0);
        self.1.fetch_add(1, Relaxed);
    }
}

/// A completion from inside a waiter's wake deadlocks nobody, and completes nothing twice.
#[test]
fn a_completion_from_inside_a_wake_is_harmless() {
    check("reentrant", None, 2, || {
        let (teardown, wakes) = (Teardown::new(), Arc::new(AtomicUsize::new(0)));
        let owner = spawn(&teardown, complete);
        let mut join = teardown.completed();
        let task = Waker::from(StdArc::new(Reentrant(teardown.clone(), Arc::clone(&wakes))));
        let ready = poll_once(&mut join, &task).is_ready();
        assert!(owner.join().unwrap());
        assert_eq!(wakes.load(Relaxed), usize::from(!ready));
        assert_eq!(poll_once(&mut join, Waker::noop()), Poll::Ready(()));
    });
}
