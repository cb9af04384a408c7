//! R44 and R44b under every interleaving: a held answer is given once, the state first, frames one by one.
//! The production code behind a loom lock, one property a model.

mod common {
    pub(crate) mod check;
}

use std::{
    sync::atomic::Ordering::Relaxed,
    time::{Duration, Instant},
};

use common::check::check;
use loom::{
    sync::{Arc, Mutex, atomic::AtomicUsize},
    thread::{self, JoinHandle},
};
use rideout_under_loom::owner::{Asked, Frame, Released, Subscribers};

const KEY: &str = "eur";
const IDLE: Duration = Duration::from_secs(60);

/// What became of one ask's answer.
#[derive(Default)]
struct Given {
    acknowledged: AtomicUsize,
    refused: AtomicUsize,
}

/// The answer to one ask, to be given once.
#[derive(Clone, Default)]
struct Answer(Arc<Given>);

impl Answer {
    fn acknowledge(&self) {
        self.0.acknowledged.fetch_add(1, Relaxed);
    }

    fn refuse(&self) {
        self.0.refused.fetch_add(1, Relaxed);
    }

    /// How often it was given, as an acknowledgement and as a refusal.
    fn given(&self) -> (usize, usize) {
        (self.0.acknowledged.load(Relaxed), self.0.refused.load(Relaxed))
    }

    /// Whether it was an acknowledgement; given once in any case.
    fn is_acknowledged(&self) -> bool {
        match self.given() {
            (1, 0) => true,
            (0, 1) => false,
            lost_or_both => panic!("(acknowledged, refused) = {lost_or_both:?}"),
        }
    }
}

/// An owner with several threads. It sends under its lock, for frames go in the order of the calls.
#[derive(Clone)]
struct Owner {
    state: Arc<Mutex<State>>,
    began: Instant,
}

struct State {
    subscribers: Subscribers<&'static str, u32, Answer>,
    // Each frame, by the attempt that its sink came with, and its number.
    sent: Vec<(u32, u64)>,
}

impl State {
    fn send(&mut self, frames: impl IntoIterator<Item = Frame<&'static str, u32, Answer>>) {
        for frame in frames {
            assert_eq!(frame.attempt, frame.sink, "not the newest sink");
            self.sent.push((frame.sink, frame.number));
            // The state first.
            frame.acknowledgements.iter().for_each(Answer::acknowledge);
        }
    }
}

fn refuse(ended: impl IntoIterator<Item = Released<&'static str, u32, Answer>>) -> usize {
    let ended = ended.into_iter().inspect(|it| it.held.iter().for_each(Answer::refuse));
    ended.count()
}

impl Owner {
    fn new() -> Owner {
        let state = State { subscribers: Subscribers::new().idle_release(IDLE), sent: Vec::new() };
        Owner { state: Arc::new(Mutex::new(state)), began: Instant::now() }
    }

    fn with<R>(&self, act: impl FnOnce(&mut State) -> R) -> R {
        act(&mut self.state.lock().unwrap())
    }

    /// An ask arrives; its sink is told by its attempt.
    fn ask(&self, attempt: u32) -> Answer {
        let answer = Answer::default();
        self.with(|state| {
            let (sink, reply) = (attempt, answer.clone());
            let asked = state.subscribers.ask(KEY, attempt, sink, reply, self.began);
            let Asked { frame, refused, .. } = asked;
            state.send(frame);
            refused.iter().for_each(Answer::refuse);
        });
        answer
    }

    fn publish(&self) {
        self.with(|state| {
            let frames = state.subscribers.publish();
            state.send(frames);
        });
    }

    fn unsubscribe(&self, attempt: u32) -> bool {
        let released = self.with(|state| state.subscribers.unsubscribe(KEY, attempt));
        refuse(released) == 1
    }

    fn release(&self) {
        refuse(self.with(|state| state.subscribers.release(KEY)));
    }

    fn end(&self) {
        refuse(self.with(|state| state.subscribers.end()));
    }

    fn is_empty(&self) -> bool {
        self.with(|state| state.subscribers.is_empty())
    }

    fn spawn<T: 'static>(&self, f: impl FnOnce(Owner) -> T + 'static) -> JoinHandle<T> {
        let owner = self.clone();
        thread::spawn(move || f(owner))
    }

    /// The frames that one sink was sent, which are numbered from 1.
    fn frames(&self, sink: u32) -> u64 {
        let sent = self.with(|state| state.sent.clone());
        let numbers: Vec<_> = sent.into_iter().filter(|it| it.0 == sink).map(|it| it.1).collect();
        let count = numbers.len() as u64;
        assert!(numbers.iter().copied().eq(1..=count), "a gap to {sink}: {numbers:?}");
        count
    }
}

