//! C40: whatever a rider was given panics once, at each of the places where the rider comes to it. The
//! caller sees that panic; polled again the rider goes on to its end; nothing that panicked or was over
//! is polled again, nothing is stuck or left, other riders are unharmed, and no warning is doubled.

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

/// A future or a stream that steps on a mine with each poll, and may not be polled after that, or after
/// its own end.
struct Mined<F> {
    inner: Pin<Box<F>>,
    who: &'static str,
    parts: Parts,
    over: bool,
    _alive: Token,
}

impl<F: Future> Future for Mined<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        assert!(!self.over, "{} was polled after it was over", self.who);
        self.over = true;
        self.parts.mine.step(self.who);
        let polled = self.inner.as_mut().poll(cx);
        self.over = polled.is_ready();
        polled
    }
}

/// Whether it is the last item of a stream.
trait Last {
    fn is_last(&self) -> bool;
}

impl<T, E> Last for Result<T, E> {
    fn is_last(&self) -> bool {
        self.is_err()
    }
}

impl Last for News {
    fn is_last(&self) -> bool {
        false
    }
}

impl<S: Stream<Item: Last>> Stream for Mined<S> {
    type Item = S::Item;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<S::Item>> {
        assert!(!self.over, "{} was polled after it was over", self.who);
        self.over = true;
        self.parts.mine.step(self.who);
        let polled = self.inner.as_mut().poll_next(cx);
        self.over = matches!(&polled, Poll::Ready(it) if it.as_ref().is_none_or(Last::is_last));
        polled
    }
}

/// What all parts of a rider share: the mine, the clock, and how many of them are alive.
#[derive(Clone)]
struct Parts {
    mine: Mine,
    clock: Clock,
    alive: Count,
    // When the asks went out.
    asks: Rc<RefCell<Vec<Duration>>>,
}

impl Parts {
    fn new(mine: Mine) -> Self {
        let clock = mine.clock();
        Parts { mine, clock, alive: Count::default(), asks: Rc::default() }
    }

    fn mined<F>(&self, who: &'static str, inner: F) -> Mined<F> {
        let (inner, parts) = (Box::pin(inner), self.clone());
        Mined { inner, who, parts, over: false, _alive: self.alive.one() }
    }

    fn left(&self) -> (usize, usize) {
        (self.alive.get(), self.clock.sleeps())
    }

    /// The case of what was made of them, to which nothing happens but time.
    fn case<S>(&self, subject: S) -> Case<S> {
        let (clock, left) = (self.clock.clone(), self.clone());
        Case::new(subject).stimulus(move || _ = clock.skip()).gone(move || {
            assert_eq!(left.left(), (0, 0), "left behind by {:?}", left.mine.went_off());
        })
    }

    fn refuses(&self, refusal: Refusal) -> Mean {
        Mean { refusal, mine: self.mine.clone() }
    }
}

/// An error whose ruling and whose text step on the mine.
#[derive(Debug)]
struct Mean {
    refusal: Refusal,
    mine: Mine,
}

impl fmt::Display for Mean {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.mine.step("text");
        fmt::Display::fmt(&self.refusal, f)
    }
}

impl Classify for Mean {
    fn classify(&self, asked: &Address) -> Ruling {
        self.mine.step("ruling");
        self.refusal.classify(asked)
    }
}

/// An item whose token, whose version and whose number step on the mine.
#[derive(Clone, Debug)]
struct Item {
    value: u64,
    mine: Mine,
}

fn token(item: &Item) -> u64 {
    item.mine.step("token");
    item.value
}

fn version(item: &Item) -> u64 {
    item.mine.step("version");
    item.value
}

fn number(item: &Item) -> u64 {
    item.mine.step("number");
    item.value
}

/// What an owner answers to one ask.
#[derive(Clone)]
enum Reply {
    Refuse(Refusal),
    Silent,
    /// Serves these one by one, with a pause behind each, and then this error, or silence.
    Serve(Vec<u64>, Option<Refusal>),
}

type Items = LocalBoxStream<'static, Result<Item, Mean>>;
type Asking = LocalBoxFuture<'static, Result<Answer<Items>, Mean>>;

