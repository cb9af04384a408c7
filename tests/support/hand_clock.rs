//! A clock that the test moves by hand, as a user's own timer, and parts that count.
//!
//! It is strict: a sleep that is polled after it was over panics.

use std::{
    collections::BTreeMap,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

use rideout::{Address, time::Timer};

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
#[derive(Clone)]
pub(crate) struct Clock {
    time: Arc<Mutex<Time>>,
    // Is told what is asked of the clock.
    asked: Arc<dyn Fn(&'static str) + Send + Sync>,
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
        Clock::telling(|_| {})
    }

    /// A clock that calls `asked` with all that is asked of it.
    pub(crate) fn telling(asked: impl Fn(&'static str) + Send + Sync + 'static) -> Self {
        let now = Instant::now();
        let time = Time { began: now, now, made: 0, sleeps: BTreeMap::new() };
        Clock { time: Arc::new(Mutex::new(time)), asked: Arc::new(asked) }
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

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clock").field("time", &self.time()).finish_non_exhaustive()
    }
}

impl Timer for Clock {
    type Sleep = Sleep;

    fn sleep(&self, duration: Duration) -> Sleep {
        (self.asked)("sleep");
        let mut time = self.time();
        time.made += 1;
        let (number, until) = (time.made, time.now.checked_add(duration));
        time.sleeps.insert(number, (until, None));
        Sleep { clock: self.clone(), number, over: false }
    }

    fn now(&self) -> Instant {
        (self.asked)("now");
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
        (self.clock.asked)("sleep, polled");
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

pub(crate) fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

pub(crate) fn address() -> Address {
    "prices/eur".parse().expect("a valid address")
}
