//! News of the address: every cell of `R22`, and when it is looked at (`R21`).

use std::{cell::Cell, rc::Rc};

use crate::support::{
    hand_clock::ms,
    script::{NEVER, Owner, Reply, Seen, after, serve, watch},
    words::{by, by_route, tag},
};
use futures::{StreamExt, stream};
use rideout::{
    Budget, News,
    ledger::{Charge, Key},
};

fn ended(at: u64, digits: &str) -> (u64, News) {
    (at, News::Ended((!digits.is_empty()).then(|| tag(digits))))
}

fn not_serving(at: u64, digits: &str) -> (u64, News) {
    (at, News::NotServing((!digits.is_empty()).then(|| tag(digits))))
}

/// When a rider asks whose owner answers `replies`, and under which key it was charged.
async fn asks_of<const N: usize, const M: usize>(
    replies: [Reply; N],
    news: [(u64, News); M],
) -> Vec<(u64, String)> {
    let owner = Owner::answers(replies).teardown("A1", 5_000);
    let mut rider = owner.builder().join(owner.join()).news(owner.news(news)).build();
    watch(&owner, &mut rider, 20_000).await;
    assert!(owner.asked().iter().all(|asked| asked.streams == 0), "R20c");
    let key = |charge: &Charge| charge.key().map_or(String::new(), |key: Key| key.to_string());
    owner.asked().iter().map(|asked| (asked.at, key(&asked.charge))).collect()
}

fn is(asks: &[(u64, &str)]) -> Vec<(u64, String)> {
    asks.iter().map(|(at, key)| (*at, (*key).to_owned())).collect()
}

#[tokio::test(start_paused = true)]
async fn live_on_one_that_announces_its_end() {
    // Charged with X, and joined: C19.
    let live = || [serve([1]).by("A1").into(), serve([2]).into()];
    let joined = is(&[(0, ""), (5_000, "A1")]);
    assert_eq!(asks_of(live(), [ended(2_000, "A1")]).await, joined);
    assert_eq!(asks_of(live(), [ended(2_000, "")]).await, joined, "untagged: X is known");
    assert_eq!(asks_of(live(), [ended(2_000, "B1")]).await, is(&[(0, "")]), "another's is stale");
}

#[tokio::test(start_paused = true)]
async fn live_on_one_that_is_not_known() {
    let live = || [serve([1]).into(), serve([2]).into()];
    assert_eq!(asks_of(live(), [ended(2_000, "A1")]).await, is(&[(0, ""), (5_000, "A1")]));
    assert_eq!(asks_of(live(), [ended(2_000, "")]).await, is(&[(0, ""), (2_500, "(untagged)")]));
}

#[tokio::test(start_paused = true)]
async fn live_on_one_that_is_not_known_a_late_goodbye_of_its_predecessor_is_stale() {
    // Whether the ride-out that led here was answered yet or goes on.
    let items = || [serve([1]), serve([]), serve([])];
    for (live, goodbye) in items().into_iter().zip([5_100, 5_100, 9_000]) {
        let replies = [by("A1").into(), live.into(), serve([2]).into()];
        let news = [ended(goodbye, "A1")];
        assert_eq!(asks_of(replies, news).await, is(&[(0, ""), (5_000, "A1")]));
    }
    // Two ride-outs later it is a goodbye like any other.
    let replies = [
        by("A1").into(),
        serve([1]).fails(1_000, by_route()).into(),
        serve([2]).into(),
        serve([3]).into(),
    ];
    let asks = asks_of(replies, [ended(9_000, "A1")]).await;
    assert_eq!(asks, is(&[(0, ""), (5_000, "A1"), (6_500, "(route)"), (9_000, "A1")]));
}

#[tokio::test(start_paused = true)]
async fn a_refresh_that_is_ridden_changes_nothing_of_who_led_here() {
    // R22: A1 refused in the ride-out that led here, and B1 in the refresh's own.
    for (goodbye, refuses, goes_on) in
        [("A1", by_route(), true), ("A1", by("B1"), true), ("B1", by("B1"), false)]
    {
        let owner = Owner::answers([
            by("A1").into(),
            serve([1]).item(2_000, 2).into(),
            refuses.into(),
            Reply::Silent,
        ]);
        let rider = owner.builder().news(owner.news([ended(1_700, goodbye)])).build();
        let nudger = rider.nudger();
        let mut rider = rider;
        watch(&owner, &mut rider, 1_500).await;
        nudger.nudge();
        let seen = watch(&owner, &mut rider, 9_000).await;
        let second = [(2_000, Seen::Item(2))];
        assert_eq!(seen, if goes_on { &second[..] } else { &[] }, "{goodbye} says goodbye");
    }
}

