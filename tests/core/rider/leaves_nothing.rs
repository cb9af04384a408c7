//! Dropped or ended in any state, a rider leaves nothing (`R17`, `R20c`, `C25`, `C39`), and a panic in
//! what it was given leaves it whole (`C40`). No poll holds its task (`C36`).

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    task::{Context, Poll, Waker},
};

use crate::support::{
    hand_clock::address,
    paused::Paused,
    script::{NEVER, Owner, Reply, Seen, after, serve, watch},
    words::{by, by_route, tag},
};
use futures::{Stream, stream};
use rideout::{News, Refusal, RideOut};

/// A rider in each of its states, with what is alive in it: asks, streams, joins, news, sleeps.
fn states() -> Vec<(&'static str, Owner, u64, [usize; 5])> {
    let held = || serve([]).fails(100, by("C1")).into();
    let refreshed = serve([1]).by("A1");
    vec![
        ("asking", Owner::answers([Reply::Silent]), 100, [1, 0, 0, 1, 1]),
        ("joining", Owner::answers([by("A1").into()]), 100, [0, 0, 1, 1, 1]),
        ("resting", Owner::answers([by_route().into()]), 100, [0, 0, 0, 1, 1]),
        ("held", Owner::answers([held()]), 200, [0, 0, 0, 1, 1]),
        ("live", Owner::answers([serve([1]).into()]), 100, [0, 1, 0, 1, 0]),
        (
            "refreshing",
            Owner::answers([refreshed.clone().into(), Reply::Silent]),
            2_500,
            [1, 1, 0, 1, 1],
        ),
        (
            "refused a refresh",
            Owner::answers([refreshed.into(), by("A1").into()]),
            2_500,
            [0, 1, 1, 1, 1],
        ),
    ]
}

#[tokio::test(start_paused = true)]
async fn dropped_in_any_state_it_leaves_nothing() {
    let names = || states().into_iter().map(|it| it.0);
    for (state, beats) in names().map(|it| (it, false)).chain(names().map(|it| (it, true))) {
        // Made here, so that its time begins here.
        let Some((_, owner, until, mut alive)) = states().into_iter().find(|it| it.0 == state)
        else {
            panic!("known")
        };
        let owner = owner.teardown("A1", NEVER);
        let mut builder = owner.builder().join(owner.join()).news(owner.news([]));
        let beaten = Arc::new(AtomicU32::new(0));
        if beats {
            let counted = Arc::clone(&beaten);
            builder = builder.keep_alive(move |_| _ = counted.fetch_add(1, Relaxed));
            // `R26`: one sleep where a subscription is live, and none elsewhere.
            alive[4] += alive[1];
        }
        let mut rider = builder.build();
        let nudger = rider.nudger();
        watch(&owner, &mut rider, until.min(2_000)).await;
        if until > 2_000 {
            nudger.nudge();
            watch(&owner, &mut rider, until).await;
        }
        assert_eq!(owner.alive(), alive, "{state}");

        let asks = owner.times().len();
        drop(rider);
        assert_eq!(owner.alive(), [0; 5], "{state}");
        owner.reach(60_000).await;
        nudger.nudge();
        assert_eq!(owner.times().len(), asks, "no ask leaves any more: {state}");
        assert_eq!((beaten.load(Relaxed), Arc::strong_count(&beaten)), (0, 1), "no beat: {state}");

        // C39: the address serves the next one.
        let next = Owner::answers([serve([7]).into()]);
        assert_eq!(watch(&next, &mut next.rider(), 1).await, [(0, Seen::Item(7))]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_verdict_of_the_old_subscription_takes_its_refresh_along() {
    // R20: in its ask, and in its rest.
    for refresh in [Reply::Silent, by_route().into()] {
        let lives = serve([1]).fails(1_300, Refusal::no_node(&address()));
        let owner = Owner::answers([lives.into(), refresh]);
        let mut rider = owner.rider();
        watch(&owner, &mut rider, 1_000).await;
        rider.nudger().nudge();
        watch(&owner, &mut rider, 1_200).await;
        assert_eq!((owner.times(), owner.alive()[4]), (vec![0, 1_000], 1), "it is under way");
        let seen = watch(&owner, &mut rider, NEVER).await;
        assert_eq!(seen[0], (1_300, Seen::Verdict(rideout::Kind::NotFound)));
        assert_eq!(owner.alive(), [0; 5]);
    }
}

#[tokio::test(start_paused = true)]
async fn no_sleep_is_alive_unless_a_rejection_arrived() {
    // R17.
    let owner = Owner::answers([
        serve([1]).item(10_000, 2).fails(20_000, by_route()).into(),
        after(100, serve([3])),
    ]);
    let mut rider = owner.rider();
    for (until, sleeps) in [(5_000, 0), (19_999, 0), (20_001, 1), (20_550, 1), (20_700, 0)] {
        watch(&owner, &mut rider, until).await;
        assert_eq!(owner.alive()[4], sleeps, "at {until}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_arrival_and_an_answer_take_their_sleep_along() {
    let owner =
        Owner::answers([by("A1").into(), Reply::Silent, serve([1]).into()]).teardown("A1", NEVER);
    let news = [(100, News::Arrived(tag("B1"))), (200, News::Ended(Some(tag("B1"))))];
    let mut rider = owner.builder().join(owner.join()).news(owner.news(news)).build();
    for (until, alive) in [(50, [0, 0, 1, 1, 1]), (150, [1, 0, 0, 1, 1]), (250, [0, 1, 0, 1, 0])] {
        watch(&owner, &mut rider, until).await;
        assert_eq!(owner.alive(), alive, "at {until}");
    }
}

fn panics<R>(f: impl FnOnce() -> R) {
    assert!(catch_unwind(AssertUnwindSafe(f)).is_err(), "the caller sees it");
}

fn poll<S: Stream + Unpin>(stream: &mut S) -> Poll<Option<S::Item>> {
    Pin::new(stream).poll_next(&mut Context::from_waker(Waker::noop()))
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_the_version_or_the_token_costs_that_item_alone() {
    let odd = |item: &u64| {
        assert_ne!(*item, 2, "no version");
        *item
    };
    let owner = Owner::answers([serve([1, 2, 3]).into()]);
    let mut rider = owner.builder().version(odd).build();
    assert!(matches!(poll(&mut rider), Poll::Ready(Some(Ok(1)))));
    panics(|| poll(&mut rider));
    assert!(matches!(poll(&mut rider), Poll::Ready(Some(Ok(3)))));

    let replies = || stream::iter([Ok::<_, Refusal>(1), Ok(2), Ok(3)]);
    let rider = RideOut::builder_resuming(address(), odd, move |_| async move { Ok(replies()) });
    let mut rider = rider.timer(Paused).build();
    assert!(matches!(poll(&mut rider), Poll::Ready(Some(Ok(1)))));
    panics(|| poll(&mut rider));
    assert!(matches!(poll(&mut rider), Poll::Ready(Some(Ok(3)))));
}
