//! `Driver` (R38): the driver of an end, phase by phase, at exact instants. What ends one that hangs is
//! in `watchdog.rs`.

mod children;

use std::{
    future::{pending, poll_fn, ready},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    task::{Poll, Wake, Waker},
    time::{Duration, Instant},
};

use crate::support::{
    by_hand::{Task, kept, poll},
    driven::{Driven, child, owner, said, secs},
    hand_clock::{self, Clock, Count, ms},
    heard::Heard,
    paused::Paused,
};
use futures::future::BoxFuture;
use rideout::{
    owner::{Ending, Lifecycle, PendingReply, ReplyPath, RunLevel},
    time::Timer,
};
use tracing::Level;

#[test]
fn no_timer_before_the_end_is_asked_for_and_none_after() {
    let owner = owner();
    let mut driven = Driven::new(&owner, ready(()));
    assert!(!driven.poll());
    owner.started();
    let reply = owner.pending();
    drop(child(&owner));
    assert!(!driven.poll());
    assert_eq!(driven.clock.made(), 0);
    owner.dispose(Ending::dispose());
    assert!(!driven.poll());
    assert_eq!(driven.clock.sleeps(), 2, "the quiescing's, and the watchdog's");
    drop(reply);
    assert!(driven.poll() && driven.poll(), "over, and it stays so");
    assert_eq!(driven.clock.sleeps(), 0);
}

/// A child that goes while nobody was told wakes nobody: no one waits for it.
#[test]
fn a_living_owner_s_driver_is_not_woken_for_a_child() {
    let owner = owner();
    let (task, waker) = Task::new();
    let mut driver = Box::pin(owner.driver_on(Clock::new(), ready(())));
    assert!(poll(&mut driver, &waker).is_pending());
    drop(child(&owner));
    assert_eq!(task.wakes(), 0);
    owner.dispose(Ending::dispose());
    assert_eq!(task.wakes(), 1);
    assert!(poll(&mut driver, &waker).is_ready());
    assert_eq!(kept(&task), 0);
}

/// R38: on the event, and in that instant.
#[test]
fn quiescing_ends_with_the_last_reply() {
    let heard = Heard::begin();
    let owner = owner();
    let (task, waker) = Task::new();
    let clock = Clock::new();
    let mut driver = Box::pin(owner.driver_on(clock.clone(), ready(())));
    let replies = [owner.pending(), owner.pending()];
    owner.dispose(Ending::dispose());
    assert!(poll(&mut driver, &waker).is_pending());
    let made = clock.made();
    for reply in replies {
        assert_eq!((task.wakes(), owner.level()), (0, RunLevel::Quiescing));
        clock.advance(ms(700));
        drop(reply);
    }
    assert_eq!((task.wakes(), owner.level()), (1, RunLevel::DisposeHosted));
    assert!(made <= 2, "no timer but the two limits");
    assert!(poll(&mut driver, &waker).is_ready());
    assert_eq!((clock.elapsed(), clock.sleeps()), (ms(1_400), 0));
    assert!(!owner.quiesce_timed_out() && said(&heard).is_empty());
}

#[test]
fn quiescing_takes_two_seconds_at_most_and_then_says_so_for_ever() {
    let heard = Heard::begin();
    let owner = owner();
    let mut driven = Driven::new(&owner, ready(()));
    let mut second = Driven::new(&owner, ready(()));
    let reply = owner.pending();
    owner.dispose(Ending::dispose());
    assert!(!second.poll());
    driven.lasts(secs(2));
    assert!(!owner.quiesce_timed_out() && !owner.is_refusing());
    second.clock.advance(secs(2));
    assert!(driven.poll() && second.poll());
    drop(reply);
    assert!(owner.quiesce_timed_out() && owner.teardown().is_complete() && !owner.was_forced());

    let [warning] = &heard.all()[..] else { panic!("one warning: {:?}", heard.all()) };
    assert_eq!(warning.level, Level::WARN);
    assert_eq!(warning.field("owner"), owner.address().as_str());
    assert_eq!(warning.field("activation"), owner.activation().as_str());
}

/// A timer whose every sleep is over at its first poll, as the last reply goes out.
struct Photo(Arc<Mutex<Option<PendingReply>>>);

impl Timer for Photo {
    type Sleep = BoxFuture<'static, ()>;

    fn sleep(&self, _: Duration) -> Self::Sleep {
        let reply = Arc::clone(&self.0);
        Box::pin(async move { drop(reply.lock().unwrap().take()) })
    }

    fn now(&self) -> Instant {
        Instant::now()
    }
}

