//! Nudges: one outstanding re-ask (`R16`), and a refresh beside the old subscription (`R25`).

use std::{pin::pin, task::Poll};

use crate::support::{
    hand_clock::ms,
    script::{self, NEVER, Owner, Reply, Seen, after, items, serve, watch},
    words::{by, by_route, not_found, tag},
};
use futures::StreamExt;
use rideout::{Budget, Kind, News, ledger::Cause, rider::Nudger, teardown::Teardown};

/// Reads until `until`, and nudges at each of `nudges`.
async fn nudged<const N: usize>(
    owner: &Owner,
    mut rider: script::Rider,
    nudges: [u64; N],
    until: u64,
) -> Vec<(u64, Seen)> {
    let nudger = rider.nudger();
    let all = async {
        for at in nudges {
            owner.reach(at).await;
            nudger.nudge();
        }
    };
    futures::join!(watch(owner, &mut rider, until), all).0
}

#[tokio::test(start_paused = true)]
async fn a_nudge_during_a_rest_or_a_join_is_satisfied_by_its_ask() {
    // R16, C23: and does not shorten it.
    for (refusal, next) in [(by_route(), 500), (by("A1"), 3_000)] {
        let owner = Owner::answers([refusal.into(), serve([1]).into()]).teardown("A1", 3_000);
        let rider = owner.builder().join(owner.join()).build();
        let nudger = rider.nudger();
        let mut rider = rider;
        let all = async {
            owner.reach(100).await;
            (0..100).for_each(|_| nudger.nudge());
        };
        let seen = futures::join!(watch(&owner, &mut rider, 9_000), all).0;
        assert_eq!(seen, items(&[(next, 1)]));
        assert_eq!(owner.times(), [0, next]);
    }
}

#[tokio::test(start_paused = true)]
async fn nudges_during_an_ask_are_one_more_after_its_answer() {
    let owner = Owner::answers([after(1_000, serve([1])), after(1, serve([2]))]);
    let seen = nudged(&owner, owner.rider(), [100, 200, 200, 900], 9_000).await;
    assert_eq!(seen, items(&[(1_000, 1), (1_001, 2)]));
    assert_eq!(owner.times(), [0, 1_000]);
    assert!(owner.asked()[1].charge.is_uncharged());
}

#[tokio::test(start_paused = true)]
async fn nudges_during_an_ask_that_is_refused_are_its_next_attempt() {
    let owner = Owner::answers([after(1_000, by_route()), serve([1]).into()]);
    let seen = nudged(&owner, owner.rider(), [100, 200], 9_000).await;
    assert_eq!(seen, items(&[(1_500, 1)]));
    assert_eq!(owner.times(), [0, 1_500]);
    assert_eq!(owner.asked()[1].charge.count(), 1, "it is charged, and waits");
}

#[tokio::test(start_paused = true)]
async fn a_nudge_before_the_first_poll_is_satisfied_by_the_first_ask() {
    let owner = Owner::answers([serve([1]).into()]);
    let rider = owner.rider();
    rider.nudger().nudge();
    rider.nudger().nudge();
    assert_eq!(nudged(&owner, rider, [], 9_000).await, items(&[(0, 1)]));
    assert_eq!(owner.times(), [0]);
}

#[test]
fn any_thread_may_nudge() {
    fn is<T: Send + Sync + Clone + 'static>() {}
    is::<Nudger>();

    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    runtime.expect("a runtime").block_on(async {
        let owner = Owner::scripted(|asked| serve([u64::from(asked.attempt)]).into());
        let mut rider = owner.rider();
        assert_eq!(rider.next().await.map(Result::ok), Some(Some(1)));
        let nudger = rider.nudger();
        let others: Vec<_> = (0..4)
            .map(|_| {
                let nudger = nudger.clone();
                std::thread::spawn(move || (0..100).for_each(|_| nudger.nudge()))
            })
            .collect();
        // One that waits is woken, without any clock.
        assert_eq!(rider.next().await.map(Result::ok), Some(Some(2)));
        others.into_iter().for_each(|thread| thread.join().expect("it nudges"));
    });
}

#[tokio::test(start_paused = true)]
async fn a_refresh_leaves_the_old_subscription_delivering_until_it_is_answered() {
    // R25, R20c: the old one is dropped when it is replaced, and not before.
    let owner = Owner::answers([
        serve([1]).item(1_500, 2).item(2_500, 3).into(),
        after(1_000, serve([10]).item(3_000, 11)),
    ]);
    let seen = nudged(&owner, owner.rider(), [1_000], 9_000).await;
    assert_eq!(seen, items(&[(0, 1), (1_500, 2), (2_000, 10), (5_000, 11)]));
    let [first, refresh] = &owner.asked()[..] else { panic!("two asks") };
    assert_eq!((first.streams, refresh.streams), (0, 1), "beside the old one");
    assert!(refresh.charge.is_uncharged());
}

