//! `Slot` (R16), polled by hand: one outstanding, triggers fold into exactly one more, a dropped
//! permit gives back place and debt.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    task::{Poll, Waker},
};

use crate::support::by_hand::{Task, kept, poll};
use proptest::prelude::*;
use rideout::slot::{Claim, Permit, Slot};

/// A slot whose one permit is out.
fn taken() -> (Slot, Permit) {
    let slot = Slot::new();
    slot.owe();
    let permit = slot.try_claim().expect("owed, and free");
    (slot, permit)
}

#[test]
fn the_face_is_what_a_rider_needs() {
    fn is<T: Send + Sync + Unpin + 'static>() {}
    is::<Slot>();
    is::<Permit>();
    is::<Claim>();
}

#[test]
fn nothing_owed_is_nothing_to_claim() {
    assert!(Slot::default().try_claim().is_none());
}

#[test]
fn one_permit_is_out_at_a_time() {
    let (slot, permit) = taken();
    slot.owe();
    assert!(slot.try_claim().is_none());
    assert!(slot.clone().try_claim().is_none());
    drop(permit);
    assert!(slot.try_claim().is_some());
}

#[test]
fn triggers_fold_into_exactly_one_more() {
    let (slot, permit) = taken();
    for _ in 0..1_000 {
        slot.clone().owe();
    }
    let one_more = permit.settle().expect("owed meanwhile");
    assert!(slot.try_claim().is_none(), "the follow-up has the place");
    assert!(one_more.settle().is_none());
    assert!(slot.try_claim().is_none(), "all are satisfied");
}

#[test]
fn a_settled_permit_gives_back_the_place_and_no_debt() {
    let (slot, permit) = taken();
    assert!(permit.settle().is_none());
    assert!(slot.try_claim().is_none());
    slot.owe();
    assert!(slot.try_claim().is_some());
}

#[test]
fn a_dropped_permit_gives_back_place_and_debt() {
    let (slot, permit) = taken();
    drop(permit);
    let again = slot.try_claim().expect("the debt is owed again");
    assert!(again.settle().is_none(), "and once only");
}

#[test]
fn a_dropped_permit_and_a_trigger_are_one_debt() {
    let (slot, permit) = taken();
    slot.owe();
    drop(permit);
    assert!(slot.try_claim().expect("owed").settle().is_none());
}

#[test]
fn a_permit_lost_to_a_panic_gives_back_place_and_debt() {
    let (slot, permit) = taken();
    let ask = move || {
        let _permit = permit;
        panic!("an ask that panics");
    };
    catch_unwind(AssertUnwindSafe(ask)).unwrap_err();
    assert!(slot.try_claim().is_some());
}

#[test]
fn a_dropped_follow_up_gives_back_place_and_debt() {
    let (slot, permit) = taken();
    slot.owe();
    drop(permit.settle());
    assert!(slot.try_claim().is_some());
}

#[test]
fn what_came_before_covering_is_satisfied() {
    let (slot, permit) = taken();
    slot.owe();
    permit.cover();
    assert!(permit.settle().is_none());
    assert!(slot.try_claim().is_none());
}

#[test]
fn what_came_after_covering_is_one_more() {
    let (slot, permit) = taken();
    permit.cover();
    slot.owe();
    assert!(permit.settle().is_some());
}

#[test]
fn what_was_covered_is_owed_again_when_the_permit_is_dropped() {
    let (slot, permit) = taken();
    slot.owe();
    permit.cover();
    drop(permit);
    assert!(slot.try_claim().expect("owed again").settle().is_none());
}

#[test]
fn a_claim_is_woken_by_a_trigger() {
    let slot = Slot::new();
    let ((task, waker), mut claim) = (Task::new(), slot.claim());
    assert!(poll(&mut claim, &waker).is_pending());
    slot.owe();
    slot.owe();
    assert_eq!(task.wakes(), 1);
    assert!(poll(&mut claim, &waker).is_ready());
}

#[test]
fn a_claim_of_what_is_owed_already_is_ready_at_once() {
    let slot = Slot::new();
    slot.owe();
    assert!(poll(&mut slot.claim(), Waker::noop()).is_ready());
}

/// A debt that a settling permit claims itself wakes nobody: there is nothing to claim.
#[test]
fn a_claim_is_not_woken_while_the_place_is_taken() {
    let (slot, permit) = taken();
    let ((task, waker), mut claim) = (Task::new(), slot.claim());
    assert!(poll(&mut claim, &waker).is_pending());
    slot.owe();
    permit.cover();
    slot.owe();
    let one_more = permit.settle().expect("owed meanwhile");
    assert!(one_more.settle().is_none());
    assert_eq!(task.wakes(), 0);
    assert!(poll(&mut claim, &waker).is_pending());
}

#[test]
fn a_claim_is_woken_by_a_dropped_permit() {
    let (slot, permit) = taken();
    let ((task, waker), mut claim) = (Task::new(), slot.claim());
    assert!(poll(&mut claim, &waker).is_pending());
    drop(permit);
    assert_eq!(task.wakes(), 1);
    assert!(poll(&mut claim, &waker).is_ready());
}

#[test]
fn a_claim_polled_again_waits_for_the_next_permit() {
    let slot = Slot::new();
    slot.owe();
    let (mut claim, (task, waker)) = (slot.claim(), Task::new());
    let Poll::Ready(permit) = poll(&mut claim, &waker) else {
        panic!("owed");
    };
    assert!(poll(&mut claim, &waker).is_pending());
    drop(permit);
    assert_eq!(task.wakes(), 1);
    assert!(poll(&mut claim, &waker).is_ready());
}