/// The reply and the limit in one instant: the reply was first, and no time ran out.
#[test]
fn a_reply_that_goes_out_as_its_time_is_up_is_in_time() {
    let heard = Heard::begin();
    let owner = owner();
    let reply = Arc::new(Mutex::new(Some(owner.pending())));
    let mut driver = Box::pin(owner.driver_on(Photo(reply), ready(())));
    owner.dispose(Ending::dispose());
    assert!(poll(&mut driver, Waker::noop()).is_ready());
    assert!(!owner.quiesce_timed_out() && said(&heard).is_empty());
}

#[test]
fn last_runs_when_the_children_are_gone() {
    let parent = owner();
    let child = child(&parent);
    let ran = Arc::new(AtomicUsize::new(0));
    let last = {
        let (ran, parent, child) = (Arc::clone(&ran), parent.clone(), child.clone());
        async move {
            assert_eq!((parent.level(), child.level()), (RunLevel::ShutDown, RunLevel::Dead));
            ran.fetch_add(1, Relaxed);
        }
    };
    let mut driven = Driven::new(&parent, last);
    parent.dispose(Ending::dispose());
    driven.lasts(secs(4));
    assert_eq!(ran.load(Relaxed), 0);
    assert!(Driven::new(&child, ready(())).poll());
    assert!(driven.poll());
    assert_eq!(ran.load(Relaxed), 1);
}

/// Looks at the owner, its timers and its last code when the completion wakes it.
struct Looks {
    owner: Lifecycle,
    clock: Clock,
    alive: Count,
    seen: AtomicUsize,
}

impl Wake for Looks {
    fn wake(self: Arc<Self>) {
        assert_eq!(self.owner.level(), RunLevel::Dead);
        assert_eq!((self.clock.sleeps(), self.alive.get()), (0, 0), "gone the moment it completes");
        self.seen.fetch_add(1, Relaxed);
    }
}

/// Has three last words said, and returns those that were.
fn last_words(owner: &Lifecycle) -> Arc<Mutex<Vec<u32>>> {
    let words = Arc::new(Mutex::new(Vec::new()));
    for nth in 0..3 {
        let (life, words) = (owner.clone(), Arc::clone(&words));
        owner.on_death(move || {
            assert_eq!(life.level(), RunLevel::Dead);
            assert!(!life.teardown().is_complete());
            life.force(); // once is enough
            words.lock().unwrap().push(nth);
        });
    }
    words
}

/// R38, R39: dead, the last words in their order, completed; each once, by the driver or by force; and
/// the timers and the last code are gone before that.
#[test]
fn dead_then_the_last_words_then_completed() {
    type Way = fn(&Lifecycle, &mut dyn FnMut() -> bool);
    let ways: [(&str, Way); 4] = [
        ("driven", |_, poll| assert!(poll())),
        ("forced, before it is driven", |owner, _| owner.force()),
        ("forced by its last code", |_, poll| assert!(poll())),
        ("forced by its watchdog", |_, poll| while !poll() {}),
    ];
    for (case, way) in ways {
        let (owner, clock, alive) = (owner(), Clock::new(), Count::default());
        let words = last_words(&owner);
        let seen = Arc::new(Looks {
            owner: owner.clone(),
            clock: clock.clone(),
            alive: alive.clone(),
            seen: AtomicUsize::new(0),
        });
        let mut completed = owner.teardown().completed();
        assert!(poll(&mut completed, &Waker::from(Arc::clone(&seen))).is_pending());
        owner.dispose(Ending::dispose());

        let (life, token) =
            (owner.clone(), (case != "forced by its last code").then(|| alive.one()));
        let last = async move {
            let _token = token;
            match case {
                "forced by its last code" => life.force(),
                "forced by its watchdog" => pending().await,
                _ => {}
            }
        };
        let mut driver = (case != "forced, before it is driven")
            .then(|| Box::pin(owner.driver_on(clock.clone(), last).watchdog(secs(1))));
        if case == "forced by its last code" {
            // Its own timers are running while it forces: this one is told by the driver's end.
            completed = owner.teardown().completed();
        }
        way(&owner, &mut || {
            let over = poll(driver.as_mut().unwrap(), Waker::noop()).is_ready();
            clock.advance(secs(1));
            over
        });
        assert_eq!(*words.lock().unwrap(), [0, 1, 2], "{case}");
        assert!(poll(&mut completed, Waker::noop()).is_ready(), "{case}");
        let looked = usize::from(case != "forced by its last code");
        assert_eq!(seen.seen.load(Relaxed), looked, "{case}");
        assert_eq!((clock.sleeps(), alive.get()), (0, 0), "{case}");
        let late = Arc::clone(&words);
        owner.on_death(move || late.lock().unwrap().push(9));
        assert_eq!(*words.lock().unwrap(), [0, 1, 2, 9], "{case}: late, and at once");
        assert!(poll(&mut owner.teardown().completed(), Waker::noop()).is_ready(), "replayed");
    }
}

