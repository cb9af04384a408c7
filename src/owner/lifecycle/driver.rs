//! The driver of an end: the only timers that an owner's end has.

use std::{
    fmt, mem,
    pin::Pin,
    task::{Context, Poll, ready},
    time::{Duration, Instant},
};

use pin_project::pin_project;

use super::{Lifecycle, RunLevel, State, waiter::Waiter};
#[cfg(feature = "tokio")]
use crate::time::TokioTimer;
use crate::{
    teardown::Completed,
    time::{Timer, later},
    unwind::{FirstPanic, poll_and_clear},
};

/// Future for the [`Lifecycle::driver`] method: drives a lifetime to its end, phase by phase.
///
/// | phase | waits for | at most |
/// |---|---|---|
/// | until it is told | the end to be asked for | – |
/// | `Quiescing` | the replies that are pending | [`quiesce`](Driver::quiesce), 2 s; then a sticky fact |
/// | `DisposeHosted` | its children, all told together | [`children`](Driver::children), 5 s |
/// | `ShutDown` | `on_end`, the owner's own code | the watchdog |
/// | `Dead` | the last words to be said, teardown to be completed | – |
///
/// The watchdog forces an end that makes no progress (no phase passed, no child gone) for
/// [`watchdog`](Driver::watchdog), 8 s, or takes [`longest`](Driver::longest), 32 s, in all: the
/// children's ends too, `on_end` is dropped, and one `ERROR` says so (`R39`). No timer exists before the
/// end is asked for, and none once the teardown is completed. Once ready it stays ready: it may be polled
/// again.
///
/// # Panics
///
/// A panic of `on_end`, of a last word, or of a waker reaches the caller of the poll when the owner is
/// dead and its teardown completed: it holds nobody up. The timer of tokio needs a runtime.
///
/// # Cancel safety
///
/// The end itself is the lifetime's: dropped, it stops at the level it has reached, `on_end` is lost, and
/// another [`driver`](Lifecycle::driver) goes on from there, with limits that begin anew.
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
/// # #[cfg(not(feature = "tokio"))]
/// # fn main() {}
/// # #[cfg(feature = "tokio")]
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let owner = Lifecycle::new("prices/eur".parse()?);
/// owner.dispose(Ending::dispose());
///
/// let began = Instant::now();
/// owner.driver(future::pending()).watchdog(Duration::from_secs(3)).await;
/// assert!(owner.was_forced() && owner.teardown().is_complete());
/// assert_eq!(began.elapsed(), Duration::from_secs(3));
/// # Ok(())
/// # }
/// ```
#[pin_project]
#[must_use = "futures do nothing unless polled"]
pub struct Driver<F, T: Timer> {
    waiter: Waiter,
    timer: T,
    limits: Limits,
    #[pin]
    on_end: Option<F>,
    // The level that was entered last, and the time it has, where it is bounded.
    level: RunLevel,
    #[pin]
    limit: Option<T::Sleep>,
    // `Some` once the end was asked for.
    watch: Option<Watch>,
    #[pin]
    watchdog: Option<T::Sleep>,
    completed: Option<Completed>,
    panics: FirstPanic,
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

impl<F, T: Timer> Driver<F, T> {
    fn new(lifecycle: &Lifecycle, timer: T, on_end: F) -> Self {
        let secs = Duration::from_secs;
        Driver {
            waiter: Waiter::new(lifecycle),
            timer,
            limits: Limits {
                quiesce: secs(2),
                children: secs(5),
                watchdog: secs(8),
                longest: secs(32),
            },
            on_end: Some(on_end),
            level: RunLevel::Starting,
            limit: None,
            watch: None,
            watchdog: None,
            completed: None,
            panics: FirstPanic::default(),
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
}

impl<F, T: Timer> fmt::Debug for Driver<F, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Driver")
            .field("lifecycle", self.waiter.lifecycle())
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl<F: Future<Output = ()>, T: Timer> Future for Driver<F, T> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // Each turn passes a level or ends, but for children that go one by one.
        loop {
            let (level, progress) = self.waiter.lifecycle().level_and_progress();
            if level < RunLevel::Quiescing {
                ready!(self.as_mut().project().waiter.poll(cx, end_is_asked_for));
                continue;
            }
            if level == RunLevel::Dead {
                return self.poll_completed(cx);
            }
            self.as_mut().reset_watchdog(progress);
            if self.level != level {
                self.as_mut().enter_phase(level);
            }
            if level == RunLevel::HostedDisposed {
                self.as_mut().run(|lifecycle| lifecycle.raise(RunLevel::ShutDown));
                continue;
            }
            if level == RunLevel::ShutDown && self.as_mut().poll_on_end(cx).is_ready() {
                self.as_mut().drop_timers_and_on_end();
                self.as_mut().run(|lifecycle| lifecycle.end_now(false));
                continue;
            }
            let has_moved = |state: &State| state.progress != progress || state.children_are_gone();
            if self.as_mut().project().waiter.poll(cx, has_moved).is_ready() {
                if level == RunLevel::DisposeHosted {
                    self.as_mut().run(Lifecycle::pass_on_without_children);
                }
                continue;
            }
            let this = self.as_mut().project();
            if poll_and_clear(this.limit, cx).is_ready() {
                self.as_mut().run(|lifecycle| lifecycle.end_phase_by_time(level));
                continue;
            }
            ready!(poll_and_clear(this.watchdog, cx));
            self.as_mut().force_by_watchdog(level);
        }
    }
}

/// Whether the end was asked for.
fn end_is_asked_for(state: &State) -> bool {
    state.level >= RunLevel::Quiescing
}

impl<F: Future<Output = ()>, T: Timer> Driver<F, T> {
    /// Begins a phase.
    fn enter_phase(mut self: Pin<&mut Self>, level: RunLevel) {
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
            self.run(Lifecycle::end_children);
        }
    }

