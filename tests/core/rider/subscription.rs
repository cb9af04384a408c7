//! `RideOut`: what it asks, when, and how it ends (`R7`–`R11`, `R18`, `R20`, `R24`).

use crate::support::{
    hand_clock::ms,
    script::{NEVER, Owner, Reply, Seen, after, next, serve, watch},
    words::{by, by_route, not_found, tag, unnamed},
};
use rideout::{
    Budget, Kind,
    ledger::{Axis, Cause, Wait},
};

fn every(pace: u64, from: u64, count: u64) -> Vec<u64> {
    (0..count).map(|index| from + index * pace).collect()
}

#[tokio::test(start_paused = true)]
async fn a_corpse_is_asked_at_once_and_then_once_a_pace() {
    // C1, C4: its teardown is over, and it refuses for ever.
    let owner = Owner::answers([by("A1").into()]).teardown("A1", 0);
    let mut rider = owner.builder().join(owner.join()).build();
    let seen = watch(&owner, &mut rider, NEVER).await;

    assert_eq!(seen, [(8_000, Seen::GaveUp(Cause::Wedged)), (8_000, Seen::Completed)]);
    assert_eq!(owner.times(), [vec![0], every(500, 0, 17)].concat());
    assert_eq!(owner.times().len(), 18);
}

#[tokio::test(start_paused = true)]
async fn an_answer_clears_every_count() {
    // C1, R9: ask 5 is answered, and all begins again.
    let owner = Owner::scripted(|asked| match asked.attempt {
        5 => serve([5]).fails(600, by("A1")).into(),
        _ => by("A1").into(),
    })
    .teardown("A1", 0);
    let mut rider = owner.builder().join(owner.join()).build();
    let seen = watch(&owner, &mut rider, NEVER).await;

    assert_eq!(seen[0], (1_500, Seen::Item(5)));
    assert_eq!(seen[1], (2_100 + 8_000, Seen::GaveUp(Cause::Wedged)));
    let again = [vec![2_100], every(500, 2_100 + 500, 16)].concat();
    assert_eq!(owner.times(), [vec![0, 0, 500, 1_000, 1_500], again].concat());
}

#[tokio::test(start_paused = true)]
async fn nothing_is_asked_while_the_teardown_goes_on() {
    // C3.
    let owner = Owner::answers([by("A1").into(), serve([7]).into()]).teardown("A1", 3_456);
    let mut rider = owner.builder().join(owner.join()).build();
    assert_eq!(watch(&owner, &mut rider, 20_000).await, [(3_456, Seen::Item(7))]);
    assert_eq!(owner.times(), [0, 3_456]);
    assert_eq!(owner.alive(), [0, 1, 0, 0, 0], "nothing but the subscription");
}

#[tokio::test(start_paused = true)]
async fn a_killed_owner_announces_nothing_and_is_asked_at_the_join_limit() {
    let owner = Owner::answers([by("A1").into(), serve([7]).into()]).teardown("A1", NEVER);
    let mut rider = owner.builder().join(owner.join()).build();
    assert_eq!(watch(&owner, &mut rider, 20_000).await, [(8_000, Seen::Item(7))]);
    assert_eq!(owner.times(), [0, 8_000]);
}

#[tokio::test(start_paused = true)]
async fn the_teardown_is_looked_at_when_its_attempt_begins() {
    // C11, C13: over by the first look, though it was not when the refusal was minted.
    let owner = Owner::answers([after(100, by("A1")), serve([7]).into()]).teardown("A1", 100);
    let mut rider = owner.builder().join(owner.join()).build();
    assert_eq!(watch(&owner, &mut rider, 20_000).await, [(100, Seen::Item(7))]);
    assert_eq!(owner.looked(), [(100, "A1".into())]);
}

#[tokio::test(start_paused = true)]
async fn four_owners_without_a_teardown_to_see_are_not_asked_in_one_instant() {
    // R18: the first such re-ask goes out at once, each later one rests.
    let owner = Owner::scripted(|asked| by(&format!("A{}", asked.attempt)).into());
    let mut rider = owner.rider();
    let seen = watch(&owner, &mut rider, NEVER).await;
    assert_eq!(seen, [(1_000, Seen::GaveUp(Cause::RecycleLoop)), (1_000, Seen::Completed)]);
    assert_eq!(owner.times(), [0, 0, 500, 1_000]);
}

#[tokio::test(start_paused = true)]
async fn the_turn_without_a_wait_is_one_a_ride_out() {
    let owner = Owner::answers([
        by("A1").into(),
        by_route().into(),
        by("A2").into(),
        serve([1]).fails(700, by("A3")).into(),
        serve([2]).into(),
    ]);
    let mut rider = owner.rider();
    let seen = watch(&owner, &mut rider, 9_000).await;
    assert_eq!(seen, [(1_000, Seen::Item(1)), (1_700, Seen::Item(2))]);
    assert_eq!(owner.times(), [0, 0, 500, 1_000, 1_700]);
}

