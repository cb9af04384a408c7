//! The parts of a rider, each of which steps on a mine.

use super::*;

/// A future or a stream that steps on a mine with each poll, and may not be polled after that, or after
/// its own end.
pub(super) struct Mined<F> {
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
pub(super) struct Parts {
    pub(super) mine: Mine,
    pub(super) clock: Clock,
    pub(super) alive: Count,
    // When the asks went out.
    pub(super) asks: Rc<RefCell<Vec<Duration>>>,
}

impl Parts {
    pub(super) fn new(mine: Mine) -> Self {
        let clock = mine.clock();
        Parts { mine, clock, alive: Count::default(), asks: Rc::default() }
    }

    pub(super) fn mined<F>(&self, who: &'static str, inner: F) -> Mined<F> {
        let (inner, parts) = (Box::pin(inner), self.clone());
        Mined { inner, who, parts, over: false, _alive: self.alive.one() }
    }

    pub(super) fn left(&self) -> (usize, usize) {
        (self.alive.get(), self.clock.sleeps())
    }

    /// The case of what was made of them, to which nothing happens but time.
    pub(super) fn case<S>(&self, subject: S) -> Case<S> {
        let (clock, left) = (self.clock.clone(), self.clone());
        Case::new(subject).stimulus(move || _ = clock.skip()).gone(move || {
            assert_eq!(left.left(), (0, 0), "left behind by {:?}", left.mine.went_off());
        })
    }

    pub(super) fn refuses(&self, refusal: Refusal) -> Mean {
        Mean { refusal, mine: self.mine.clone() }
    }
}

/// An error whose ruling and whose text step on the mine.
#[derive(Debug)]
pub(super) struct Mean {
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
pub(super) struct Item {
    value: u64,
    mine: Mine,
}

pub(super) fn token(item: &Item) -> u64 {
    item.mine.step("token");
    item.value
}

pub(super) fn version(item: &Item) -> u64 {
    item.mine.step("version");
    item.value
}

pub(super) fn number(item: &Item) -> u64 {
    item.mine.step("number");
    item.value
}

/// What an owner answers to one ask.
#[derive(Clone)]
pub(super) enum Reply {
    Refuse(Refusal),
    Silent,
    /// Serves these one by one, with a pause behind each, and then this error, or silence.
    Serve(Vec<u64>, Option<Refusal>),
}

pub(super) type Items = LocalBoxStream<'static, Result<Item, Mean>>;
pub(super) type Asking = LocalBoxFuture<'static, Result<Answer<Items>, Mean>>;

/// Asks of an owner that answers with `replies`, one an ask, and after them all serves 9 and 10, and is gone.
pub(super) fn asks(parts: &Parts, replies: Vec<Reply>) -> impl FnMut(Ask<u64>) -> Asking + use<> {
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
pub(super) fn pausing<S: Stream>(stream: S) -> impl Stream<Item = S::Item> {
    stream.then(|item| pausing_once(ready(item)))
}

pub(super) async fn pausing_once<F: Future>(future: F) -> F::Output {
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
pub(super) fn joins(
    parts: &Parts,
) -> impl FnMut(rideout::Activation) -> Option<LocalBoxFuture<'static, ()>> + use<> {
    let parts = parts.clone();
    move |activation| -> Option<LocalBoxFuture<'static, ()>> {
        parts.mine.step("join");
        let teardown = parts.mined("join, polled", pausing_once(ready(())));
        (activation == tag("A1")).then(|| Box::pin(teardown) as _)
    }
}

pub(super) fn beats(parts: &Parts) -> impl FnMut(Beat) + Send + use<> {
    let mine = parts.mine.clone();
    move |_| mine.step("beat")
}

/// News that matter to nobody, and then silence.
pub(super) fn news(parts: &Parts) -> LocalBoxStream<'static, News> {
    let news = stream::iter([News::Ended(Some(tag("E0"))), News::Arrived(tag("A1"))]);
    parts.mined("news", pausing(news).chain(stream::pending())).boxed_local()
}

/// Comes by everything there is: a join, a rest, a rejection of a live subscription that is held back and
/// spread, a silent ask, and a refresh with beats beside it.
pub(super) fn scenario() -> Vec<Reply> {
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

pub(super) const EVERYBODY: [&str; 14] = [
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

pub(super) type Ridden = Result<Item, RideError<Mean>>;

/// `rider`, whose items go on to the last that there is, and to the verdict behind it.
pub(super) fn whole(
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
pub(super) fn rider(parts: &Parts) -> impl FusedStream<Item = Ridden> + use<> {
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