#[test]
fn any_number_waits_for_the_end() {
    let owner = owner();
    let tasks: Vec<_> = (0..1_000).map(|_| Task::new()).collect();
    let mut joins: Vec<_> = tasks.iter().map(|_| owner.teardown().completed()).collect();
    for (join, (_, waker)) in joins.iter_mut().zip(&tasks) {
        assert!(poll(join, waker).is_pending());
    }
    owner.dispose(Ending::dispose());
    assert!(tasks.iter().all(|(task, _)| task.wakes() == 0), "told to end is not ended");
    assert!(Driven::new(&owner, ready(())).poll());
    assert!(tasks.iter().all(|(task, _)| task.wakes() == 1));
}

/// Cancel safe: dropped at each level, and another goes on from there, with nothing left or lost.
#[test]
fn a_driver_that_is_dropped_at_any_level_is_followed_by_another() {
    let owner = owner();
    let child = child(&owner);
    let reply = owner.pending();
    let (clock, alive, task) = (Clock::new(), Count::default(), Task::new());
    let words = Arc::new(AtomicUsize::new(0));
    let drop_at = |level: RunLevel| {
        let token = alive.one();
        let last = async move {
            let _token = token;
            pending().await
        };
        let mut driver = Box::pin(owner.driver_on(clock.clone(), last));
        assert!(poll(&mut driver, &task.1).is_pending());
        assert_eq!((owner.level(), alive.get()), (level, 1));
        drop(driver);
        assert_eq!((clock.sleeps(), alive.get(), kept(&task.0)), (0, 0, 0), "{level:?}");
    };
    drop_at(RunLevel::Starting);
    owner.started();
    drop_at(RunLevel::Started);
    owner.dispose(Ending::dispose());
    drop_at(RunLevel::Quiescing);
    drop(reply);
    assert!(child.ending().is_none());
    drop_at(RunLevel::DisposeHosted);
    assert!(child.ending().is_some());
    drop_at(RunLevel::DisposeHosted);
    drop(child);
    drop_at(RunLevel::ShutDown);

    // In mid-death: a driver that looks while the last words are said waits for the completion.
    let (driver, said) = (owner.driver_on(clock.clone(), pending()), Arc::clone(&words));
    let driver = Arc::new(Mutex::new(Some(Box::pin(driver))));
    let during = Arc::clone(&driver);
    owner.on_death(move || {
        let mut during = during.lock().unwrap().take().unwrap();
        assert!(poll(&mut during, Waker::noop()).is_pending());
        said.fetch_add(1, Relaxed);
    });
    let mut driven = Driven::new(&owner, ready(()));
    assert_eq!(driven.ends(), Duration::ZERO);
    assert!(Driven::new(&owner, pending()).poll(), "and one that comes when all is over");
    assert_eq!(words.load(Relaxed), 1);
    assert!(driver.lock().unwrap().is_none());
}

/// Two drivers of one lifetime: each last code runs or is dropped, the end comes once.
#[test]
fn two_drivers_end_it_once() {
    let owner = owner();
    let teardown = owner.teardown().clone();
    let words = Arc::new(AtomicUsize::new(0));
    let said = Arc::clone(&words);
    owner.on_death(move || _ = said.fetch_add(1, Relaxed));
    let mut hangs = Driven::new(&owner, pending::<()>());
    let turns = AtomicUsize::new(0);
    let mut ends = Driven::new(
        &owner,
        poll_fn(|_| match turns.fetch_add(1, Relaxed) {
            0 => Poll::Pending,
            _ => Poll::Ready(()),
        }),
    );
    owner.dispose(Ending::dispose());
    assert!(!hangs.poll() && !ends.poll());
    assert!(ends.poll() && hangs.poll());
    assert_eq!((words.load(Relaxed), ends.clock.sleeps(), hangs.clock.sleeps()), (1, 0, 0));
    assert!(teardown.is_complete() && !owner.was_forced());
}

/// R40: from when its last code runs it cannot send, and its parent speaks for it, as long as that can.
#[test]
fn while_its_last_code_runs_its_parent_speaks_for_it() {
    for parent_ends in [false, true] {
        let parent = owner();
        let owner = child(&parent);
        let grandchild = child(&owner);
        let mut driven = Driven::new(&owner, pending());
        let level_and_path = |driven: &mut Driven<_>| {
            assert!(!driven.poll());
            (owner.level(), owner.reply_path())
        };
        assert_eq!(level_and_path(&mut driven), (RunLevel::Starting, ReplyPath::Owner));
        owner.dispose(Ending::recycle());
        assert_eq!(level_and_path(&mut driven), (RunLevel::DisposeHosted, ReplyPath::Owner));
        drop(grandchild);
        if parent_ends {
            parent.dispose(Ending::dispose());
        }
        let reply_path = if parent_ends { ReplyPath::InProcess } else { ReplyPath::Parent };
        assert_eq!(level_and_path(&mut driven), (RunLevel::ShutDown, reply_path));
    }
}
