//! The harness of the contracts itself: each fault that a stream or a future can have is found.

use std::{
    future::{Ready, pending, poll_fn, ready},
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
};

use crate::contracts::harness::{
    After, Case, Strict, is_bounded, is_bounded_as_a_future, keeps, keeps_as_a_future,
    keeps_as_a_future_then, outlives_panics,
};
use crate::support::{
    hand_clock::{Count, Token},
    mine::Mine,
};
use futures::{FutureExt, Stream, StreamExt, stream, stream::FusedStream};

/// What may be wrong with a stream.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    PromisesMore,
    PromisesLess,
    SaysItIsOver,
    HearsNothing,
    IsNotFused,
    DoesNotSayItIsOver,
    PromisesMoreAtItsEnd,
    LeavesItsWaker,
    LeavesSomething,
    WakesItsFirstTask,
    KeepsItsFirstTask,
    IsLostWithAWaker,
    Swallows,
    IsStuck,
    PollsAgain,
    LeavesWhatPanicked,
}

use Fault::{
    DoesNotSayItIsOver, HearsNothing, IsLostWithAWaker, IsNotFused, IsStuck, KeepsItsFirstTask,
    LeavesItsWaker, LeavesSomething, LeavesWhatPanicked, PollsAgain, PromisesLess, PromisesMore,
    PromisesMoreAtItsEnd, SaysItIsOver, Swallows, WakesItsFirstTask,
};

/// What is said to a stream, and who is told.
#[derive(Default)]
struct Said {
    items: usize,
    waker: Option<Waker>,
    // The other tasks that a fault keeps.
    kept: Vec<Waker>,
}

/// Yields twice, as soon as it is told to, and does one thing wrong.
struct Faulty {
    fault: Fault,
    said: Arc<Mutex<Said>>,
    part: Option<Strict<Ready<()>>>,
    yielded: usize,
    is_over: bool,
    token: Option<Token>,
}

impl Faulty {
    /// Comes to its part, which may panic.
    fn comes_by_its_part(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(part) = &mut self.part else { return Poll::Ready(()) };
        let fault = self.fault;
        match catch_unwind(AssertUnwindSafe(|| part.poll_unpin(cx))) {
            Ok(polled) => {
                self.part = None;
                polled
            }
            Err(_) if fault == Swallows => {
                self.part = None;
                Poll::Ready(())
            }
            Err(panic) => {
                if fault != PollsAgain {
                    self.part = None;
                }
                if fault == LeavesWhatPanicked {
                    std::mem::forget(self.token.take());
                }
                self.is_over = fault == IsStuck;
                std::panic::resume_unwind(panic)
            }
        }
    }
}

impl Stream for Faulty {
    type Item = ();

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<()>> {
        let this = &mut *self;
        if this.fault == IsStuck && this.is_over && this.yielded < 2 {
            return Poll::Pending;
        }
        if this.is_over {
            return Poll::Ready((this.fault == IsNotFused).then_some(()));
        }
        std::task::ready!(this.comes_by_its_part(cx));
        let mut said = this.said.lock().unwrap();
        if this.yielded == 2 {
            this.is_over = true;
            return Poll::Ready(None);
        }
        if said.items > this.yielded {
            this.yielded += 1;
            return Poll::Ready(Some(()));
        }
        match this.fault {
            HearsNothing => {}
            WakesItsFirstTask => _ = said.waker.get_or_insert_with(|| cx.waker().clone()),
            KeepsItsFirstTask => {
                let old = said.waker.replace(cx.waker().clone());
                said.kept.extend(old.filter(|old| !old.will_wake(cx.waker())));
            }
            _ => said.waker = Some(cx.waker().clone()),
        }
        Poll::Pending
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self.fault {
            PromisesMoreAtItsEnd => (0, None),
            _ if self.is_over => (0, Some(0)),
            PromisesMore => (2, None),
            PromisesLess => (0, Some(1)),
            _ => (2 - self.yielded, Some(2 - self.yielded)),
        }
    }
}

impl FusedStream for Faulty {
    fn is_terminated(&self) -> bool {
        match self.fault {
            SaysItIsOver => true,
            DoesNotSayItIsOver => false,
            _ => self.is_over,
        }
    }
}

impl Drop for Faulty {
    fn drop(&mut self) {
        match self.fault {
            LeavesItsWaker => {}
            LeavesSomething => std::mem::forget(self.token.take()),
            _ => *self.said.lock().unwrap_or_else(|it| it.into_inner()) = Said::default(),
        }
    }
}

fn case(fault: Fault, mine: Option<&Mine>) -> Case<Faulty> {
    let (said, alive) = (Arc::<Mutex<Said>>::default(), Count::default());
    let part = mine.map(|mine| Strict::new(ready(())).mined("part", mine));
    let token = Some(alive.one());
    let faulty = Faulty { fault, said: Arc::clone(&said), part, yielded: 0, is_over: false, token };
    let says = move || {
        let mut said = said.lock().unwrap();
        said.items += 1;
        let waker = said.waker.take();
        // Woken under the lock, its panic poisons that.
        let guard = (fault == IsLostWithAWaker).then_some(said);
        waker.into_iter().for_each(Waker::wake);
        drop(guard);
    };
    Case::new(faulty).stimulus(says).gone(move || assert_eq!(alive.get(), 0, "something is left"))
}

