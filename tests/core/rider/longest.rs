//! `Budget::longest`: one ride-out, bounded by the clock (`R9`).

use crate::support::{
    hand_clock::{address, ms},
    paused::Paused,
    script::{NEVER, Owner, Reply, Seen, after, serve, watch},
    words::{by, by_route},
};
use futures::{StreamExt, channel::mpsc, stream};
use rideout::{
    Budget, News, Refusal, RideOut,
    ledger::Cause,
    rider::{Answer, Ask},
};
use tokio::time::{Instant, sleep};

#[tokio::test(start_paused = true)]
async fn the_bound_by_the_clock_cuts_a_join_a_rest_and_an_ask() {
    // R9.
    let longest = Cause::Outlasted { longest: ms(1_200) };
    for (first, second, asks) in [
        (after(100, by("A1")), Reply::Silent, 1),
        (after(100, by_route()), by_route().into(), 2),
        (after(100, by_route()), Reply::Silent, 2),
    ] {
        let owner = Owner::answers([first, second]).teardown("A1", NEVER);
        let budget = Budget::new().longest(ms(1_200)).pace(ms(700));
        let mut rider = owner.builder().join(owner.join()).budget(budget).build();
        let seen = watch(&owner, &mut rider, NEVER).await;
        assert_eq!(seen, [(1_300, Seen::GaveUp(longest)), (1_300, Seen::Completed)]);
        assert_eq!(owner.times().len(), asks);
        assert_eq!(owner.alive(), [0; 5]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_bound_of_no_time_or_one_that_comes_with_the_event_asks_no_more() {
    // The wait is over at that very instant, and the ask would begin at it.
    for longest in [0, 300] {
        let owner = Owner::answers([by("A1").into()]).teardown("A1", longest);
        let budget = Budget::new().longest(ms(longest));
        let mut rider = owner.builder().join(owner.join()).budget(budget).build();
        let seen = watch(&owner, &mut rider, NEVER).await;
        assert_eq!(seen[0], (longest, Seen::GaveUp(Cause::Outlasted { longest: ms(longest) })));
        assert_eq!(owner.times(), [0]);
    }
}

#[tokio::test(start_paused = true)]
async fn the_bound_by_the_clock_begins_anew_with_each_ride_out() {
    let owner = Owner::scripted(|asked| match asked.attempt % 3 {
        0 => serve([0]).fails(5_000, by_route()).into(),
        _ => by_route().into(),
    });
    let mut rider = owner.builder().budget(Budget::new().longest(ms(1_600))).build();
    let seen = watch(&owner, &mut rider, 60_000).await;
    assert!(seen.iter().all(|(_, seen)| *seen == Seen::Item(0)), "{seen:?}");
    assert!(seen.len() > 8);
}

#[tokio::test(start_paused = true)]
async fn a_loss_beside_a_refresh_bounds_that_refresh_too() {
    // R9: the ride-out begins with its first rejection, which is charged while the refresh is out
    // (R12), and what runs then is cut short as well.
    for old in [serve([1]).by("A1").fails(1_300, by("A1")), serve([1]).by("A1")] {
        let owner = Owner::answers([old.into(), Reply::Silent, serve([2]).into()]);
        let budget = Budget::new().longest(ms(1_000));
        let rider = owner
            .builder()
            .budget(budget)
            .news(owner.news([(1_300, News::NotServing(None))]))
            .build();
        let nudger = rider.nudger();
        let mut rider = rider;
        assert_eq!(watch(&owner, &mut rider, 1_000).await, [(0, Seen::Item(1))]);
        nudger.nudge();
        let seen = watch(&owner, &mut rider, NEVER).await;
        let outlasted = Seen::GaveUp(Cause::Outlasted { longest: ms(1_000) });
        assert_eq!(seen, [(2_300, outlasted), (2_300, Seen::Completed)]);
        assert_eq!(owner.times(), [0, 1_000]);
        assert_eq!(owner.alive(), [0; 5]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_loss_beside_a_refresh_leaves_its_ask_the_time_it_has() {
    // R20: within the bound, the ask's own limit stands.
    let old = serve([1]).by("A1").fails(1_300, by("A1"));
    let owner = Owner::answers([old.into(), Reply::Silent, serve([2]).into()]);
    let budget = Budget::new().longest(ms(5_000)).ask_limit(ms(2_000));
    let rider = owner.builder().budget(budget).build();
    let nudger = rider.nudger();
    let mut rider = rider;
    watch(&owner, &mut rider, 1_000).await;
    nudger.nudge();
    let seen = watch(&owner, &mut rider, 9_000).await;
    assert_eq!(seen, [(3_000, Seen::Item(2))]);
    assert_eq!(owner.times(), [0, 1_000, 3_000]);
}

#[tokio::test(start_paused = true)]
async fn an_old_one_that_ends_because_its_refresh_is_asked_leaves_that_ask_its_time() {
    // R20: the rest before the ask is over, and is no limit of it.
    let (old, items) = mpsc::unbounded();
    old.unbounded_send(Ok(1)).expect("it is read");
    let (began, mut items) = (Instant::now(), Some(items));
    let rider = RideOut::builder(address(), move |ask: Ask| {
        let (old, items) = (old.clone(), items.take());
        async move {
            match (ask.attempt, items) {
                (1, Some(items)) => return Ok(Answer::new(items.boxed_local())),
                (2, _) => return Err(by_route()),
                _ => old.unbounded_send(Err(by("A1"))).expect("it is read"),
            }
            sleep(ms(1_000)).await;
            let attempt = u64::from(ask.attempt);
            Ok(Answer::new(stream::iter([Ok::<_, Refusal>(attempt)]).boxed_local()))
        }
    });
    let mut rider = rider.timer(Paused).budget(Budget::new().longest(ms(60_000))).build();
    assert_eq!(rider.next().await.map(Result::ok), Some(Some(1)));
    rider.nudger().nudge();
    assert_eq!(rider.next().await.map(Result::ok), Some(Some(3)), "the third ask is answered");
    assert_eq!(began.elapsed(), ms(1_500));
}
