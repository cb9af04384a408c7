//! What a subject keeps when foreign code panics under it (C40): a part of its own, or a waker.

use std::{
    any::Any,
    collections::BTreeSet,
    fmt::Debug,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    task::{Context, Poll, Wake, Waker},
};

use futures::stream::FusedStream;

use super::case::{Case, POLLS};
use crate::support::mine::Mine;

/// Requires of the stream of `case` that it outlives each panic of those who step on the mine, one at a
/// time: the caller sees it once; polled again it comes to an end, and dropped it leaves nothing. And
/// that `everybody` does step on it.
pub(crate) fn outlives_panics<St>(everybody: &[&'static str], case: impl Fn(&Mine) -> Case<St>)
where
    St: FusedStream<Item: Debug>,
{
    let mut went_off = BTreeSet::new();
    for steps in 0.. {
        let mines = [false, true].map(|is_dropped| {
            let mine = Mine::bears(steps);
            let case = case(&mine);
            if is_dropped {
                case.goes_where_it_panics();
            } else {
                case.outlives(&mine);
            }
            mine
        });
        let Some(who) = mines[0].went_off() else { break };
        went_off.insert(who);
    }
    assert_eq!(went_off, BTreeSet::from_iter(everybody.iter().copied()));
}

/// Panics the first time it is woken.
#[derive(Default)]
struct Bomb(AtomicBool);

const BOMB: &str = "a waker that panics";

impl Bomb {
    fn went_off(&self) -> bool {
        self.0.load(Relaxed)
    }
}

impl Wake for Bomb {
    fn wake(self: Arc<Self>) {
        if !self.0.swap(true, Relaxed) {
            // Without the hook's report.
            resume_unwind(Box::new(BOMB));
        }
    }
}

/// What else panics is an error.
fn is_the_bomb_s(payload: Box<dyn Any + Send>) {
    if payload.downcast_ref::<&str>() != Some(&BOMB) {
        resume_unwind(payload);
    }
}

fn caught<R>(code: impl FnOnce() -> R) -> Result<R, Box<dyn Any + Send>> {
    catch_unwind(AssertUnwindSafe(code))
}

impl<St: FusedStream<Item: Debug>> Case<St> {
    /// Goes on to its end, polled again where one who steps on `mine` has panicked; returns what came.
    pub(crate) fn outlives(mut self, mine: &Mine) -> Vec<St::Item> {
        let (mut items, mut panics) = (Vec::new(), 0);
        for polls in 0.. {
            assert!(polls < POLLS, "it never ends once {:?} has panicked", mine.went_off());
            match caught(|| self.step()) {
                Ok(Poll::Ready(None)) => break,
                Ok(Poll::Ready(Some(item))) => items.push(item),
                Ok(Poll::Pending) => {}
                Err(payload) => {
                    // What else panics is an error: who polls a part after its end, for one.
                    let who = mine.went_off().map(|who| format!("{who} panics"));
                    if payload.downcast_ref::<String>() != who.as_ref() || panics == 1 {
                        resume_unwind(payload);
                    }
                    panics += 1;
                    self.waits = None;
                }
            }
        }
        let who = mine.went_off();
        assert_eq!(
            panics,
            usize::from(who.is_some()),
            "the caller does not see that {who:?} panics"
        );
        self.has_ended();
        items
    }

    /// Is dropped where it has panicked, or else at its end.
    fn goes_where_it_panics(mut self) {
        for polls in 0.. {
            assert!(polls < POLLS, "it never ends");
            if let Ok(Poll::Ready(None)) | Err(_) = caught(|| self.step()) {
                break;
            }
        }
        self.goes();
    }

    /// Goes on to its end when the waker of its poll number `polls` has panicked.
    pub(super) fn outlives_a_waker_after(mut self, polls: usize) {
        let Some(before) = polls.checked_sub(1).filter(|_| self.wakers_panic) else { return };
        self.steps(before);
        self.wait();
        let bomb = Arc::new(Bomb::default());
        let waker = Waker::from(Arc::clone(&bomb));
        let mut cx = Context::from_waker(&waker);
        match caught(|| self.subject.as_mut().poll_next(&mut cx)) {
            Ok(Poll::Pending) => {}
            Ok(Poll::Ready(_)) => {
                // It does not wait. What goes with it may be asked for anew, and wake whoever still listens.
                drop(caught(|| drop(self)));
                return;
            }
            Err(payload) => is_the_bomb_s(payload),
        }
        drop(waker);
        for stimuli in 0.. {
            if bomb.went_off() {
                break;
            }
            assert!(stimuli < POLLS, "it waits, and nobody wakes it");
            caught(&mut self.stimulus).unwrap_or_else(is_the_bomb_s);
        }
        for polls in 0.. {
            assert!(polls < POLLS, "it never ends once its waker has panicked");
            match caught(|| self.step()) {
                Ok(Poll::Ready(None)) => break,
                Ok(_) => {}
                // One that drives an end is done with that first.
                Err(payload) => is_the_bomb_s(payload),
            }
        }
        assert_eq!(Arc::strong_count(&bomb), 1, "the waker that panicked is kept");
        self.goes();
    }
}
