//! A clock that the test moves by hand, as a user's own timer, and parts that count.
//!
//! All of it is strict: a sleep, an ask or a stream that is polled after it was over panics.

#![allow(dead_code, reason = "each test file uses its own part of it")]

#[path = "../words/mod.rs"]
mod words;

pub(crate) use self::words::*;

use std::{
    collections::{BTreeMap, BTreeSet},
    future::{Pending, Ready, pending, ready},
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

use futures::{
    Stream, StreamExt,
    future::Either,
    stream::{self, BoxStream},
};
use rideout::{Refusal, time::Timer};

/// Polls a stream once, for a task that nobody hears of.
pub(crate) fn next<S: Stream + Unpin>(stream: &mut S) -> Poll<Option<S::Item>> {
    next_for(stream, Waker::noop())
}

/// Polls a stream once, for the task of `waker`.
pub(crate) fn next_for<S: Stream + Unpin>(stream: &mut S, waker: &Waker) -> Poll<Option<S::Item>> {
    Pin::new(stream).poll_next(&mut Context::from_waker(waker))
}

/// A timer of no patience: what is not longer than a pace is over at once, and all else never.
#[derive(Clone, Copy)]
pub(crate) struct Hasty(Instant);

impl Hasty {
    pub(crate) fn new() -> Self {
        Hasty(Instant::now())
    }
}

impl Timer for Hasty {
    type Sleep = Either<Ready<()>, Pending<()>>;

    fn sleep(&self, duration: Duration) -> Self::Sleep {
        if duration <= ms(500) { Either::Left(ready(())) } else { Either::Right(pending()) }
    }

    fn now(&self) -> Instant {
        self.0
    }
}

/// Requires that the caller sees a panic.
pub(crate) fn panics<R>(f: impl FnOnce() -> R) {
    let caught = catch_unwind(AssertUnwindSafe(f));
    assert!(caught.is_err(), "the caller sees the panic");
}

/// Panics once, at one of the steps on it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Mine(Arc<Mutex<Buried>>);

#[derive(Debug, Default)]
struct Buried {
    // How many steps it still bears; `None` for all there are.
    bears: Option<u32>,
    stepped_on: BTreeSet<&'static str>,
    went_off: Option<&'static str>,
}

impl Mine {
    /// One that bears so many steps, and not the one after them.
    pub(crate) fn bears(steps: u32) -> Self {
        Mine(Arc::new(Mutex::new(Buried { bears: Some(steps), ..Buried::default() })))
    }

    fn buried(&self) -> MutexGuard<'_, Buried> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A step of what is named so.
    pub(crate) fn step(&self, who: &'static str) {
        let mut buried = self.buried();
        buried.stepped_on.insert(who);
        match buried.bears {
            Some(0) => {
                (buried.bears, buried.went_off) = (None, Some(who));
                drop(buried);
                // Without the hook's report: the tests go off a thousand times.
                resume_unwind(Box::new(format!("{who} panics")));
            }
            Some(more) => buried.bears = Some(more - 1),
            None => {}
        }
    }

    /// Whose step it was that set it off.
    pub(crate) fn went_off(&self) -> Option<&'static str> {
        self.buried().went_off
    }

    /// Who has stepped on it.
    pub(crate) fn stepped_on(&self) -> BTreeSet<&'static str> {
        self.buried().stepped_on.clone()
    }
}

/// How many of something are alive.
#[derive(Debug, Clone, Default)]
pub(crate) struct Count(Arc<AtomicUsize>);

impl Count {
    pub(crate) fn get(&self) -> usize {
        self.0.load(Relaxed)
    }

    /// One more, for as long as the token lives.
    pub(crate) fn one(&self) -> Token {
        self.0.fetch_add(1, Relaxed);
        Token(self.clone())
    }
}

#[derive(Debug)]
pub(crate) struct Token(Count);

impl Drop for Token {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Relaxed);
    }
}

/// A clock that stands still until it is moved.
#[derive(Debug, Clone)]
pub(crate) struct Clock {
    time: Arc<Mutex<Time>>,
    mine: Mine,
}

#[derive(Debug)]
struct Time {
    began: Instant,
    now: Instant,
    made: u64,
    // Of the sleeps that are not over: when they are, and who waits for it.
    sleeps: BTreeMap<u64, (Option<Instant>, Option<Waker>)>,
}

