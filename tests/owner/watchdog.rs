//! The watchdog of a teardown, and the limits of its phases (R39), at exact instants.

use std::{future::pending, future::ready, task::Waker, time::Duration};

use crate::support::{
    by_hand::poll,
    driven::{Driven, child, owner, said, secs},
    hand_clock::{Clock, Count, ms, panics},
    heard::Heard,
};
use rideout::{
    owner::{Driver, Ending, Lifecycle, RunLevel},
    time::Timer,
};
use tracing::Level;

/// R39: eight seconds without progress, one error, the children and the last code too.
#[test]
fn the_watchdog_forces_an_end_that_hangs() {
    let heard = Heard::begin();
    let parent = owner();
    let hanging = child(&parent);
    let below = child(&hanging);
    let alive = Count::default();
    let token = alive.one();
    let last = async move {
        let _token = token;
        pending().await
    };
    let mut driven = Driven::new(&parent, last);
    parent.dispose(Ending::dispose());
    driven.lasts(secs(5));
    driven.lasts(secs(8));
    assert_eq!((parent.level(), alive.get()), (RunLevel::ShutDown, 1));
    assert!(said(&heard).is_empty());
    assert!(driven.poll());
    assert_eq!((driven.clock.sleeps(), alive.get()), (0, 0));
    for life in [&parent, &hanging, &below] {
        assert!(life.was_forced() && life.teardown().is_complete());
    }
    let [error] = &heard.all()[..] else { panic!("one error: {:?}", heard.all()) };
    assert_eq!(error.level, Level::ERROR);
    assert_eq!(error.field("owner"), parent.address().as_str());
    assert_eq!(error.field("activation"), parent.activation().as_str());
    assert_eq!(error.field("level"), "ShutDown");
    assert!(error.message().contains("8s"), "{}", error.message());
}

/// A level that is passed and a child that goes restart the watchdog.
#[test]
fn progress_restarts_the_watchdog() {
    let parent = owner();
    let reply = parent.pending();
    let mut children: Vec<_> = (0..3).map(|_| child(&parent)).collect();
    let mut driven = Driven::with(&parent, pending(), |it| it.quiesce(secs(60)).children(secs(60)));
    parent.dispose(Ending::dispose());
    driven.lasts(secs(7));
    drop(reply);
    while children.len() > 1 {
        driven.lasts(secs(7));
        children.pop();
    }
    driven.lasts(secs(8)); // the last child hangs: 7 + 7 + 7 + 8
    assert!(!parent.was_forced());
    assert!(driven.poll() && parent.was_forced());
    assert_eq!(driven.clock.elapsed(), secs(29));
}

#[test]
fn an_end_takes_thirty_two_seconds_in_all() {
    let heard = Heard::begin();
    let parent = owner();
    let mut children: Vec<_> = (0..100).map(|_| child(&parent)).collect();
    let mut driven = Driven::with(&parent, ready(()), |it| it.children(Duration::MAX));
    parent.dispose(Ending::dispose());
    while driven.clock.elapsed() < secs(32) {
        driven.lasts(secs(1));
        drop(children.pop());
    }
    assert!(driven.poll() && parent.was_forced());
    assert!(children.iter().all(Lifecycle::was_forced));
    assert_eq!(said(&heard), [Level::ERROR]);
}

/// The control of both: one that is quicker is not forced, and polls without progress make no timers.
#[test]
fn an_end_in_time_is_not_forced() {
    let heard = Heard::begin();
    let (owner, clock) = (owner(), Clock::new());
    let sleep = clock.sleep(ms(7_999));
    let mut driver = Box::pin(owner.driver_on(clock.clone(), sleep));
    owner.dispose(Ending::dispose());
    assert!(poll(&mut driver, Waker::noop()).is_pending());
    let made = clock.made();
    for _ in 0..1_000 {
        assert!(poll(&mut driver, Waker::noop()).is_pending());
    }
    assert_eq!(clock.made(), made);
    clock.advance(ms(7_999));
    assert!(poll(&mut driver, Waker::noop()).is_ready());
    assert!(!owner.was_forced() && said(&heard).is_empty());
    assert_eq!(clock.sleeps(), 0);
}

