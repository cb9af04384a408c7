//! Riders of one's own, made of the operators: in virtual time, on a runtime, beside other tasks.

use std::{
    cell::{Cell, RefCell},
    future::pending,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    task::Poll,
    time::Duration,
};

use crate::support::{
    by_hand::{Task, kept},
    chain::{No, Outcome, activation, by_owner, carrier, draining, look, poll_next, within},
    ruled::Ruled,
};
use futures::{FutureExt, StreamExt, TryStreamExt, future::Either, stream::FuturesUnordered};
use rideout::{
    Budget, Carrier, CarrierExt, Rejection, RideError,
    carrier::{End, Trigger},
    ledger::{Cause, Charge, Wait},
    teardown::Teardown,
};
use tokio::time::{Instant, advance, sleep, timeout};

/// What a rider of one's own does before it asks.
async fn wait_out(charge: &Charge, teardown: &Teardown) {
    match charge.wait() {
        Wait::Nothing => {}
        Wait::Join { limit, .. } => drop(timeout(limit, teardown.completed()).await),
        other => sleep(other.rest()).await,
    }
}

/// Asks an owner of one activation, whose teardown is `teardown`, until `answers` says yes; returns
/// when it asked, in milliseconds, and how that ended.
async fn asks_at(
    carrier: &Carrier,
    teardown: &Teardown,
    answers: impl Fn(usize) -> bool,
) -> (Vec<u128>, Result<Option<u32>, RideError<Ruled<No>>>) {
    let (began, asks) = (Instant::now(), RefCell::new(Vec::new()));
    let answer = {
        let mut chain = pin!(
            carrier
                .triggers()
                .charge(carrier)
                .defer(|charge: Charge| {
                    let (asks, answers) = (&asks, &answers);
                    async move {
                        wait_out(&charge, teardown).await;
                        carrier.asking();
                        let ask = {
                            let mut asks = asks.borrow_mut();
                            asks.push(began.elapsed().as_millis());
                            asks.len()
                        };
                        if answers(ask) { Ok(7) } else { draining(by_owner("0A")) }
                    }
                })
                .concat_attempts(carrier)
        );
        chain.try_next().await
    };
    (asks.into_inner(), answer)
}

/// C3: no ask until the teardown, then exactly one; then one a pace, for as long as a corpse answers.
#[tokio::test(start_paused = true)]
async fn a_rider_of_ones_own_joins_and_then_rests() {
    let (carrier, teardown) = (carrier(), Teardown::new());
    let dies = async {
        sleep(Duration::from_secs(3)).await;
        teardown.complete();
    };
    let (ride, ()) = tokio::join!(asks_at(&carrier, &teardown, |ask| ask == 5), dies);
    assert_eq!(ride.0, [0, 3_000, 3_500, 4_000, 4_500]);
    assert_eq!(ride.1.unwrap(), Some(7));
}

/// C4: refused for ever, it is 18 asks, and the report counts them.
#[tokio::test(start_paused = true)]
async fn a_rider_of_ones_own_gives_up() {
    let (carrier, teardown) = (carrier(), Teardown::new());
    teardown.complete();
    let (asks, end) = asks_at(&carrier, &teardown, |_| false).await;
    let expected: Vec<_> = std::iter::once(0).chain((0..17).map(|rest| rest * 500)).collect();
    assert_eq!(asks, expected);
    let Err(End::GaveUp { report, last }) = end.map_err(RideError::into_end) else {
        panic!("it is never answered")
    };
    assert_eq!((report.cause, report.asks, report.count), (Cause::Wedged, 18, 17));
    assert_eq!(last.map(|error| error.error), Some(No("draining")));
}

/// A limit around an ask, from tokio: what neither answers nor refuses is a refusal by the route.
#[tokio::test(start_paused = true)]
async fn an_ask_that_hangs_is_limited_by_an_ordinary_timeout() {
    let (carrier, mut asks, began) = (carrier(), 0, Instant::now());
    let mut chain = pin!(
        carrier
            .triggers()
            .charge(&carrier)
            .defer(|charge: Charge| {
                asks += 1;
                let ask = if asks > 2 {
                    Either::Left(async move { Ok(charge.count()) })
                } else {
                    Either::Right(pending())
                };
                let limited = timeout(Duration::from_secs(60), ask);
                limited.map(|it| it.unwrap_or_else(|_| draining(Rejection::by_route())))
            })
            .concat_attempts(&carrier)
    );
    assert_eq!(chain.try_next().await.unwrap(), Some(2));
    assert_eq!(began.elapsed(), Duration::from_secs(120));
}

