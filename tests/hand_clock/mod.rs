//! A clock that the test moves by hand, as a user's own timer, and parts that count.
//!
//! All of it is strict: a sleep, an ask or a stream that is polled after it was over panics.

#![allow(dead_code, reason = "each test file uses its own part of it")]

use std::{
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    task::{Context, Poll, Waker, ready},
    time::{Duration, Instant},
};

use futures::{
    Stream, StreamExt,
    stream::{self, BoxStream},
};
use rideout::{Activation, Address, Closing, Kind, Refusal, time::Timer};

pub(crate) fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

pub(crate) fn address() -> Address {
    "prices/eur".parse().expect("a valid address")
}

pub(crate) fn tag(digits: &str) -> Activation {
    digits.parse().expect("hex digits")
}

/// A promise by the owner's activation: `R(a)` of the cases.
pub(crate) fn by(digits: &str) -> Refusal {
    Closing::new(address()).activation(tag(digits)).at_the_door("no Subscribe")
}

/// A promise by the route: `R(rt)`.
pub(crate) fn by_route() -> Refusal {
    Refusal::host_cannot_route(&address())
}

/// A verdict.
pub(crate) fn not_found() -> Refusal {
    Refusal::new(Kind::NotFound, "nothing here")
}

/// Polls a stream once, for a task that nobody hears of.
pub(crate) fn next<S: Stream + Unpin>(stream: &mut S) -> Poll<Option<S::Item>> {
    next_for(stream, Waker::noop())
}

/// Polls a stream once, for the task of `waker`.
pub(crate) fn next_for<S: Stream + Unpin>(stream: &mut S, waker: &Waker) -> Poll<Option<S::Item>> {
    Pin::new(stream).poll_next(&mut Context::from_waker(waker))
}

/// Requires that the caller sees a panic.
pub(crate) fn panics<R>(f: impl FnOnce() -> R) {
    let caught = catch_unwind(AssertUnwindSafe(f));
    assert!(caught.is_err(), "the caller sees the panic");
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
pub(crate) struct Clock(Arc<Mutex<Time>>);

#[derive(Debug)]
struct Time {
    now: Instant,
    made: u64,
    // Of the sleeps that are not over: when they are, and who waits for it.
    sleeps: BTreeMap<u64, (Option<Instant>, Option<Waker>)>,
    // After how many readings the next one panics, and after how many sleeps the next one does.
    reading_panics: Option<u32>,
    sleep_panics: Option<u32>,
}

impl Clock {
    pub(crate) fn new() -> Self {
        Clock(Arc::new(Mutex::new(Time {
            now: Instant::now(),
            made: 0,
            sleeps: BTreeMap::new(),
            reading_panics: None,
            sleep_panics: None,
        })))
    }

    fn time(&self) -> MutexGuard<'_, Time> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// How many sleeps there are, over or not.
    pub(crate) fn sleeps(&self) -> usize {
        self.time().sleeps.len()
    }

    /// How many sleeps have been made.
    pub(crate) fn made(&self) -> u64 {
        self.time().made
    }

    /// Has the reading after `more` others panic, once.
    pub(crate) fn reading_panics_after(&self, more: u32) {
        self.time().reading_panics = Some(more);
    }

    /// Has the sleep after `more` others panic when it is made, once.
    pub(crate) fn sleep_panics_after(&self, more: u32) {
        self.time().sleep_panics = Some(more);
    }

    /// Returns whether no panic is still to come.
    pub(crate) fn has_panicked(&self) -> bool {
        let time = self.time();
        time.reading_panics.is_none() && time.sleep_panics.is_none()
    }
}

/// Whether a panic that was ordered comes now.
fn due(panics: &mut Option<u32>) -> bool {
    match panics {
        Some(0) => {
            *panics = None;
            true
        }
        Some(more) => {
            *more -= 1;
            false
        }
        None => false,
    }
}

impl Timer for Clock {
    type Sleep = Sleep;

    fn sleep(&self, duration: Duration) -> Sleep {
        assert!(!due(&mut self.time().sleep_panics), "a timer that panics");
        let mut time = self.time();
        time.made += 1;
        let (number, until) = (time.made, time.now.checked_add(duration));
        time.sleeps.insert(number, (until, None));
        Sleep { clock: self.clone(), number, over: false }
    }

    fn now(&self) -> Instant {
        assert!(!due(&mut self.time().reading_panics), "a clock that panics");
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
        let next = ready!(self.stream.poll_next_unpin(cx));
        self.over = !matches!(next, Some(Ok(_)));
        Poll::Ready(next)
    }
}
