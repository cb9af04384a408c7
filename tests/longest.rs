//! `Budget::longest`: one ride-out, bounded by the clock (`R9`).

mod script;

use rideout::{Budget, Cause};
use script::{NEVER, Owner, Reply, Seen, after, by, by_route, ms, serve, watch};

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
        let mut rider = owner.rider().join(owner.join()).budget(budget);
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
        let mut rider = owner.rider().join(owner.join()).budget(budget);
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
    let mut rider = owner.rider().budget(Budget::new().longest(ms(1_600)));
    let seen = watch(&owner, &mut rider, 60_000).await;
    assert!(seen.iter().all(|(_, seen)| *seen == Seen::Item(0)), "{seen:?}");
    assert!(seen.len() > 8);
}
