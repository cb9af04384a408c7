//! The driver of an end: the only timers that an owner's end has.

use std::{
    any::Any,
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
    time::{Duration, Instant},
};

use pin_project::pin_project;

use super::{Lifecycle, RunLevel, State, Waiter};
use crate::{
    teardown::Completed,
    time::{Clock, DefaultTimer, Timer, later},
    unwind,
};

/// Future for the [`Lifecycle::tear_down`] method: drives the end of a lifetime, phase by phase.
///
/// | phase | waits for | at most |
/// |---|---|---|
/// | until it is told | the end to be asked for | – |
/// | `Quiescing` | the replies that are pending | [`quiesce`](TearDown::quiesce), 2 s; then a sticky fact |
/// | `DisposeHosted` | its children, all told together | [`children`](TearDown::children), 5 s |
/// | `ShutDown` | `last`, the owner's own code | the watchdog |
/// | `Dead` | the last words to be said, teardown to be completed | – |
///
/// The watchdog forces an end that makes no progress (no phase passed, no child gone) for
/// [`watchdog`](TearDown::watchdog), 8 s, or takes [`longest`](TearDown::longest), 32 s, in all: the
/// children's ends too, `last` is dropped, and one `ERROR` says so (`R39`). No timer exists before the
/// end is asked for, and none once the teardown is completed.
///
/// # Panics
///
/// A panic of `last` reaches the caller of the poll when the owner is dead and its teardown completed:
/// it holds nobody up. The timer of tokio needs a runtime.
///
/// # Cancel safety
///
/// The end itself is the lifetime's: dropped, it stops at the level it has reached, `last` is lost, and
/// another [`tear_down`](Lifecycle::tear_down) goes on from there.
///
/// # Examples
///
/// An owner whose last code hangs:
///
/// ```
/// use std::{future, time::Duration};
///
/// use rideout::owner::{Ending, Lifecycle};
/// use tokio::time::Instant;
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let owner = Lifecycle::new("prices/eur".parse()?);
/// owner.dispose(Ending::dispose());
///
/// let began = Instant::now();
/// owner.tear_down(future::pending()).watchdog(Duration::from_secs(3)).await;
/// assert!(owner.was_forced() && owner.teardown().is_complete());
/// assert_eq!(began.elapsed(), Duration::from_secs(3));
/// # Ok(())
/// # }
/// ```
#[pin_project]
#[must_use = "futures do nothing unless polled"]
pub struct TearDown<F, T: Clock = DefaultTimer> {
    waiter: Waiter,
    timer: T,
    limits: Limits,
    #[pin]
    last: Option<F>,
    // The level that was looked at last, and the time it has, where it is bounded.
    level: RunLevel,
    #[pin]
    limit: Option<T::Sleep>,
    // `Some` once the end was asked for.
    watch: Option<Watch>,
    #[pin]
    watchdog: Option<T::Sleep>,
    completed: Option<Completed>,
    panicked: Option<Box<dyn Any + Send>>,
}

#[derive(Clone, Copy, Debug)]
struct Limits {
    quiesce: Duration,
    children: Duration,
    watchdog: Duration,
    longest: Duration,
}

/// What the watchdog has seen.
struct Watch {
    ends: Instant,
    progress: u64,
}

impl<F: Future<Output = ()>> TearDown<F> {
    pub(super) fn new(lifecycle: Lifecycle, last: F) -> Self {
        let secs = Duration::from_secs;
        let limits =
            Limits { quiesce: secs(2), children: secs(5), watchdog: secs(8), longest: secs(32) };
        Self::from_parts(Waiter::new(&lifecycle), Some(last), limits, DefaultTimer::default())
    }
}

impl<F, T: Clock> TearDown<F, T> {
    fn from_parts(waiter: Waiter, last: Option<F>, limits: Limits, timer: T) -> Self {
        Self {
            waiter,
            timer,
            limits,
            last,
            level: RunLevel::Starting,
            limit: None,
            watch: None,
            watchdog: None,
            completed: None,
            panicked: None,
        }
    }

    /// Bounds the wait for pending replies (2 s).
    pub fn quiesce(mut self, quiesce: Duration) -> Self {
        self.limits.quiesce = quiesce;
        self
    }

    /// Bounds the wait for children (5 s).
    pub fn children(mut self, children: Duration) -> Self {
        self.limits.children = children;
        self
    }

    /// Forces an end that has made no progress for so long (8 s).
    pub fn watchdog(mut self, watchdog: Duration) -> Self {
        self.limits.watchdog = watchdog;
        self
    }

    /// Forces an end that takes so long in all (32 s).
    pub fn longest(mut self, longest: Duration) -> Self {
        self.limits.longest = longest;
        self
    }

    /// Takes the time from another timer than tokio's.
    pub fn timer<U: Timer>(self, timer: U) -> TearDown<F, U> {
        TearDown::from_parts(self.waiter, self.last, self.limits, timer)
    }
}

