//! `defer` (R13): the probe is called when its attempt runs, once an attempt, and is kept once.

use std::{
    cell::{Cell, RefCell},
    future::{pending, poll_fn, ready},
    panic::{AssertUnwindSafe, catch_unwind},
    rc::Rc,
    sync::{
        Arc, Barrier,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    task::{Poll, Waker},
    time::Duration,
};

use crate::support::{
    by_hand::{Task, kept, poll},
    chain::{by_owner, carrier, within},
};
use futures::{FutureExt, Stream, StreamExt, TryStreamExt, future::BoxFuture, stream};
use rideout::{
    Budget, Carrier, CarrierExt, Rejection,
    carrier::{Attempt, Defer},
    ledger::{Charge, GaveUp},
};

type Charged = Result<Charge, Box<GaveUp>>;
type Probe = Box<dyn FnMut(Charge) -> BoxFuture<'static, u32>>;
type Within = Rc<RefCell<Option<Attempt<Probe, BoxFuture<'static, u32>>>>>;

/// The charges of so many rejections, ready.
fn charges(carrier: &Carrier, rejections: usize) -> impl Stream<Item = Charged> + Unpin + use<> {
    stream::iter((0..rejections).map(|_| Rejection::by_route())).charge(carrier)
}

/// The next attempt, which is at hand.
fn next<St, F, Fut>(attempts: &mut Defer<St, F>) -> Attempt<F, Fut>
where
    St: Stream<Item = Charged> + Unpin,
    F: FnMut(Charge) -> Fut,
    Fut: Future,
{
    attempts.next().now_or_never().flatten().expect("at hand").expect("within the budget")
}

fn panics<T>(f: impl FnOnce() -> T) -> bool {
    catch_unwind(AssertUnwindSafe(f)).is_err()
}

/// C13: three refusals in a burst. The probe of each looks at the world when its attempt runs.
#[test]
fn the_probe_sees_the_world_of_its_attempt() {
    let world = Cell::new("draining");
    let mut attempts =
        charges(&carrier(), 3).defer(|charge: Charge| ready((charge.count(), world.get())));
    let [one, two, three] = [(); 3].map(|()| next(&mut attempts));
    world.set("dead");
    assert_eq!(one.now_or_never(), Some((1, "dead")));
    world.set("successor");
    assert_eq!(two.now_or_never(), Some((2, "successor")));
    world.set("successor's successor");
    assert_eq!(three.now_or_never(), Some((3, "successor's successor")));
}

#[test]
fn an_attempt_that_is_never_reached_calls_nothing() {
    let calls = Cell::new(0);
    let mut attempts = charges(&carrier(), 2).defer(|_| {
        calls.set(calls.get() + 1);
        ready(calls.get())
    });
    drop(next(&mut attempts));
    let kept = next(&mut attempts);
    drop(attempts);
    assert_eq!(calls.get(), 0);
    assert_eq!(kept.now_or_never(), Some(1), "an attempt outlives its stream");
}

/// The closure is one: what it counts, it counts over all attempts, in the order in which they run.
#[test]
fn the_closure_is_kept_once() {
    let mut calls = 0;
    let mut attempts = charges(&carrier(), 3).defer(move |_| {
        calls += 1;
        ready(calls)
    });
    let [one, two, three] = [(); 3].map(|()| next(&mut attempts));
    assert_eq!(three.now_or_never(), Some(1));
    assert_eq!(one.now_or_never(), Some(2));
    assert_eq!(two.now_or_never(), Some(3));
}

#[test]
fn the_probe_is_called_once_an_attempt() {
    let calls = Cell::new(0);
    let mut attempts = charges(&carrier(), 1).defer(|_| {
        calls.set(calls.get() + 1);
        pending::<()>()
    });
    let mut attempt = Box::pin(next(&mut attempts));
    assert!(attempt.as_mut().future().is_none(), "not called yet");
    for _ in 0..3 {
        assert!(poll(&mut attempt, Waker::noop()).is_pending());
    }
    assert_eq!(calls.get(), 1);
    assert!(attempt.as_mut().future().is_some());
    assert_eq!(attempt.charge().count(), 1);
}

/// C40: the caller sees the panic; the closure is put back, with what it counted.
#[test]
fn a_probe_that_panics_is_put_back() {
    let mut calls = 0;
    let mut attempts = charges(&carrier(), 2).defer(move |_| {
        calls += 1;
        assert_ne!(calls, 1, "a probe that panics");
        ready(calls)
    });
    let (mut one, two) = (next(&mut attempts), next(&mut attempts));
    assert!(panics(|| poll(&mut one, Waker::noop())));
    assert_eq!(two.now_or_never(), Some(2));
    assert_eq!(one.now_or_never(), Some(3), "the attempt begins anew");
}

/// A future that is over is dropped then, and with it what it held.
#[test]
fn a_future_that_is_over_is_dropped() {
    let held = Rc::new(());
    let mut attempts = charges(&carrier(), 1).defer(|_| {
        let held = Rc::clone(&held);
        async move { drop(held) }.boxed_local()
    });
    let mut attempt = next(&mut attempts);
    assert!(poll(&mut attempt, Waker::noop()).is_ready());
    assert_eq!(Rc::strong_count(&held), 1);
}

/// The probe runs another attempt of its own chain: that one waits until the closure is put back.
#[test]
fn an_attempt_that_is_polled_within_the_probe_waits_for_it() {
    let (task, waker) = Task::new();
    let inner = Within::default();
    let probe: Probe = {
        let (inner, waker) = (Rc::clone(&inner), waker.clone());
        Box::new(move |charge: Charge| {
            if let Some(inner) = &mut *inner.borrow_mut() {
                assert!(poll(inner, &waker).is_pending());
            }
            ready(charge.count()).boxed()
        })
    };
    let mut attempts = charges(&carrier(), 2).defer(probe);
    let outer = next(&mut attempts);
    *inner.borrow_mut() = Some(next(&mut attempts));

    assert_eq!((task.wakes(), outer.now_or_never()), (0, Some(1)));
    assert_eq!(task.wakes(), 1, "woken when the closure was put back");
    let waited = inner.borrow_mut().take().unwrap();
    assert_eq!(waited.now_or_never(), Some(2));
}

/// C38, C39: an attempt that waits for the probe has one waker, and takes it along.
#[test]
fn an_attempt_that_waits_for_the_probe_leaves_nothing() {
    let ((old, old_waker), (new, new_waker)) = (Task::new(), Task::new());
    let inner = Within::default();
    let probe: Probe = {
        let (inner, old, new) = (Rc::clone(&inner), Arc::clone(&old), Arc::clone(&new));
        Box::new(move |charge: Charge| {
            if let Some(mut attempt) = inner.take() {
                let before = (kept(&old), kept(&new));
                assert!(poll(&mut attempt, &old_waker).is_pending());
                assert!(poll(&mut attempt, &new_waker).is_pending());
                let (left, right) = (kept(&old) - before.0, kept(&new) - before.1);
                assert_eq!((left, right), (0, 1), "of the task that polled last");
                drop(attempt);
                assert_eq!(kept(&new), before.1, "dropped, it leaves nothing");
            }
            ready(charge.count()).boxed()
        })
    };
    let mut attempts = charges(&carrier(), 2).defer(probe);
    let outer = next(&mut attempts);
    *inner.borrow_mut() = Some(next(&mut attempts));
    assert!(outer.now_or_never().is_some());
    assert_eq!((old.wakes(), new.wakes()), (0, 0));
}

/// An attempt is a plain future: whatever drives futures drives it, here two at a time.
#[test]
fn attempts_are_driven_by_any_combinator() {
    let (out, most) = (Cell::new(0), Cell::new(0));
    let attempts = charges(&carrier(), 4).defer(|charge: Charge| {
        out.set(out.get() + 1);
        most.set(most.get().max(out.get()));
        let (out, mut polled) = (&out, false);
        poll_fn(move |cx| {
            if std::mem::replace(&mut polled, true) {
                out.set(out.get() - 1);
                return Poll::Ready(charge.count());
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        })
    });
    let answered = attempts.map_ok(|attempt| attempt.map(Ok)).try_buffered(2).try_collect();
    assert_eq!(futures::executor::block_on(answered), Ok(vec![1, 2, 3, 4]));
    assert_eq!(most.get(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn attempts_are_spawned_on_other_threads() {
    let calls = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&calls);
    let attempts = charges(&within(Budget::default().re_asks(1_000)), 1_000)
        .defer(move |charge: Charge| {
            // Load and store: it would miscount if two called it at once.
            counter.store(counter.load(Relaxed) + 1, Relaxed);
            async move { charge.count() }
        })
        .map(|attempt| tokio::spawn(attempt.expect("within the budget")));
    let tasks: Vec<_> = attempts.collect().await;
    let mut sum = 0;
    for task in tasks {
        sum += task.await.expect("no attempt panics");
    }
    assert_eq!((sum, calls.load(Relaxed)), (500_500, 1_000));
}

/// Two threads meet in the probe: the second waits, asleep, until the first is out of it.
#[test]
fn a_probe_that_takes_its_time_is_waited_for_asleep() {
    let (entered, leave) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
    let mut attempts = charges(&carrier(), 2).defer({
        let (entered, leave) = (Arc::clone(&entered), Arc::clone(&leave));
        move |charge: Charge| {
            if charge.count() == 1 {
                entered.wait();
                leave.wait();
            }
            ready(charge.count())
        }
    });
    let (slow, mut other) = (next(&mut attempts), next(&mut attempts));
    let slow = std::thread::spawn(move || slow.now_or_never());
    entered.wait();
    let (task, waker) = Task::new();
    assert!(poll(&mut other, &waker).is_pending());
    assert_eq!(task.wakes(), 0, "it spins");
    leave.wait();
    assert_eq!(slow.join().unwrap(), Some(1));
    assert_eq!(task.wakes(), 1);
    assert_eq!(poll(&mut other, &waker), Poll::Ready(2));
}

/// A limit around an attempt drops what its probe returned.
#[tokio::test(start_paused = true)]
async fn a_timeout_around_an_attempt_drops_it() {
    let held = Rc::new(());
    let mut attempts = charges(&carrier(), 1).defer(|_| {
        let held = Rc::clone(&held);
        async move {
            pending::<()>().await;
            drop(held);
        }
        .boxed_local()
    });
    let attempt = next(&mut attempts);
    assert!(tokio::time::timeout(Duration::from_secs(60), attempt).await.is_err());
    assert_eq!(Rc::strong_count(&held), 1);
}

#[test]
fn a_give_up_passes_through() {
    let carrier = within(Budget::default().activations(1));
    let mut attempts = stream::iter(["0A", "0B"].map(by_owner))
        .charge(&carrier)
        .defer(|charge: Charge| ready(charge.count()));
    assert_eq!(next(&mut attempts).now_or_never(), Some(1));
    let gave_up = attempts.next().now_or_never().flatten().expect("at hand").unwrap_err();
    assert_eq!((gave_up.count, gave_up.budget), (2, 1));
    assert!(attempts.next().now_or_never().flatten().is_none());
    assert!(attempts.get_ref().size_hint() == (0, Some(0)));
}
