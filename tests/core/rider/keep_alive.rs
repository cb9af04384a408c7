//! Beats (`R26`): when they are sent, to what end, and when no more of them are (`R17`, `R20`, `C14`,
//! `C22`).

mod disturbed;

use std::{
    cell::Cell,
    future::{Ready, ready},
    rc::Rc,
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    task::Poll,
    time::{Duration, Instant},
};

use crate::support::{
    hand_clock::{self, Clock, address, ms, panics},
    paused::Paused,
    script::{self, Builder, NEVER, Owner, Reply, Seen, after, serve, watch},
    strict::{Strict, next},
    words::{by, by_route, not_found, tag},
};
use futures::{StreamExt, channel::mpsc, stream};
use rideout::{
    Activation, Budget, Kind, News, Refusal, RideOut,
    activation::StreamId,
    ledger::Cause,
    rider::{Beat, Nudger, Phase},
    time::Timer,
};

/// The beats that were sent, by whoever sends them.
#[derive(Clone, Default)]
struct Beats(Arc<Mutex<Vec<(Instant, Beat)>>>);

impl Beats {
    /// Sends a beat to nobody, and remembers it.
    fn send(&self) -> impl FnMut(Beat) + Send + 'static {
        let beats = Arc::clone(&self.0);
        move |beat| {
            let now = tokio::time::Instant::now().into_std();
            beats.lock().expect("no test panics under it").push((now, beat));
        }
    }

    fn all(&self) -> Vec<(Instant, Beat)> {
        self.0.lock().expect("no test panics under it").clone()
    }

    /// When they were sent, in milliseconds since `began`.
    fn since(&self, began: Instant) -> Vec<u128> {
        self.all().iter().map(|(at, _)| at.duration_since(began).as_millis()).collect()
    }
}

fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// Rides until `until`: when the beats came.
async fn beats_of<const N: usize>(
    replies: [Reply; N],
    set: impl FnOnce(Builder) -> Builder,
    until: u64,
) -> Vec<u128> {
    let (owner, beats, began) = (Owner::answers(replies), Beats::default(), now());
    let mut rider = set(owner.builder()).keep_alive(beats.send()).build();
    watch(&owner, &mut rider, until).await;
    beats.since(began)
}

fn every(interval: u64) -> impl FnOnce(Builder) -> Builder {
    move |builder| builder.keep_alive_interval(ms(interval))
}

#[tokio::test(start_paused = true)]
async fn the_first_beat_comes_after_5_s_and_the_others_every_45_s() {
    let live = || [serve([1]).into()];
    assert_eq!(beats_of(live(), |it| it, 141_000).await, [5_000, 50_000, 95_000, 140_000]);
    // The control: whoever sets none sends none.
    let owner = Owner::answers(live());
    watch(&owner, &mut owner.rider(), 141_000).await;
    assert_eq!(owner.alive()[4], 0);
}

#[tokio::test(start_paused = true)]
async fn the_first_beat_comes_after_one_interval_where_that_is_shorter() {
    let live = || [serve([1]).into()];
    assert_eq!(beats_of(live(), every(2_000), 7_000).await, [2_000, 4_000, 6_000]);
    assert_eq!(beats_of(live(), every(5_000), 11_000).await, [5_000, 10_000]);
    assert_eq!(beats_of(live(), every(8_000), 22_000).await, [5_000, 13_000, 21_000]);
    // A subscription that says nothing is live too.
    assert_eq!(beats_of([serve([]).into()], every(8_000), 14_000).await, [5_000, 13_000]);
}

#[tokio::test(start_paused = true)]
async fn a_beat_names_the_stream_and_whom_the_rider_is_live_on() {
    let owner = Owner::answers([
        serve([1]).by("A1").fails(6_000, by("A1")).into(),
        serve([2]).by("B1").fails(6_000, by("B1")).into(),
        serve([3]).into(),
    ]);
    let beats = Beats::default();
    watch(&owner, &mut owner.builder().keep_alive(beats.send()).build(), 30_000).await;
    let stream = owner.asked()[0].stream;
    let said: Vec<_> = beats.all().into_iter().map(|(_, it)| (it.stream, it.activation)).collect();
    assert_eq!(said, [Some("A1"), Some("B1"), None].map(|by| (stream, by.map(tag))));
}

