//! What a caller may rely on of `RideOut`, `Phases` and `Read`, whatever they are given: fused, an honest
//! `size_hint`, `Send` and `Unpin`, usable with everybody's combinators, and nothing left behind.

mod by_hand;
mod hand_clock;

use std::{
    future::{pending, ready},
    task::{Poll, Waker},
};

use by_hand::{Task, kept, poll};
use futures::{
    FutureExt, Stream, StreamExt, TryStreamExt,
    channel::{mpsc, oneshot},
    future::BoxFuture,
    stream::{self, BoxStream, FusedStream},
};
use hand_clock::{Clock, Count, Strict, address, by, by_route, ms, next, next_for, not_found, tag};
use rideout::{
    Activation, Budget, News, Read, Refusal, RideError, RideOut,
    rider::{Ask, Beat, Phase, Phases},
};

/// What an owner answers to one ask.
enum Reply {
    Refuse(Refusal),
    Silent,
    /// Serves these, and is over.
    Serve(Vec<Result<u64, Refusal>>),
    /// Serves these, and stays open.
    Open(Vec<u64>),
}

type Asks = Box<dyn FnMut(Ask) -> BoxFuture<'static, Result<Strict<u64>, Refusal>> + Send>;
type Joins = Box<dyn FnMut(Activation) -> Option<BoxFuture<'static, ()>> + Send>;
type Rider = RideOut<Asks, Joins, BoxStream<'static, News>, (), Clock>;

/// What of a rider is alive.
#[derive(Clone)]
struct Parts {
    clock: Clock,
    asks: Count,
    joins: Count,
    streams: Count,
    news: Count,
    beats: Count,
}

impl Parts {
    fn new() -> Self {
        let [asks, joins, streams, news, beats] = [(); 5].map(|()| Count::default());
        Parts { clock: Clock::new(), asks, joins, streams, news, beats }
    }

    /// Asks, joins, streams, news, sleeps.
    fn alive(&self) -> [usize; 5] {
        let counts = [&self.asks, &self.joins, &self.streams, &self.news].map(Count::get);
        let [asks, joins, streams, news] = counts;
        [asks, joins, streams, news, self.clock.sleeps()]
    }

    fn asks(&self, replies: impl IntoIterator<Item = Reply>) -> Asks {
        let replies: Vec<_> = replies.into_iter().collect();
        let (mut replies, parts) = (replies.into_iter(), self.clone());
        Box::new(move |_| {
            let (reply, alive) = (replies.next().unwrap_or(Reply::Silent), parts.asks.one());
            let streams = parts.streams.clone();
            Box::pin(async move {
                let _alive = alive;
                match reply {
                    Reply::Refuse(refusal) => Err(refusal),
                    Reply::Silent => pending().await,
                    Reply::Serve(parts) => Ok(Strict::of(parts).counted(&streams)),
                    Reply::Open(items) => Ok(Strict::open(items).counted(&streams)),
                }
            })
        })
    }

    /// A teardown of `torn_down` that never comes; no other can be observed.
    fn joins(&self, torn_down: &'static str) -> Joins {
        let joins = self.joins.clone();
        Box::new(move |activation| {
            let alive = (activation == tag(torn_down)).then(|| joins.one())?;
            let teardown = async move {
                let _alive = alive;
                pending().await
            };
            Some(teardown.boxed())
        })
    }

    fn news(&self) -> BoxStream<'static, News> {
        let alive = self.news.one();
        stream::poll_fn(move |_| {
            let _ = &alive;
            Poll::Pending
        })
        .boxed()
    }

    /// Beats that are counted as news are: for as long as somebody would send them.
    fn beats(&self) -> impl FnMut(Beat) + Send + use<> {
        let alive = self.beats.one();
        move |_| {
            let _ = &alive;
        }
    }

    fn rider(&self, replies: impl IntoIterator<Item = Reply>) -> Rider {
        RideOut::new(address(), self.asks(replies))
            .join(self.joins("A1"))
            .news(self.news())
            .timer(self.clock.clone())
    }
}

/// Polls until nothing comes any more, and returns how many items came.
fn drain<S: Stream + Unpin>(stream: &mut S, waker: &Waker) -> usize {
    let mut items = 0;
    while let Poll::Ready(Some(_)) = next_for(stream, waker) {
        items += 1;
    }
    items
}

