//! The driver of an end: the only timers that an owner's end has.

use std::{
    any::Any,
    fmt, mem,
    pin::Pin,
    task::{Context, Poll, ready},
    time::{Duration, Instant},
};

use pin_project::pin_project;

use super::{Ending, Lifecycle, RunLevel, State, Waiter};
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
/// | `Quiescing` | the replies that are pending | [`quiesce`](TearingDown::quiesce), 2 s; then a sticky fact |
/// | `DisposeHosted` | its children, all told together | [`children`](TearingDown::children), 5 s |
/// | `ShutDown` | `last`, the owner's own code | the watchdog |
/// | `Dead` | the last words to be said, teardown to be completed | – |
///
/// The watchdog forces an end that makes no progress (no phase passed, no child gone) for
/// [`watchdog`](TearingDown::watchdog), 8 s, or takes [`longest`](TearingDown::longest), 32 s, in all: the
/// children's ends too, `last` is dropped, and one `ERROR` says so (`R39`). No timer exists before the
/// end is asked for, and none once the teardown is completed. Once ready it stays ready: it may be polled
/// again.
///
/// # Panics
///
/// A panic of `last`, of a last word, or of a waker reaches the caller of the poll when the owner is
/// dead and its teardown completed: it holds nobody up. The timer of tokio needs a runtime.
///
/// # Cancel safety
///
/// The end itself is the lifetime's: dropped, it stops at the level it has reached, `last` is lost, and
/// another [`tear_down`](Lifecycle::tear_down) goes on from there, with limits that begin anew.
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
pub struct TearingDown<F, T: Clock = DefaultTimer> {
    waiter: Waiter,
    timer: T,
    limits: Limits,
    #[pin]
    last: Option<F>,
    // The level that was entered last, and the time it has, where it is bounded.
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

impl<F: Future<Output = ()>> TearingDown<F> {
    pub(super) fn new(lifecycle: Lifecycle, last: F) -> Self {
        let secs = Duration::from_secs;
        let limits =
            Limits { quiesce: secs(2), children: secs(5), watchdog: secs(8), longest: secs(32) };
        Self::from_parts(Waiter::new(&lifecycle), Some(last), limits, DefaultTimer::default())
    }
}

impl<F, T: Clock> TearingDown<F, T> {
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
    pub fn timer<U: Timer>(self, timer: U) -> TearingDown<F, U> {
        TearingDown::from_parts(self.waiter, self.last, self.limits, timer)
    }
}

impl<F, T: Clock> fmt::Debug for TearingDown<F, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TearingDown")
            .field("lifecycle", &self.waiter.lifecycle)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl<F: Future<Output = ()>, T: Timer> Future for TearingDown<F, T> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // Each turn passes a level or ends, but for children that go one by one.
        loop {
            let (level, progress) = self.waiter.lifecycle.look();
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
                self.as_mut().keep(|lifecycle| lifecycle.rise(RunLevel::ShutDown));
                continue;
            }
            if level == RunLevel::ShutDown && self.as_mut().poll_last(cx).is_ready() {
                self.as_mut().put_away();
                self.as_mut().keep(|lifecycle| lifecycle.die(false));
                continue;
            }
            let moves = |state: &State| state.progress != progress || state.children_are_gone();
            if self.as_mut().project().waiter.poll(cx, moves).is_ready() {
                if level == RunLevel::DisposeHosted {
                    self.as_mut().keep(Lifecycle::hosted_disposed);
                }
                continue;
            }
            let this = self.as_mut().project();
            if unwind::poll_away(this.limit, cx).is_ready() {
                self.as_mut().keep(|lifecycle| lifecycle.time_is_up(level));
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

impl<F: Future<Output = ()>, T: Timer> TearingDown<F, T> {
    /// A phase begins.
    fn enter(mut self: Pin<&mut Self>, level: RunLevel) {
        let mut this = self.as_mut().project();
        let limit = match level {
            RunLevel::Quiescing => Some(this.limits.quiesce),
            RunLevel::DisposeHosted => Some(this.limits.children),
            _ => None,
        };
        // The timer is foreign: where it panics, the phase is entered again.
        this.limit.set(limit.map(|limit| this.timer.sleep(limit)));
        *this.level = level;
        if level == RunLevel::DisposeHosted {
            self.keep(Lifecycle::tell_children);
        }
    }

    /// Sets the watchdog anew where there was progress.
    fn watch(self: Pin<&mut Self>, progress: u64) {
        let mut this = self.project();
        let is_seen = this.watch.as_ref().is_some_and(|watch| watch.progress == progress);
        if is_seen && this.watchdog.is_some() {
            return;
        }
        let now = this.timer.now();
        let ends = later(now, this.limits.longest);
        let watch = this.watch.get_or_insert(Watch { ends, progress });
        let left = watch.ends.saturating_duration_since(now);
        this.watchdog.set(Some(this.timer.sleep(left.min(this.limits.watchdog))));
        watch.progress = progress;
    }

    /// The owner's own last code; a panic of it is kept until the owner is dead.
    fn poll_last(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.project();
        if this.last.is_none() {
            return Poll::Ready(());
        }
        unwind::caught(|| unwind::poll_away(this.last, cx)).unwrap_or_else(|payload| {
            unwind::keep_first(this.panicked, payload);
            Poll::Ready(())
        })
    }

    /// The watchdog forces the end.
    fn bite(mut self: Pin<&mut Self>, level: RunLevel) {
        let Limits { watchdog, longest, .. } = self.limits;
        // Kept, as all that is foreign: who writes it down holds no end up either.
        self.as_mut().keep(|lifecycle| {
            if !lifecycle.bites() {
                return;
            }
            tracing::error!(
                owner = %lifecycle.address(),
                activation = %lifecycle.activation(),
                ?level,
                "teardown made no progress for {watchdog:?}, or took {longest:?} in all, and was forced",
            );
        });
        self.as_mut().put_away();
        self.keep(Lifecycle::force);
    }

    /// It is dead, perhaps by force: the last words may still be being said on another thread.
    fn dead(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.as_mut().put_away();
        let this = self.project();
        let teardown = this.waiter.lifecycle.teardown();
        ready!(Pin::new(this.completed.get_or_insert_with(|| teardown.completed())).poll(cx));
        match this.panicked.take() {
            Some(payload) => std::panic::resume_unwind(payload),
            None => Poll::Ready(()),
        }
    }

    /// Drops the timers and the last code, before anybody hears that the teardown is completed.
    fn put_away(self: Pin<&mut Self>) {
        let mut this = self.project();
        let dropped = unwind::caught(|| {
            this.limit.set(None);
            this.watchdog.set(None);
            this.last.set(None);
        });
        if let Err(payload) = dropped {
            unwind::keep_first(this.panicked, payload);
        }
    }

    /// Runs what wakes others or says last words. The first panic of theirs waits until the owner is
    /// dead.
    fn keep(self: Pin<&mut Self>, code: impl FnOnce(&Lifecycle)) {
        let this = self.project();
        if let Err(payload) = unwind::caught(|| code(&this.waiter.lifecycle)) {
            unwind::keep_first(this.panicked, payload);
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

    /// Returns whether it is for the caller to report that the end is forced: once, whoever drives it.
    fn bites(&self) -> bool {
        let bites = |state: &mut State| {
            state.level < RunLevel::Dead && !mem::replace(&mut state.reported, true)
        };
        self.shared.state.with(bites)
    }

    fn rise(&self, level: RunLevel) {
        self.shared.state.announce(|state| state.rise(level));
    }

    /// Passes on where the children are gone.
    fn hosted_disposed(&self) {
        let state = &self.shared.state;
        state.announce(|state| state.children_are_gone() && state.rise(RunLevel::HostedDisposed));
    }

    /// Tells the children, all together; the subtree is frozen since this one was told.
    fn tell_children(&self) {
        let ending = self.ending().unwrap_or_else(Ending::dispose);
        let told = self.children().into_iter().map(|child| {
            let ending = ending.of_children(self.address());
            move || _ = child.tell(ending)
        });
        unwind::all(told);
    }

    /// A phase has had its time.
    fn time_is_up(&self, level: RunLevel) {
        if level != RunLevel::Quiescing {
            return self.rise(RunLevel::HostedDisposed);
        }
        let mut timed_out = false;
        let woken = unwind::caught(|| {
            self.shared.state.announce(|state| {
                timed_out = state.level == level && state.rise(RunLevel::DisposeHosted);
                state.quiesce_timed_out |= timed_out;
                timed_out
            });
        });
        if timed_out {
            tracing::warn!(
                owner = %self.address(),
                activation = %self.activation(),
                "quiescing ran out of time while replies were pending"
            );
        }
        unwind::resume_first([woken]);
    }
}