#[tokio::test(start_paused = true)]
async fn the_route_and_the_owner_are_counted_apart() {
    // C5.
    let owner = Owner::scripted(|asked| match asked.attempt {
        1..=5 => by_route().into(),
        6 => by("A1").into(),
        _ => serve([1]).into(),
    });
    let mut rider = owner.rider();
    assert_eq!(watch(&owner, &mut rider, 9_000).await, [(2_500, Seen::Item(1))]);
    assert_eq!(owner.times(), [0, 500, 1_000, 1_500, 2_000, 2_500, 2_500]);
    let counts: Vec<_> =
        owner.asked().iter().map(|asked| (asked.charge.axis(), asked.charge.count())).collect();
    let time = |count| (Some(Axis::Time), count);
    let one = (Some(Axis::Activation), 1);
    assert_eq!(counts, [(None, 0), time(1), time(2), time(3), time(4), time(5), one]);
}

#[tokio::test(start_paused = true)]
async fn an_untagged_owner_is_rested_and_bounded() {
    // C6.
    let owner = Owner::answers([unnamed().into()]);
    let mut rider = owner.rider();
    let seen = watch(&owner, &mut rider, NEVER).await;
    assert_eq!(seen[0], (1_500, Seen::GaveUp(Cause::Untagged)));
    assert_eq!(owner.times(), [0, 500, 1_000, 1_500]);
}

#[tokio::test(start_paused = true)]
async fn an_owner_that_restarts_in_place_is_served() {
    // C7: pacing is not exclusion.
    let owner = Owner::scripted(|asked| match asked.attempt {
        1..=4 => by("A1").into(),
        _ => serve([9]).by("A1").into(),
    });
    let mut rider = owner.rider();
    assert_eq!(watch(&owner, &mut rider, 9_000).await, [(1_500, Seen::Item(9))]);
}

