//! What lengthens and what shortens a wait: hints, arrivals, spread (`R7b`, `R18b`, `R18c`).

use crate::support::{
    hand_clock::ms,
    script::{self, Asked, NEVER, Owner, Reply, Seen, serve, watch},
    words::{by, by_route, tag, unnamed},
};
use futures::channel::mpsc;
use rideout::{Budget, News, Refusal};

fn arrived(at: u64, digits: &str) -> (u64, News) {
    (at, News::Arrived(tag(digits)))
}

/// When the asks come that `refusals` and then a subscription answer, under `budget`.
async fn asks_of<const N: usize>(replies: [Reply; N], budget: Budget) -> Vec<u64> {
    let owner = Owner::answers(replies);
    watch(&owner, &mut owner.builder().budget(budget).build(), 200_000).await;
    owner.times()
}

#[tokio::test(start_paused = true)]
async fn a_rest_lasts_at_least_the_hint_and_at_most_its_limit() {
    // R7b: it never shortens a rest.
    for (hint, limit, next) in [
        (ms(3_000), ms(8_000), 3_000),
        (ms(100), ms(8_000), 500),
        (ms(30_000), ms(8_000), 8_000),
        (ms(3_000), ms(1_000), 1_000),
        (ms(3_000), ms(0), 500),
    ] {
        let budget = Budget::new().hint_limit(limit);
        for refusal in [by_route(), unnamed()] {
            let refusal = refusal.with_retry_after(hint);
            let asks = asks_of([refusal.into(), serve([1]).into()], budget).await;
            assert_eq!(asks, [0, next], "{hint:?} of at most {limit:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_hint_is_nothing_to_a_join_and_to_the_re_ask_without_a_wait() {
    let hinted = |digits| by(digits).with_retry_after(ms(3_000));
    let owner = Owner::answers([hinted("A1").into(), serve([1]).into()]).teardown("A1", 700);
    watch(&owner, &mut owner.builder().join(owner.join()).build(), 9_000).await;
    assert_eq!(owner.times(), [0, 700], "the event, and no poll");

    let replies =
        [hinted("A1").into(), hinted("A2").into(), hinted("A2").into(), serve([1]).into()];
    assert_eq!(asks_of(replies, Budget::new()).await, [0, 0, 3_000, 6_000]);
}

#[tokio::test(start_paused = true)]
async fn a_hint_of_a_short_life_is_a_rest_of_its_own() {
    // R11's hold and R7b's rest run side by side.
    let died = serve([]).fails(0, by_route().with_retry_after(ms(2_000)));
    assert_eq!(asks_of([died.into(), serve([1]).into()], Budget::new()).await, [0, 2_000]);
}

#[tokio::test(start_paused = true)]
async fn an_arrival_ends_a_rest_and_a_join() {
    // R18b.
    for refusal in [by_route(), by("A1")] {
        let owner = Owner::answers([refusal.into(), serve([1]).into()]).teardown("A1", NEVER);
        let mut rider = owner
            .builder()
            .join(owner.join())
            .budget(Budget::new().pace(ms(5_000)))
            .news(owner.news([arrived(1_234, "B1")]))
            .build();
        assert_eq!(watch(&owner, &mut rider, 9_000).await, [(1_234, Seen::Item(1))]);
    }
}

#[tokio::test(start_paused = true)]
async fn one_that_has_refused_or_serves_is_no_arrival() {
    let owner = Owner::answers([
        by("A1").into(),
        by_route().into(),
        serve([1]).by("B1").fails(1_000, by_route()).into(),
        serve([2]).into(),
    ]);
    let news = owner.news([arrived(200, "A1"), arrived(900, "B1")]);
    watch(&owner, &mut owner.builder().news(news).build(), 9_000).await;
    assert_eq!(owner.times(), [0, 0, 500, 2_000]);
}

#[tokio::test(start_paused = true)]
async fn an_arrival_that_finds_no_wait_ends_the_next_one() {
    // The newest is kept: it is one, and it ends one wait.
    let owner = Owner::scripted(|asked| match asked.attempt {
        1 => script::after(300, by_route()),
        2 | 3 => by_route().into(),
        _ => serve([1]).into(),
    });
    let news = owner.news([arrived(100, "B1"), arrived(200, "B2")]);
    watch(&owner, &mut owner.builder().news(news).build(), 9_000).await;
    assert_eq!(owner.times(), [0, 300, 800, 1_300]);
}

#[tokio::test(start_paused = true)]
async fn an_arrival_that_has_refused_since_is_no_reason_to_ask() {
    let owner = Owner::answers([script::after(300, by("B1")), by("B1").into(), serve([1]).into()]);
    let news = owner.news([arrived(100, "B1")]);
    watch(&owner, &mut owner.builder().news(news).build(), 9_000).await;
    assert_eq!(owner.times(), [0, 300, 800]);
}

#[tokio::test(start_paused = true)]
async fn a_join_that_is_over_at_its_first_look_uses_no_arrival_up() {
    let owner = Owner::answers([script::after(300, by("A1")), by("A1").into(), serve([1]).into()])
        .teardown("A1", 0);
    let news = owner.news([arrived(100, "B1")]);
    watch(&owner, &mut owner.builder().join(owner.join()).news(news).build(), 9_000).await;
    assert_eq!(owner.times(), [0, 300, 300], "the rest after it ends at once");
}

#[tokio::test(start_paused = true)]
async fn arrivals_end_no_more_waits_than_there_may_be_activations() {
    let arrivals = [100, 200, 300, 400, 450].map(|at| arrived(at, &format!("B{at}")));
    let owner = Owner::answers([by_route().into()]);
    let mut rider = owner.builder().news(owner.news(arrivals.clone())).build();
    watch(&owner, &mut rider, 1_500).await;
    assert_eq!(owner.times(), [0, 100, 200, 300, 800, 1_300]);

    let owner = Owner::answers([by_route().into()]);
    let mut rider =
        owner.builder().budget(Budget::new().activations(0)).news(owner.news(arrivals)).build();
    watch(&owner, &mut rider, 1_200).await;
    assert_eq!(owner.times(), [0, 500, 1_000]);
}

#[tokio::test(start_paused = true)]
async fn an_answer_allows_arrivals_anew() {
    let owner = Owner::scripted(|asked| match asked.attempt {
        1 | 2 | 4 => by_route().into(),
        3 => serve([1]).fails(1_000, by_route()).into(),
        _ => serve([2]).into(),
    });
    let news = owner.news([
        arrived(100, "B1"),
        arrived(700, "B2"),
        arrived(1_700, "B3"),
        arrived(2_000, "B4"),
    ]);
    let budget = Budget::new().activations(1).pace(ms(800));
    watch(&owner, &mut owner.builder().budget(budget).news(news).build(), 9_000).await;
    // B1 ends the first rest; B2 is not allowed to; the answer at 900 counts anew.
    assert_eq!(owner.times(), [0, 100, 900, 1_900, 2_700]);
}

#[tokio::test(start_paused = true)]
async fn an_arrival_is_forgotten_when_a_subscription_opens() {
    let owner = Owner::answers([
        script::after(300, serve([1]).fails(1_000, by_route())),
        serve([2]).into(),
    ]);
    let news = owner.news([arrived(100, "B1")]);
    watch(&owner, &mut owner.builder().news(news).build(), 9_000).await;
    assert_eq!(owner.times(), [0, 1_800]);
}

#[tokio::test(start_paused = true)]
async fn an_arrival_while_held_back_is_used_up() {
    // R11: neither the hold nor a later rest is shortened.
    let owner = Owner::answers([
        serve([]).fails(100, by_route()).into(),
        by_route().into(),
        serve([2]).into(),
    ]);
    let news = owner.news([arrived(300, "B1"), arrived(600, "B2")]);
    watch(&owner, &mut owner.builder().news(news).build(), 9_000).await;
    assert_eq!(owner.times(), [0, 600, 1_100]);
}

#[tokio::test(start_paused = true)]
async fn an_arrival_at_the_instant_that_a_hold_ends_is_used_up_too() {
    // R11: the news of an instant comes before the timers of it.
    for (at, next) in [(600, 1_300), (601, 800)] {
        let owner = Owner::answers([
            serve([]).fails(100, by("A1")).into(),
            script::after(200, by_route()),
            serve([2]).into(),
        ]);
        let news = owner.news([arrived(at, "B1")]);
        watch(&owner, &mut owner.builder().news(news).build(), 9_000).await;
        assert_eq!(owner.times(), [0, 600, next]);
    }
}

#[tokio::test(start_paused = true)]
async fn an_arrival_at_the_very_ask_that_was_held_back_is_kept() {
    // R11, R18b: its time is over when the ask goes out, and at that instant the directory speaks.
    let (arrives, news) = mpsc::unbounded();
    let owner = Owner::scripted(move |asked| match asked.attempt {
        1 => serve([]).fails(100, by_route()).into(),
        2 => {
            arrives.unbounded_send(News::Arrived(tag("B1"))).unwrap();
            by_route().into()
        }
        _ => serve([2]).into(),
    });
    watch(&owner, &mut owner.builder().news(news).build(), 9_000).await;
    assert_eq!(owner.times(), [0, 600, 600]);
}

#[tokio::test(start_paused = true)]
async fn spread_comes_after_every_wait_and_does_spread() {
    // R18c: nothing before its event, nothing later than wait + spread, the re-ask without a wait
    // included, and the first ask not.
    let spread = 400;
    let mut delays = [const { Vec::new() }; 3];
    for seed in 0..64 {
        fastrand::seed(seed);
        let owner = Owner::answers([
            by("A1").into(),
            by("A2").into(),
            by_route().into(),
            serve([1]).into(),
        ])
        .teardown("A2", 3_000);
        let budget = Budget::new().spread(ms(spread));
        watch(&owner, &mut owner.builder().join(owner.join()).budget(budget).build(), 60_000).await;
        let [first, unseen, joined, rested] = owner.times()[..] else { panic!("four asks") };
        assert_eq!(first, 0);
        for (delays, delay) in
            delays.iter_mut().zip([unseen, joined - 3_000, rested - joined - 500])
        {
            assert!(delay <= spread, "{delay}");
            delays.push(delay);
        }
    }
    for mut delays in delays {
        delays.sort_unstable();
        delays.dedup();
        assert!(delays.len() > 32, "spread over {} places", delays.len());
        assert!(delays[0] < 50 && delays[delays.len() - 1] > 350);
    }
}

#[tokio::test(start_paused = true)]
async fn spread_comes_after_a_hold_and_after_an_arrival_too() {
    fastrand::seed(7);
    let budget = Budget::new().spread(ms(400));
    let held = Owner::answers([serve([]).fails(100, by("A1")).into(), serve([1]).into()]);
    watch(&held, &mut held.builder().budget(budget).build(), 9_000).await;
    assert!((600..=1_000).contains(&held.times()[1]) && held.times()[1] != 600);

    let rested = Owner::answers([by_route().into(), serve([1]).into()]);
    let news = rested.news([arrived(100, "B1")]);
    watch(&rested, &mut rested.builder().budget(budget).news(news).build(), 9_000).await;
    assert!((101..=500).contains(&rested.times()[1]));
}

#[tokio::test(start_paused = true)]
async fn a_join_of_no_length_is_a_wait() {
    // R20b: or an owner that never names the same activation twice would be asked at memory speed.
    let owner =
        Owner::answers([by("A1").into(), by("A2").into(), by("A3").into(), serve([1]).into()])
            .teardown("A1", NEVER)
            .teardown("A2", NEVER)
            .teardown("A3", NEVER);
    let mut rider =
        owner.builder().join(owner.join()).budget(Budget::new().join_limit(ms(0))).build();
    watch(&owner, &mut rider, 9_000).await;
    assert_eq!(owner.times(), [0, 1, 2, 3]);
}

#[tokio::test(start_paused = true)]
async fn any_setting_waits_without_a_panic() {
    // C35, R20b.
    let far = std::time::Duration::MAX;
    for extreme in [ms(0), far] {
        let budget = Budget::new()
            .pace(extreme)
            .join_limit(extreme)
            .ask_limit(far)
            .hint_limit(extreme)
            .spread(extreme)
            .watchdog(extreme)
            .proven_after(extreme)
            .longest(far)
            .activations(u32::MAX)
            .re_asks(u32::MAX);
        let hinted = move |refusal: Refusal| refusal.with_retry_after(far);
        let owner = Owner::scripted(move |asked: &Asked| match asked.attempt % 4 {
            0 => hinted(by("A1")).into(),
            1 => hinted(by_route()).into(),
            2 => serve([1]).fails(0, hinted(unnamed())).into(),
            _ => hinted(by(&format!("{:X}", asked.attempt))).into(),
        })
        .teardown("A1", NEVER);
        let mut rider = owner.builder().join(owner.join()).budget(budget).build();
        watch(&owner, &mut rider, 10_000).await;
        // A pace below 1 ms is 1 ms: each ride-out has one re-ask and one join without a wait.
        let asks = owner.times().len();
        assert_eq!(asks > 5_000, extreme.is_zero(), "{asks}");
        assert!(asks <= 20_000, "{asks}");
    }
}