#[tokio::test(start_paused = true)]
async fn a_promise_to_a_refresh_is_ridden_with_the_old_one_delivering() {
    // R25.
    let owner = Owner::answers([
        serve([1]).item(1_200, 2).item(1_700, 3).item(5_000, 4).into(),
        by_route().into(),
        by("A1").into(),
        by("A2").into(),
        serve([10]).into(),
    ]);
    let seen = nudged(&owner, owner.rider(), [1_000], 9_000).await;
    assert_eq!(seen, items(&[(0, 1), (1_200, 2), (1_700, 3), (2_000, 10)]));
    assert_eq!(owner.times(), [0, 1_000, 1_500, 1_500, 2_000]);
    assert!(owner.asked()[1..].iter().all(|asked| asked.streams == 1));
}

#[tokio::test(start_paused = true)]
async fn a_verdict_to_a_refresh_ends_the_stream() {
    let owner = Owner::answers([serve([1]).item(5_000, 2).into(), after(500, not_found())]);
    let seen = nudged(&owner, owner.rider(), [1_000], 9_000).await;
    assert_eq!(seen[1..], [(1_500, Seen::Verdict(Kind::NotFound)), (1_500, Seen::Completed)]);
    assert_eq!(owner.alive(), [0; 5]);
}

#[tokio::test(start_paused = true)]
async fn a_give_up_of_a_refresh_ends_the_stream() {
    let owner = Owner::scripted(|asked| match asked.attempt {
        1 => serve([1]).item(1_900, 2).item(5_000, 3).into(),
        _ => by_route().into(),
    });
    let rider = owner.builder().budget(Budget::new().re_asks(2)).build();
    let seen = nudged(&owner, rider, [1_000], 9_000).await;
    let ends = [(2_000, Seen::GaveUp(Cause::Route)), (2_000, Seen::Completed)];
    assert_eq!(seen, [items(&[(0, 1), (1_900, 2)]), ends.to_vec()].concat());
    assert_eq!(owner.alive(), [0; 5]);
}

#[tokio::test(start_paused = true)]
async fn the_end_of_the_old_one_ends_the_old_one_alone() {
    // R25: by announcement, by a beat, inside the stream, and by completion.
    // What is announced twice is told of one end.
    let ended = |at| (at, News::Ended(Some(tag("A1"))));
    let news = || [ended(1_300), ended(1_400)];
    let beat = || [(1_300, News::NotServing(None)), ended(1_400)];
    let late = || [ended(1_400), (NEVER, News::Ended(None))];
    let lives = || serve([1]).by("A1").item(1_400, 2);
    for (old, heard) in [
        (lives(), news()),
        (lives(), beat()),
        (serve([1]).by("A1").fails(1_300, by("A1")), late()),
        (serve([1]).by("A1").completes(1_300), late()),
    ] {
        let owner = Owner::answers([old.into(), after(1_000, serve([10])), Reply::Silent]);
        let mut rider = owner.builder().news(owner.news(heard)).build();
        let nudger = rider.nudger();
        let nudge = async {
            owner.reach(1_000).await;
            nudger.nudge();
            owner.reach(1_350).await;
            assert_eq!(owner.alive()[..2], [1, 0], "the old one is gone, and the refresh is not");
        };
        let seen = futures::join!(watch(&owner, &mut rider, 9_000), nudge).0;
        assert_eq!(seen, items(&[(0, 1), (2_000, 10)]));
        assert_eq!(owner.times(), [0, 1_000]);
    }
}

#[tokio::test(start_paused = true)]
async fn an_end_that_was_old_in_one_ride_out_is_news_in_the_next() {
    // R22: it stands for the answer that will not come.
    let owner = Owner::answers([
        serve([1]).by("A1").completes(1_300).into(),
        after(1_000, serve([2]).by("B1").fails(2_000, by_route())),
        Reply::Silent,
        serve([3]).by("A2").into(),
    ]);
    let ended = (6_000, News::Ended(Some(tag("A1"))));
    let mut rider = owner.builder().news(owner.news([ended])).build();
    let nudger = rider.nudger();
    watch(&owner, &mut rider, 1_000).await;
    nudger.nudge();
    let seen = watch(&owner, &mut rider, 9_000).await;
    assert_eq!(seen, items(&[(2_000, 2), (6_000, 3)]));
    assert_eq!(owner.asked()[3].charge.activation(), Some(&tag("A1")));
}

