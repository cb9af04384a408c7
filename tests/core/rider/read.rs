//! `PointRead`: one value inside the caller's deadline (`R28`–`R30`).

use std::{
    cell::{Cell, RefCell},
    error::Error,
    future::{Ready, ready},
    pin::{Pin, pin},
    rc::Rc,
    task::{Context, Poll, Waker},
    time::Duration,
};

use crate::support::{
    hand_clock::{address, ms},
    paused::Paused,
    script::{self, NEVER, Owner},
    words::{by, by_route, not_found, tag, unnamed},
};
use futures::FutureExt;
use rideout::{
    Budget, Kind, News, PointRead, Refusal, Ruling,
    diagnosis::Shape,
    rider::{Ask, PointReadEnd, PointReadError},
};

/// What the owner of a read says to one ask, so long after it.
type Says = (u64, Option<Result<u64, Refusal>>);

fn now(says: Result<u64, Refusal>) -> Says {
    (0, Some(says))
}

/// What a read came to, when, and when it asked.
#[derive(Debug, PartialEq)]
enum Outcome {
    Present(u64),
    Absent,
    Verdict(Kind),
    Recycling { asks: u32, refusals: u32, shape: Shape },
    TimedOut { asks: u32 },
}

struct Ran {
    outcome: Outcome,
    at: u64,
    asks: Vec<u64>,
}

/// Asks an owner that says one thing after the other, the last one for ever, until `deadline`.
async fn read<const N: usize, const M: usize>(
    says: [Says; N],
    deadline: u64,
    budget: Budget,
    news: [(u64, News); M],
) -> Ran {
    let owner = Owner::answers([script::Reply::Silent]);
    let times = Rc::new(RefCell::new(Vec::new()));
    let (asked, clock) = (Rc::clone(&times), owner.clone());
    let read = PointRead::builder(address(), move |ask: Ask| {
        assert!(ask.charge.is_uncharged(), "a read charges nothing");
        assert!(ask.attempt < 50_000, "asked too often");
        let index = usize::try_from(ask.attempt).expect("few asks") - 1;
        let (late, says) = says[index.min(N - 1)].clone();
        asked.borrow_mut().push(clock.now());
        let (clock, one) = (clock.clone(), clock.asks.one());
        async move {
            let _one = one;
            clock.reach(clock.now() + late).await;
            match says {
                Some(says) => says,
                None => std::future::pending().await,
            }
        }
    })
    .timer(owner.timer.clone())
    .deadline(ms(deadline))
    .budget(budget)
    .news(owner.news(news))
    .build();
    let mut read = pin!(read);
    let within = tokio::time::timeout(ms(3_600_000), read.as_mut());
    let ended = within.await.expect("a read ends by its deadline");
    let outcome = match ended.map_err(PointReadError::into_end) {
        Ok(value) => Outcome::Present(value),
        Err(PointReadEnd::Absent(_)) => Outcome::Absent,
        Err(PointReadEnd::Verdict(error)) => {
            match rideout::Classify::classify(&error, &address()) {
                Ruling::Verdict(kind) => Outcome::Verdict(kind),
                other => panic!("{other:?} is no verdict"),
            }
        }
        Err(PointReadEnd::Recycling(spent)) => {
            Outcome::Recycling { asks: spent.asks, refusals: spent.refusals, shape: spent.shape }
        }
        Err(PointReadEnd::TimedOut { asks, .. }) => Outcome::TimedOut { asks },
        Err(_) => panic!("a read ends in no other way"),
    };
    assert_eq!(owner.alive(), [0; 5], "it keeps nothing once it is over");
    let asks = times.borrow().clone();
    Ran { outcome, at: owner.now(), asks }
}

async fn simple<const N: usize>(says: [Says; N], deadline: u64) -> Ran {
    read(says, deadline, Budget::new(), []).await
}

fn every_pace(count: u64) -> Vec<u64> {
    (0..count).map(|index| index * 500).collect()
}

#[tokio::test(start_paused = true)]
async fn present_absent_and_another_verdict() {
    // R29: `NotFound` alone is evidence of absence.
    assert_eq!(simple([now(Ok(7))], 10_000).await.outcome, Outcome::Present(7));
    assert_eq!(simple([now(Err(not_found()))], 10_000).await.outcome, Outcome::Absent);
    for kind in [Kind::Unknown, Kind::Failed, Kind::Forbidden, Kind::Ignored, Kind::Rejected] {
        let ran = simple([now(Err(Refusal::new(kind, by("A1").message)))], 10_000).await;
        assert_eq!((ran.outcome, ran.at, ran.asks), (Outcome::Verdict(kind), 0, vec![0]));
    }
    let ran = simple([now(Err(by("A1"))), now(Err(not_found()))], 10_000).await;
    assert_eq!((ran.outcome, ran.asks), (Outcome::Absent, vec![0, 0]));
}

