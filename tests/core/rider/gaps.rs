//! Numbered frames (`R44b`): a gap is one refresh, uncharged, at most one a pace (`R16`, `R25`), and items
//! pass untouched (`R21`).

use std::task::Poll;

use crate::support::{
    hand_clock::{self, Clock, address, ms, panics},
    paused::Paused,
    script::{self, Builder, NEVER, Owner, Reply, Rider, Seen, after, items, serve, watch},
    strict::{Strict, next},
    words::{by, by_route, not_found, tag},
};
use futures::{StreamExt, stream};
use rideout::{Budget, Kind, News, Refusal, RideOut, rider::Phase};

fn numbered(owner: &Owner) -> Rider {
    numbering(owner).build()
}

fn numbering(owner: &Owner) -> Builder {
    owner.builder().frame_number(|item| *item)
}

/// When the asks go out, for a subscription of these frames, one every 100 ms.
async fn asks_for<const N: usize>(frames: [u64; N]) -> Vec<u64> {
    let mut first = serve([]);
    for (at, frame) in (1..).zip(frames) {
        first = first.item(at * 100, frame);
    }
    let owner = Owner::answers([first.into(), serve([]).into()]);
    watch(&owner, &mut numbered(&owner), 9_000).await;
    owner.times()
}

#[tokio::test(start_paused = true)]
async fn a_gap_is_one_refresh_at_once_and_items_pass_untouched() {
    let owner = Owner::answers([
        serve([1, 2]).item(1_500, 4).item(1_600, 5).into(),
        after(300, serve([1]).item(100, 2)),
    ]);
    let seen = watch(&owner, &mut numbered(&owner), 9_000).await;
    let all = [(0, 1), (0, 2), (1_500, 4), (1_600, 5), (1_800, 1), (1_900, 2)];
    assert_eq!(seen, items(&all));
    let [_, refresh] = &owner.asked()[..] else { panic!("two asks: {:?}", owner.times()) };
    assert_eq!((refresh.at, refresh.streams), (1_500, 1), "beside the old one");
    assert!(refresh.charge.is_uncharged());
    // The control: without numbers nothing is a gap.
    let owner = Owner::answers([serve([1, 2]).item(1_500, 4).into()]);
    watch(&owner, &mut owner.rider(), 9_000).await;
    assert_eq!(owner.times(), [0]);
}

#[tokio::test(start_paused = true)]
async fn what_is_a_gap_and_what_is_none() {
    for whole in [[1, 2, 3], [7, 8, 9], [0, 1, 2]] {
        assert_eq!(asks_for(whole).await, [0]);
    }
    assert_eq!(asks_for([u64::MAX - 1, u64::MAX, u64::MAX]).await, [0]);
    assert_eq!(asks_for([u64::MAX, 0, 1]).await, [0]);
    // Twice, or older: nothing is missing by it.
    assert_eq!(asks_for([5, 5, 6, 6]).await, [0]);
    assert_eq!(asks_for([5, 6, 3, 4, 7]).await, [0]);
    // One that is overtaken is a gap when it is, and none when it comes.
    assert_eq!(asks_for([1, 3, 2, 4]).await, [0, 200]);
    assert_eq!(asks_for([1, 3]).await, [0, 200]);
    assert_eq!(asks_for([0, u64::MAX]).await, [0, 200]);
}

#[tokio::test(start_paused = true)]
async fn the_first_item_after_an_answer_sets_the_base() {
    // After a refusal, and after a refresh.
    let owner = Owner::answers([
        serve([1, 2]).by("A1").fails(1_000, by("A1")).into(),
        serve([70, 71]).into(),
        serve([500, 501]).item(1_000, 502).into(),
    ]);
    let mut rider = numbered(&owner);
    let nudger = rider.nudger();
    watch(&owner, &mut rider, 3_000).await;
    nudger.nudge();
    watch(&owner, &mut rider, 9_000).await;
    assert_eq!(owner.times(), [0, 1_000, 3_000]);
}

#[tokio::test(start_paused = true)]
async fn refreshes_of_gaps_are_a_pace_apart_and_none_is_lost() {
    // Every answer has a gap at once, and then another.
    let owner = Owner::scripted(|asked| match asked.attempt {
        1..=3 => serve([1, 3]).item(100, 5).item(200, 7).into(),
        _ => serve([1]).into(),
    });
    watch(&owner, &mut numbered(&owner), 9_000).await;
    assert_eq!(owner.times(), [0, 0, 500, 1_000]);
    assert!(owner.asked().iter().all(|asked| asked.charge.is_uncharged()));
    assert_eq!(owner.alive()[4], 0, "and the pace is over");
}