#[tokio::test(start_paused = true)]
async fn the_end_of_the_old_one_while_the_refresh_waits_shortens_nothing() {
    let owner = Owner::answers([
        serve([1]).by("A1").fails(1_300, by("A1")).into(),
        by_route().into(),
        serve([10]).into(),
    ]);
    let seen = nudged(&owner, owner.rider(), [1_000], 9_000).await;
    assert_eq!(seen, items(&[(0, 1), (1_500, 10)]));
    assert_eq!(owner.asked()[2].charge.key().map(|key| key.to_string()), Some("(route)".into()));
}

#[tokio::test(start_paused = true)]
async fn a_nudge_at_a_refresh_is_one_more_refresh() {
    let owner = Owner::answers([
        serve([1]).into(),
        after(1_000, serve([2])),
        after(1_000, serve([3])),
        Reply::Silent,
    ]);
    let seen = nudged(&owner, owner.rider(), [1_000, 1_500, 1_600], 9_000).await;
    assert_eq!(seen, items(&[(0, 1), (2_000, 2), (3_000, 3)]));
    assert_eq!(owner.times(), [0, 1_000, 2_000]);
}

#[tokio::test(start_paused = true)]
async fn a_refresh_has_its_limit_and_is_no_answer_by_the_old_one() {
    // R20: the limit is until the subscription opens, and the old one being open is not that.
    let owner =
        Owner::answers([serve([1]).item(2_000, 2).into(), Reply::Silent, serve([10]).into()]);
    let rider = owner.builder().budget(Budget::new().ask_limit(ms(3_000))).build();
    let seen = nudged(&owner, rider, [1_000], 9_000).await;
    assert_eq!(seen, items(&[(0, 1), (2_000, 2), (4_500, 10)]));
}