/// How a rider comes into a state, and what is alive there: asks, joins, streams, news, sleeps.
struct State {
    name: &'static str,
    replies: Vec<Reply>,
    budget: Budget,
    /// Advances, and nudges, between polls.
    advance: u64,
    nudged: bool,
    alive: [usize; 5],
}

fn states() -> Vec<State> {
    let state = |name, replies, alive| State {
        name,
        replies,
        budget: Budget::default(),
        advance: 0,
        nudged: false,
        alive,
    };
    let far = Budget::default().spread(ms(1_000_000));
    vec![
        state("asking", vec![Reply::Silent], [1, 0, 0, 1, 1]),
        state("joining", vec![Reply::Refuse(by("A1"))], [0, 1, 0, 1, 1]),
        state("resting", vec![Reply::Refuse(by_route())], [0, 0, 0, 1, 1]),
        state("held back", vec![Reply::Serve(vec![Ok(1), Err(by("B1"))])], [0, 0, 0, 1, 1]),
        State {
            budget: far,
            advance: 500,
            ..state("spread", vec![Reply::Refuse(by_route())], [0, 0, 0, 1, 1])
        },
        state("live", vec![Reply::Open(vec![1])], [0, 0, 1, 1, 0]),
        State { nudged: true, ..state("refreshing", vec![Reply::Open(vec![1])], [1, 0, 1, 1, 1]) },
        State {
            nudged: true,
            ..state(
                "refused a refresh",
                vec![Reply::Open(vec![1]), Reply::Refuse(by("A1"))],
                [0, 1, 1, 1, 1],
            )
        },
        state("over", vec![Reply::Refuse(not_found())], [0, 0, 0, 0, 0]),
    ]
}

/// C39, R17, R20c: with `of` the rider is made what is dropped.
fn dropped_in_every_state<S: Stream + Unpin>(of: impl Fn(Rider) -> S) {
    let bare = states().into_iter().map(|it| (it, false));
    for (mut state, beats) in bare.chain(states().into_iter().map(|it| (it, true))) {
        let (task, waker) = Task::new();
        let parts = Parts::new();
        let mut rider = parts.rider(state.replies).budget(state.budget);
        if beats {
            // `R26`: one sleep while it is live.
            rider = rider.keep_alive(parts.beats());
            state.alive[4] += state.alive[2];
        }
        let nudger = rider.nudger();
        let mut rider = of(rider);
        drain(&mut rider, &waker);
        parts.clock.advance(ms(state.advance));
        if state.nudged {
            nudger.nudge();
        }
        drain(&mut rider, &waker);
        assert_eq!(parts.alive(), state.alive, "{}", state.name);
        let over = state.name == "over";
        assert_eq!(kept(&task) > 0, !over, "it waits for something: {}", state.name);

        let made = parts.clock.made();
        drop(rider);
        assert_eq!((parts.alive(), parts.beats.get()), ([0; 5], 0), "{}", state.name);
        assert_eq!(kept(&task), 0, "neither carrier nor timer keeps the task: {}", state.name);
        let wakes = task.wakes();
        nudger.nudge();
        parts.clock.advance(ms(100_000_000));
        assert_eq!((task.wakes(), parts.clock.made()), (wakes, made), "{}", state.name);

        let mut another = parts.rider([Reply::Open(vec![7])]);
        assert!(matches!(next(&mut another), Poll::Ready(Some(Ok(7)))), "{}", state.name);
    }
}

#[test]
fn a_rider_dropped_in_every_state_leaves_nothing() {
    dropped_in_every_state(|rider| rider);
}

#[test]
fn phases_dropped_in_every_state_leave_nothing() {
    dropped_in_every_state(Rider::phases);
}

/// C25 before any poll: nothing was asked, nothing was made.
#[test]
fn dropped_before_its_first_poll_a_rider_has_done_nothing() {
    let parts = Parts::new();
    let rider = parts.rider([Reply::Open(vec![1])]);
    let nudger = rider.nudger();
    assert_eq!(parts.alive(), [0, 0, 0, 1, 0], "the news were given");
    nudger.nudge();
    drop(rider);
    assert_eq!((parts.alive(), parts.clock.made()), ([0; 5], 0));
}

