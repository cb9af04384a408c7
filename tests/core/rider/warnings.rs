//! The one `WARN` of a give-up and of a spent deadline, and the error with the same facts (`R23`,
//! `R29`).

use std::{
    cell::Cell,
    error::Error,
    panic::{AssertUnwindSafe, catch_unwind},
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, Waker},
};

use crate::support::{
    hand_clock::{address, ms},
    heard::Heard,
    paused::Paused,
    script::{Owner, Reply, after, next, serve, watch},
    words::{by, by_route, not_found, tag, unnamed},
};
use futures::StreamExt;
use rideout::{
    Budget, Kind, PointRead, Refusal,
    carrier::End,
    diagnosis::Shape,
    ledger::{Axis, Cause, GaveUp, Key},
};
use tracing::Level;

/// What a rider of `owner` gives up with, and what it says meanwhile.
async fn gives_up(owner: &Owner, budget: Budget) -> (GaveUp, Option<Refusal>, Heard) {
    let heard = Heard::begin();
    let mut rider = owner.builder().budget(budget).build();
    for _ in 0..100_000 {
        let ended = match next(&mut rider).await {
            Some(Ok(_)) => continue,
            Some(Err(error)) => error.into_end(),
            None => panic!("it completes"),
        };
        let End::GaveUp { report, last } = ended else { panic!("no give-up: {ended:?}") };
        assert!(next(&mut rider).await.is_none(), "then the end");
        return (report, last, heard);
    }
    panic!("it rides for ever");
}

/// A name; what the owner says to ask n; the budget; cause, axis, key, count and its budget.
type Case = (&'static str, fn(u32) -> Refusal, Budget, Cause, Axis, &'static str, u32, u32);

#[tokio::test(start_paused = true)]
async fn a_give_up_is_one_warning_with_its_facts_and_an_error_with_the_same() {
    let cases: [Case; 4] = [
        ("wedged", |_| by("A1"), Budget::new().re_asks(2), Cause::Wedged, Axis::Time, "A1", 3, 2),
        (
            "loop",
            |n| by(&format!("A{n}")),
            Budget::new(),
            Cause::RecycleLoop,
            Axis::Activation,
            "A4",
            4,
            3,
        ),
        ("route", |_| by_route(), Budget::new(), Cause::Route, Axis::Time, "(route)", 17, 16),
        (
            "untagged",
            |_| unnamed(),
            Budget::new(),
            Cause::Untagged,
            Axis::Activation,
            "(untagged)",
            4,
            3,
        ),
    ];
    for (case, refusal, budget, cause, axis, key, count, most) in cases {
        let owner = Owner::scripted(move |asked| refusal(asked.attempt).into());
        let (report, last, heard) = gives_up(&owner, budget).await;
        let asks = owner.times().len();
        let text = refusal(u32::try_from(asks).expect("few")).to_string();

        let [said] = &heard.all()[..] else { panic!("{case}: one warning") };
        assert_eq!(said.level, Level::WARN);
        for (field, is) in [
            ("stream", owner.asked()[0].stream.to_string()),
            ("owner", address().to_string()),
            ("axis", axis.to_string()),
            ("key", key.to_owned()),
            ("count", count.to_string()),
            ("budget", most.to_string()),
            ("last_refusal", text.clone()),
            ("message", report.to_string()),
        ] {
            assert_eq!(said.field(field), is, "{case}: {field}");
        }

        assert_eq!((report.cause, report.axis, report.key.to_string()), (cause, axis, key.into()));
        assert_eq!((report.count, report.budget), (count, most));
        assert_eq!(usize::try_from(report.asks), Ok(asks));
        assert_eq!((report.stream, &report.address), (owner.asked()[0].stream, &address()));
        assert_eq!(last.map(|last| last.to_string()), Some(text), "{case}: the source");
    }
}

#[tokio::test(start_paused = true)]
async fn the_source_is_the_last_error_and_the_text_is_the_report() {
    #[derive(Debug)]
    struct Broken(u32);

    impl std::fmt::Display for Broken {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(f, "attempt {}", self.0)
        }
    }

    impl Error for Broken {}

    impl rideout::Classify for Broken {
        fn classify(&self, _: &rideout::Address) -> rideout::Ruling {
            rideout::Ruling::Promise(rideout::Rejection::by_route())
        }
    }

    let rider = rideout::RideOut::builder(address(), |ask| async move {
        Err::<futures::stream::Pending<Result<(), Broken>>, _>(Broken(ask.attempt))
    });
    let mut rider = rider.timer(Paused).build();
    let Some(Err(error)) = next(&mut rider).await else { panic!("gives up") };
    assert_eq!(error.source().map(ToString::to_string), Some("attempt 17".to_owned()));
    assert!(error.to_string().contains("the route refused 17 times"));
}

