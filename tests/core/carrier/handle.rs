//! `Carrier` (R16): one re-ask outstanding whatever asks for it, no trigger lost and none doubled.

use std::{
    fmt::Debug,
    future::{Pending, pending, ready},
    task::Poll,
    time::Duration,
};

use crate::support::{
    by_hand::Task,
    chain::{self, Owner, answer, by_owner, carrier, chain, draining, look, poll_next, saying},
};
use futures::{FutureExt, StreamExt};
use rideout::{
    CarrierExt, Refusal, Rejection,
    carrier::{Attempt, ConcatAttempts, Defer, Trigger, Triggers},
    ledger::{Axis, Key},
};

const PACE: Duration = Duration::from_millis(500);

#[test]
fn the_first_ask_is_owed_and_is_one() {
    let (carrier, owner) = (carrier(), Owner::default());
    let mut chain = chain(&carrier, &owner);
    assert!(look(&mut chain).is_pending());
    owner.says(Ok(7));
    assert_eq!(answer(&mut chain), 7);
    assert!(look(&mut chain).is_pending());
    assert_eq!(owner.counts(), [0]);
}

#[test]
fn a_handle_is_one_loop_however_often_it_is_cloned() {
    let (carrier, owner) = (carrier(), Owner::default());
    let handle = carrier.clone();
    assert_eq!((handle.stream_id(), handle.address()), (carrier.stream_id(), carrier.address()));
    assert_ne!(handle.stream_id(), chain::carrier().stream_id());
    let mut chain = chain(&carrier, &owner);
    handle.reject(by_owner("0A"));
    assert!(look(&mut chain).is_pending());
    assert_eq!(owner.counts(), [1]);
}

#[test]
fn debug_tells_the_state() {
    let carrier = carrier();
    carrier.reject(by_owner("0A"));
    let debug = format!("{carrier:?}");
    let state = "slot: State { owed: true, taken: false }, inbox: 1, .. }";
    assert!(debug.starts_with("Carrier { stream: ") && debug.ends_with(state), "{debug}");
}

/// Any number of nudges while an ask is out are exactly one more after it.
#[test]
fn nudges_while_an_ask_is_out_are_exactly_one_more() {
    let (carrier, owner) = (carrier(), Owner::default());
    let mut chain = saying(&carrier, &owner);
    assert!(look(&mut chain).is_pending());
    for _ in 0..1_000 {
        carrier.clone().nudge();
        assert!(look(&mut chain).is_pending());
    }
    assert_eq!(owner.asks(), 1);
    owner.says(Ok(7));
    assert_eq!(answer(&mut chain), 7);
    assert!(look(&mut chain).is_pending());
    assert_eq!(owner.counts(), [0, 0]);
    owner.says(Ok(8));
    assert_eq!(answer(&mut chain), 8);
    assert!(look(&mut chain).is_pending());
    assert_eq!(owner.asks(), 2);
}

/// A nudge while an ask is out that is refused: the next attempt is that one.
#[test]
fn a_nudge_is_satisfied_by_the_attempt_after_a_refused_ask() {
    let (carrier, owner) = (carrier(), Owner::default());
    let mut chain = saying(&carrier, &owner);
    assert!(look(&mut chain).is_pending());
    carrier.nudge();
    owner.says(draining(by_owner("0A")));
    assert!(look(&mut chain).is_pending());
    assert_eq!(owner.counts(), [0, 1]);
    owner.says(Ok(7));
    assert_eq!(answer(&mut chain), 7);
    assert!(look(&mut chain).is_pending());
    assert_eq!(owner.asks(), 2);
}

/// C23: a nudge during the wait is satisfied by the ask at its end, and does not shorten it; one
/// after it is one more.
#[tokio::test(start_paused = true)]
async fn a_nudge_during_the_wait_is_satisfied_by_its_ask() {
    let (carrier, owner) = (carrier(), Owner::default());
    let (asks, handle) = (owner.clone(), carrier.clone());
    let mut chain = chain::probing(&carrier, move |charge| {
        let (asks, handle) = (asks.clone(), handle.clone());
        async move {
            tokio::time::sleep(PACE).await;
            handle.asking();
            asks.ask(charge).await
        }
        .boxed_local()
    });
    assert!(look(&mut chain).is_pending());
    for _ in 0..3 {
        carrier.nudge();
        assert!(look(&mut chain).is_pending());
    }
    assert_eq!(owner.asks(), 0, "it shortens the wait");
    tokio::time::advance(PACE).await;
    assert!(look(&mut chain).is_pending());
    owner.says(Ok(7));
    assert_eq!(answer(&mut chain), 7);
    assert!(look(&mut chain).is_pending());
    assert!(chain.as_mut().attempt().is_none(), "all three are satisfied");

    carrier.nudge();
    assert!(look(&mut chain).is_pending());
    tokio::time::advance(PACE).await;
    assert!(look(&mut chain).is_pending());
    assert_eq!(owner.asks(), 2);
    carrier.nudge(); // after the ask
    owner.says(Ok(8));
    assert_eq!(answer(&mut chain), 8);
    assert!(look(&mut chain).is_pending());
    assert!(chain.as_mut().attempt().is_some(), "one more");
}