/// Every way for a rider to end.
fn ends() -> Vec<(&'static str, Vec<Reply>, Budget)> {
    let budget = Budget::default();
    let served = |parts| vec![Reply::Serve(parts)];
    let lived = Budget::default().proven_after(ms(10_000));
    vec![
        ("completed", served(vec![Ok(1)]), budget),
        ("completed empty", served(vec![]), budget),
        ("refused by a verdict", vec![Reply::Refuse(not_found())], budget),
        ("live, a verdict", served(vec![Ok(1), Err(not_found())]), budget),
        ("gave up", vec![Reply::Refuse(by("B1"))], budget.activations(0)),
        ("live, gave up", served(vec![Ok(1), Err(by("B1"))]), lived.activations(0)),
        ("outlasted", vec![Reply::Refuse(by("B1"))], budget.longest(ms(0))),
        ("not answered", vec![Reply::Silent], budget.ask_limit(ms(0)).re_asks(0)),
    ]
}

fn fused_at_every_end<S: FusedStream + Unpin>(of: impl Fn(Rider) -> S) {
    for (end, replies, budget) in ends() {
        let (task, waker) = Task::new();
        let parts = Parts::new();
        let mut rider = of(parts.rider(replies).budget(budget).keep_alive(parts.beats()));
        loop {
            assert_eq!(rider.size_hint(), (0, None), "{end}");
            assert!(!rider.is_terminated(), "{end}");
            match next_for(&mut rider, &waker) {
                Poll::Ready(Some(_)) if rider.is_terminated() => break,
                Poll::Ready(Some(_)) => {}
                Poll::Ready(None) => break,
                Poll::Pending => drop(parts.clock.skip().expect("it waits for a sleep")),
            }
        }
        assert_eq!((parts.alive(), parts.beats.get()), ([0; 5], 0), "{end}");
        let (wakes, made) = (task.wakes(), parts.clock.made());
        for _ in 0..3 {
            assert!(rider.is_terminated(), "{end}");
            assert_eq!(rider.size_hint(), (0, Some(0)), "{end}");
            assert!(matches!(next_for(&mut rider, &waker), Poll::Ready(None)), "{end}");
        }
        assert_eq!((task.wakes(), parts.clock.made()), (wakes, made), "{end}");
        assert_eq!(kept(&task), 0, "{end}");
    }
}

/// C21 and C37 too: an error is followed by the end, and no stream is polled after its own.
#[test]
fn a_rider_is_fused_whatever_ended_it() {
    fused_at_every_end(|rider| rider);
}

#[test]
fn phases_are_fused_whatever_ended_the_rider() {
    fused_at_every_end(Rider::phases);
}

/// C37 where the rider goes on.
#[test]
fn a_subscription_is_never_polled_after_its_end_or_its_error() {
    let over = || Reply::Serve(vec![Ok(1)]);
    let refused = || Reply::Serve(vec![Ok(1), Err(by_route())]);
    let parts = Parts::new();
    let mut rider = parts
        .rider([over(), refused(), over(), refused(), Reply::Open(vec![1])])
        .re_ask_on_completion();
    for _ in 0..5 {
        assert!(matches!(next(&mut rider), Poll::Ready(Some(Ok(1)))));
        for _ in 0..3 {
            assert!(next(&mut rider).is_pending());
        }
        parts.clock.skip();
    }
    assert_eq!(parts.streams.get(), 1);
}

/// C37 where a refresh runs on: the old subscription's end is met on an item's way, in a poll that has
/// no turn left to look at it.
#[test]
fn a_subscription_whose_end_has_to_wait_is_not_polled_again() {
    let (items, old) = mpsc::unbounded::<Result<u64, Refusal>>();
    let (refuse, refused) = oneshot::channel::<Refusal>();
    let (mut old, mut refused) = (Some(old), Some(refused));
    let ask = move |ask: Ask| -> BoxFuture<'static, _> {
        match ask.attempt {
            1 => ready(Ok(Strict::new(old.take().expect("once")))).boxed(),
            2 => refused.take().expect("once").map(|it| Err(it.expect("sent"))).boxed(),
            // Each of them another activation.
            attempt @ ..200 => ready(Err(by(&format!("{attempt:02X}")))).boxed(),
            _ => ready(Ok(Strict::open([9]))).boxed(),
        }
    };
    let mut rider = RideOut::new(address(), ask)
        .join(|_| Some(yield_once()))
        .timer(Clock::new())
        .budget(Budget::default().activations(u32::MAX));
    let nudger = rider.nudger();
    items.unbounded_send(Ok(1)).expect("open");
    assert!(matches!(next(&mut rider), Poll::Ready(Some(Ok(1)))));
    nudger.nudge();
    assert!(next(&mut rider).is_pending());

    drop(items);
    refuse.send(by("FFFF")).expect("it is asking");
    let mut pending = 0;
    while next(&mut rider).map(|it| matches!(it, Some(Ok(9)))) != Poll::Ready(true) {
        pending += 1;
        assert!(pending < 1_000, "it is stuck");
    }
    assert!(pending > 0, "one poll was enough, so nothing had to wait");
}

