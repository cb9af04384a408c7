//! `Teardown` (R38), polled by hand: completed once, replayed, any number of waiters, cancel safe.

use std::{
    sync::{Arc, Mutex},
    task::{Wake, Waker},
};

use crate::support::by_hand::{Task, kept, poll};
use proptest::prelude::*;
use rideout::teardown::{Completed, Teardown};

#[test]
fn the_face_is_what_a_rider_needs() {
    fn is<T: Send + Sync + Unpin + 'static>() {}
    is::<Teardown>();
    is::<Completed>();
}

#[test]
fn one_call_completes_and_only_one() {
    let teardown = Teardown::new();
    assert!(!teardown.is_complete());
    assert!(teardown.complete());
    assert!(teardown.is_complete());
    assert!(!teardown.clone().complete());
}

#[test]
fn late_waiters_are_told_at_once() {
    let teardown = Teardown::default();
    teardown.complete();
    let (task, waker) = Task::new();
    for _ in 0..3 {
        assert!(poll(&mut teardown.completed(), &waker).is_ready());
    }
    assert_eq!((task.wakes(), kept(&task)), (0, 0));
}

/// C11: the teardown completes between the making of the join and its first poll.
#[test]
fn completed_before_the_first_poll_is_completed() {
    let teardown = Teardown::new();
    let mut join = teardown.completed();
    teardown.complete();
    assert!(poll(&mut join, Waker::noop()).is_ready());
}

/// C12: two join; one is woken and dropped before it polls. The other was woken all the same.
#[test]
fn a_waiter_that_is_woken_and_dropped_takes_nobody_along() {
    let teardown = Teardown::new();
    let ((one, one_waker), (other, other_waker)) = (Task::new(), Task::new());
    let (mut quitter, mut stayer) = (teardown.completed(), teardown.completed());
    assert!(poll(&mut quitter, &one_waker).is_pending());
    assert!(poll(&mut stayer, &other_waker).is_pending());

    teardown.complete();
    drop(quitter);

    assert_eq!((one.wakes(), other.wakes()), (1, 1));
    assert!(poll(&mut stayer, &other_waker).is_ready());
}

#[test]
fn a_waiter_that_leaves_takes_its_own_waker_and_no_others() {
    let teardown = Teardown::new();
    let tasks: Vec<_> = (0..5).map(|_| Task::new()).collect();
    let mut joins: Vec<_> = tasks.iter().map(|_| teardown.completed()).collect();
    for (join, (_, waker)) in joins.iter_mut().zip(&tasks) {
        assert!(poll(join, waker).is_pending());
    }
    drop(joins.swap_remove(1));
    drop(joins.remove(0));
    assert_eq!(teardown.waiters(), 3);

    teardown.complete();
    let wakes: Vec<_> = tasks.iter().map(|(task, _)| task.wakes()).collect();
    assert_eq!(wakes, [0, 0, 1, 1, 1]);
}

/// A waiter that outlives the completion unpolled, and goes then, takes nobody's place.
#[test]
fn a_waiter_that_leaves_after_the_completion_is_harmless() {
    let teardown = Teardown::new();
    let mut join = teardown.completed();
    assert!(poll(&mut join, Waker::noop()).is_pending());
    teardown.complete();
    drop(join);
    assert!(poll(&mut teardown.completed(), Waker::noop()).is_ready());
}

#[test]
fn the_wait_outlives_every_handle() {
    let (task, waker) = Task::new();
    let (teardown, mut join) = {
        let teardown = Teardown::new();
        let join = teardown.completed();
        (teardown, join)
    };
    assert!(poll(&mut join, &waker).is_pending());
    teardown.clone().complete();
    drop(teardown);
    assert_eq!(task.wakes(), 1);
    assert!(poll(&mut join, &waker).is_ready());
}