#[tokio::test(start_paused = true)]
async fn a_refresh_that_is_refused_before_the_first_item_is_of_the_ride_out_that_led_here() {
    // R9, R22: what has answered nothing yet ends no ride-out.
    let owner = Owner::answers([serve([]).item(300, 1).into(), by("A1").into(), Reply::Silent]);
    let rider = owner.builder().news(owner.news([ended(200, "A1")])).build();
    let nudger = rider.nudger();
    let mut rider = rider;
    assert_eq!(watch(&owner, &mut rider, 100).await, []);
    nudger.nudge();
    assert_eq!(watch(&owner, &mut rider, 9_000).await, [(300, Seen::Item(1))]);
}

#[tokio::test(start_paused = true)]
async fn live_and_not_served_is_over_whoever_says_so() {
    // It answers a beat that names the stream: never stale.
    let known = || [serve([1]).by("A1").into(), serve([2]).into()];
    let unknown = || [serve([1]).into(), serve([2]).into()];
    let joined = is(&[(0, ""), (5_000, "A1")]);
    assert_eq!(asks_of(known(), [not_serving(2_000, "A1")]).await, joined);
    assert_eq!(asks_of(known(), [not_serving(2_000, "")]).await, joined);
    // Another one is an arrival, which ends the wait.
    assert_eq!(asks_of(known(), [not_serving(2_000, "B1")]).await, is(&[(0, ""), (2_000, "A1")]));
    let untagged = is(&[(0, ""), (2_000, "(untagged)")]);
    assert_eq!(asks_of(unknown(), [not_serving(2_000, "B1")]).await, untagged);
    let rested = is(&[(0, ""), (2_500, "(untagged)")]);
    assert_eq!(asks_of(unknown(), [not_serving(2_000, "")]).await, rested);
    // R11's rest stands.
    assert_eq!(asks_of(known(), [not_serving(100, "B1")]).await, is(&[(0, ""), (5_000, "A1")]));
    let quick = [serve([1]).by("C1").into(), serve([2]).into()];
    assert_eq!(asks_of(quick, [not_serving(100, "B1")]).await, is(&[(0, ""), (600, "C1")]));
}

#[tokio::test(start_paused = true)]
async fn asking_one_that_announces_its_end_stands_for_the_answer() {
    let replies = || [Reply::Silent, serve([1]).into()];
    assert_eq!(asks_of(replies(), [ended(2_000, "A1")]).await, is(&[(0, ""), (5_000, "A1")]));
    // Untagged, or the answer to a beat, says nothing of this ask.
    let late = || [after(3_000, serve([1])), serve([2]).into()];
    for news in [ended(2_000, ""), not_serving(2_000, "A1"), not_serving(2_000, "")] {
        assert_eq!(asks_of(late(), [news]).await, is(&[(0, "")]));
    }
}

#[tokio::test(start_paused = true)]
async fn asking_after_it_refused_its_goodbye_is_old() {
    let replies = [by("A1").into(), after(3_000, serve([1])), serve([2]).into()];
    let asks = asks_of(replies, [ended(6_000, "A1")]).await;
    assert_eq!(asks, is(&[(0, ""), (5_000, "A1")]));
}

#[tokio::test(start_paused = true)]
async fn the_ask_that_an_announcement_stands_for_is_dropped() {
    let owner = Owner::answers([Reply::Silent, serve([1]).into()]).teardown("A1", 5_000);
    let mut rider =
        owner.builder().join(owner.join()).news(owner.news([ended(2_000, "A1")])).build();
    watch(&owner, &mut rider, 4_000).await;
    assert_eq!(owner.alive(), [0, 0, 1, 1, 1], "a join and its limit");
}

#[tokio::test(start_paused = true)]
async fn waiting_it_is_told_nothing_new() {
    let replies = || [by("A1").into(), serve([1]).into()];
    for news in [
        ended(1_000, "A1"),
        ended(1_000, "B1"),
        ended(1_000, ""),
        not_serving(1_000, "A1"),
        not_serving(1_000, "B1"),
        not_serving(1_000, ""),
    ] {
        assert_eq!(asks_of(replies(), [news]).await, is(&[(0, ""), (5_000, "A1")]));
    }
}

