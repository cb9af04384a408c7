//! News, items, nudges and timers that never pause: none of them starves another (`R21`).

use super::*;

/// News that there is always more of, and that mean nothing to who is live on F0.
fn babble() -> impl Stream<Item = News> {
    stream::repeat(News::Ended(Some(tag("EE"))))
}

fn by_f0<S>(stream: S) -> Answer<S> {
    Answer::new(stream).served_by(tag("F0"))
}

/// Polls until an item comes; fails where `most` polls are not enough.
fn item_within<S, T, E>(most: u32, rider: &mut S) -> T
where
    S: Stream<Item = Result<T, E>> + Unpin,
{
    for _ in 0..most {
        match next(rider) {
            Poll::Ready(Some(Ok(item))) => return item,
            Poll::Ready(_) => panic!("it ended"),
            Poll::Pending => {}
        }
    }
    panic!("starved for {most} polls")
}

#[test]
fn news_do_not_starve_items() {
    let ask = |_| ready(Ok::<_, Refusal>(by_f0(stream::iter((0..1_000_u32).map(Ok)))));
    let mut rider = RideOut::builder(address(), ask).news(babble()).timer(Clock::new()).build();
    for item in 0..1_000 {
        assert_eq!(item_within(2, &mut rider), item);
    }
}

/// Refused or left alone, its rest, its join's limit and its ask's limit come all the same.
#[test]
fn news_do_not_starve_timers() {
    for first in ["a rest", "a join", "an ask"] {
        let clock = Clock::new();
        let ask = move |ask: Ask| -> BoxFuture<'static, _> {
            match (ask.attempt, first) {
                (1, "a rest") => ready(Err(by_route())).boxed(),
                (1, "a join") => ready(Err(by("A1"))).boxed(),
                (1, _) => pending().boxed(),
                _ => ready(Ok(Strict::open([7]))).boxed(),
            }
        };
        let mut rider = RideOut::builder(address(), ask)
            .join(|_| Some(pending()))
            // Nothing to who waits, or asks.
            .news(stream::repeat(News::Ended(None)))
            .timer(clock.clone())
            .budget(Budget::default().ask_limit(ms(500)).join_limit(ms(500)))
            .build();
        let (task, waker) = Task::new();
        for _ in 0..8 {
            let wakes = task.wakes();
            assert!(next_for(&mut rider, &waker).is_pending(), "{first}");
            assert!(task.wakes() > wakes, "{first}: there is more of it, and nobody says so");
        }
        clock.advance(ms(500));
        if first == "an ask" {
            // Counts as refused by the route.
            for _ in 0..8 {
                assert!(next(&mut rider).is_pending(), "{first}");
            }
            clock.advance(ms(500));
        }
        assert_eq!(item_within(8, &mut rider), 7, "{first}");
    }
}

#[test]
fn news_do_not_starve_the_rest_of_a_read_nor_its_deadline() {
    let clock = Clock::new();
    let ask = |ask: Ask| ready(if ask.attempt == 1 { Err(by_route()) } else { Ok(7) });
    let mut read =
        Box::pin(PointRead::builder(address(), ask).news(babble()).timer(clock.clone()).build());
    let (task, waker) = Task::new();
    assert!(poll(&mut read, &waker).is_pending());
    assert_eq!(task.wakes(), 1, "there is more of it");
    clock.advance(ms(500));
    let answer = (0..8).find_map(|_| match poll(&mut read, Waker::noop()) {
        Poll::Ready(answer) => Some(answer),
        Poll::Pending => None,
    });
    assert_eq!(answer.expect("starved").unwrap(), 7);

    let silent = |_| pending::<Result<(), Refusal>>();
    let mut read =
        Box::pin(PointRead::builder(address(), silent).news(babble()).timer(clock.clone()).build());
    assert!(poll(&mut read, Waker::noop()).is_pending());
    clock.advance(ms(10_000));
    assert!(poll(&mut read, Waker::noop()).is_ready());
}