#[tokio::test(start_paused = true)]
async fn the_bound_by_the_clock_gives_up_with_one_warning_too() {
    let owner = Owner::answers([by("A1").into(), Reply::Silent]);
    let (report, last, heard) = gives_up(&owner, Budget::new().longest(ms(700))).await;
    assert_eq!(report.cause, Cause::Outlasted { longest: ms(700) });
    assert_eq!((report.axis, &report.key), (Axis::Activation, &Key::Activation(tag("A1"))));
    assert_eq!((report.count, report.budget, report.asks), (1, 3, 2));
    assert_eq!(last.map(|last| last.to_string()), Some(by("A1").to_string()));
    let [said] = &heard.all()[..] else { panic!("one warning") };
    assert!(said.message().contains("outlasted its bound of 700ms"), "{}", said.message());
}

#[tokio::test(start_paused = true)]
async fn where_no_error_was_ridden_out_there_is_no_source() {
    let owner = Owner::answers([Reply::Silent]);
    let (report, last, heard) = gives_up(&owner, Budget::new().re_asks(1)).await;
    assert_eq!((report.cause, report.asks, last), (Cause::Route, 2, None));
    assert_eq!(heard.all()[0].field("last_refusal"), "");
}

#[tokio::test(start_paused = true)]
async fn asks_are_counted_since_the_rider_began_and_the_source_since_the_answer() {
    let owner = Owner::scripted(|asked| match asked.attempt {
        1..=3 => by_route().into(),
        4 => serve([1]).completes(600).into(),
        _ => Reply::Silent,
    });
    let heard = Heard::begin();
    let mut rider = owner.builder().re_ask_on_completion().budget(Budget::new().re_asks(3)).build();
    let seen = loop {
        if let Some(Err(error)) = next(&mut rider).await {
            let End::GaveUp { report, last } = error.into_end() else { panic!("a verdict") };
            break (report.asks, last);
        }
    };
    assert_eq!(seen, (8, None), "what was ridden out before the answer is over");
    assert_eq!(heard.all().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_refusal_is_cut_at_300_characters_wherever_they_end() {
    // In characters, so that no text is cut inside one.
    let long = Refusal::new(Kind::ShuttingDown, "ü".repeat(1_000));
    let owner = Owner::answers([long.clone().into()]);
    let (_, last, heard) = gives_up(&owner, Budget::new().re_asks(0)).await;
    let shown: String = long.to_string().chars().take(300).collect();
    assert_eq!(heard.all()[0].field("last_refusal"), shown);
    assert_eq!(last.as_ref(), Some(&long), "the error has it whole");

    let heard = Heard::begin();
    let refused = long.clone();
    let refuse = move |_| std::future::ready(Err::<(), _>(refused.clone()));
    let read = PointRead::builder(address(), refuse).timer(Paused).build();
    assert_eq!(read.await.expect_err("it is refused").into_inner(), Some(long));
    assert_eq!(heard.all()[0].field("last_refusal"), shown);
}

#[tokio::test(start_paused = true)]
async fn nothing_else_is_said() {
    // C14, C17: no verdict, no completion, no ride-out that is answered; nor of a rider that is gone.
    let heard = Heard::begin();
    for replies in [
        [not_found().into(), Reply::Silent],
        [by("A1").into(), not_found().into()],
        [by_route().into(), serve([1]).completes(10).into()],
        [serve([1]).fails(10, by("A1")).into(), after(10, serve([2]))],
        [Reply::Silent, Reply::Silent],
    ] {
        let owner = Owner::answers(replies);
        watch(&owner, &mut owner.rider(), 100_000).await;
    }
    for (deadline, refusal) in [(10_000, not_found()), (0, by("A1"))] {
        let refused = move |_| std::future::ready(Err::<(), _>(refusal.clone()));
        let read = PointRead::builder(address(), refused).deadline(ms(deadline)).timer(Paused);
        assert!(read.build().await.is_err());
    }
    assert!(heard.all().is_empty(), "{:?}", heard.all());
}

#[tokio::test(start_paused = true)]
async fn a_panic_doubles_no_warning() {
    // C40.
    let heard = Heard::begin();
    let rider = rideout::RideOut::builder(address(), |ask| {
        assert_ne!(ask.attempt, 2, "once");
        async { Err::<futures::stream::Pending<Result<(), Refusal>>, _>(by_route()) }
    });
    let mut rider = rider.timer(Paused).build();
    let spawned = std::panic::AssertUnwindSafe(rider.next());
    assert!(futures::FutureExt::catch_unwind(spawned).await.is_err());
    let error = next(&mut rider).await.and_then(Result::err).expect("it gives up");
    assert!(error.gave_up().is_some());
    assert!(next(&mut rider).await.is_none());
    assert_eq!(heard.all().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_spent_deadline_is_one_warning_with_its_facts() {
    // R29.
    for (refuse, shape, owners) in [
        ((|_| by("A1")) as fn(u32) -> Refusal, Shape::OneActivation, 1),
        (|n| by(&format!("A{n}")), Shape::Storm(4), 4),
        (|_| unnamed(), Shape::Unnamed, 0),
        (|_| by_route(), Shape::RouteOnly, 0),
    ] {
        let heard = Heard::begin();
        let stream = Rc::new(Cell::new(None));
        let asked = Rc::clone(&stream);
        let read = PointRead::builder(address(), move |ask| {
            asked.set(Some(ask.stream));
            assert!(ask.attempt < 100, "asked too often");
            std::future::ready(Err::<(), _>(refuse(ask.attempt)))
        });
        let error =
            read.deadline(ms(1_200)).timer(Paused).build().await.expect_err("it is refused");
        let spent = error.recycling().expect("recycling");
        let asks = if shape == Shape::RouteOnly { 3 } else { 4 };
        assert_eq!((spent.asks, spent.refusals, spent.owners), (asks, asks, owners));
        assert_eq!((spent.elapsed, spent.deadline), (ms(1_200), ms(1_200)));
        assert_eq!((spent.shape, &spent.address), (shape, &address()));
        assert_eq!(spent.last, refuse(asks));

        let [said] = &heard.all()[..] else { panic!("one warning") };
        assert_eq!(said.level, Level::WARN);
        for (field, is) in [
            ("stream", stream.get().expect("it asked").to_string()),
            ("owner", address().to_string()),
            ("asks", asks.to_string()),
            ("refusals", asks.to_string()),
            ("owners", owners.to_string()),
            ("last_refusal", refuse(asks).to_string()),
            ("message", spent.to_string()),
        ] {
            assert_eq!(said.field(field), is, "{field}");
        }
        assert!(said.message().contains(&shape.to_string()), "{}", said.message());
        let last = spent.last.to_string();
        assert_eq!(error.source().map(ToString::to_string), Some(last));
    }
}

/// Panics over the first event that it hears, and counts them all.
struct Startled(Arc<AtomicUsize>);

impl tracing::Subscriber for Startled {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        metadata.target().starts_with("rideout")
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, _: &tracing::Event<'_>) {
        assert!(self.0.fetch_add(1, Ordering::Relaxed) > 0, "startled");
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}

#[tokio::test(start_paused = true)]
async fn a_subscriber_that_panics_over_the_warning_hears_it_once() {
    // C21, C40: and the give-up is told all the same.
    let heard = Arc::<AtomicUsize>::default();
    let _guard = tracing::subscriber::set_default(Startled(Arc::clone(&heard)));
    let owner = Owner::answers([by_route().into()]);
    let mut rider = owner.builder().budget(Budget::new().re_asks(0)).build();
    let mut cx = Context::from_waker(Waker::noop());
    assert!(catch_unwind(AssertUnwindSafe(|| rider.poll_next_unpin(&mut cx))).is_err());
    let Poll::Ready(Some(Err(error))) = rider.poll_next_unpin(&mut cx) else {
        panic!("no give-up");
    };
    assert!(error.gave_up().is_some());
    assert!(matches!(rider.poll_next_unpin(&mut cx), Poll::Ready(None)));
    assert_eq!(heard.load(Ordering::Relaxed), 1);
}