#[tokio::test(start_paused = true)]
async fn news_that_ends_is_the_end_of_news_alone() {
    let owner = Owner::answers([by_route().into(), serve([1]).item(2_000, 2).into()]);
    let news = owner.news([ended(100, "")]).take(1);
    let seen = watch(&owner, &mut owner.builder().news(news).build(), 9_000).await;
    assert_eq!(seen, [(500, Seen::Item(1)), (2_500, Seen::Item(2))]);
    assert_eq!(owner.alive()[3], 0);
}

#[tokio::test(start_paused = true)]
async fn an_item_comes_before_the_end_that_is_announced_at_its_instant() {
    // R21: the first of a subscription too, and one behind a pause.
    for items in [serve([]).item(100, 1), serve([1]).item(100, 2)] {
        let owner = Owner::answers([items.into(), serve([7]).into()]);
        let seen =
            watch(&owner, &mut owner.builder().news(owner.news([ended(100, "")])).build(), 9_000)
                .await;
        assert!(matches!(seen[..], [.., (100, Seen::Item(1 | 2)), (_, Seen::Item(7))]), "{seen:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn news_takes_effect_before_the_next_item_and_what_was_received_is_told() {
    // R20b, R21b: of a subscription that always has one more, 1,024 are taken out at once.
    for resuming in [false, true] {
        let owner = Owner::answers([serve(0..10_000).by("A1").into(), serve([]).into()]);
        let news = owner.news([ended(0, "A1")]);
        let seen = if resuming {
            watch(&owner, &mut owner.builder_resuming().news(news).build(), 9_000).await
        } else {
            watch(&owner, &mut owner.builder().news(news).build(), 9_000).await
        };
        assert_eq!(seen.len(), 1_024, "what was received, and no more of them");
        assert_eq!(owner.times(), [0, 500]);
    }
}

#[tokio::test(start_paused = true)]
async fn items_have_their_turn_however_much_news_there_is() {
    // R20b: a bounded number is heard in one poll.
    let owner = Owner::answers([serve(0..100).by("A1").into()]);
    let heard = Rc::new(Cell::new(0));
    let counted = Rc::clone(&heard);
    let news = stream::repeat(News::Ended(Some(tag("B1")))).take(10_000);
    let news = news.inspect(move |_| counted.set(counted.get() + 1));
    let seen = watch(&owner, &mut owner.builder().news(news).build().take(100), 1_000).await;
    assert_eq!(seen.len(), 101);
    assert!(heard.get() <= 32 * 101, "{} before 100 items", heard.get());
}

#[tokio::test(start_paused = true)]
async fn a_subscription_that_completes_completes_the_rider() {
    // R21.
    let owner = Owner::answers([serve([1, 2]).completes(700).into()]);
    let seen = watch(&owner, &mut owner.rider(), NEVER).await;
    assert_eq!(seen, [(0, Seen::Item(1)), (0, Seen::Item(2)), (700, Seen::Completed)]);
    assert_eq!(owner.alive(), [0; 5]);
}

#[tokio::test(start_paused = true)]
async fn a_completion_is_a_rejection_where_that_is_wanted() {
    // R21, R7, R11: by the owner it was live on, or by one that named none.
    let owner = Owner::answers([
        serve([1]).by("A1").completes(700).into(),
        serve([2]).completes(700).into(),
        serve([3]).by("A2").completes(100).into(),
        serve([4]).into(),
    ]);
    let mut rider = owner.builder().re_ask_on_completion().build();
    let seen = watch(&owner, &mut rider, 9_000).await;
    let items = [(0, 1), (700, 2), (1_900, 3), (2_500, 4)];
    assert_eq!(seen, items.map(|(at, item)| (at, Seen::Item(item))));
    let keys: Vec<_> = owner.asked()[1..].iter().filter_map(|asked| asked.charge.key()).collect();
    assert_eq!(keys, [Key::Activation(tag("A1")), Key::Untagged, Key::Activation(tag("A2"))]);
}

#[tokio::test(start_paused = true)]
async fn a_completion_that_is_re_asked_for_is_bounded_like_any_rejection() {
    let owner = Owner::answers([serve([]).completes(0).into()]);
    let mut rider =
        owner.builder().re_ask_on_completion().budget(Budget::new().pace(ms(200))).build();
    let seen = watch(&owner, &mut rider, 9_000).await;
    assert_eq!(seen[0], (600, Seen::GaveUp(rideout::ledger::Cause::Untagged)));
    assert_eq!(owner.times(), [0, 200, 400, 600]);
}