/// An owner whose subscriptions never pause; the one that an ask opens tells its number.
fn tireless() -> impl FnMut(Ask) -> Ready<Result<Answer<Tireless>, Refusal>> {
    |ask| ready(Ok(by_f0(stream::repeat(Ok(ask.attempt)))))
}

type Tireless = stream::Repeat<Result<u32, Refusal>>;

/// R20b, R21b: no item is received once there is news; what was received is told, 1,024 at most.
fn news_are_heard<S: Stream + Unpin>(mut rider: S, tell: &mpsc::UnboundedSender<News>) {
    tell.unbounded_send(News::Ended(None)).expect("it listens");
    let items = (0..=1_024).take_while(|_| next(&mut rider).is_ready()).count();
    assert!(items <= 1_024, "{items} items passed");
}

#[test]
fn items_do_not_starve_news() {
    for before in [0, 1, 31, 32, 33, 100] {
        let rider = || {
            let (tell, news) = mpsc::unbounded();
            let mut rider =
                RideOut::builder(address(), tireless()).news(news).timer(Clock::new()).build();
            for _ in 0..before {
                assert_eq!(item_within(1, &mut rider), 1);
            }
            (rider, tell)
        };
        let (live, tell) = rider();
        news_are_heard(live, &tell);
        let (live, tell) = rider();
        let items = live.phases().try_filter_map(|phase| {
            let item = if let Phase::Live(item) = phase { Some(item) } else { None };
            ready(Ok(item))
        });
        news_are_heard(items, &tell);
    }
}

/// While a refresh is out, and does not answer.
#[test]
fn items_do_not_starve_news_beside_a_refresh() {
    let (tell, news) = mpsc::unbounded();
    let ask = |ask: Ask| {
        let first = ask.attempt == 1;
        async move {
            if !first {
                pending::<()>().await;
            }
            Ok::<_, Refusal>(stream::repeat(Ok(1)))
        }
    };
    let clock = Clock::new();
    let mut rider =
        RideOut::builder(address(), |it| Box::pin(ask(it))).news(news).timer(clock.clone()).build();
    assert_eq!(item_within(1, &mut rider), 1);
    rider.nudger().nudge();
    for _ in 0..2_000 {
        assert_eq!(item_within(1, &mut rider), 1);
    }
    assert_eq!(clock.sleeps(), 1, "the refresh is out");
    news_are_heard(rider, &tell);
}

#[test]
fn neither_items_nor_news_starve_a_nudge() {
    let mut rider =
        RideOut::builder(address(), tireless()).news(babble()).timer(Clock::new()).build();
    assert_eq!(item_within(2, &mut rider), 1);
    rider.nudger().nudge();
    let asked = (0..1_000).any(|_| item_within(4, &mut rider) == 2);
    assert!(asked, "the refresh is starved");
}

/// A refresh that was refused rests while the old subscription goes on without a pause.
#[test]
fn neither_items_nor_news_starve_timers() {
    let clock = Clock::new();
    let ask = |ask: Ask| {
        ready(match ask.attempt {
            2 => Err(by_route()),
            attempt => Ok(by_f0(stream::repeat(Ok(attempt)))),
        })
    };
    for babbling in [false, true] {
        let news = if babbling { babble().left_stream() } else { stream::empty().right_stream() };
        let mut rider = RideOut::builder(address(), ask).news(news).timer(clock.clone()).build();
        assert_eq!(item_within(2, &mut rider), 1);
        rider.nudger().nudge();
        for _ in 0..1_000 {
            assert_eq!(item_within(4, &mut rider), 1);
        }
        assert_eq!(clock.sleeps(), 1, "it was refused, and rests");
        clock.advance(ms(500));
        let asked = (0..4_000).any(|_| item_within(4, &mut rider) == 3);
        assert!(asked, "the rest is starved");
    }
}
