//! What a caller sees of `RideOut`, `Phases` and `PointRead`, whatever they are given: they are small, are shown,
//! and are at home with everybody's combinators and on every thread.

use std::{future::ready, task::Poll};

use crate::support::{
    hand_clock::{Clock, address, ms},
    paused::Paused,
    strict::{Strict, next},
    words::{by, tag},
};
use futures::{
    Stream, StreamExt, TryStreamExt,
    stream::{self, FusedStream},
};
use rideout::{
    Budget, News, PointRead, Refusal, RideError, RideOut,
    rider::{Answer, Ask, Phase, Phases},
};

/// A rider whose closures hold nothing, and that of a user with large ones: all is behind boxes.
#[test]
fn a_rider_is_small_whatever_it_was_given() {
    let large = [0_u8; 4_096];
    let rider = RideOut::builder(address(), move |_| async move {
        Ok::<_, Refusal>(stream::iter(large).map(Ok))
    })
    .join(move |_| Some(async move { assert_eq!(large.len(), 4_096) }))
    .news(stream::iter(large).map(|_| News::Ended(None)))
    .keep_alive(move |_| assert_eq!(large.len(), 4_096))
    .timer(Clock::new())
    .build();
    assert!(size_of_val(&rider) <= 256, "{} bytes", size_of_val(&rider));
    let phases = rider.phases();
    assert!(size_of_val(&phases) <= 256, "{} bytes", size_of_val(&phases));
}

/// Neither closures nor streams nor items need be `Debug`.
#[test]
fn what_is_shown_of_a_rider_is_the_carrier_and_whether_it_is_live() {
    struct Opaque;
    let ask = |_| async { Ok::<_, Refusal>(stream::iter([Ok(Opaque)]).chain(stream::pending())) };
    let mut rider = RideOut::builder(address(), ask).timer(Clock::new()).build();
    assert!(format!("{rider:?}").contains("live: false"), "{rider:?}");
    assert!(next(&mut rider).is_ready());
    let shown = format!("{rider:?}");
    assert!(shown.contains("prices/eur") && shown.contains("live: true"), "{shown}");
    let shown = format!("{:?}", rider.phases());
    assert!(shown.starts_with("Phases") && shown.contains("RideOut"), "{shown}");

    let read = PointRead::builder(address(), |_| async { Ok::<_, Refusal>(Opaque) })
        .timer(Clock::new())
        .build();
    assert!(format!("{read:?}").contains("prices/eur"), "{read:?}");
}

/// What the phases wrap goes on as a rider, and the other way round.
#[test]
fn phases_and_items_are_one_rider() {
    let ask = |_| ready(Ok::<_, Refusal>(Strict::open([1, 2, 3])));
    let mut rider = RideOut::builder(address(), ask).timer(Clock::new()).build();
    assert!(matches!(next(&mut rider), Poll::Ready(Some(Ok(1)))));
    let mut phases: Phases<_> = rider.phases();
    assert!(matches!(next(&mut phases), Poll::Ready(Some(Ok(Phase::Live(2))))));
    assert_eq!(phases.get_ref().size_hint(), phases.size_hint());
    assert!(matches!(next(&mut phases.into_inner()), Poll::Ready(Some(Ok(3)))));
}

/// On tokio's clock, an owner that refuses twice.
fn refused_twice() -> impl FusedStream<Item = Result<u32, RideError<Refusal>>> + Send + Unpin {
    let rider = RideOut::builder(address(), |ask: Ask| async move {
        match ask.attempt {
            1 | 2 => Err(by("A1")),
            _ => Ok(stream::iter([Ok(1), Ok(2), Ok(3)])),
        }
    });
    rider.timer(Paused).build()
}

#[tokio::test(start_paused = true)]
async fn combinators_of_futures_take_a_rider() {
    assert_eq!(refused_twice().try_collect::<Vec<_>>().await.unwrap(), [1, 2, 3]);
    let doubled = refused_twice().map_ok(|it| it * 2).try_filter(|it| std::future::ready(*it > 2));
    assert_eq!(doubled.fuse().boxed().try_collect::<Vec<_>>().await.unwrap(), [4, 6]);
    let both = stream::select(refused_twice(), refused_twice().peekable());
    assert_eq!(both.count().await, 6);
    let chunks: Vec<_> = refused_twice().ready_chunks(8).collect().await;
    assert_eq!(chunks.len(), 1);

    let (mut rider, mut items) = (refused_twice(), 0);
    loop {
        futures::select! {
            item = rider.select_next_some() => items += item.unwrap(),
            complete => break,
        }
    }
    assert_eq!(items, 6);
}

mod tokio_streams {
    use tokio_stream::{StreamExt, StreamMap};

    use super::{ms, refused_twice};

    #[tokio::test(start_paused = true)]
    async fn combinators_take_a_rider() {
        let patient = refused_twice().timeout(ms(10)).filter_map(Result::ok).map(Result::unwrap);
        assert_eq!(patient.collect::<Vec<_>>().await, [1, 2, 3]);
        assert_eq!(refused_twice().merge(refused_twice()).collect::<Vec<_>>().await.len(), 6);

        let mut map = StreamMap::new();
        map.insert("a", refused_twice());
        map.insert("b", refused_twice());
        let (mut items, mut rider) = (0, refused_twice());
        while map.next().await.is_some() {
            items += 1;
        }
        loop {
            tokio::select! {
                item = rider.next() => match item {
                    Some(_) => items += 1,
                    None => break,
                },
                () = tokio::time::sleep(ms(3_600_000)) => panic!("starved"),
            }
        }
        assert_eq!(items, 9);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn riders_and_reads_run_on_any_thread() {
    let hasty = Budget::default().pace(ms(0));
    let rider = RideOut::builder(address(), |ask: Ask| async move {
        match ask.attempt {
            1..4 => Err(by("A1")),
            _ => Ok(stream::iter([Ok::<_, Refusal>(1), Ok(2)])),
        }
    });
    let rider = tokio::spawn(rider.timer(Paused).budget(hasty).build().try_collect::<Vec<_>>());
    let read = PointRead::builder(address(), |ask| async move {
        if ask.attempt < 4 { Err(by("A1")) } else { Ok(7) }
    });
    let read = tokio::spawn(read.timer(Paused).budget(hasty).build());
    assert_eq!(rider.await.unwrap().unwrap(), [1, 2]);
    assert_eq!(read.await.unwrap().unwrap(), 7);
}

#[test]
fn an_answer_says_who_serves_it_where_that_is_known() {
    let answer = Answer::new(stream::iter([1]));
    assert_eq!(answer.activation(), None);
    assert_eq!(answer.served_by(tag("F0")).activation(), Some(&tag("F0")));
}