#[tokio::test(start_paused = true)]
async fn the_first_promise_of_the_owner_is_asked_again_at_once_and_no_other() {
    // R28.
    for first in [by("A1"), unnamed()] {
        let ran = simple([now(Err(first))], 1_800).await;
        assert_eq!(ran.asks, [vec![0], every_pace(4)].concat());
    }
    let ran = simple([now(Err(by_route()))], 1_800).await;
    assert_eq!(ran.asks, every_pace(4));
    // The owner's first after the route's rests too, and so does each new activation's.
    let ran = simple([now(Err(by_route())), now(Err(by("A1"))), now(Ok(1))], 9_000).await;
    assert_eq!(ran.asks, [0, 500, 1_000]);
    let ran = simple([now(Err(by("A1"))), now(Err(by("A2"))), now(Ok(1))], 9_000).await;
    assert_eq!(ran.asks, [0, 0, 500]);
}

#[tokio::test(start_paused = true)]
async fn a_read_comes_back_when_its_owner_does() {
    // C2.
    let owner = Owner::answers([script::Reply::Silent]);
    let clock = owner.clone();
    let read = PointRead::builder(address(), move |ask| {
        assert!(ask.attempt < 100, "asked too often");
        ready(if clock.now() < 8_000 { Err(by("A1")) } else { Ok(7) })
    });
    assert_eq!(read.deadline(ms(15_000)).timer(Paused).build().await.ok(), Some(7));
    assert_eq!(owner.now(), 8_000);
}

#[tokio::test(start_paused = true)]
async fn promises_to_the_deadline_are_a_recycling_and_never_an_absence() {
    // C15, R30.
    let ran = simple([now(Err(by("A1")))], 10_000).await;
    assert_eq!(ran.at, 10_000);
    let (asks, refusals) = (21, 21);
    let spent = Outcome::Recycling { asks, refusals, shape: Shape::OneActivation };
    assert_eq!(ran.outcome, spent);

    // One promise among silence is enough.
    let ran = simple([now(Err(by_route())), (0, None)], 10_000).await;
    let spent = Outcome::Recycling { asks: 2, refusals: 1, shape: Shape::RouteOnly };
    assert_eq!((ran.outcome, ran.at), (spent, 10_000));

    let says = [now(Err(by_route())), now(Err(unnamed())), now(Err(by_route()))];
    let ran = simple(says, 1_200).await;
    let spent = Outcome::Recycling { asks: 3, refusals: 3, shape: Shape::Unnamed };
    assert_eq!(ran.outcome, spent);
}

#[tokio::test(start_paused = true)]
async fn no_refusal_at_all_is_a_time_out() {
    let ran = simple([(0, None)], 10_000).await;
    assert_eq!((ran.outcome, ran.at, ran.asks), (Outcome::TimedOut { asks: 1 }, 10_000, vec![0]));

    let silent = PointRead::builder(address(), |_| std::future::pending::<Result<(), Refusal>>());
    let Err(error) = silent.deadline(ms(700)).timer(Paused).build().await else {
        panic!("no answer")
    };
    assert_eq!(error.to_string(), "prices/eur did not answer 1 asks within the deadline 700ms");
    assert!(std::error::Error::source(&error).is_none());
}

#[tokio::test(start_paused = true)]
async fn a_deadline_of_zero_asks_nothing() {
    let ran = simple([now(Ok(7))], 0).await;
    assert_eq!((ran.outcome, ran.at, ran.asks), (Outcome::TimedOut { asks: 0 }, 0, vec![]));
}

#[test]
fn a_deadline_of_zero_asks_nothing_whatever_its_timer_makes_of_it() {
    // As tokio's does between two ticks, where even a sleep of nothing is not over at once.
    struct Late;

    impl rideout::time::Timer for Late {
        type Sleep = std::future::Pending<()>;

        fn sleep(&self, _: Duration) -> Self::Sleep {
            std::future::pending()
        }

        fn now(&self) -> std::time::Instant {
            std::time::Instant::now()
        }
    }

    let read =
        PointRead::builder(address(), |_| -> Ready<Result<(), Refusal>> { panic!("it asks") });
    let ended = read.deadline(Duration::ZERO).timer(Late).build().now_or_never();
    let end = ended.and_then(Result::err).map(PointReadError::into_end);
    assert!(matches!(end, Some(PointReadEnd::TimedOut { asks: 0, .. })));
}