#[tokio::test(start_paused = true)]
async fn no_beat_is_sent_while_it_asks_or_rides_out_and_each_answer_begins_anew() {
    // An ask is a sign too. The answers are at 30 s and, behind a join of 8 s and an ask, at 78 s.
    let replies =
        [after(30_000, serve([1]).by("A1").fails(10_000, by("A1"))), after(30_000, serve([2]))];
    let owner = Owner::answers(replies).teardown("A1", NEVER);
    let (beats, began) = (Beats::default(), now());
    let mut rider = owner
        .builder()
        .join(owner.join())
        .keep_alive(beats.send())
        .keep_alive_interval(ms(4_000))
        .build();
    watch(&owner, &mut rider, 87_000).await;
    assert_eq!(beats.since(began), [34_000, 38_000, 82_000, 86_000]);
}

#[tokio::test(start_paused = true)]
async fn beats_go_on_beside_a_refresh_and_begin_anew_with_its_answer() {
    let owner = Owner::answers([serve([1]).into(), after(4_500, serve([2]))]);
    let (beats, began) = (Beats::default(), now());
    let mut rider = owner.builder().keep_alive(beats.send()).build();
    let nudger = rider.nudger();
    watch(&owner, &mut rider, 2_000).await;
    nudger.nudge();
    watch(&owner, &mut rider, 60_000).await;
    assert_eq!(owner.times(), [0, 2_000]);
    assert_eq!(beats.since(began), [5_000, 11_500, 56_500]);
}

#[tokio::test(start_paused = true)]
async fn the_answer_to_a_beat_finds_an_owner_that_moved() {
    // R22, C19: through the news; the successor named there is no wait's end while live.
    let owner = Owner::answers([serve([1]).by("A1").into(), serve([2]).by("B1").into()]);
    let (answers, news) = mpsc::unbounded();
    let beats = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&beats);
    let served = Arc::new(Mutex::new(Vec::<StreamId>::new()));
    let mut rider = owner
        .builder()
        .news(news)
        .keep_alive(move |beat: Beat| {
            counted.fetch_add(1, Relaxed);
            let mut served = served.lock().expect("no test panics under it");
            if !served.contains(&beat.stream) {
                served.push(beat.stream);
                answers.unbounded_send(News::NotServing(Some(tag("B1")))).expect("it hears");
            }
        })
        .build();
    let seen = watch(&owner, &mut rider, 101_000).await;
    assert_eq!(seen, [(0, Seen::Item(1)), (5_000, Seen::Item(2))]);
    assert_eq!(owner.asked()[1].charge.activation(), Some(&tag("A1")));
    assert_eq!(beats.load(Relaxed), 1 + 3, "and goes on, at 10, 55 and 100 s");
}

/// Ends of every kind: the reply, and how it ends, and when.
fn ends() -> Vec<(Reply, Seen, u64)> {
    let budget = |cause| Seen::GaveUp(cause);
    vec![
        (serve([1]).fails(5_000, not_found()).into(), Seen::Verdict(Kind::NotFound), 5_000),
        (serve([1]).completes(5_000).into(), Seen::Completed, 5_000),
        (serve([1]).fails(5_000, by_route()).into(), budget(Cause::Route), 5_000),
        (not_found().into(), Seen::Verdict(Kind::NotFound), 0),
    ]
}