/// What the harness finds, without a report of the panic's hook.
fn found(check: impl FnOnce()) -> Option<String> {
    let panic = catch_unwind(AssertUnwindSafe(check)).err()?;
    let text = panic.downcast_ref::<String>().cloned();
    Some(
        text.or_else(|| panic.downcast_ref::<&str>().map(|it| (*it).to_owned()))
            .unwrap_or_default(),
    )
}

#[test]
fn every_fault_of_a_stream() {
    assert_eq!(found(|| keeps(|| case(Fault::None, None))), None);
    for (fault, says) in [
        (PromisesMore, "at least 2 after 1, but 1 came"),
        (PromisesLess, "at most Some(1) after 0, not 2"),
        (SaysItIsOver, "terminated, and yet"),
        (HearsNothing, "it waits, and nobody wakes it"),
        (IsNotFused, "not fused"),
        (DoesNotSayItIsOver, "over, and not terminated"),
        (PromisesMoreAtItsEnd, "left: (0, None)"),
        (LeavesItsWaker, "it is gone, and its waker is kept"),
        (LeavesSomething, "something is left"),
        (WakesItsFirstTask, "the old task is kept"),
        (KeepsItsFirstTask, "the old task is kept"),
        (IsLostWithAWaker, "PoisonError"),
    ] {
        let found = found(|| keeps(|| case(fault, None)));
        assert!(found.as_ref().is_some_and(|it| it.contains(says)), "{fault:?}: {found:?}");
    }
    let spared = found(|| keeps(|| case(IsLostWithAWaker, None).sound_wakers()));
    assert_eq!(spared, None, "no waker panics");
}

#[test]
fn every_fault_in_a_panic() {
    let outlives = |fault| found(|| outlives_panics(&["part"], |mine| case(fault, Some(mine))));
    assert_eq!(outlives(Fault::None), None);
    for (fault, says) in [
        (Swallows, "the caller does not see that"),
        (IsStuck, "it waits, and nobody wakes it"),
        (PollsAgain, "polled after its end"),
        (LeavesWhatPanicked, "something is left"),
    ] {
        let found = outlives(fault);
        assert!(found.as_ref().is_some_and(|it| it.contains(says)), "{fault:?}: {found:?}");
    }
    let nobody =
        found(|| outlives_panics(&["part", "another"], |mine| case(Fault::None, Some(mine))));
    assert!(nobody.is_some_and(|it| it.contains("another")), "who never panics is missed");
}

#[test]
fn every_fault_of_a_poll_that_is_endless() {
    let endless = |_| stream::repeat(());
    let drains = found(|| {
        is_bounded(32, |turns| {
            let mut input = turns.of(endless(()));
            stream::poll_fn(move |cx| {
                while input.poll_next_unpin(cx).is_ready() {}
                Poll::<Option<()>>::Pending
            })
        })
    });
    assert!(drains.is_some_and(|it| it.contains("more than 32 turns")));

    let forgets = found(|| {
        is_bounded(32, |turns| {
            let mut input = turns.of(endless(()));
            stream::poll_fn(move |cx| {
                let _ = input.poll_next_unpin(cx);
                Poll::<Option<()>>::Pending
            })
        })
    });
    assert!(forgets.is_some_and(|it| it.contains("nobody says so")));

    let idle = found(|| {
        is_bounded_as_a_future(32, |_| {
            poll_fn(|cx| {
                cx.waker().wake_by_ref();
                Poll::<()>::Pending
            })
        })
    });
    assert!(idle.is_some_and(|it| it.contains("of an endless input")));
}

#[test]
fn what_is_not_said_of_a_future_that_was_ready() {
    let often = |then: Poll<()>| {
        let mut polls = 0;
        Case::new(poll_fn(move |_| {
            polls += 1;
            if polls == 1 { Poll::Ready(()) } else { then }
        }))
    };
    assert_eq!(found(|| keeps_as_a_future_then(After::Ready, || often(Poll::Ready(())))), None);
    assert_eq!(found(|| keeps_as_a_future_then(After::Pending, || often(Poll::Pending))), None);
    assert!(found(|| keeps_as_a_future_then(After::Ready, || often(Poll::Pending))).is_some());
    assert!(found(|| keeps_as_a_future_then(After::Pending, || often(Poll::Ready(())))).is_some());
    assert!(found(|| keeps_as_a_future(|| Case::new(pending::<()>()))).is_some());
}

#[test]
#[should_panic(expected = "polled after its end")]
fn who_polls_after_the_end() {
    let mut strict = Strict::new(stream::iter([(); 0]));
    assert_eq!(strict.next().now_or_never(), Some(None));
    let _ = strict.next().now_or_never();
}
