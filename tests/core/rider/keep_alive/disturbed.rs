//! Beats that never pause, that panic, and whose rider is moved: nothing grows, nothing starves, one beat is lost.

use super::*;

#[test]
fn nothing_grows_over_a_hundred_thousand_beats() {
    // C22: none is awaited, and nothing is kept of it.
    let clock = Clock::new();
    let sent = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&sent);
    let mut rider =
        RideOut::builder(hand_clock::address(), |_| async { Ok::<_, Refusal>(Strict::open([1])) })
            .timer(clock.clone())
            .keep_alive(move |_| _ = counted.fetch_add(1, Relaxed))
            .build();
    assert!(matches!(next(&mut rider), Poll::Ready(Some(Ok(1)))));
    let mut beat = || {
        assert!(next(&mut rider).is_pending());
        clock.skip().expect("a beat is to come");
    };
    beat();
    beat();
    let held = allocation_counter::measure(|| (0..100_000).for_each(|_| beat()));
    assert_eq!(sent.load(Relaxed), 100_001);
    assert_eq!(clock.sleeps(), 1);
    assert!(held.bytes_current.abs() < 4_096, "{} bytes are held", held.bytes_current);
}

/// A timer whose sleeps are over at once.
struct Hasty;

impl Timer for Hasty {
    type Sleep = Ready<()>;

    fn sleep(&self, _: Duration) -> Self::Sleep {
        ready(())
    }

    fn now(&self) -> Instant {
        now()
    }
}

#[tokio::test(start_paused = true)]
async fn a_beat_that_is_always_due_starves_nothing() {
    // R20b: not its task, not an item, not news, and not the refresh beside it.
    let sent = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&sent);
    let (items, fed) = mpsc::unbounded();
    let mut fed = Some(fed);
    let refused = Rc::new(Cell::new(false));
    let refusing = Rc::clone(&refused);
    let (tell, news) = mpsc::unbounded();
    let mut rider = RideOut::builder(address(), move |ask| {
        let answer = match ask.attempt {
            1 => Ok(fed.take().expect("once").boxed()),
            2 => {
                refusing.set(true);
                Err(by_route())
            }
            3 => Ok(stream::iter([Ok(3)]).chain(stream::pending()).boxed()),
            _ => Ok(stream::iter([Ok(4)]).chain(stream::pending()).boxed()),
        };
        async move { answer }
    })
    .timer(Hasty)
    .news(news)
    .keep_alive(move |_| _ = counted.fetch_add(1, Relaxed))
    .build();
    let nudger = rider.nudger();
    let mut poll = |expected: Option<u64>| {
        let before = sent.load(Relaxed);
        let polled = next(&mut rider).map(|it| it.map(|it| it.expect("no end")));
        assert!(sent.load(Relaxed) - before <= 32, "one poll");
        match expected {
            Some(item) => assert_eq!(polled, Poll::Ready(Some(item))),
            None => assert!(polled.is_pending()),
        }
    };
    items.unbounded_send(Ok(1)).expect("open");
    poll(Some(1));
    poll(None);
    items.unbounded_send(Ok(2)).expect("open");
    poll(Some(2));
    assert!(sent.load(Relaxed) > 0);
    nudger.nudge();
    poll(Some(3));
    assert!(refused.get(), "it was ridden out");
    tell.unbounded_send(News::Ended(None)).expect("it hears");
    poll(Some(4));
}

#[tokio::test(start_paused = true)]
async fn a_nudge_within_a_beat_goes_out_in_that_poll() {
    let owner = Owner::answers([serve([1]).into(), serve([2]).into()]);
    let (nudger, mut beats) = (Arc::new(OnceLock::<Nudger>::new()), 0);
    let nudges = Arc::clone(&nudger);
    let rider = owner.builder().keep_alive(move |_| {
        beats += 1;
        if beats == 1 {
            nudges.get().expect("it is set").nudge();
        }
    });
    let mut rider = rider.build();
    nudger.set(rider.nudger()).expect("it is set once");
    let seen = watch(&owner, &mut rider, 60_000).await;
    assert_eq!(seen, [(0, Seen::Item(1)), (5_000, Seen::Item(2))]);
}

#[test]
fn a_panic_in_a_beat_reaches_the_caller_and_costs_that_beat_alone() {
    // R20c, C40.
    let clock = Clock::new();
    let sent = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&sent);
    let (items, fed) = mpsc::unbounded();
    let mut fed = Some(fed);
    let mut rider = RideOut::builder(hand_clock::address(), move |_| {
        let fed = fed.take().expect("once");
        async move { Ok::<_, Refusal>(Strict::new(fed)) }
    })
    .timer(clock.clone())
    .keep_alive(move |_| assert_ne!(counted.fetch_add(1, Relaxed), 0, "once"))
    .build();
    assert!(next(&mut rider).is_pending());
    clock.advance(ms(5_000));
    panics(|| next(&mut rider));
    items.unbounded_send(Ok(1)).expect("the subscription is open");
    assert!(matches!(next(&mut rider), Poll::Ready(Some(Ok(1)))));
    clock.advance(ms(44_999));
    assert!(next(&mut rider).is_pending());
    assert_eq!(sent.load(Relaxed), 1);
    clock.advance(ms(1));
    assert!(next(&mut rider).is_pending());
    assert_eq!(sent.load(Relaxed), 2);
}

#[tokio::test(start_paused = true)]
async fn a_subscription_that_panicked_is_beaten_for_no_more() {
    let (beats, began) = (Beats::default(), now());
    let mut rider = RideOut::builder(address(), |ask| async move {
        let first = ask.attempt == 1;
        let stream = stream::poll_fn(move |_| {
            assert!(!first, "once");
            Poll::<Option<Result<u64, Refusal>>>::Pending
        });
        Ok(stream)
    })
    .keep_alive(beats.send())
    .timer(Paused)
    .build();
    panics(|| next(&mut rider));
    tokio::time::advance(ms(7_000)).await;
    assert!(next(&mut rider).is_pending());
    assert!(beats.all().is_empty(), "it is asked for anew, and that is a sign");
    tokio::time::advance(ms(5_000)).await;
    assert!(next(&mut rider).is_pending());
    assert_eq!(beats.since(began), [12_000]);
}

#[tokio::test(start_paused = true)]
async fn moved_to_another_task_that_one_is_woken_for_a_beat() {
    // C38.
    let owner = Owner::answers([serve([1]).into()]);
    let (beats, began) = (Beats::default(), now());
    let mut rider = owner.builder().keep_alive(beats.send()).build();
    assert!(matches!(next(&mut rider), Poll::Ready(Some(Ok(1)))));
    assert!(next(&mut rider).is_pending(), "polled by a task that nobody hears of");
    watch(&owner, &mut rider, 6_000).await;
    assert_eq!(beats.since(began), [5_000]);
}