#[tokio::test(start_paused = true)]
async fn budgets_of_nothing_and_of_one_are_exact() {
    // C8: 0 never means unlimited.
    let budget = |activations, re_asks| Budget::new().activations(activations).re_asks(re_asks);
    for (activations, re_asks, refusal, asks) in [
        (0, 16, by("A1"), 1),
        (0, 16, unnamed(), 1),
        (3, 0, by_route(), 1),
        (3, 0, by("A1"), 2),
        (1, 16, unnamed(), 2),
        (1, 1, by_route(), 2),
        (1, 1, by("A1"), 3),
        (0, 0, by("A1"), 1),
    ] {
        let owner = Owner::answers([refusal.clone().into()]);
        let mut rider = owner.builder().budget(budget(activations, re_asks)).build();
        let error = next(&mut rider).await.and_then(Result::err).expect("gives up");
        let report = error.gave_up().expect("no verdict");
        assert_eq!(owner.times().len(), asks, "{activations} {re_asks} {refusal}");
        assert_eq!(report.count, report.budget + 1);
        assert_eq!(usize::try_from(report.asks), Ok(asks));
        assert!(next(&mut rider).await.is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn an_owner_that_answers_and_dies_is_asked_once_a_pace() {
    // C9, R11: same and new activations.
    for named in ["A", "A1"] {
        let owner = Owner::scripted(move |asked| {
            let name = if named == "A" { format!("A{}", asked.attempt) } else { named.into() };
            serve([u64::from(asked.attempt)]).by(&name).fails(0, by(&name)).into()
        })
        .teardown("A1", 0);
        let mut rider = owner.builder().join(owner.join()).build();
        let seen = watch(&owner, &mut rider, 10_000).await;
        assert_eq!(seen.len(), 20);
        assert_eq!(owner.times(), every(500, 0, 20));
        // R20c: never two subscriptions.
        assert!(owner.asked().iter().all(|asked| asked.streams == 0));
    }
}

#[tokio::test(start_paused = true)]
async fn a_proof_of_life_ends_an_owner_that_answers_and_dies() {
    // C9, R9: items count for nothing under `proven_after`.
    let owner = Owner::answers([serve([1]).item(500, 2).fails(900, by("A1")).into()]);
    let mut rider =
        owner.builder().budget(Budget::new().re_asks(2).proven_after(ms(1_000))).build();
    let seen = watch(&owner, &mut rider, NEVER).await;
    assert_eq!(seen.last(), Some(&(4_600, Seen::Completed)));
    assert_eq!(seen[seen.len() - 2].1, Seen::GaveUp(Cause::Wedged));
    // The first re-ask has nothing to wait for; the others rest.
    assert_eq!(owner.times(), [0, 900, 2_300, 3_700]);
}

#[tokio::test(start_paused = true)]
async fn a_life_that_is_proven_clears_the_counts() {
    let owner = Owner::answers([serve([]).fails(1_000, by("A1")).into()]);
    let mut rider =
        owner.builder().budget(Budget::new().re_asks(1).proven_after(ms(1_000))).build();
    assert_eq!(watch(&owner, &mut rider, 50_000).await, []);
    assert_eq!(owner.times(), every(1_000, 0, 50));
    assert!(owner.asked()[1..].iter().all(|asked| asked.charge.count() == 1));
}

#[tokio::test(start_paused = true)]
async fn a_pace_without_an_item_is_an_answer_and_less_is_none() {
    // R9: judged when the next rejection comes, without a timer.
    for (lives, ends) in [(499, true), (500, false)] {
        let owner = Owner::answers([serve([]).fails(lives, by_route()).into()]);
        let mut rider = owner.rider();
        let seen = watch(&owner, &mut rider, 60_000).await;
        assert_eq!(!seen.is_empty(), ends, "lived {lives} ms");
    }
    let owner = Owner::answers([serve([]).into()]);
    let mut rider = owner.rider();
    assert_eq!(watch(&owner, &mut rider, 60_000).await, []);
    assert_eq!(owner.alive(), [0, 1, 0, 0, 0], "no timer while live");
}

#[tokio::test(start_paused = true)]
async fn a_short_life_is_held_back_whatever_else_there_is_to_wait_for() {
    // R11: a join that ends early does not shorten it, and a rest is not doubled.
    for (refusal, teardown, next) in [
        (by("A1"), 100, 600),
        (by("A1"), 2_000, 2_000),
        (by_route(), NEVER, 600),
        (unnamed(), NEVER, 600),
    ] {
        let owner =
            Owner::answers([serve([1]).fails(100, refusal.clone()).into(), serve([2]).into()])
                .teardown("A1", teardown);
        let mut rider = owner.builder().join(owner.join()).build();
        watch(&owner, &mut rider, 9_000).await;
        assert_eq!(owner.times(), [0, next], "{refusal}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_life_of_one_pace_is_not_held_back() {
    for (lives, next) in [(499, 999), (500, 500)] {
        let owner = Owner::answers([serve([1]).fails(lives, by("A1")).into(), serve([2]).into()]);
        watch(&owner, &mut owner.rider(), 9_000).await;
        assert_eq!(owner.times(), [0, next], "lived {lives} ms");
    }
}

#[tokio::test(start_paused = true)]
async fn a_re_ask_that_was_held_back_has_had_its_turn() {
    // R11 with R18: the next one that has nothing to wait for rests.
    let owner =
        Owner::answers([serve([]).fails(0, by("A1")).into(), by("A2").into(), serve([2]).into()]);
    let mut rider = owner.rider();
    assert_eq!(watch(&owner, &mut rider, 9_000).await, [(1_000, Seen::Item(2))]);
    assert_eq!(owner.times(), [0, 500, 1_000]);
}

#[tokio::test(start_paused = true)]
async fn a_version_is_looked_at_whatever_is_set_after_it() {
    // R24: of items that come in one go, too.
    let owner = Owner::answers([serve([1, 3, 2, 4, 4]).into()]);
    let mut rider =
        owner.builder().version(|item| *item).join(owner.join()).news(owner.news([])).build();
    let items = [Seen::Item(1), Seen::Item(3), Seen::Item(4)];
    assert_eq!(watch(&owner, &mut rider, 9_000).await, items.map(|item| (0, item)));
}

#[tokio::test(start_paused = true)]
async fn an_ask_that_nobody_answers_is_the_routes_refusal() {
    // R20.
    let owner = Owner::answers([Reply::Silent, after(59_999, serve([1]))]);
    let mut rider = owner.rider();
    assert_eq!(watch(&owner, &mut rider, 500_000).await, [(120_499, Seen::Item(1))]);
    assert_eq!(owner.times(), [0, 60_500]);
    let [_, second] = &owner.asked()[..] else { panic!("two asks") };
    assert_eq!(second.charge.wait(), Wait::Rest(ms(500)));
    assert_eq!(second.charge.key().map(|key| key.to_string()).as_deref(), Some("(route)"));
    // Until the subscription opens, and no longer.
    assert_eq!(owner.alive(), [0, 1, 0, 0, 0]);
}

#[tokio::test(start_paused = true)]
async fn a_verdict_ends_the_stream_and_asks_no_more() {
    // C14, C17: whether the ask, a re-ask or the live stream says it.
    let text = by("A1").message;
    let verdicts = [
        Kind::Unknown,
        Kind::Exception,
        Kind::NotFound,
        Kind::Rejected,
        Kind::Ignored,
        Kind::Failed,
        Kind::RoutingLoop,
        Kind::Unauthorized,
        Kind::Forbidden,
    ];
    for kind in verdicts {
        let verdict = rideout::Refusal::new(kind, text.clone());
        for replies in [
            [verdict.clone().into(), serve([1]).into()],
            [by_route().into(), verdict.clone().into()],
            [serve([]).fails(500, verdict.clone()).into(), serve([1]).into()],
        ] {
            let owner = Owner::answers(replies);
            let mut rider = owner.rider();
            let seen = watch(&owner, &mut rider, 9_000).await;
            let [(at, Seen::Verdict(said)), (_, Seen::Completed)] = seen[..] else {
                panic!("{seen:?}")
            };
            assert_eq!(said, kind);
            assert!(owner.times().iter().all(|asked| *asked <= at));
            assert_eq!(owner.alive(), [0; 5]);
        }
    }
    let owner = Owner::answers([by("A1").into(), not_found().into()]);
    let mut rider = owner.rider();
    assert_eq!(watch(&owner, &mut rider, 9_000).await[0], (0, Seen::Verdict(Kind::NotFound)));
}

#[tokio::test(start_paused = true)]
async fn one_subscription_is_live_after_ten_refusals() {
    // C16, C24.
    let owner = Owner::scripted(|asked| match asked.attempt {
        1..=10 => by_route().into(),
        _ => serve([1]).into(),
    });
    let mut rider = owner.rider();
    watch(&owner, &mut rider, 60_000).await;
    assert_eq!(owner.times().len(), 11);
    assert_eq!(owner.alive(), [0, 1, 0, 0, 0]);
}

#[tokio::test(start_paused = true)]
async fn each_ask_is_told_who_asks_how_often_why_and_from_where() {
    // R24, C26.
    let owner = Owner::answers([
        by("A1").into(),
        serve([5]).by("A2").fails(600, by("A2")).into(),
        serve([]).fails(600, by("A3")).into(),
        serve([6]).into(),
    ]);
    let mut rider = owner.resuming();
    let seen = watch(&owner, &mut rider, 9_000).await;
    assert_eq!(seen, [(0, Seen::Item(5)), (1_200, Seen::Item(6))]);

    let asked = owner.asked();
    assert!(asked.iter().all(|ask| ask.stream == asked[0].stream), "one stream");
    assert_eq!(asked.iter().map(|ask| ask.attempt).collect::<Vec<_>>(), [1, 2, 3, 4]);
    let resume: Vec<_> = asked.iter().map(|ask| ask.resume).collect();
    assert_eq!(resume, [None, None, Some(5), Some(5)]);
    let charged: Vec<_> = asked.iter().map(|ask| ask.charge.activation().cloned()).collect();
    assert_eq!(charged, [None, Some(tag("A1")), Some(tag("A2")), Some(tag("A3"))]);
    assert!(asked[0].charge.is_uncharged());

    let other = Owner::answers([serve([1]).into()]);
    watch(&other, &mut other.rider(), 1).await;
    assert_ne!(other.asked()[0].stream, asked[0].stream);
}

#[tokio::test(start_paused = true)]
async fn the_resume_point_is_that_of_the_last_item_that_passed() {
    // R24: not of the first one, and not of one that the version guard dropped.
    let owner = Owner::answers([
        serve([3, 7, 5]).fails(600, by("A1")).into(),
        serve([8, 9]).fails(600, by("A2")).into(),
        Reply::Silent,
    ]);
    let mut rider = owner.builder_resuming().version(|item| *item).build();
    watch(&owner, &mut rider, 9_000).await;
    let resume: Vec<_> = owner.asked().iter().map(|ask| ask.resume).collect();
    assert_eq!(resume, [None, Some(7), Some(9)]);
}

#[tokio::test(start_paused = true)]
async fn an_item_that_is_not_newer_is_dropped_but_for_the_first_of_each_answer() {
    // R24.
    let owner = Owner::answers([
        serve([3, 3, 2, 4]).fails(600, by("A1")).into(),
        serve([1, 1, 0, 2]).into(),
    ]);
    let items = |seen: Vec<(u64, Seen)>| seen.into_iter().map(|(_, it)| it).collect::<Vec<_>>();
    let seen = watch(&owner, &mut owner.builder().version(|item| *item).build(), 5_000).await;
    assert_eq!(items(seen), [3, 4, 1, 2].map(Seen::Item));

    let owner = Owner::answers([serve([3, 3, 2, 4]).into()]);
    let seen = watch(&owner, &mut owner.rider(), 5_000).await;
    assert_eq!(items(seen), [3, 3, 2, 4].map(Seen::Item), "without it nothing is dropped");
}