/// Without `asking` the carrier cannot know that the ask had not gone out: one more, to be safe.
#[test]
fn a_nudge_during_an_attempt_that_says_nothing_is_one_more() {
    let (carrier, owner) = (carrier(), Owner::default());
    let mut chain = chain(&carrier, &owner);
    assert!(look(&mut chain).is_pending());
    carrier.nudge();
    owner.says(Ok(7));
    assert_eq!(answer(&mut chain), 7);
    assert!(look(&mut chain).is_pending());
    assert_eq!(owner.asks(), 2);
}

#[test]
fn asks_are_numbered() {
    let (carrier, owner) = (carrier(), Owner::default());
    let numbers: Vec<_> = (0..3).map(|_| carrier.asking()).collect();
    assert_eq!(numbers, [1, 2, 3]);
    let mut chain = chain(&carrier, &owner);
    assert!(look(&mut chain).is_pending());
    owner.says(Ok(7));
    assert_eq!((answer(&mut chain), carrier.asking()), (7, 5), "one that did not say so counts");
}

/// R16: rejections are queued, never folded, and one attempt does not stand for two.
#[test]
fn rejections_are_never_folded() {
    let (carrier, owner) = (carrier(), Owner::default());
    let mut chain = chain(&carrier, &owner);
    for _ in 0..3 {
        carrier.reject(Rejection::by_route());
    }
    for asks in 1..=3 {
        assert!(look(&mut chain).is_pending());
        assert_eq!(owner.asks(), asks);
        // Ended in a way that charges something else.
        owner.says(draining(by_owner("0A")));
    }
    assert!(look(&mut chain).is_pending());
    let keys: Vec<_> = (0..4).map(|ask| owner.charge(ask).key()).collect();
    assert_eq!(keys[..3], [(); 3].map(|()| Some(Key::Route)));
    assert_eq!(owner.counts(), [1, 2, 3, 1]);
}

#[test]
fn an_answer_clears_every_count() {
    let (carrier, owner) = (carrier(), Owner::default());
    let mut chain = chain(&carrier, &owner);
    for (asks, rejection) in
        [by_owner("0A"), by_owner("0A"), Rejection::by_route()].into_iter().enumerate()
    {
        carrier.reject(rejection);
        assert!(look(&mut chain).is_pending());
        assert_eq!(owner.charge(asks).count(), 1);
        owner.says(Ok(7));
        assert_eq!(answer(&mut chain), 7);
    }
    carrier.reject(Rejection::by_route());
    assert!(look(&mut chain).is_pending());
    assert_eq!(owner.charge(3).count(), 2, "an ask that succeeded is no answer");
    carrier.answered();
    chain.as_mut().reject(by_owner("0A"), None);
    assert!(look(&mut chain).is_pending());
    assert_eq!((owner.charge(4).axis(), owner.charge(4).count()), (Some(Axis::Activation), 1));
}

/// A trigger that a combinator swallows is owed still: the next nudge brings it back.
#[test]
fn a_trigger_that_was_filtered_out_is_offered_again_by_the_next_nudge() {
    let carrier = carrier();
    let mut offered = 0;
    let mut triggers = Box::pin(carrier.triggers().filter(move |_| {
        offered += 1;
        ready(offered > 1)
    }));
    let (task, waker) = Task::new();
    assert!(poll_next(&mut triggers, &waker).is_pending());
    assert_eq!(task.wakes(), 0, "it is not offered in a circle");
    carrier.nudge();
    assert_eq!(task.wakes(), 1);
    assert_eq!(poll_next(&mut triggers, &waker), Poll::Ready(Some(Trigger::Ask)));
}

/// Is nothing at all: no bound is asked of what a user supplies but what is used of it.
struct Opaque;

/// `Debug` asks nothing of closures, futures and errors, says what matters, and locks nothing for
/// longer than it looks.
#[test]
fn debug_asks_nothing_of_closures() {
    fn is_debug<T: Debug>() {}
    is_debug::<Defer<Triggers, Opaque>>();
    is_debug::<Attempt<Opaque, Opaque>>();
    is_debug::<ConcatAttempts<Triggers, Opaque, Opaque, Opaque>>();

    let carrier = carrier();
    let opaque = |_| {
        let _ = Opaque;
        pending::<Result<(), Refusal>>()
    };
    let attempts = carrier.triggers().charge(&carrier).defer(opaque);
    let mut chain = Box::pin(attempts.concat_attempts(&carrier));
    carrier.reject(by_owner("0A"));
    carrier.reject(by_owner("0B"));
    assert!(chain.next().now_or_never().is_none());
    let debug = format!("{chain:?}");
    for told in ["ConcatAttempts { stream: Defer { stream: Charges { stream: Triggers", "queued: 1"]
    {
        assert!(debug.contains(told), "{told} is missing in {debug}");
    }
    let attempt: &Attempt<_, Pending<_>> = &chain.as_mut().attempt().expect("running");
    assert!(format!("{attempt:?}").starts_with("Attempt { charge: Charge"));
}