/// A teardown that is complete at the second look.
async fn yield_once() {
    let mut looked = false;
    std::future::poll_fn(|cx| {
        cx.waker().wake_by_ref();
        if std::mem::replace(&mut looked, true) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

fn is_send<T: Send>(_: &T) {}
fn is_unpin<T: Unpin>(_: &T) {}

/// Neither of its parts need be `Unpin`: they are boxed as themselves.
#[test]
fn a_rider_is_send_when_its_parts_are_and_unpin_whatever_they_are() {
    let rider =
        RideOut::new(address(), |_| async { Ok::<_, Refusal>(stream::once(async { Ok(1) })) })
            .join(|_| Some(async {}))
            .news(stream::once(async { News::Ended(None) }))
            .number(|item: &u64| *item)
            .keep_alive(|_| {})
            .timer(Clock::new());
    is_send(&rider);
    is_unpin(&rider);
    is_send(&rider.nudger());
    let phases = rider.phases();
    is_send(&phases);
    is_unpin(&phases);
    is_send(&phases.into_inner());
    is_send(&Read::new(address(), |_| async { Ok::<_, Refusal>(1) }).timer(Clock::new()));
}

/// A rider whose closures hold nothing, and that of a user with large ones: all is behind boxes.
#[test]
fn a_rider_is_small_whatever_it_was_given() {
    let large = [0_u8; 4_096];
    let rider =
        RideOut::new(
            address(),
            move |_| async move { Ok::<_, Refusal>(stream::iter(large).map(Ok)) },
        )
        .join(move |_| Some(async move { assert_eq!(large.len(), 4_096) }))
        .news(stream::iter(large).map(|_| News::Ended(None)))
        .keep_alive(move |_| assert_eq!(large.len(), 4_096))
        .timer(Clock::new());
    assert!(size_of_val(&rider) <= 256, "{} bytes", size_of_val(&rider));
    let phases = rider.phases();
    assert!(size_of_val(&phases) <= 256, "{} bytes", size_of_val(&phases));
}

/// Neither closures nor streams nor items need be `Debug`.
#[test]
fn what_is_shown_of_a_rider_is_the_carrier_and_whether_it_is_live() {
    struct Opaque;
    let ask = |_| async { Ok::<_, Refusal>(stream::iter([Ok(Opaque)]).chain(stream::pending())) };
    let mut rider = RideOut::new(address(), ask).timer(Clock::new());
    assert!(format!("{rider:?}").contains("live: false"), "{rider:?}");
    assert!(next(&mut rider).is_ready());
    let shown = format!("{rider:?}");
    assert!(shown.contains("prices/eur") && shown.contains("live: true"), "{shown}");
    let shown = format!("{:?}", rider.phases());
    assert!(shown.starts_with("Phases") && shown.contains("RideOut"), "{shown}");

    let read = Read::new(address(), |_| async { Ok::<_, Refusal>(Opaque) }).timer(Clock::new());
    assert!(format!("{read:?}").contains("prices/eur"), "{read:?}");
}

/// What the phases wrap goes on as a rider, and the other way round.
#[test]
fn phases_and_items_are_one_rider() {
    let parts = Parts::new();
    let mut rider = parts.rider([Reply::Open(vec![1, 2, 3])]);
    assert!(matches!(next(&mut rider), Poll::Ready(Some(Ok(1)))));
    let mut phases: Phases<_, _, _, _, _> = rider.phases();
    assert!(matches!(next(&mut phases), Poll::Ready(Some(Ok(Phase::Live(2))))));
    assert_eq!(phases.get_ref().size_hint(), phases.size_hint());
    assert!(matches!(next(&mut phases.into_inner()), Poll::Ready(Some(Ok(3)))));
}

/// On tokio's clock, an owner that refuses twice.
fn refused_twice() -> impl FusedStream<Item = Result<u32, RideError<Refusal>>> + Send + Unpin {
    RideOut::new(address(), |ask: Ask| async move {
        match ask.attempt {
            1 | 2 => Err(by("A1")),
            _ => Ok(stream::iter([Ok(1), Ok(2), Ok(3)])),
        }
    })
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
    let rider = RideOut::new(address(), |ask: Ask| async move {
        match ask.attempt {
            1..4 => Err(by("A1")),
            _ => Ok(stream::iter([Ok::<_, Refusal>(1), Ok(2)])),
        }
    });
    let rider = tokio::spawn(rider.budget(hasty).try_collect::<Vec<_>>());
    let read =
        Read::new(
            address(),
            |ask| async move { if ask.attempt < 4 { Err(by("A1")) } else { Ok(7) } },
        );
    let read = tokio::spawn(read.budget(hasty));
    assert_eq!(rider.await.unwrap().unwrap(), [1, 2]);
    assert_eq!(read.await.unwrap().unwrap(), 7);
}

mod read {
    use super::*;

    type Asking = BoxFuture<'static, Result<u64, Refusal>>;

    /// What a read's owner answers: refusals, then a value or silence.
    fn asks(
        parts: &Parts,
        refusals: Vec<Refusal>,
        value: Option<u64>,
    ) -> impl FnMut(Ask) -> Asking + Send + use<> {
        let (mut refusals, alive) = (refusals.into_iter(), parts.asks.clone());
        move |_| {
            let (refusal, alive) = (refusals.next(), alive.one());
            let asking = async move {
                let _alive = alive;
                match (refusal, value) {
                    (Some(refusal), _) => Err(refusal),
                    (None, Some(value)) => Ok(value),
                    (None, None) => pending().await,
                }
            };
            asking.boxed()
        }
    }

    /// C39, and what is alive in each state: asks, joins, streams, news, sleeps.
    #[test]
    fn dropped_in_every_state_it_leaves_nothing() {
        let spread = Budget::default().spread(ms(1_000_000));
        for (state, refusals, budget, advance, alive) in [
            ("asking", vec![], Budget::default(), 0, [1, 0, 0, 1, 1]),
            ("resting", vec![by_route()], Budget::default(), 0, [0, 0, 0, 1, 2]),
            ("spread", vec![by_route()], spread, 500, [0, 0, 0, 1, 2]),
            ("over", vec![not_found()], Budget::default(), 0, [0; 5]),
        ] {
            let (task, waker) = Task::new();
            let parts = Parts::new();
            let read = Read::new(address(), asks(&parts, refusals, None)).news(parts.news());
            let mut read = Box::pin(read.budget(budget).timer(parts.clock.clone()));
            for _ in 0..2 {
                assert_eq!(poll(&mut read, &waker).is_ready(), state == "over", "{state}");
                if state == "over" {
                    break;
                }
                parts.clock.advance(ms(advance));
                assert!(poll(&mut read, &waker).is_pending(), "{state}");
            }
            assert_eq!(parts.alive(), alive, "{state}");
            drop(read);
            assert_eq!((parts.alive(), kept(&task)), ([0; 5], 0), "{state}");
            let wakes = task.wakes();
            parts.clock.advance(ms(100_000));
            assert_eq!(task.wakes(), wakes, "{state}");
        }
    }

    #[test]
    fn before_its_first_poll_it_has_done_nothing() {
        let parts = Parts::new();
        let read = Read::new(address(), asks(&parts, vec![], None)).timer(parts.clock.clone());
        assert_eq!((parts.alive(), parts.clock.made()), ([0; 5], 0));
        drop(read);
    }

    /// A future may not be polled after its end; where it is, nothing happens.
    #[test]
    fn polled_after_its_end_it_does_nothing() {
        let parts = Parts::new();
        let silent = Read::new(address(), asks(&parts, vec![], None)).deadline(ms(0));
        let served = Read::new(address(), asks(&parts, vec![], Some(1)));
        let absent = Read::new(address(), asks(&parts, vec![not_found()], None));
        for read in [silent, served, absent] {
            let (task, waker) = Task::new();
            let mut read = Box::pin(read.news(parts.news()).timer(parts.clock.clone()));
            assert!(poll(&mut read, &waker).is_ready());
            let made = parts.clock.made();
            for _ in 0..3 {
                assert!(poll(&mut read, &waker).is_pending());
            }
            assert_eq!((parts.alive(), parts.clock.made()), ([0; 5], made));
            assert_eq!((task.wakes(), kept(&task)), (0, 0));
        }
    }
}