#[tokio::test(start_paused = true)]
async fn an_answer_at_the_deadline_is_too_late_and_one_before_it_is_not() {
    // R28: in an ask, in a rest, and in a re-ask that would start at that instant.
    let ran = simple([(1_000, Some(Ok(7)))], 1_000).await;
    assert_eq!((ran.outcome, ran.at), (Outcome::TimedOut { asks: 1 }, 1_000));
    let ran = simple([(999, Some(Ok(7)))], 1_000).await;
    assert_eq!((ran.outcome, ran.at), (Outcome::Present(7), 999));

    let route = |asks| Outcome::Recycling { asks, refusals: asks, shape: Shape::RouteOnly };
    let ran = simple([now(Err(by_route())), now(Ok(7))], 499).await;
    assert_eq!((ran.outcome, ran.at, ran.asks), (route(1), 499, vec![0]));
    let ran = simple([now(Err(by_route())), now(Ok(7))], 500).await;
    assert_eq!((ran.outcome, ran.at, ran.asks), (route(1), 500, vec![0]));
    let ran = simple([now(Err(by_route())), now(Ok(7))], 501).await;
    assert_eq!((ran.outcome, ran.asks), (Outcome::Present(7), vec![0, 500]));

    // A refusal at that instant is too late as well: nothing was refused before it.
    let ran = simple([(500, Some(Err(by("A1"))))], 500).await;
    assert_eq!((ran.outcome, ran.asks), (Outcome::TimedOut { asks: 1 }, vec![0]));
    // Nor does an arrival at that instant get a re-ask out.
    let news = [(400, News::Arrived(tag("B1")))];
    let ran = read([now(Err(by_route())), now(Ok(7))], 400, Budget::new(), news).await;
    assert_eq!((ran.outcome, ran.asks), (route(1), vec![0]));
}

#[tokio::test(start_paused = true)]
async fn a_hint_lengthens_a_rest_and_not_the_re_ask_at_once() {
    let hinted = |refusal: Refusal| now(Err(refusal.with_retry_after(ms(2_000))));
    let ran = simple([hinted(by("A1")), hinted(by("A1")), now(Ok(1))], 9_000).await;
    assert_eq!(ran.asks, [0, 0, 2_000]);
    let budget = Budget::new().hint_limit(ms(700));
    let ran = read([hinted(by_route()), now(Ok(1))], 9_000, budget, []).await;
    assert_eq!(ran.asks, [0, 700]);
    // The deadline is never raised for one.
    let ran = simple([hinted(by_route()), now(Ok(1))], 1_500).await;
    assert_eq!((ran.at, ran.asks), (1_500, vec![0]));
}

#[tokio::test(start_paused = true)]
async fn an_arrival_ends_a_rest_and_other_news_is_nothing() {
    let arrived = |at, digits| (at, News::Arrived(tag(digits)));
    let ran = read([now(Err(by_route())), now(Ok(1))], 9_000, Budget::new(), [arrived(123, "B1")]);
    assert_eq!(ran.await.asks, [0, 123]);
    // One that has refused is none; one that came while it asked ends the next rest.
    let says = [now(Err(by("A1"))), now(Err(by("A1"))), now(Ok(1))];
    let ran = read(says, 9_000, Budget::new(), [arrived(123, "A1")]).await;
    assert_eq!(ran.asks, [0, 0, 500]);
    let says = [(200, Some(Err(by_route()))), now(Err(by_route())), now(Ok(1))];
    let ran = read(says, 9_000, Budget::new(), [arrived(100, "B1")]).await;
    assert_eq!(ran.asks, [0, 200, 700]);
    // One that has refused since it came is none either.
    let says = [now(Err(by_route())), (200, Some(Err(by("B1")))), now(Ok(1))];
    let ran = read(says, 9_000, Budget::new(), [arrived(600, "B1")]).await;
    assert_eq!(ran.asks, [0, 500, 1_200]);
    // No more rests than there may be activations.
    let all = [arrived(50, "B1"), arrived(100, "B2"), arrived(150, "B3"), arrived(200, "B4")];
    let says = [now(Err(by_route()))];
    let ran = read(says, 600, Budget::new(), all).await;
    assert_eq!(ran.asks, [0, 50, 100, 150]);
    for news in [News::Ended(None), News::Ended(Some(tag("A1"))), News::NotServing(None)] {
        let says = [now(Err(by_route())), (900, Some(Ok(1)))];
        let news = [(100, news.clone()), (700, news)];
        let ran = read(says, 9_000, Budget::new(), news).await;
        assert_eq!((ran.outcome, ran.asks), (Outcome::Present(1), vec![0, 500]));
    }
}

