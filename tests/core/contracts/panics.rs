//! C40: whatever a rider was given panics once, at each of the places where the rider comes to it. The
//! caller sees that panic; polled again the rider goes on to its end; nothing that panicked or was over
//! is polled again, nothing is stuck or left, other riders are unharmed, and no warning is doubled.

mod parts;

use std::{
    cell::RefCell,
    fmt::{self, Debug},
    future::{pending, ready},
    pin::{Pin, pin},
    rc::Rc,
    task::{Context, Poll},
    time::Duration,
};

use crate::contracts::harness::{Case, outlives_panics, outlives_panics_as_a_future};
use crate::support::{
    hand_clock::{Clock, Count, Token, address, ms},
    heard::Heard,
    mine::Mine,
    strict::next,
    words::{by, by_route, not_found, tag},
};
use futures::{
    FutureExt, Stream, StreamExt,
    future::LocalBoxFuture,
    stream::{self, FusedStream, LocalBoxStream},
};
use rideout::{
    Address, Budget, Classify, News, PointRead, Refusal, RideError, RideOut, Ruling,
    rider::{Answer, Ask, Beat, Phase},
};
use tracing::Level;

use self::parts::*;

#[test]
fn every_part_panics_once_wherever_a_rider_comes_to_it() {
    let heard = Heard::begin();
    let parts = Parts::new(Mine::default());
    assert_eq!(parts.case(rider(&parts)).outlives(&parts.mine).len(), 9);
    let asks = parts.asks.take().len();

    outlives_panics(&EVERYBODY, |mine| {
        let parts = Parts::new(mine.clone());
        // Another rider of the address, in the middle of its own ride-out.
        let witness = Parts::new(Mine::default());
        let refused = vec![Reply::Refuse(by_route())];
        let mut other = RideOut::builder_resuming(address(), token, self::asks(&witness, refused))
            .timer(witness.clock.clone())
            .build();
        while witness.clock.sleeps() == 0 || witness.alive.get() > 0 {
            assert!(next(&mut other).is_pending());
        }
        let mut other = Some(witness.case(whole(other, |_| ())));
        let left = parts.clone();
        parts.case(rider(&parts)).gone(move || {
            assert_eq!(left.left(), (0, 0));
            // The replies that a lost attempt or subscription took along are not given again.
            let asked = left.asks.borrow().len();
            assert!(asked <= asks + 1, "{asked} asks");
            let unharmed = other.take().map(|it| it.outlives(&witness.mine).len());
            assert_eq!(unharmed, Some(3), "two items and the end");
        })
    });
    assert!(heard.all().is_empty(), "nobody gave up: {:?}", heard.all());
}

/// The warning of a give-up is one, whatever panics on the way to it, and no wait is shortened.
#[test]
fn no_warning_is_doubled_or_lost_and_no_wait_is_shortened() {
    let give_up = |mine| {
        let heard = Heard::begin();
        let parts = Parts::new(mine);
        let rider = RideOut::builder_resuming(
            address(),
            token,
            asks(&parts, vec![Reply::Refuse(by("A1")); 9]),
        )
        .join(joins(&parts))
        .timer(parts.clock.clone())
        .budget(Budget::default().re_asks(3))
        .build();
        let ridden = parts.case(rider).outlives(&parts.mine);
        let at = format!("{:?}", parts.mine.went_off());
        let warned = heard.all().iter().filter(|said| said.level == Level::WARN).count();
        assert_eq!(warned, 1, "{at}");
        assert!(
            matches!(&ridden[..], [Err(error)] if error.gave_up().is_some()),
            "{at}: {ridden:?}"
        );
        let asks = parts.asks.take();
        let hasty = asks.windows(2).filter(|pair| pair[1] - pair[0] < ms(500)).count();
        (parts.mine.went_off(), asks.len(), hasty)
    };
    let (_, asks, hasty) = give_up(Mine::default());
    // The re-ask after the join.
    assert_eq!((asks, hasty), (5, 1));
    let mut gone_off = 0;
    while let (Some(who), asked, hastily) = give_up(Mine::bears(gone_off)) {
        gone_off += 1;
        // An ask that panicked goes out again.
        assert!(hastily <= hasty + (asked - asks), "{who}: {hastily} of {asked} asks");
    }
    assert!(gone_off > 20);
}