/// Asks of an owner that answers with `replies`, one an ask, and after them all serves 9 and 10, and is gone.
fn asks(parts: &Parts, replies: Vec<Reply>) -> impl FnMut(Ask<u64>) -> Asking + use<> {
    let (mut replies, parts) = (replies.into_iter(), parts.clone());
    move |_| {
        parts.asks.borrow_mut().push(parts.clock.elapsed());
        parts.mine.step("ask");
        let reply = replies.next().unwrap_or(Reply::Serve(vec![9, 10], Some(not_found())));
        let served = parts.clone();
        let ask = async move {
            match reply {
                Reply::Refuse(refusal) => Err(served.refuses(refusal)),
                Reply::Silent => pending().await,
                Reply::Serve(values, refusal) => {
                    let mine = served.mine.clone();
                    let items = stream::iter(values)
                        .map(move |value| Ok(Item { value, mine: mine.clone() }));
                    let end = stream::iter(refusal.map(|it| Err(served.refuses(it))));
                    let open = items.chain(end).chain(stream::pending());
                    let stream = served.mined("subscription", pausing(open));
                    Ok(Answer::new(stream.boxed_local()).served_by(tag("F0")))
                }
            }
        };
        Box::pin(parts.mined("ask, polled", pausing_once(ask)))
    }
}

/// Is pending once before each of its items.
fn pausing<S: Stream>(stream: S) -> impl Stream<Item = S::Item> {
    stream.then(|item| pausing_once(ready(item)))
}

async fn pausing_once<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut paused = false;
    std::future::poll_fn(move |cx| {
        if std::mem::replace(&mut paused, true) {
            return future.as_mut().poll(cx);
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await
}

/// The joins of a rider: the teardown of A1 is complete at the second look, the others cannot be seen.
fn joins(
    parts: &Parts,
) -> impl FnMut(rideout::Activation) -> Option<LocalBoxFuture<'static, ()>> + use<> {
    let parts = parts.clone();
    move |activation| -> Option<LocalBoxFuture<'static, ()>> {
        parts.mine.step("join");
        let teardown = parts.mined("join, polled", pausing_once(ready(())));
        (activation == tag("A1")).then(|| Box::pin(teardown) as _)
    }
}

fn beats(parts: &Parts) -> impl FnMut(Beat) + Send + use<> {
    let mine = parts.mine.clone();
    move |_| mine.step("beat")
}

/// News that matter to nobody, and then silence.
fn news(parts: &Parts) -> LocalBoxStream<'static, News> {
    let news = stream::iter([News::Ended(Some(tag("E0"))), News::Arrived(tag("A1"))]);
    parts.mined("news", pausing(news).chain(stream::pending())).boxed_local()
}

/// Comes by everything there is: a join, a rest, a rejection of a live subscription that is held back and
/// spread, a silent ask, and a refresh with beats beside it.
fn scenario() -> Vec<Reply> {
    vec![
        Reply::Refuse(by("A1")),
        Reply::Refuse(by_route()),
        Reply::Serve(vec![1, 2, 3], Some(by("B1"))),
        Reply::Refuse(by("A1")),
        Reply::Silent,
        Reply::Serve(vec![4, 5, 6], None),
        Reply::Refuse(by("C1")),
        Reply::Refuse(by_route()),
    ]
}

const EVERYBODY: [&str; 14] = [
    "ask",
    "ask, polled",
    "beat",
    "join",
    "join, polled",
    "news",
    "now",
    "number",
    "ruling",
    "sleep",
    "sleep, polled",
    "subscription",
    "token",
    "version",
];

type Ridden = Result<Item, RideError<Mean>>;

/// `rider`, whose items go on to the last that there is, and to the verdict behind it.
fn whole(
    rider: impl FusedStream<Item = Ridden>,
    mut each: impl FnMut(u64),
) -> impl FusedStream<Item = Ridden> {
    let mut last = 0;
    rider.inspect(move |item| match item {
        Ok(item) => {
            // The last subscription may be asked for anew.
            assert!(item.value >= last.min(9), "{item:?} after {last}");
            last = item.value;
            each(last);
        }
        Err(error) => {
            assert!(error.verdict().is_some(), "{error}");
            assert!(last >= 9, "it ended after {last}");
        }
    })
}

/// A rider that comes by all of them.
fn rider(parts: &Parts) -> impl FusedStream<Item = Ridden> + use<> {
    let budget = Budget::default().longest(ms(3_600_000)).ask_limit(ms(1_000)).spread(ms(100));
    let rider = RideOut::builder_resuming(address(), token, asks(parts, scenario()))
        .join(joins(parts))
        .news(news(parts))
        .timer(parts.clock.clone())
        .version(version)
        .frame_number(number)
        .keep_alive(beats(parts))
        .keep_alive_interval(ms(200))
        .budget(budget)
        .build();
    let (nudger, mut nudged) = (rider.nudger(), false);
    whole(rider, move |value| {
        if value >= 5 && !std::mem::replace(&mut nudged, true) {
            nudger.nudge();
        }
    })
}

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