#[test]
fn many_waiters_are_woken_in_the_order_they_came() {
    struct Nth(usize, Arc<Mutex<Vec<usize>>>);
    impl Wake for Nth {
        fn wake(self: Arc<Self>) {
            self.1.lock().unwrap().push(self.0);
        }
    }
    let (teardown, woken) = (Teardown::new(), Arc::default());
    let mut joins: Vec<_> = (0..1_000).map(|_| teardown.completed()).collect();
    for _ in 0..2 {
        for (n, join) in joins.iter_mut().enumerate() {
            let waker = Waker::from(Arc::new(Nth(n, Arc::clone(&woken))));
            assert!(poll(join, &waker).is_pending());
        }
    }
    assert_eq!(teardown.waiters(), 1_000);

    teardown.complete();
    assert_eq!(*woken.lock().unwrap(), (0..1_000).collect::<Vec<_>>());
    assert!(joins.iter_mut().all(|join| poll(join, Waker::noop()).is_ready()));
}

/// The one task polls again and again: its waker is compared, not cloned.
#[test]
fn a_task_that_polls_again_is_registered_once() {
    let teardown = Teardown::new();
    let (task, waker) = Task::new();
    let mut join = teardown.completed();
    for _ in 0..3 {
        assert!(poll(&mut join, &waker).is_pending());
        assert_eq!((kept(&task), teardown.waiters()), (1, 1));
    }
}

#[tokio::test]
async fn tasks_of_a_runtime_are_told() {
    let teardown = Teardown::new();
    let tasks: Vec<_> = (0..100).map(|_| tokio::spawn(teardown.completed())).collect();
    while teardown.waiters() < 100 {
        tokio::task::yield_now().await;
    }
    teardown.complete();
    for task in tasks {
        task.await.unwrap();
    }
}

#[test]
fn debug_tells_the_state() {
    let teardown = Teardown::new();
    let mut join = teardown.completed();
    assert!(poll(&mut join, Waker::noop()).is_pending());
    assert_eq!(format!("{teardown:?}"), "Teardown { complete: false, waiters: 1 }");
    teardown.complete();
    assert_eq!(format!("{teardown:?}"), "Teardown { complete: true, waiters: 0 }");
    assert_eq!(format!("{join:?}"), "Completed { complete: true, .. }");
}

#[derive(Clone, Debug)]
enum Op {
    Join,
    Poll(usize),
    Drop(usize),
    Complete,
}

proptest! {
    /// Any order of calls, against the list of who waits.
    #[test]
    fn follows_its_reference(ops in prop::collection::vec(prop_oneof![
        4 => Just(Op::Join),
        8 => any::<usize>().prop_map(Op::Poll),
        3 => any::<usize>().prop_map(Op::Drop),
        1 => Just(Op::Complete),
    ], 0..80)) {
        let (teardown, mut complete) = (Teardown::new(), false);
        // Each with its task, whether it waits, and how often it is to have been woken.
        let mut joins: Vec<(Completed, Arc<Task>, Waker, bool, usize)> = Vec::new();
        for op in ops {
            match op {
                Op::Join => {
                    let (task, waker) = Task::new();
                    joins.push((teardown.completed(), task, waker, false, 0));
                }
                Op::Poll(i) if !joins.is_empty() => {
                    let i = i % joins.len();
                    let (join, _, waker, waits, _) = &mut joins[i];
                    prop_assert_eq!(poll(join, waker).is_ready(), complete);
                    *waits = !complete;
                }
                Op::Drop(i) if !joins.is_empty() => {
                    let i = i % joins.len();
                    let (join, task, _waker, ..) = joins.swap_remove(i);
                    drop(join);
                    prop_assert_eq!(kept(&task), 0);
                }
                Op::Complete => {
                    prop_assert_eq!(teardown.complete(), !complete);
                    complete = true;
                    for (.., waits, wakes) in &mut joins {
                        *wakes += usize::from(std::mem::take(waits));
                    }
                }
                Op::Poll(_) | Op::Drop(_) => {}
            }
            prop_assert_eq!(teardown.is_complete(), complete);
            prop_assert_eq!(teardown.waiters(), joins.iter().filter(|join| join.3).count());
            prop_assert!(joins.iter().all(|(_, task, _, _, wakes)| task.wakes() == *wakes));
        }
    }
}