#[tokio::test(start_paused = true)]
async fn the_spread_of_a_read_stays_in_its_bounds() {
    // R18c, the re-ask at once included.
    let mut delays = Vec::new();
    for seed in 0..32 {
        fastrand::seed(seed);
        let says = [now(Err(by("A1"))), now(Err(by("A1"))), now(Ok(1))];
        let ran = read(says, 9_000, Budget::new().spread(ms(300)), []).await;
        let [first, second, third] = ran.asks[..] else { panic!("three asks") };
        assert_eq!(first, 0);
        for delay in [second, third - second - 500] {
            assert!(delay <= 300, "{delay}");
            delays.push(delay);
        }
    }
    delays.sort_unstable();
    delays.dedup();
    assert!(delays.len() > 16, "{delays:?}");
}

#[tokio::test(start_paused = true)]
async fn any_setting_reads_without_a_panic_or_a_spin() {
    let far = Duration::MAX;
    for extreme in [Duration::ZERO, far] {
        let budget =
            Budget::new().pace(extreme).hint_limit(extreme).spread(extreme).activations(u32::MAX);
        let refusal = by("A1").with_retry_after(far);
        let ran = read([now(Err(refusal))], 1_000, budget, []).await;
        assert_eq!(ran.at, 1_000);
        let paced = if extreme.is_zero() { 1_001 } else { 1 };
        assert_eq!(ran.asks.len(), paced, "{extreme:?}");
    }
    let long = PointRead::builder(address(), |_| ready(Ok::<_, Refusal>(1)))
        .deadline(far)
        .timer(Paused)
        .build();
    assert_eq!(long.await.ok(), Some(1));
}

#[tokio::test(start_paused = true)]
async fn dropped_in_any_state_a_read_leaves_nothing() {
    for (says, alive) in [((NEVER, None), 1), (now(Err(by_route())), 0)] {
        let owner = Owner::answers([script::Reply::Silent]);
        let clock = owner.clone();
        let read = PointRead::builder(address(), move |_: Ask| {
            let (clock, one, says) = (clock.clone(), clock.asks.one(), says.clone());
            async move {
                let _one = one;
                clock.reach(says.0).await;
                says.1.unwrap_or(Ok(0))
            }
        })
        .timer(owner.timer.clone())
        .build();
        let mut read = Box::pin(read);
        assert!((&mut read).now_or_never().is_none());
        assert_eq!(owner.alive()[0], alive);
        assert!(owner.alive()[4] > 0);
        drop(read);
        assert_eq!(owner.alive(), [0; 5]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_poll_of_a_read_is_bounded_and_a_panic_reaches_the_caller() {
    let asks = Rc::new(Cell::new(0_u32));
    let counted = Rc::clone(&asks);
    // Arrivals without end end every rest at once.
    let arrivals = futures::stream::repeat_with(|| News::Arrived(rideout::Activation::mint()));
    let read = PointRead::builder(address(), move |_| {
        counted.set(counted.get() + 1);
        assert_ne!(counted.get(), 2, "once");
        ready(Err::<(), _>(by_route())) as Ready<_>
    })
    .news(arrivals)
    .budget(Budget::new().activations(u32::MAX))
    .timer(Paused)
    .build();
    let mut read = Box::pin(read);
    let mut poll = || Pin::new(&mut read).poll(&mut Context::from_waker(Waker::noop()));
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(&mut poll)).is_err());
    let before = asks.get();
    assert!(matches!(poll(), Poll::Pending));
    assert!((1..=32).contains(&(asks.get() - before)));
}

/// An error's own words, and the error that it is for (C15).
#[tokio::test(start_paused = true)]
async fn the_end_of_a_read_says_what_happened() {
    let said = async |says: Result<u64, Refusal>, late: u64| {
        let answer = move |_| {
            let says = says.clone();
            tokio::time::sleep(ms(late)).map(move |()| says)
        };
        let error = PointRead::builder(address(), answer)
            .deadline(ms(1_000))
            .timer(Paused)
            .build()
            .await
            .unwrap_err();
        (error.to_string(), error.source().map(ToString::to_string))
    };
    let (recycling, last) = said(Err(by_route()), 0).await;
    let counted = "prices/eur is recycling: 2 of 2 asks refused in 1s (deadline 1s); ";
    assert!(recycling.starts_with(counted), "{recycling}");
    assert_eq!(last, Some(by_route().to_string()));

    let late = "prices/eur did not answer 1 asks within the deadline 1s".to_owned();
    assert_eq!(said(Ok(1), 1_001).await, (late, None));

    // A verdict is shown as itself, so what comes next is what is behind it.
    assert_eq!(said(Err(not_found()), 0).await, (not_found().to_string(), None));
}
