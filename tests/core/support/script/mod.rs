//! A scripted owner: what it answers to each ask, when, and what it saw of its riders.
//!
//! Its streams panic when they are polled after their end (`C37`), and it counts what of a rider is
//! alive, so that every test can say that nothing was left (`R17`, `R20c`). Times are milliseconds
//! since the owner was made, in virtual time.

mod alive;
pub(crate) mod budgets;
mod reply;
pub(crate) mod who;

pub(crate) use self::{
    alive::{Alive, Counting, Live},
    reply::{Part, Reply, Serve, after, serve},
};

use std::{cell::RefCell, collections::HashMap, rc::Rc};

use futures::{
    FutureExt, Stream, StreamExt,
    future::{LocalBoxFuture, pending},
    stream,
};
use rideout::{
    Activation, Classify, Kind, News, Refusal, RideError, RideOut, Ruling,
    activation::StreamId,
    carrier::End,
    ledger::{Cause, Charge},
    rider::{Answer, Ask, NoJoin, NoNews, RideOutBuilder},
};
use tokio::time::Instant;

use super::{
    hand_clock::{address, ms},
    words::tag,
};

/// No test waits longer, so that one of a rider that never ends fails, and does not hang.
const AN_HOUR: u64 = 3_600_000;

/// Never, as a time.
pub(crate) const NEVER: u64 = u64::MAX;

pub(crate) type Asking = LocalBoxFuture<'static, Result<Answer<Live>, Refusal>>;
pub(crate) type Asks<P> = Box<dyn FnMut(Ask<P>) -> Asking>;
pub(crate) type Joins = Box<dyn FnMut(Activation) -> Option<LocalBoxFuture<'static, ()>>>;
pub(crate) type Rider<P = ()> = RideOut<Asks<P>, NoJoin, NoNews, P, Counting>;
pub(crate) type Builder<P = ()> = RideOutBuilder<Asks<P>, NoJoin, NoNews, P, Counting>;

/// Runs `future` where time stands still until everybody waits.
pub(crate) fn in_virtual_time<F: Future>(future: F) -> F::Output {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_time().start_paused(true).build().expect("a runtime");
    runtime.block_on(future)
}

/// One ask as the owner saw it.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) at: u64,
    pub(crate) stream: StreamId,
    pub(crate) attempt: u32,
    pub(crate) charge: Charge,
    pub(crate) resume: Option<u64>,
    /// How many subscriptions of the owner's were alive when it came.
    pub(crate) streams: usize,
    /// How many other asks were out.
    pub(crate) asks: usize,
}

/// The scripted owner. A handle: clones share it.
#[derive(Clone)]
pub(crate) struct Owner(Rc<Inner>);

/// What the owner replies to each ask.
type Script = Box<dyn FnMut(&Asked) -> Reply>;

pub(crate) struct Inner {
    began: Instant,
    script: RefCell<Script>,
    asked: RefCell<Vec<Asked>>,
    teardowns: RefCell<HashMap<Activation, u64>>,
    looked: RefCell<Vec<(u64, Activation)>>,
    pub(crate) asks: Alive,
    pub(crate) streams: Alive,
    pub(crate) joins: Alive,
    pub(crate) news: Alive,
    pub(crate) timer: Counting,
}

impl std::ops::Deref for Owner {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}

impl Owner {
    pub(crate) fn scripted(script: impl FnMut(&Asked) -> Reply + 'static) -> Self {
        Owner(Rc::new(Inner {
            began: Instant::now(),
            script: RefCell::new(Box::new(script)),
            asked: RefCell::default(),
            teardowns: RefCell::default(),
            looked: RefCell::default(),
            asks: Alive::default(),
            streams: Alive::default(),
            joins: Alive::default(),
            news: Alive::default(),
            timer: Counting::default(),
        }))
    }

    /// Answers with one after the other, and with the last one for ever.
    pub(crate) fn answers<const N: usize>(replies: [Reply; N]) -> Self {
        Owner::scripted(move |asked| {
            let index = usize::try_from(asked.attempt).expect("few asks") - 1;
            replies[index.min(N - 1)].clone()
        })
    }

    /// Lets the teardown of `digits` be observed: it completes at `at`.
    pub(crate) fn teardown(self, digits: &str, at: u64) -> Self {
        self.teardowns.borrow_mut().insert(tag(digits), at);
        self
    }

    pub(crate) fn rider(&self) -> Rider {
        self.builder().build()
    }

    /// A rider of this owner that is to be given more.
    pub(crate) fn builder(&self) -> Builder {
        RideOut::builder(address(), self.source()).timer(self.timer.clone())
    }

    /// A rider that resumes behind its last item.
    pub(crate) fn resuming(&self) -> Rider<u64> {
        self.builder_resuming().build()
    }

    /// A rider that resumes behind its last item, and is to be given more.
    pub(crate) fn builder_resuming(&self) -> Builder<u64> {
        RideOut::builder_resuming(address(), |item: &u64| *item, self.source())
            .timer(self.timer.clone())
    }

    fn source<P: Copy + 'static>(&self) -> Asks<P>
    where
        Token: From<P>,
    {
        let owner = self.clone();
        Box::new(move |ask: Ask<P>| {
            let resume = ask.resume.and_then(|token| Token::from(token).0);
            owner.ask(ask.stream, ask.attempt, ask.charge, resume)
        })
    }

    fn ask(&self, stream: StreamId, attempt: u32, charge: Charge, resume: Option<u64>) -> Asking {
        let (at, streams, asks) = (self.now(), self.streams.count(), self.asks.count());
        let asked = Asked { at, stream, attempt, charge, resume, streams, asks };
        // A rider that asks at memory speed fails its test, and does not hang it.
        assert!(asked.attempt < 50_000, "asked too often");
        let reply = (self.script.borrow_mut())(&asked);
        self.asked.borrow_mut().push(asked);
        let (owner, one) = (self.clone(), self.asks.one());
        async move {
            let _one = one;
            owner.answer(reply).await
        }
        .boxed_local()
    }