/// An ask and the first state: held or not, it is acknowledged, behind frame 1 to its own sink.
#[test]
fn an_ask_as_the_first_state_comes_is_acknowledged() {
    check("first_state", None, 2, || {
        let owner = Owner::new();
        let publishing = owner.spawn(|owner| owner.publish());
        let answer = owner.ask(1);
        publishing.join().unwrap();
        assert!(answer.is_acknowledged());
        assert_eq!(owner.frames(1), 1);
    });
}

/// A re-assert beside a held answer, as the first state comes: both are acknowledged, behind a frame 1
/// to the newest sink, and there is one registration.
#[test]
fn a_re_assert_as_the_first_state_comes_is_acknowledged() {
    check("re_assert", None, 2, || {
        let owner = Owner::new();
        let first = owner.ask(1);
        let publishing = owner.spawn(|owner| owner.publish());
        let again = owner.ask(2);
        publishing.join().unwrap();
        assert!(first.is_acknowledged() && again.is_acknowledged());
        assert_eq!(owner.frames(2), 1);
        assert!(owner.frames(1) <= 1);
        assert_eq!(owner.with(|state| state.subscribers.len()), 1);
    });
}

/// A re-assert beside a held answer, the first state and `ends`, at once: each answer is given once, as
/// an acknowledgement where it had its frame and as a refusal where it had none.
fn given_once(name: &'static str, ends: fn(Owner), judge: fn(&Owner)) {
    check(name, None, 5, move || {
        let owner = Owner::new();
        let first = owner.ask(1);
        let publishing = owner.spawn(|owner| owner.publish());
        let ending = owner.spawn(ends);
        let again = owner.ask(2);
        publishing.join().unwrap();
        ending.join().unwrap();
        judge(&owner);
        assert_eq!(again.is_acknowledged(), owner.frames(2) == 1);
        assert!(!first.is_acknowledged() || owner.frames(1) + owner.frames(2) > 0);
    });
}

#[test]
fn a_held_re_assert_is_given_once_as_its_owner_ends() {
    given_once("the_end", |owner| owner.end(), |owner| assert!(owner.is_empty()));
}

/// As before, but the stream alone ends; where that came first, the re-assert is served behind it.
#[test]
fn a_held_re_assert_is_given_once_as_its_stream_ends() {
    given_once("release", |owner| owner.release(), |owner| owner.end());
    given_once("goodbye", |owner| _ = owner.unsubscribe(2), |owner| owner.end());
}

/// The goodbye of an earlier ask comes as its stream is asked for again: that one is served.
#[test]
fn a_late_goodbye_leaves_the_re_assert() {
    check("late_goodbye", None, 2, || {
        let owner = Owner::new();
        let first = owner.ask(1);
        let going = owner.spawn(|owner| owner.unsubscribe(1));
        let again = owner.ask(2);
        let ended = going.join().unwrap();
        owner.publish();
        assert!(again.is_acknowledged());
        assert_eq!(first.is_acknowledged(), !ended);
        assert_eq!((owner.frames(1), owner.frames(2)), (0, 1));
    });
}

/// A sign of life as the stream falls due: who is told that it is served, is served.
#[test]
fn who_is_told_that_it_is_served_is_served() {
    check("beat_and_idle", None, 2, || {
        let owner = Owner::new();
        let answer = owner.ask(1);
        let due = owner.began + IDLE;
        let idle = owner.spawn(move |owner| {
            refuse(owner.with(|state| state.subscribers.release_idle(due)));
        });
        let is_served = owner.with(|state| state.subscribers.beat(KEY, due));
        idle.join().unwrap();
        owner.publish();
        assert_eq!(answer.is_acknowledged(), is_served);
        assert_eq!(owner.frames(1), u64::from(is_served));
    });
}

/// Changes, a resync and a re-assert from three threads: each sink has its frames without a gap.
#[test]
fn frames_are_numbered_one_by_one() {
    check("frames", None, 5, || {
        let owner = Owner::new();
        let first = owner.ask(1);
        let changing = owner.spawn(|owner| {
            owner.publish();
            owner.publish();
        });
        let resyncing = owner.spawn(|owner| {
            owner.with(|state| {
                let frame = state.subscribers.push(KEY);
                state.send(frame);
            });
        });
        let again = owner.ask(2);
        changing.join().unwrap();
        resyncing.join().unwrap();
        assert!(first.is_acknowledged() && again.is_acknowledged());
        assert!((1..=3).contains(&owner.frames(2)) && owner.frames(1) <= 3);
    });
}