/// Limits of nothing and without end, each alone: exact instants, no panic, no spin.
#[test]
fn any_limit_is_safe() {
    type Hangs = Driver<std::future::Pending<()>, Clock>;
    type Set = fn(Hangs, Duration) -> Hangs;
    // With nothing, and without end: a reply, a child and the last code all hang.
    let cases: [(Set, u64, u64); 4] = [
        (Driver::quiesce, 5 + 8, 8),
        (Driver::children, 2 + 8, 2 + 8),
        (Driver::watchdog, 0, 2 + 5 + (32 - 7)),
        (Driver::longest, 0, 2 + 5 + 8),
    ];
    for (nth, (set, nothing, endless)) in cases.into_iter().enumerate() {
        for (limit, ends) in [(Duration::ZERO, nothing), (Duration::MAX, endless)] {
            let owner = owner();
            let (_reply, _child) = (owner.pending(), child(&owner));
            owner.dispose(Ending::dispose());
            let mut driven = Driven::with(&owner, pending(), |it| set(it, limit));
            assert_eq!(driven.ends(), secs(ends), "{nth}, {limit:?}");
            assert!(owner.was_forced());
        }
    }
    // All of them without end: nothing ends it but force.
    let owner = owner();
    let _reply = owner.pending();
    owner.dispose(Ending::dispose());
    let max = Duration::MAX;
    let endless = |it: Driver<_, _>| it.quiesce(max).children(max).watchdog(max).longest(max);
    let mut driven = Driven::with(&owner, pending::<()>(), endless);
    driven.lasts(secs(1_000_000));
    owner.force();
    assert!(driven.poll());
    assert_eq!(driven.clock.sleeps(), 0);
}

#[cfg(feature = "tokio")]
#[tokio::test(start_paused = true)]
async fn tokio_s_clock_takes_any_limit() {
    let began = tokio::time::Instant::now();
    for limit in [Duration::ZERO, Duration::MAX] {
        let owner = owner();
        let _reply = owner.pending();
        owner.dispose(Ending::dispose());
        owner.driver(pending()).quiesce(limit).children(limit).longest(secs(1)).await;
    }
    assert_eq!(began.elapsed(), secs(2));
}

/// Writes nothing down, and panics.
struct Panics;

impl tracing::Subscriber for Panics {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn event(&self, _: &tracing::Event<'_>) {
        panic!("a subscriber that panics");
    }
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

/// The end is forced all the same, and the caller of the poll hears of the panic.
#[test]
fn a_report_that_panics_holds_no_end_up() {
    let owner_ = owner();
    let mut driven = Driven::new(&owner_, pending());
    owner_.dispose(Ending::dispose());
    driven.lasts(secs(8));
    tracing::subscriber::with_default(Panics, || panics(|| driven.poll()));
    assert!(owner_.was_forced() && owner_.teardown().is_complete());
    assert!(driven.poll());
}

/// A sleep that, when it is over, forces the end itself.
struct Forces(Lifecycle, Clock);

impl Timer for Forces {
    type Sleep = std::pin::Pin<Box<dyn Future<Output = ()>>>;

    fn sleep(&self, duration: Duration) -> Self::Sleep {
        let (owner, sleep) = (self.0.clone(), self.1.sleep(duration));
        Box::pin(async move {
            sleep.await;
            owner.force();
        })
    }

    fn now(&self) -> std::time::Instant {
        self.1.now()
    }
}

/// What somebody else has forced meanwhile is not reported as the watchdog's doing.
#[test]
fn a_watchdog_that_comes_too_late_says_nothing() {
    let heard = Heard::begin();
    let (owner_, clock) = (owner(), Clock::new());
    let mut driver = Box::pin(owner_.driver_on(Forces(owner_.clone(), clock.clone()), pending()));
    owner_.dispose(Ending::dispose());
    while poll(&mut driver, Waker::noop()).is_pending() {
        clock.skip().expect("it waits for nothing");
    }
    assert!(owner_.was_forced() && owner_.teardown().is_complete());
    assert!(said(&heard).is_empty());
}