    async fn answer(&self, mut reply: Reply) -> Result<Answer<Live>, Refusal> {
        loop {
            match reply {
                Reply::Refuse(refusal) => return Err(refusal),
                Reply::Silent => pending().await,
                Reply::After(late, next) => {
                    self.reach(self.now() + late).await;
                    reply = *next;
                }
                Reply::Serve(serve) => return Ok(self.open(serve)),
            }
        }
    }

    fn open(&self, serve: Serve) -> Answer<Live> {
        let (owner, opened) = (self.clone(), self.now());
        let parts = stream::iter(serve.parts).then(move |(after, part)| {
            let owner = owner.clone();
            async move {
                owner.reach(opened + after).await;
                match part {
                    Part::Item(item) => Some(Ok(item)),
                    Part::Fails(refusal) => Some(Err(refusal)),
                    Part::Completes => None,
                }
            }
        });
        let whole =
            parts.chain(stream::pending()).take_while(|it| std::future::ready(it.is_some()));
        let parts = whole.filter_map(std::future::ready).boxed_local();
        let answer = Answer::new(Live::new(parts, self.streams.one()));
        match serve.by {
            Some(by) => answer.served_by(by),
            None => answer,
        }
    }

    /// Waits until `at`, and not a turn longer where that is over.
    pub(crate) async fn reach(&self, at: u64) {
        if at == NEVER {
            pending::<()>().await;
        }
        if at > self.now() {
            tokio::time::sleep_until(self.began + ms(at)).await;
        }
    }

    /// The join of a rider: the teardowns that can be observed.
    pub(crate) fn join(&self) -> Joins {
        let owner = self.clone();
        Box::new(move |activation| {
            owner.looked.borrow_mut().push((owner.now(), activation.clone()));
            let at = *owner.teardowns.borrow().get(&activation)?;
            let (owner, one) = (owner.clone(), owner.joins.one());
            Some(
                async move {
                    let _one = one;
                    owner.reach(at).await;
                }
                .boxed_local(),
            )
        })
    }

    /// News by their times, and then none for ever.
    pub(crate) fn news<const N: usize>(&self, news: [(u64, News); N]) -> Live<News> {
        self.news_of(news.into())
    }

    pub(crate) fn news_of(&self, news: Vec<(u64, News)>) -> Live<News> {
        let owner = self.clone();
        let parts = stream::iter(news).then(move |(at, news)| {
            let owner = owner.clone();
            async move {
                owner.reach(at).await;
                news
            }
        });
        let parts = parts.chain(stream::pending()).boxed_local();
        Live::new(parts, self.news.one())
    }

    pub(crate) fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).expect("no test runs so long")
    }

    /// When the asks came.
    pub(crate) fn times(&self) -> Vec<u64> {
        self.asked.borrow().iter().map(|asked| asked.at).collect()
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.borrow().clone()
    }

    /// When which teardown was looked at.
    pub(crate) fn looked(&self) -> Vec<(u64, String)> {
        self.looked.borrow().iter().map(|(at, tag)| (*at, tag.to_string())).collect()
    }

    /// What of its riders is alive: asks, streams, joins, news, sleeps.
    pub(crate) fn alive(&self) -> [usize; 5] {
        let Inner { asks, streams, joins, news, timer, .. } = &**self;
        [asks, streams, joins, news, &timer.0].map(Alive::count)
    }
}

struct Token(Option<u64>);

impl From<()> for Token {
    fn from((): ()) -> Self {
        Token(None)
    }
}

impl From<u64> for Token {
    fn from(token: u64) -> Self {
        Token(Some(token))
    }
}

/// What a reader saw.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Seen {
    Item(u64),
    Verdict(Kind),
    GaveUp(Cause),
    Completed,
}

/// Items alone, each with when it was seen.
pub(crate) fn items(items: &[(u64, u64)]) -> Vec<(u64, Seen)> {
    items.iter().map(|(at, item)| (*at, Seen::Item(*item))).collect()
}

/// Reads `rider` until it ends or `until` comes, or an hour: what was seen, and when.
pub(crate) async fn watch<R>(owner: &Owner, rider: &mut R, until: u64) -> Vec<(u64, Seen)>
where
    R: Stream<Item = Result<u64, RideError<Refusal>>> + Unpin,
{
    let until = until.min(owner.now() + AN_HOUR);
    let mut all = Vec::new();
    loop {
        let next = tokio::select! {
            biased;
            () = owner.reach(until) => return all,
            next = rider.next() => next,
        };
        let seen = match next {
            Some(Ok(item)) => Seen::Item(item),
            Some(Err(error)) => ended(error),
            None => Seen::Completed,
        };
        let over = seen == Seen::Completed;
        all.push((owner.now(), seen));
        if over {
            return all;
        }
    }
}

fn ended(error: RideError<Refusal>) -> Seen {
    match error.into_end() {
        End::GaveUp { report, .. } => Seen::GaveUp(report.cause),
        End::Verdict(refusal) => match refusal.classify(&address()) {
            Ruling::Verdict(kind) => Seen::Verdict(kind),
            other => panic!("{other:?} is no verdict: {refusal}"),
        },
        other => panic!("what is {other:?}?"),
    }
}

/// The next of `stream`, within an hour.
pub(crate) async fn next<S: Stream + Unpin>(stream: &mut S) -> Option<S::Item> {
    let next = tokio::time::timeout(ms(AN_HOUR), stream.next());
    next.await.expect("something within an hour")
}