impl<F, T: Clock> fmt::Debug for TearDown<F, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TearDown")
            .field("lifecycle", &self.waiter.lifecycle)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl<F: Future<Output = ()>, T: Timer> Future for TearDown<F, T> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // Each turn passes a level or ends, but for children that go one by one.
        loop {
            let lifecycle = self.waiter.lifecycle.clone();
            let (level, progress) = lifecycle.look();
            if level < RunLevel::Quiescing {
                ready!(self.as_mut().project().waiter.poll(cx, told));
                continue;
            }
            if level == RunLevel::Dead {
                return self.dead(cx);
            }
            self.as_mut().watch(progress);
            if self.level != level {
                self.as_mut().enter(level);
            }
            if level == RunLevel::HostedDisposed {
                lifecycle.rise(RunLevel::ShutDown);
                continue;
            }
            if level == RunLevel::ShutDown && self.as_mut().poll_last(cx).is_ready() {
                // A panic of the last words comes after all else that is to be done.
                if let Err(payload) = unwind::caught(|| lifecycle.die()) {
                    self.as_mut().project().panicked.get_or_insert(payload);
                }
                continue;
            }
            let moves = |state: &State| state.progress != progress || state.children_are_gone();
            if self.as_mut().project().waiter.poll(cx, moves).is_ready() {
                if level == RunLevel::DisposeHosted && lifecycle.has_no_children() {
                    lifecycle.rise(RunLevel::HostedDisposed);
                }
                continue;
            }
            let this = self.as_mut().project();
            if unwind::poll_away(this.limit, cx).is_ready() {
                lifecycle.time_is_up(level);
                continue;
            }
            ready!(unwind::poll_away(this.watchdog, cx));
            self.as_mut().bite(level);
        }
    }
}

/// Whether the end was asked for.
fn told(state: &State) -> bool {
    state.level >= RunLevel::Quiescing
}

impl<F: Future<Output = ()>, T: Timer> TearDown<F, T> {
    /// A phase begins.
    fn enter(self: Pin<&mut Self>, level: RunLevel) {
        let mut this = self.project();
        let limit = match level {
            RunLevel::Quiescing => Some(this.limits.quiesce),
            RunLevel::DisposeHosted => Some(this.limits.children),
            _ => None,
        };
        *this.level = level;
        this.limit.set(limit.map(|limit| this.timer.sleep(limit)));
        if level == RunLevel::DisposeHosted {
            this.waiter.lifecycle.dispose_children();
        }
    }

    /// Sets the watchdog anew where there was progress.
    fn watch(self: Pin<&mut Self>, progress: u64) {
        let mut this = self.project();
        let now = this.timer.now();
        let watch = this.watch.get_or_insert_with(|| Watch {
            ends: later(now, this.limits.longest),
            progress: progress.wrapping_sub(1),
        });
        if watch.progress != progress {
            watch.progress = progress;
            let left = watch.ends.saturating_duration_since(now);
            this.watchdog.set(Some(this.timer.sleep(left.min(this.limits.watchdog))));
        }
    }

    /// The owner's own last code; a panic of it is kept until the owner is dead.
    fn poll_last(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.project();
        if this.last.is_none() {
            return Poll::Ready(());
        }
        unwind::caught(|| unwind::poll_away(this.last, cx)).unwrap_or_else(|payload| {
            this.panicked.get_or_insert(payload);
            Poll::Ready(())
        })
    }

    /// The watchdog forces the end.
    fn bite(self: Pin<&mut Self>, level: RunLevel) {
        let this = self.project();
        let lifecycle = &this.waiter.lifecycle;
        tracing::error!(
            owner = %lifecycle.address(),
            activation = %lifecycle.activation(),
            ?level,
            "teardown made no progress for {:?}, or took {:?} in all, and was forced",
            this.limits.watchdog,
            this.limits.longest,
        );
        if let Err(payload) = unwind::caught(|| lifecycle.force()) {
            this.panicked.get_or_insert(payload);
        }
    }

    /// It is dead, perhaps by force: the last words may still be being said on another thread.
    fn dead(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut this = self.project();
        this.limit.set(None);
        this.watchdog.set(None);
        if let Err(payload) = unwind::caught(|| this.last.set(None)) {
            this.panicked.get_or_insert(payload);
        }
        let teardown = this.waiter.lifecycle.teardown();
        ready!(Pin::new(this.completed.get_or_insert_with(|| teardown.completed())).poll(cx));
        match this.panicked.take() {
            Some(payload) => std::panic::resume_unwind(payload),
            None => Poll::Ready(()),
        }
    }
}

impl State {
    fn children_are_gone(&self) -> bool {
        self.level == RunLevel::DisposeHosted && self.children.is_empty()
    }
}

impl Lifecycle {
    fn look(&self) -> (RunLevel, u64) {
        self.shared.state.with(|state| (state.level, state.progress))
    }

    fn rise(&self, level: RunLevel) {
        self.shared.state.announce(|state| state.rise(level));
    }

    fn has_no_children(&self) -> bool {
        self.shared.state.with(|state| state.children.is_empty())
    }

    /// Tells the children, all together; the subtree is frozen since this one was told.
    fn dispose_children(&self) {
        let ending = self.ending().unwrap_or_else(super::Ending::dispose);
        for child in self.children() {
            child.dispose(ending.of_children(self.address()));
        }
    }

    /// A phase has had its time.
    fn time_is_up(&self, level: RunLevel) {
        match level {
            RunLevel::Quiescing => {
                let timed_out = self.shared.state.announce(|state| {
                    let times_out = state.level == level && state.rise(RunLevel::DisposeHosted);
                    state.quiesce_timed_out |= times_out;
                    times_out
                });
                if timed_out {
                    tracing::warn!(
                        owner = %self.address(),
                        activation = %self.activation(),
                        "quiescing ran out of time while replies were pending"
                    );
                }
            }
            _ => self.rise(RunLevel::HostedDisposed),
        }
    }
}