impl Clock {
    pub(crate) fn new() -> Self {
        Clock::mined(Mine::default())
    }

    /// A clock that steps on `mine` with all that is asked of it.
    pub(crate) fn mined(mine: Mine) -> Self {
        let now = Instant::now();
        let time = Time { began: now, now, made: 0, sleeps: BTreeMap::new() };
        Clock { time: Arc::new(Mutex::new(time)), mine }
    }

    fn time(&self) -> MutexGuard<'_, Time> {
        self.time.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Moves the clock, and wakes whose time has come.
    pub(crate) fn advance(&self, by: Duration) {
        let mut woken = Vec::new();
        {
            let mut time = self.time();
            time.now += by;
            let now = time.now;
            for (until, waker) in time.sleeps.values_mut() {
                if until.is_some_and(|until| until <= now) {
                    woken.extend(waker.take());
                }
            }
        }
        woken.into_iter().for_each(Waker::wake);
    }

    /// Moves the clock to the end of the next sleep, and returns by how much; `None` without one that
    /// ends.
    pub(crate) fn skip(&self) -> Option<Duration> {
        let left = {
            let time = self.time();
            let next = time.sleeps.values().filter_map(|(until, _)| *until).min()?;
            next.saturating_duration_since(time.now)
        };
        self.advance(left);
        Some(left)
    }

    /// How far it has been moved.
    pub(crate) fn elapsed(&self) -> Duration {
        let time = self.time();
        time.now - time.began
    }

    /// How many sleeps there are, over or not.
    pub(crate) fn sleeps(&self) -> usize {
        self.time().sleeps.len()
    }

    /// How many sleeps have been made.
    pub(crate) fn made(&self) -> u64 {
        self.time().made
    }
}

impl Timer for Clock {
    type Sleep = Sleep;

    fn sleep(&self, duration: Duration) -> Sleep {
        self.mine.step("sleep");
        let mut time = self.time();
        time.made += 1;
        let (number, until) = (time.made, time.now.checked_add(duration));
        time.sleeps.insert(number, (until, None));
        Sleep { clock: self.clone(), number, over: false }
    }

    fn now(&self) -> Instant {
        self.mine.step("now");
        self.time().now
    }
}

#[derive(Debug)]
pub(crate) struct Sleep {
    clock: Clock,
    number: u64,
    over: bool,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        assert!(!self.over, "a sleep was polled after it was over");
        self.over = true;
        self.clock.mine.step("sleep, polled");
        let over = {
            let mut time = self.clock.time();
            let now = time.now;
            let (until, waker) = time.sleeps.get_mut(&self.number).expect("not dropped");
            let over = until.is_some_and(|until| until <= now);
            *waker = (!over).then(|| cx.waker().clone());
            over
        };
        self.over = over;
        if over { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.clock.time().sleeps.remove(&self.number);
    }
}

/// A subscription that panics when it is polled after its end or its error (`C37`).
pub(crate) struct Strict<T> {
    stream: BoxStream<'static, Result<T, Refusal>>,
    // Whether it is, or a poll of it panicked.
    over: bool,
    alive: Option<Token>,
}

impl<T: Send + 'static> Strict<T> {
    pub(crate) fn new(stream: impl Stream<Item = Result<T, Refusal>> + Send + 'static) -> Self {
        Strict { stream: stream.boxed(), over: false, alive: None }
    }

    /// Serves `parts`, and is over.
    pub(crate) fn of(parts: impl IntoIterator<Item = Result<T, Refusal>>) -> Self {
        let parts: Vec<_> = parts.into_iter().collect();
        Strict::new(stream::iter(parts))
    }

    /// Serves `items`, and stays open.
    pub(crate) fn open(items: impl IntoIterator<Item = T>) -> Self {
        let items: Vec<_> = items.into_iter().map(Ok).collect();
        Strict::new(stream::iter(items).chain(stream::pending()))
    }

    /// Is counted for as long as it lives.
    pub(crate) fn counted(self, count: &Count) -> Self {
        Strict { alive: Some(count.one()), ..self }
    }
}

impl<T> Stream for Strict<T> {
    type Item = Result<T, Refusal>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        assert!(!self.over, "a stream was polled after it was over");
        self.over = true;
        let next = self.stream.poll_next_unpin(cx);
        self.over = matches!(next, Poll::Ready(None | Some(Err(_))));
        next
    }
}