/// Refuses at once, for ever.
async fn storm(asks: &Cell<u32>) -> Option<Result<u32, RideError<Ruled<No>>>> {
    let carrier = within(Budget::default().re_asks(u32::MAX));
    let mut chain = pin!(
        carrier
            .triggers()
            .charge(&carrier)
            .defer(|_| {
                asks.set(asks.get() + 1);
                std::future::ready(draining(Rejection::by_route()))
            })
            .concat_attempts(&carrier)
    );
    chain.next().await
}

/// C36: a sibling task on the same thread progresses, and a limit of 20 ms around the rider fires.
#[tokio::test(start_paused = true)]
async fn a_storm_of_synchronous_refusals_leaves_the_others_their_turn() {
    let asks = Cell::new(0);
    let sibling = async {
        let mut turns = Vec::new();
        for _ in 0..100 {
            tokio::task::yield_now().await;
            turns.push(asks.get());
        }
        // The storm never lets the clock run by itself.
        advance(Duration::from_millis(20)).await;
        turns
    };
    let limited = timeout(Duration::from_millis(20), storm(&asks));
    let (stormed, turns) = tokio::join!(limited, sibling);
    assert!(stormed.is_err(), "the limit fires");
    let most = turns.windows(2).map(|turn| turn[1] - turn[0]).max().unwrap();
    assert!(most <= 64, "{most} asks between two turns of the sibling");
    assert!(turns[99] > turns[50] && turns[50] > turns[0], "both go on: {turns:?}");
}

/// C38: moved between tasks in mid-join, the new task is woken and the old one is not.
#[test]
fn a_chain_that_is_moved_in_mid_join_wakes_the_new_task() {
    let (carrier, teardown) = (carrier(), Teardown::new());
    let joined = teardown.clone();
    let mut chain = Box::pin(
        carrier
            .triggers()
            .charge(&carrier)
            .defer(move |charge: Charge| {
                let completed = joined.completed();
                async move {
                    completed.await;
                    Outcome::Ok(charge.count())
                }
            })
            .concat_attempts(&carrier),
    );
    let ((old, old_waker), (new, new_waker)) = (Task::new(), Task::new());
    carrier.reject(Rejection::by_owner(Some(activation("0A"))));
    assert!(poll_next(&mut chain, &old_waker).is_pending());
    assert!(poll_next(&mut chain, &new_waker).is_pending());
    assert_eq!(kept(&old), 0, "the old task is forgotten, by the join and by the carrier");
    teardown.complete();
    assert_eq!((old.wakes(), new.wakes()), (0, 1));
    assert!(matches!(look(&mut chain), Poll::Ready(Some(Ok(1)))));
}

/// Real threads: whatever they do, one attempt is out, and all of it is done in the end.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_attempt_is_out_whatever_other_threads_do() {
    let carrier = within(Budget::default().re_asks(u32::MAX));
    let (out, asks) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let asked = Arc::clone(&asks);
    let probe = move |_| {
        let (out, asks) = (Arc::clone(&out), Arc::clone(&asked));
        async move {
            assert!(!out.swap(true, SeqCst), "two are out");
            tokio::task::yield_now().await;
            let ask = asks.fetch_add(1, SeqCst);
            out.store(false, SeqCst);
            if ask % 3 == 2 { draining(Rejection::by_route()) } else { Ok(7) }
        }
    };
    let others: FuturesUnordered<_> = (0..4)
        .map(|i| {
            let carrier = carrier.clone();
            tokio::spawn(async move {
                for _ in 0..250 {
                    if i % 2 == 0 {
                        carrier.nudge()
                    } else {
                        carrier.reject(by_owner("0A"))
                    }
                    tokio::task::yield_now().await;
                }
            })
        })
        .collect();
    let chain = carrier.triggers().charge(&carrier).defer(probe).concat_attempts(&carrier);
    let rides =
        tokio::spawn(chain.for_each(|answer| async move { assert_eq!(answer.unwrap(), 7) }));
    others.try_collect::<Vec<_>>().await.unwrap();
    // The last trigger of all is covered by an ask that begins after it.
    let before = asks.load(SeqCst);
    carrier.nudge();
    while asks.load(SeqCst) == before {
        tokio::task::yield_now().await;
    }
    let mut taken_over = carrier.triggers();
    rides.await.expect("no attempt overlapped another");
    assert!(!format!("{carrier:?}").contains("taken: true"), "{carrier:?}");
    while let Some(Some(trigger)) = taken_over.next().now_or_never() {
        assert!(matches!(trigger, Trigger::Ask | Trigger::Rejected(_)), "{trigger:?}");
    }
}