    /// Sets the watchdog anew where there was progress.
    fn reset_watchdog(self: Pin<&mut Self>, progress: u64) {
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

    /// Polls the owner's own last code; a panic of it is kept until the owner is dead.
    fn poll_on_end(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.project();
        if this.on_end.is_none() {
            return Poll::Ready(());
        }
        this.panics.catch(|| poll_and_clear(this.on_end, cx)).unwrap_or(Poll::Ready(()))
    }

    /// Forces the end, and says so once.
    fn force_by_watchdog(mut self: Pin<&mut Self>, level: RunLevel) {
        let Limits { watchdog, longest, .. } = self.limits;
        // A panic is kept, as of all foreign code: who writes the line down holds no end up either.
        self.as_mut().run(|lifecycle| {
            if !lifecycle.is_first_to_report_force() {
                return;
            }
            tracing::error!(
                owner = %lifecycle.address(),
                activation = %lifecycle.activation(),
                ?level,
                "teardown made no progress for {watchdog:?}, or took {longest:?} in all, and was forced",
            );
        });
        self.as_mut().drop_timers_and_on_end();
        self.run(Lifecycle::force);
    }

    /// It is dead, perhaps by force: the last words may still be being said on another thread.
    fn poll_completed(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.as_mut().drop_timers_and_on_end();
        let this = self.project();
        let teardown = this.waiter.lifecycle().teardown();
        ready!(Pin::new(this.completed.get_or_insert_with(|| teardown.completed())).poll(cx));
        mem::take(this.panics).resume();
        Poll::Ready(())
    }

    /// Drops the timers and the last code, before anybody hears that the teardown is completed.
    fn drop_timers_and_on_end(self: Pin<&mut Self>) {
        let mut this = self.project();
        this.panics.catch(|| {
            this.limit.set(None);
            this.watchdog.set(None);
            this.on_end.set(None);
        });
    }

    /// Runs what wakes others or says last words. The first panic of theirs waits until the owner is
    /// dead.
    fn run(self: Pin<&mut Self>, code: impl FnOnce(&Lifecycle)) {
        let this = self.project();
        this.panics.catch(|| code(this.waiter.lifecycle()));
    }
}

impl State {
    fn children_are_gone(&self) -> bool {
        self.level == RunLevel::DisposeHosted && self.children.is_empty()
    }
}

impl Lifecycle {
    /// Returns the future that drives this lifetime to its end: it waits until the end is asked for, and
    /// is over when the teardown is completed. `on_end` is the owner's own last code, which runs when its
    /// children are gone.
    ///
    /// Spawn it at the start, beside the owner's own loop, so that a handler which hangs does not hold
    /// the end up. It holds the lifetime as a handle does: a lifetime with a driver is killed with its
    /// driver.
    ///
    /// # Examples
    ///
    /// See [`Lifecycle`] and [`Driver`].
    ///
    /// Only with the feature `tokio`: without it there is no default timer, see
    /// [`driver_on`](Lifecycle::driver_on).
    #[cfg(feature = "tokio")]
    pub fn driver<F>(&self, on_end: F) -> Driver<F, TokioTimer>
    where
        F: Future<Output = ()>,
    {
        self.driver_on(TokioTimer, on_end)
    }

    /// Returns the [`driver`](Lifecycle::driver) that takes its time from `timer`, whichever that is.
    pub fn driver_on<T: Timer, F: Future<Output = ()>>(&self, timer: T, on_end: F) -> Driver<F, T> {
        Driver::new(self, timer, on_end)
    }

    fn level_and_progress(&self) -> (RunLevel, u64) {
        self.shared.state.with(|state| (state.level, state.progress))
    }

    /// Returns whether it is for the caller to report that the end is forced: once, whoever drives it.
    fn is_first_to_report_force(&self) -> bool {
        let is_first = |state: &mut State| {
            state.level < RunLevel::Dead && !mem::replace(&mut state.reported, true)
        };
        self.shared.state.with(is_first)
    }

    fn raise(&self, level: RunLevel) {
        self.shared.state.announce(|state| state.raise(level));
    }

    /// Ends the phase of the children where they are gone.
    fn pass_on_without_children(&self) {
        let state = &self.shared.state;
        state.announce(|state| state.children_are_gone() && state.raise(RunLevel::HostedDisposed));
    }

    /// Ends a phase that has had its time.
    fn end_phase_by_time(&self, level: RunLevel) {
        if level != RunLevel::Quiescing {
            return self.raise(RunLevel::HostedDisposed);
        }
        let (mut timed_out, mut panics) = (false, FirstPanic::default());
        panics.catch(|| {
            self.shared.state.announce(|state| {
                timed_out = state.level == level && state.raise(RunLevel::DisposeHosted);
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
        panics.resume();
    }
}