#[tokio::test(start_paused = true)]
async fn an_old_one_that_lived_a_pace_was_an_answer_before_its_refresh_is_refused() {
    // R9: without an item; its own ride-out is over and its counts are cleared.
    let owner = Owner::answers([
        by_route().into(),
        serve([]).into(),
        by_route().into(),
        serve([10]).into(),
    ]);
    let rider = owner.builder().budget(Budget::new().re_asks(1)).build();
    let seen = nudged(&owner, rider, [2_000], 9_000).await;
    assert_eq!(seen, items(&[(2_500, 10)]));
    assert_eq!(owner.asked()[3].charge.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_nudge_after_the_end_is_nothing() {
    let owner = Owner::answers([serve([1]).completes(0).into()]);
    let mut rider = owner.rider();
    watch(&owner, &mut rider, NEVER).await;
    rider.nudger().nudge();
    let mut next = pin!(rider.next());
    assert!(matches!(futures::poll!(&mut next), Poll::Ready(None)));
    assert_eq!(owner.times(), [0]);
}

#[tokio::test(start_paused = true)]
async fn the_bound_by_the_clock_holds_for_a_refresh_alone() {
    // R9 with R25: the first item of the old one ends the ride-out that bounded the wait, and the
    // wait is no shorter for it.
    let owner = Owner::answers([
        serve([]).item(1_100, 1).into(),
        after(900, by_route().with_retry_after(ms(3_000))),
        serve([10]).into(),
    ]);
    let rider = owner.builder().budget(Budget::new().pace(ms(1_050)).longest(ms(2_000))).build();
    let seen = nudged(&owner, rider, [50], 9_000).await;
    assert_eq!(seen, items(&[(1_100, 1), (3_950, 10)]));
}

#[tokio::test(start_paused = true)]
async fn a_refresh_is_ridden_beside_a_subscription_that_always_has_one_more() {
    // R21, R25: it is heard of after 256 items at most, and its waits and its limits end no later than
    // 32 items after their time.
    let owner = Owner::answers([
        serve(0..5_000).into(),
        by_route().into(),
        Reply::Silent,
        serve([9_999]).into(),
    ]);
    let mut rider = owner.builder().budget(Budget::new().ask_limit(ms(1_000))).build();
    assert_eq!(rider.next().await.map(Result::ok), Some(Some(0)));
    rider.nudger().nudge();
    for _ in 1..5_000 {
        tokio::time::advance(ms(1)).await;
        if rider.next().await.map(Result::ok) == Some(Some(9_999)) {
            let [_, nudged, rested, limited] = owner.times()[..] else { panic!("four asks") };
            assert!(nudged <= 256, "{nudged}");
            assert!((500..=532).contains(&(rested - nudged)), "{rested}");
            assert!((1_500..=1_596).contains(&(limited - rested)), "{limited}");
            return;
        }
    }
    panic!("asked at {:?} alone", owner.times());
}

#[tokio::test(start_paused = true)]
async fn two_riders_join_one_teardown_and_one_goes_away() {
    // C12: woken and dropped before it polls, it takes no wake-up of the other's along.
    let teardown = Teardown::new();
    let rider = |owner: &Owner| {
        let teardown = teardown.clone();
        owner.builder().join(move |_| Some(teardown.completed())).build()
    };
    let owners = [(); 2].map(|()| Owner::answers([by("A1").into(), serve([1]).into()]));
    let (mut goes, mut stays) = (rider(&owners[0]), rider(&owners[1]));
    assert!(futures::poll!(goes.next()).is_pending());
    let next = tokio::task::LocalSet::new();
    next.run_until(async move {
        let other = tokio::task::spawn_local(async move { stays.next().await.map(Result::ok) });
        tokio::task::yield_now().await;
        teardown.complete();
        drop(goes);
        assert_eq!(other.await.expect("no panic"), Some(Some(1)));
    })
    .await;
    assert_eq!(owners.map(|owner| owner.times()), [vec![0], vec![0, 0]]);
}

#[tokio::test(start_paused = true)]
async fn a_loss_beside_a_refresh_is_charged_and_held_back() {
    // R11, R12, R16: the old one lived 100 ms and failed, then its refresh was refused. Two rejections
    // are two attempts, and the first of them is held back for a pace from the loss.
    let owner = Owner::answers([
        serve([1]).by("A1").fails(100, by("A1")).into(),
        after(200, by("B1")),
        by_route().into(),
        serve([10]).into(),
    ]);
    let seen = nudged(&owner, owner.rider(), [50], 9_000).await;
    let charged: Vec<_> = owner.asked().iter().map(|it| it.charge.clone()).collect();
    assert_eq!(owner.times()[..3], [0, 50, 600]);
    assert_eq!(charged[2].key().map(|it| it.to_string()), Some("A1".into()));
    assert_eq!(charged[3].key().map(|it| it.to_string()), Some("B1".into()));
    assert_eq!(seen.last().map(|(_, seen)| seen), Some(&Seen::Item(10)));
}

#[tokio::test(start_paused = true)]
async fn an_owner_that_answers_and_dies_is_bounded_however_often_it_is_nudged() {
    // R9: `proven_after` bounds it, also where a nudge is out each time it dies.
    let owner = Owner::scripted(|_| after(20, serve([1]).by("A1").fails(5, by("A1"))));
    let budget = Budget::new().activations(1).re_asks(1).proven_after(ms(5_000));
    let rider = owner.builder().budget(budget).build();
    let nudger = rider.nudger();
    let mut rider = rider;
    let all = async {
        while owner.now() < 9_000 {
            owner.reach(owner.now() + 10).await;
            nudger.nudge();
        }
    };
    let seen = futures::join!(watch(&owner, &mut rider, 9_000), all).0;
    assert!(
        seen.iter().any(|(at, it)| *at < 1_000 && *it == Seen::GaveUp(Cause::Wedged)),
        "{seen:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn an_end_announced_beside_a_refresh_is_not_charged() {
    // R25: it ends only the old subscription; what the refresh is refused with is the one rejection.
    let owner =
        Owner::answers([serve([1]).by("A1").into(), after(1_000, by_route()), serve([10]).into()]);
    let news = owner.news([(1_300, News::Ended(Some(tag("A1"))))]);
    let mut rider = owner.builder().news(news).build();
    let nudger = rider.nudger();
    let nudge = async {
        owner.reach(1_000).await;
        nudger.nudge();
    };
    let seen = futures::join!(watch(&owner, &mut rider, 9_000), nudge).0;
    assert_eq!(seen, items(&[(0, 1), (2_500, 10)]));
    let asked = owner.asked();
    assert_eq!(asked.len(), 3);
    assert_eq!(asked[2].charge.key().map(|key| key.to_string()), Some("(route)".into()));
}

#[tokio::test(start_paused = true)]
async fn the_rest_of_a_short_life_uses_up_no_arrival_once_its_successor_is_live() {
    // R9, R11, R18b: that opened, so the wait is over which the old one's short life had begun.
    let owner = Owner::answers([
        serve([1]).by("A1").completes(200).into(),
        after(150, serve([2]).by("B1").fails(900, by_route())),
        serve([3]).into(),
    ]);
    let rider = owner.builder().news(owner.news([(400, News::Arrived(tag("C1")))])).build();
    let nudger = rider.nudger();
    let mut rider = rider;
    watch(&owner, &mut rider, 100).await;
    nudger.nudge();
    let seen = watch(&owner, &mut rider, 9_000).await;
    assert_eq!(seen, items(&[(250, 2), (1_150, 3)]));
    assert_eq!(owner.times(), [0, 100, 1_150]);
}