#[tokio::test(start_paused = true)]
async fn whatever_ends_the_rider_stops_its_beats_in_that_poll() {
    // C14, R20: also a beat that is due at that very instant, and what the beats hold goes along.
    for (reply, end, at) in ends() {
        let (owner, beats) = (Owner::answers([reply]), Beats::default());
        let held = Arc::new(());
        let (mut send, holds) = (beats.send(), Arc::clone(&held));
        let mut rider = owner
            .builder()
            .budget(Budget::new().re_asks(0))
            .keep_alive(move |beat| {
                let _ = &holds;
                send(beat);
            })
            .build();
        loop {
            let next = script::next(&mut rider).await;
            match next {
                Some(Ok(1)) => assert_eq!((owner.alive()[4], Arc::strong_count(&held)), (1, 2)),
                Some(Ok(item)) => panic!("{item}"),
                Some(Err(_)) | None => break,
            }
        }
        assert_eq!(owner.now(), at, "{end:?}");
        assert_eq!((owner.alive(), Arc::strong_count(&held)), ([0; 5], 1), "{end:?}");
        owner.reach(at + 200_000).await;
        assert!(script::next(&mut rider).await.is_none(), "{end:?}");
        assert!(beats.all().is_empty(), "{end:?}: {:?}", beats.all());
    }
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_refresh_stops_the_beats_of_the_old_one() {
    for (refusal, budget) in [(not_found(), Budget::new()), (by_route(), Budget::new().re_asks(0))]
    {
        let owner = Owner::answers([serve([1]).into(), after(3_000, refusal)]);
        let beats = Beats::default();
        let mut rider = owner.builder().budget(budget).keep_alive(beats.send()).build();
        let nudger = rider.nudger();
        watch(&owner, &mut rider, 3_000).await;
        nudger.nudge();
        let seen = watch(&owner, &mut rider, NEVER).await;
        assert_eq!((seen[0].0, owner.alive()), (6_000, [0; 5]));
        assert_eq!(beats.all().len(), 1, "the one at 5 s");
    }
}

#[tokio::test(start_paused = true)]
async fn dropped_it_sends_none() {
    let (owner, beats) = (Owner::answers([serve([1]).into()]), Beats::default());
    let mut rider = owner.builder().keep_alive(beats.send()).build();
    watch(&owner, &mut rider, 4_000).await;
    drop(rider);
    assert_eq!(owner.alive(), [0; 5]);
    owner.reach(100_000).await;
    assert!(beats.all().is_empty());
}

#[tokio::test(start_paused = true)]
async fn beats_that_were_missed_are_one() {
    let (owner, beats, began) = (Owner::answers([serve([1]).into()]), Beats::default(), now());
    let mut rider = owner.builder().keep_alive(beats.send()).keep_alive_interval(ms(1_000)).build();
    watch(&owner, &mut rider, 3_500).await;
    owner.reach(60_200).await; // nobody polls
    watch(&owner, &mut rider, 62_500).await;
    assert_eq!(beats.since(began), [1_000, 2_000, 3_000, 60_200, 61_200, 62_200]);
}

#[tokio::test(start_paused = true)]
async fn items_that_never_pause_delay_a_beat_by_32_of_them_at_most() {
    // R21, for a rider and for its phases; the resume point takes the same way.
    for way in 0..3 {
        let (owner, beats, began) =
            (Owner::answers([serve(0..10_000).into()]), Beats::default(), now());
        let beat = beats.send();
        let mut items = match way {
            0 => owner.builder().keep_alive(beat).build().map(|it| it.ok()).boxed_local(),
            1 => owner.builder_resuming().keep_alive(beat).build().map(|it| it.ok()).boxed_local(),
            _ => {
                let phases = owner.builder().keep_alive(beat).build().phases();
                phases
                    .filter_map(async |it| match it {
                        Ok(Phase::Live(item)) => Some(Some(item)),
                        _ => None,
                    })
                    .boxed_local()
            }
        };
        for expected in 0..10_000 {
            assert_eq!(items.next().await, Some(Some(expected)));
            tokio::time::advance(ms(10)).await;
        }
        let at = beats.since(began);
        assert_eq!(at.len(), 3, "{at:?}");
        assert!((5_000..=5_330).contains(&at[0]), "{at:?}");
        for pair in at.windows(2) {
            assert!((45_000..=45_330).contains(&(pair[1] - pair[0])), "{at:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn any_interval_is_safe() {
    // R20b: below 1 ms is 1 ms, and the longest one leaves the first beat.
    for (interval, until, expected) in [
        (Duration::ZERO, 10, 9..=10),
        (Duration::from_nanos(1), 10, 9..=10),
        (ms(1), 10, 9..=10),
        (Duration::MAX, 3_000_000, 1..=1),
    ] {
        let (owner, beats) = (Owner::answers([serve([1]).into()]), Beats::default());
        let mut rider =
            owner.builder().keep_alive_interval(interval).keep_alive(beats.send()).build();
        watch(&owner, &mut rider, until).await;
        let sent = beats.all().len();
        assert!(expected.contains(&sent), "{sent} beats every {interval:?}");
        assert_eq!(owner.alive()[4], 1);
    }
}

#[tokio::test(start_paused = true)]
async fn the_settings_may_come_in_any_order() {
    for before in [false, true] {
        let (beats, began) = (Beats::default(), now());
        let rider = RideOut::builder(address(), |_| async {
            Ok(stream::pending::<Result<u64, Refusal>>())
        });
        let joins = |_: Activation| None::<Ready<()>>;
        let (beat, news) = (beats.send(), stream::pending::<News>());
        let sent = if before {
            let rider = rider.keep_alive(beat).keep_alive_interval(ms(2_000));
            let rider = rider.join(joins).news(news).timer(Paused);
            tokio::time::timeout(ms(5_000), rider.build().count()).await
        } else {
            let rider = rider.timer(Paused).news(news).join(joins);
            let rider = rider.keep_alive_interval(ms(2_000)).keep_alive(beat);
            tokio::time::timeout(ms(5_000), rider.build().count()).await
        };
        assert!(sent.is_err(), "it is live to the end");
        assert_eq!(beats.since(began), [2_000, 4_000]);
    }
}