/// Two claim at once: one has the permit, the other goes on waiting and has the next.
#[test]
fn several_may_wait_to_claim() {
    let slot = Slot::new();
    let ((one, one_waker), (other, other_waker)) = (Task::new(), Task::new());
    let (mut first, mut second) = (slot.claim(), slot.claim());
    assert!(poll(&mut first, &one_waker).is_pending());
    assert!(poll(&mut second, &other_waker).is_pending());

    slot.owe();
    assert_eq!((one.wakes(), other.wakes()), (1, 1));
    let Poll::Ready(permit) = poll(&mut second, &other_waker) else {
        panic!("owed, and free");
    };
    assert!(poll(&mut first, &one_waker).is_pending());

    drop(permit);
    assert_eq!((one.wakes(), other.wakes()), (2, 1));
    assert!(poll(&mut first, &one_waker).is_ready());
}

/// C12, of claims: one that is woken and dropped takes nobody's wake-up along.
#[test]
fn a_claim_that_is_woken_and_dropped_takes_nobody_along() {
    let slot = Slot::new();
    let (mut quitter, mut stayer, (task, waker)) = (slot.claim(), slot.claim(), Task::new());
    assert!(poll(&mut quitter, Waker::noop()).is_pending());
    assert!(poll(&mut stayer, &waker).is_pending());
    slot.owe();
    drop(quitter);
    assert_eq!(task.wakes(), 1);
    assert!(poll(&mut stayer, &waker).is_ready());
}

/// C39, of claims: dropped in every state, one leaves nothing.
#[test]
fn a_dropped_claim_leaves_nothing() {
    let slot = Slot::new();
    let (task, waker) = Task::new();
    drop(slot.claim());

    let mut waiting = slot.claim();
    assert!(poll(&mut waiting, &waker).is_pending());
    assert_eq!(kept(&task), 1);
    drop(waiting);
    assert_eq!(kept(&task), 0);

    let mut woken = slot.claim();
    assert!(poll(&mut woken, &waker).is_pending());
    slot.owe();
    drop(woken);
    assert_eq!((task.wakes(), kept(&task)), (1, 0));
    assert!(slot.try_claim().is_some(), "it took the debt along");
}

#[tokio::test]
async fn tasks_of_a_runtime_take_turns() {
    let (slot, asks) = (Slot::new(), Arc::new(AtomicUsize::new(0)));
    let tasks: Vec<_> = (0..100)
        .map(|_| {
            let (slot, asks) = (slot.clone(), Arc::clone(&asks));
            tokio::spawn(async move {
                let permit = slot.claim().await;
                assert_eq!(asks.fetch_add(1, Relaxed), 0, "one outstanding");
                tokio::task::yield_now().await;
                asks.fetch_sub(1, Relaxed);
                drop(permit); // leaves the debt to the next
            })
        })
        .collect();
    slot.owe();
    for task in tasks {
        task.await.unwrap();
    }
}

#[test]
fn debug_tells_the_state() {
    let (slot, permit) = taken();
    slot.owe();
    let mut claim = slot.claim();
    assert!(poll(&mut claim, Waker::noop()).is_pending());
    assert_eq!(format!("{slot:?}"), "Slot { owed: true, taken: true, waiters: 1 }");
    assert_eq!(format!("{permit:?} {claim:?}"), "Permit { .. } Claim { .. }");
}

#[derive(Clone, Debug)]
enum Op {
    Owe,
    TryClaim,
    PollClaim,
    Cover,
    Settle,
    Cancel,
}

proptest! {
    /// Any order of calls, against two bits and a waiter.
    #[test]
    fn follows_its_reference(ops in prop::collection::vec(prop_oneof![
        Just(Op::Owe),
        Just(Op::TryClaim),
        Just(Op::PollClaim),
        Just(Op::Cover),
        Just(Op::Settle),
        Just(Op::Cancel),
    ], 0..80)) {
        let (slot, (task, waker)) = (Slot::new(), Task::new());
        let (mut claim, mut permit) = (slot.claim(), None);
        let (mut owed, mut taken, mut waits, mut wakes) = (false, false, false, 0);
        for op in ops {
            match op {
                Op::Owe => {
                    slot.owe();
                    owed = true;
                    if !taken {
                        wakes += usize::from(std::mem::take(&mut waits));
                    }
                }
                Op::TryClaim | Op::PollClaim => {
                    let got = if let Op::TryClaim = op {
                        slot.try_claim()
                    } else if let Poll::Ready(got) = poll(&mut claim, &waker) {
                        Some(got)
                    } else {
                        waits = true;
                        None
                    };
                    prop_assert_eq!(got.is_some(), owed && !taken);
                    if got.is_some() {
                        (permit, owed, taken) = (got, false, true);
                    }
                }
                Op::Cover => if let Some(permit) = &permit {
                    permit.cover();
                    owed = false;
                }
                Op::Settle => if let Some(settled) = permit.take() {
                    permit = settled.settle();
                    prop_assert_eq!(permit.is_some(), owed);
                    (owed, taken) = (false, owed);
                }
                Op::Cancel => if permit.take().is_some() {
                    (owed, taken) = (true, false);
                    wakes += usize::from(std::mem::take(&mut waits));
                }
            }
            let waiters = usize::from(waits);
            prop_assert_eq!(
                format!("{slot:?}"),
                format!("Slot {{ owed: {owed}, taken: {taken}, waiters: {waiters} }}")
            );
            prop_assert_eq!(task.wakes(), wakes);
        }
    }
}