/// What ends a live subscription from elsewhere is not forgotten when the clock panics over it.
#[test]
fn news_that_a_panic_came_upon_still_end_the_subscription() {
    let everybody =
        ["ask", "ask, polled", "now", "ruling", "sleep", "sleep, polled", "subscription", "token"];
    for end in [News::Ended(None), News::NotServing(Some(tag("B1")))] {
        outlives_panics(&everybody, |mine| {
            let parts = Parts::new(mine.clone());
            let replies = vec![Reply::Serve(vec![1], None)];
            let rider = RideOut::builder_resuming(address(), token, asks(&parts, replies))
                .news(pausing(stream::iter([end.clone()])).boxed_local())
                .timer(parts.clock.clone())
                .build();
            parts.case(whole(rider, |_| ()))
        });
    }
}

/// As the stream of its phases it is the same rider.
#[test]
fn an_attempt_that_panicked_is_shown_anew() {
    let everybody = [
        "ask",
        "ask, polled",
        "join",
        "join, polled",
        "now",
        "ruling",
        "sleep",
        "sleep, polled",
        "subscription",
        "token",
    ];
    outlives_panics(&everybody, |mine| {
        let parts = Parts::new(mine.clone());
        let refused = vec![Reply::Refuse(by("A1")), Reply::Refuse(by("A1"))];
        let (mut shown, mut answered) = (0, 0);
        let phases = RideOut::builder_resuming(address(), token, asks(&parts, refused))
            .join(joins(&parts))
            .timer(parts.clock.clone())
            .build()
            .phases()
            .inspect(move |phase| match phase {
                Ok(Phase::RidingOut(charge)) => {
                    assert_eq!(charge.activation(), Some(&tag("A1")));
                    shown += 1;
                }
                Ok(Phase::Answered(_)) => answered += 1,
                Ok(_) => {}
                Err(_) => {
                    assert!((1..=3).contains(&shown), "shown {shown} times");
                    assert!((1..=2).contains(&answered), "answered {answered} times");
                }
            });
        parts.case(phases)
    });
}

/// The read has its own way through the same parts.
#[test]
fn every_part_of_a_read_panics_once() {
    let everybody = ["ask", "ask, polled", "news", "now", "ruling", "sleep", "sleep, polled"];
    outlives_panics_as_a_future(&everybody, |mine| {
        let parts = Parts::new(mine.clone());
        let (asking, mut refusals) =
            (parts.clone(), vec![by("A1"), by("A1"), by_route(), by("B1")].into_iter());
        let ask = move |_: Ask| {
            asking.asks.borrow_mut().push(asking.clock.elapsed());
            asking.mine.step("ask");
            let answer = refusals.next().map_or(Ok(7), |it| Err(asking.refuses(it)));
            Box::pin(asking.mined("ask, polled", pausing_once(ready(answer))))
        };
        let read = PointRead::builder(address(), ask)
            .news(news(&parts))
            .timer(parts.clock.clone())
            .budget(Budget::default().spread(ms(100)))
            .deadline(ms(60_000))
            .build();
        let asked = parts.clone();
        parts.case(read.map(move |value| {
            assert_eq!(value.expect("it is served"), 7);
            assert!((5..=6).contains(&asked.asks.borrow().len()), "{:?}", asked.asks);
        }))
    });
}

/// A panic never raises the deadline of a read (`R28`), wherever it comes.
#[test]
fn a_panic_does_not_raise_the_deadline_of_a_read() {
    let everybody = ["ask", "ask, polled", "now", "ruling", "sleep", "sleep, polled", "text"];
    let heard = Heard::begin();
    let reads = Rc::new(RefCell::new(0));
    outlives_panics_as_a_future(&everybody, |mine| {
        let parts = Parts::new(mine.clone());
        let asking = parts.clone();
        let ask = move |_: Ask| {
            asking.mine.step("ask");
            Box::pin(asking.mined("ask, polled", ready(Err::<(), _>(asking.refuses(by_route())))))
        };
        let read = PointRead::builder(address(), ask)
            .timer(parts.clock.clone())
            .deadline(ms(1_250))
            .build();
        let (clock, reads) = (parts.clock.clone(), Rc::clone(&reads));
        parts.case(read.map(move |error| {
            assert!(error.as_ref().is_err_and(|it| it.recycling().is_some()), "{error:?}");
            assert_eq!(clock.elapsed(), ms(1_250));
            *reads.borrow_mut() += 1;
        }))
    });
    assert_eq!(heard.all().len(), *reads.borrow(), "one warning a read");
}
