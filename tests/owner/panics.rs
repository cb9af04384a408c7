//! Foreign code that panics in an owner's end (R38, C40), of several at once, or in a drop: it reaches a
//! caller, and does not hold the end up.

use std::{
    future::{pending, ready},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    task::{Wake, Waker},
};

use crate::support::{
    by_hand::poll,
    driven::{Driven, child, owner, said},
    hand_clock::panics,
    heard::Heard,
};
use rideout::owner::{Ending, Lifecycle, Reached, RunLevel};
use tracing::Level;

/// Panics when it is woken.
struct Bomb;

impl Wake for Bomb {
    fn wake(self: Arc<Self>) {
        panic!("a waker that panics");
    }
}

/// Waits for `level` in a task whose waker panics.
fn armed(life: &Lifecycle, level: RunLevel) -> Reached {
    let mut wait = life.reached(level);
    assert!(poll(&mut wait, &Waker::from(Arc::new(Bomb))).is_pending());
    wait
}

struct DropBomb;

impl Drop for DropBomb {
    fn drop(&mut self) {
        panic!("a value that panics when it is dropped");
    }
}

/// The end is whole before the caller sees the panic, and polled again it is over.
#[test]
fn last_code_that_panics_holds_nobody_up() {
    let bomb = DropBomb;
    let in_drop = async move {
        let _bomb = bomb;
        pending::<()>().await;
    };
    let owner_ = owner();
    let mut driven = Driven::new(&owner_, async { panic!("the last code") });
    owner_.dispose(Ending::dispose());
    panics(|| driven.poll());
    assert!(owner_.teardown().is_complete() && !owner_.was_forced());
    assert!(driven.poll());
    assert_eq!(driven.clock.sleeps(), 0);

    let owner_ = owner();
    let mut driven = Driven::new(&owner_, in_drop);
    owner_.dispose(Ending::dispose());
    assert!(!driven.poll());
    while driven.clock.skip().is_some() && !owner_.was_forced() {
        let _ = catch_unwind(AssertUnwindSafe(|| driven.poll()));
    }
    assert!(owner_.was_forced() && owner_.teardown().is_complete());
    assert!(driven.poll());
}

/// All others are said, the teardown is completed, the parent is told.
#[test]
fn a_last_word_that_panics_silences_nobody() {
    for by_force in [false, true] {
        let parent = owner();
        let dying = child(&parent);
        let said = Arc::new(AtomicUsize::new(0));
        for nth in 0..4 {
            let said = Arc::clone(&said);
            dying.on_death(move || {
                said.fetch_add(1, Relaxed);
                assert!(nth % 2 == 0, "a last word that panics");
            });
        }
        let mut parent_s = Driven::new(&parent, ready(()));
        parent.dispose(Ending::dispose());
        assert!(!parent_s.poll());
        let mut driven = Driven::new(&dying, ready(()));
        panics(|| if by_force { dying.force() } else { _ = driven.poll() });
        assert_eq!(said.load(Relaxed), 4);
        assert!(dying.teardown().is_complete() && driven.poll() && parent_s.poll());
    }
}

/// What a panic carries is foreign too, and is dropped where another came first.
#[test]
fn a_panic_whose_payload_panics_silences_nobody() {
    let dying = owner();
    let said = Arc::new(AtomicUsize::new(0));
    for _ in 0..3 {
        let said = Arc::clone(&said);
        dying.on_death(move || {
            said.fetch_add(1, Relaxed);
            std::panic::panic_any(DropBomb);
        });
    }
    let first = catch_unwind(AssertUnwindSafe(|| dying.force())).unwrap_err();
    std::mem::forget(first);
    assert_eq!(said.load(Relaxed), 3);
    assert!(dying.teardown().is_complete());
}

#[test]
fn a_panic_spares_the_rest_of_a_forced_subtree() {
    let root = owner();
    let children: Vec<_> = (0..10).map(|_| child(&root)).collect();
    let below: Vec<_> = children.iter().map(child).collect();
    let all = || below.iter().chain(&children).chain([&root]);
    for life in all() {
        life.on_death(|| panic!("a last word that panics"));
    }
    panics(|| root.force());
    assert!(all().all(|life| life.was_forced() && life.teardown().is_complete()));
}

/// A waiter's waker is the business of none but its task: it stops neither the driver nor the children.
#[test]
fn a_waker_that_panics_does_not_stop_the_driver() {
    use RunLevel::{Dead, DisposeHosted, HostedDisposed, Quiescing, ShutDown};

    // What is told from outside of the driver panics there, and is done all the same.
    let told = owner();
    let _wait = armed(&told, Quiescing);
    panics(|| told.dispose(Ending::dispose()));
    assert!(told.is_refusing() && told.ending().is_some());

    for level in [DisposeHosted, HostedDisposed, ShutDown, Dead] {
        let heard = Heard::begin();
        let parent = owner();
        let reply = parent.pending();
        let children: Vec<_> = (0..3).map(|_| child(&parent)).collect();
        let mut drivers: Vec<_> =
            children.iter().map(|child| Driven::new(child, ready(()))).collect();
        let mut driven = Driven::new(&parent, ready(()));
        parent.dispose(Ending::dispose());
        let _waits = [armed(&parent, level), armed(&children[0], Quiescing)];
        assert!(!driven.poll());
        driven.clock.skip(); // the reply never comes: the driver passes on
        assert!(!driven.poll(), "the panics wait for the end");
        assert!(children.iter().all(|child| child.ending().is_some()), "all are told");
        assert!(drivers.iter_mut().all(Driven::poll));
        panics(|| driven.poll());
        assert!(parent.teardown().is_complete() && driven.poll());
        assert_eq!((said(&heard), driven.clock.sleeps()), (vec![Level::WARN], 0));
        drop(reply);
    }
}