#[tokio::test(start_paused = true)]
async fn a_pace_runs_from_the_last_refresh_and_a_late_gap_waits_for_nothing() {
    let owner = Owner::answers([
        serve([1, 3]).into(),
        serve([1]).item(300, 3).into(),
        serve([1]).item(500, 3).into(),
        serve([1]).item(501, 3).into(),
        serve([1]).into(),
    ]);
    watch(&owner, &mut numbered(&owner), 9_000).await;
    assert_eq!(owner.times(), [0, 0, 500, 1_000, 1_501]);
    // Of another budget's pace.
    let owner = Owner::answers([serve([1, 3]).into(), serve([1, 3]).into(), serve([1]).into()]);
    let mut rider = numbering(&owner).budget(Budget::new().pace(ms(2_000))).build();
    watch(&owner, &mut rider, 9_000).await;
    assert_eq!(owner.times(), [0, 0, 2_000]);
}

#[tokio::test(start_paused = true)]
async fn gaps_while_a_refresh_is_out_are_satisfied_by_its_answer() {
    // R16: the answer is another subscription, whatever the old one lacks. Long refreshes, past a pace.
    for refresh in [after(2_000, serve([1])), by_route().into()] {
        let lives = serve([1]).item(1_000, 3).item(1_200, 6).item(1_800, 9).item(1_900, 12);
        let owner = Owner::answers([lives.into(), refresh, after(1_500, serve([1]))]);
        watch(&owner, &mut numbered(&owner), 9_000).await;
        let refused = owner.asked().get(2).is_some_and(|it| !it.charge.is_uncharged());
        let expected = if refused { vec![0, 1_000, 1_500] } else { vec![0, 1_000] };
        assert_eq!(owner.times(), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_gap_that_waits_goes_with_its_subscription() {
    // Lost within the pace: the attempt that follows is the one that it would have asked for.
    let owner = Owner::answers([
        serve([1, 3]).into(),
        serve([1, 3]).by("A1").fails(200, by("A1")).into(),
        after(3_000, serve([1])),
    ]);
    watch(&owner, &mut numbered(&owner), 20_000).await;
    // It lived 200 ms: held back for a pace.
    assert_eq!(owner.times(), [0, 0, 700]);
    // And by a nudge, whose answer is as good.
    let owner = Owner::answers([serve([1, 3]).into(), serve([1, 3]).into(), serve([1]).into()]);
    let mut rider = numbered(&owner);
    let nudger = rider.nudger();
    watch(&owner, &mut rider, 300).await;
    nudger.nudge();
    watch(&owner, &mut rider, 9_000).await;
    assert_eq!(owner.times(), [0, 0, 300]);
}

#[tokio::test(start_paused = true)]
async fn what_becomes_of_a_refresh_is_what_becomes_of_any() {
    // R25: a verdict ends the stream, an `Ended` the old one alone.
    let owner = Owner::answers([serve([1]).item(1_000, 3).into(), after(500, not_found())]);
    let seen = watch(&owner, &mut numbered(&owner), NEVER).await;
    assert_eq!(seen[2..], [(1_500, Seen::Verdict(Kind::NotFound)), (1_500, Seen::Completed)]);
    assert_eq!(owner.alive(), [0; 5]);

    let lives = serve([1]).by("A1").item(1_000, 3).item(1_400, 4);
    let owner = Owner::answers([lives.into(), after(500, serve([1]))]);
    let ended = (1_200, News::Ended(Some(tag("A1"))));
    let mut rider = numbering(&owner).news(owner.news([ended])).build();
    let seen = watch(&owner, &mut rider, 9_000).await;
    assert_eq!(seen, items(&[(0, 1), (1_000, 3), (1_500, 1)]));
    assert_eq!(owner.times(), [0, 1_000]);
}

#[tokio::test(start_paused = true)]
async fn the_resume_point_stays_in_front_of_a_gap_until_the_next_answer() {
    // R24: or a source that resumes would never bring what is missing.
    let resumed = |asked: &script::Asked| {
        let from = asked.resume.map_or(1, |last| last + 1);
        serve(from..from + 3)
    };
    let owner = Owner::scripted(move |asked| match asked.attempt {
        1 => serve([1, 2, 4, 5]).item(600, 6).into(),
        2 => by_route().into(),
        _ => resumed(asked).into(),
    });
    let mut rider = owner.builder_resuming().frame_number(|item| *item).build();
    let seen = watch(&owner, &mut rider, 9_000).await;
    let all = [(0, 1), (0, 2), (0, 4), (0, 5), (500, 3), (500, 4), (500, 5)];
    assert_eq!(seen, items(&all));
    assert_eq!(
        owner.asked().iter().map(|it| it.resume).collect::<Vec<_>>(),
        [None, Some(2), Some(2)]
    );

    // Also where the answer dies before its first item; and behind that it moves on.
    let owner = Owner::scripted(move |asked| match asked.attempt {
        1 => serve([1, 3]).item(100, 4).into(),
        2 => after(200, serve([]).fails(0, by("A1"))),
        3 => resumed(asked).fails(2_000, by("A2")).into(),
        _ => resumed(asked).into(),
    });
    let mut rider = owner.builder_resuming().frame_number(|item| *item).build();
    watch(&owner, &mut rider, 9_000).await;
    let resume: Vec<_> = owner.asked().iter().map(|it| it.resume).collect();
    assert_eq!(resume, [None, Some(1), Some(1), Some(4)]);
}

#[tokio::test(start_paused = true)]
async fn an_item_that_its_version_drops_is_a_frame_all_the_same() {
    // Frames 11, 22, 31 of versions 1, 2, 1, by their last and first digit.
    let owner = Owner::answers([serve([11, 22, 13, 34]).into()]);
    let mut rider =
        owner.builder().version(|item| item / 10).frame_number(|item| item % 10).build();
    let seen = watch(&owner, &mut rider, 9_000).await;
    assert_eq!(seen, items(&[(0, 11), (0, 22), (0, 34)]));
    assert_eq!(owner.times(), [0]);
}

#[tokio::test(start_paused = true)]
async fn a_gap_is_heard_of_among_items_that_never_pause() {
    // R21: after 32 of them at most, also for phases.
    for phases in [false, true] {
        let owner =
            Owner::answers([serve((0..100).chain(101..5_000)).into(), serve([9_999]).into()]);
        let rider = numbered(&owner);
        let mut items = if phases {
            let phases = rider.phases().filter_map(async |it| match it {
                Ok(Phase::Live(item)) => Some(item),
                _ => None,
            });
            phases.boxed_local()
        } else {
            rider.map(|it| it.expect("no end")).boxed_local()
        };
        let mut after_gap = 0;
        loop {
            match items.next().await {
                Some(9_999) => break,
                Some(item) if item > 100 => after_gap += 1,
                Some(_) => {}
                None => panic!("no end"),
            }
        }
        assert!(after_gap <= 33, "{after_gap} items");
    }
}

#[tokio::test(start_paused = true)]
async fn any_pace_is_safe() {
    // R20b: every answer has a gap, of an owner that cannot do better.
    for (pace, most) in [(ms(0), 102), (ms(1), 102), (std::time::Duration::MAX, 2)] {
        let owner = Owner::scripted(|_| serve([1, 3]).into());
        let mut rider = numbering(&owner).budget(Budget::new().pace(pace)).build();
        watch(&owner, &mut rider, 100).await;
        let asks = owner.times().len();
        assert!((2..=most).contains(&asks), "{asks} asks at a pace of {pace:?}");
    }
}

#[test]
fn a_panic_in_the_number_is_a_lost_item_and_so_a_gap() {
    // R20c: what the reader never saw is brought by the refresh.
    let clock = Clock::new();
    let mut rider = RideOut::builder(hand_clock::address(), |ask| async move {
        let items = if ask.attempt == 1 { vec![1, 2, 3] } else { vec![7] };
        Ok::<_, Refusal>(Strict::open(items))
    })
    .timer(clock.clone())
    .frame_number(|item: &u64| {
        assert_ne!(*item, 2, "no number");
        *item
    })
    .build();
    assert!(matches!(next(&mut rider), Poll::Ready(Some(Ok(1)))));
    panics(|| next(&mut rider));
    assert!(matches!(next(&mut rider), Poll::Ready(Some(Ok(3)))));
    assert!(matches!(next(&mut rider), Poll::Ready(Some(Ok(7)))));
    assert_eq!(clock.sleeps(), 1, "the pace");
    drop(rider);
    assert_eq!(clock.sleeps(), 0);
}

#[tokio::test(start_paused = true)]
async fn ended_or_dropped_within_the_pace_it_leaves_nothing() {
    let replies = |end: Reply| [serve([1, 3]).into(), end];
    for end in [serve([]).completes(100).into(), serve([]).fails(100, not_found()).into()] {
        let owner = Owner::answers(replies(end));
        let mut rider = numbered(&owner);
        watch(&owner, &mut rider, 50).await;
        assert_eq!(owner.alive(), [0, 1, 0, 0, 1]);
        watch(&owner, &mut rider, NEVER).await;
        assert_eq!((owner.now(), owner.alive()), (100, [0; 5]));
    }
    let owner = Owner::answers(replies(serve([1]).into()));
    let mut rider = numbered(&owner);
    watch(&owner, &mut rider, 50).await;
    drop(rider);
    assert_eq!(owner.alive(), [0; 5]);
}

#[tokio::test(start_paused = true)]
async fn numbers_may_be_set_in_any_order() {
    for order in 0..2 {
        let rider = RideOut::builder(address(), |ask| async move {
            let frames = if ask.attempt == 1 { vec![1, 3] } else { vec![1, 2] };
            Ok(stream::iter(frames.into_iter().map(Ok::<u64, Refusal>)).chain(stream::pending()))
        });
        let (rider, news) = (rider.timer(Paused), stream::pending::<News>());
        let items = match order {
            0 => rider.frame_number(|it| *it).news(news).build().take(4).boxed_local(),
            _ => rider.news(news).frame_number(|it| *it).build().take(4).boxed_local(),
        };
        let items: Vec<_> = items.map(|it| it.expect("no end")).collect().await;
        assert_eq!(items, [1, 3, 1, 2]);
    }
}
