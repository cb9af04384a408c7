//! Every poll is bounded (`R20b`), nothing starves (`R21`), and who is woken is who waits: polled by
//! hand, with a clock that is moved by hand.

mod extremes;
mod floods;
mod owner;

use std::{
    cell::{Cell, RefCell},
    future::{Ready, pending, ready},
    rc::Rc,
    task::{Poll, Waker},
    thread,
    time::Duration,
};

use crate::support::{
    by_hand::{Task, kept, poll},
    hand_clock::{Clock, Count, address, ms},
    heard::Heard,
    ruled::Ruled,
    strict::{Hasty, Strict, next, next_for},
    words::{by, by_route, not_found, tag},
};
use futures::{
    FutureExt, Stream, StreamExt, TryStreamExt,
    channel::{mpsc, oneshot},
    future::{BoxFuture, LocalBoxFuture},
    stream,
};
use rideout::{
    Activation, Budget, News, PointRead, Refusal, Rejection, RideOut,
    ledger::Cause,
    rider::{Answer, Ask, Phase},
    teardown::Teardown,
};
use tracing::Level;

use self::owner::{Owner, Reply, step};

/// How many turns one poll of a rider takes, and how many items pass before it looks at news.
const TURNS: u32 = 32;

type Dull = Ruled<&'static str>;

/// Refuses at once, `refusals` times, and then serves 1. Counts its asks.
fn refusing(refusals: u32, asks: &Rc<Cell<u32>>) -> impl FnMut(Ask) -> Ready<Result<Served, Dull>> {
    let asks = Rc::clone(asks);
    move |ask| {
        asks.set(ask.attempt);
        if ask.attempt <= refusals {
            ready(Err(Ruled::promise("refused", Rejection::by_route())))
        } else {
            ready(Ok(stream::iter([Ok(1)])))
        }
    }
}

type Served = stream::Iter<std::array::IntoIter<Result<u32, Dull>, 1>>;

fn endless() -> Budget {
    Budget::default().activations(u32::MAX).re_asks(u32::MAX)
}

/// Runs `f` where a recursion of any depth would be the end of it.
fn on_a_small_stack(f: impl FnOnce() + Send + 'static) {
    let thread = thread::Builder::new().stack_size(128 * 1_024).spawn(f).expect("a thread");
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

/// C36.
#[test]
fn a_million_refusals_take_no_stack_and_no_poll_takes_many() {
    on_a_small_stack(|| {
        let asks = Rc::new(Cell::new(0));
        let ask = refusing(1_000_000, &asks);
        let mut rider =
            RideOut::builder(address(), ask).timer(Hasty::new()).budget(endless()).build();
        let (task, waker) = Task::new();
        let (mut before, mut wakes, mut polls) = (0, 0, 0);
        while next_for(&mut rider, &waker).is_pending() {
            assert!(asks.get() - before <= TURNS, "{} asks in one poll", asks.get() - before);
            assert!(task.wakes() > wakes, "it has woken itself, or nobody ever would");
            (before, wakes, polls) = (asks.get(), task.wakes(), polls + 1);
        }
        assert_eq!(asks.get(), 1_000_001);
        assert!(polls >= 1_000_000 / TURNS, "{polls} polls");
    });
}

/// C36 of a read, which counts nothing and stops for nothing but its deadline.
#[test]
fn a_million_refusals_of_a_read_take_no_stack_either() {
    on_a_small_stack(|| {
        let asks = Rc::new(Cell::new(0));
        let ask = refusing(1_000_000, &asks);
        let read = PointRead::builder(address(), ask).timer(Hasty::new()).build();
        let (task, waker) = Task::new();
        let (mut read, mut before, mut wakes, mut polls) = (Box::pin(read), 0, 0, 0);
        while poll(&mut read, &waker).is_pending() {
            assert!(asks.get() - before <= TURNS, "{} asks in one poll", asks.get() - before);
            assert!(task.wakes() > wakes, "it has woken itself, or nobody ever would");
            (before, wakes, polls) = (asks.get(), task.wakes(), polls + 1);
        }
        assert_eq!(asks.get(), 1_000_001);
        assert!(polls >= 1_000_000 / TURNS, "{polls} polls");
    });
}

/// C36: on one thread with it, others have their turn, and a timeout around it comes in time. The one
/// real clock in these tests: a task that is never idle lets no virtual one go on.
#[tokio::test]
async fn beside_a_rider_that_never_rests_others_go_on() {
    let asks = Rc::new(Cell::new(0));
    let ask = refusing(u32::MAX, &asks);
    let mut rider = RideOut::builder(address(), ask).timer(Hasty::new()).budget(endless()).build();
    let local = tokio::task::LocalSet::new();
    let sibling = async {
        for _ in 0..1_000 {
            tokio::task::yield_now().await;
        }
    };
    let timed = local.run_until(async {
        let sibling = tokio::task::spawn_local(sibling);
        let timed = tokio::time::timeout(ms(20), rider.next()).await;
        (timed.is_err(), sibling.await.is_ok())
    });
    assert_eq!(timed.await, (true, true));
    assert!(asks.get() > TURNS, "it was never idle");
}

/// C28.
#[test]
fn of_a_million_refusals_the_budget_takes_its_few_and_warns_once() {
    let heard = Heard::begin();
    let asks = Rc::new(Cell::new(0));
    let mut rider =
        RideOut::builder(address(), refusing(1_000_000, &asks)).timer(Hasty::new()).build();
    let ended = (0..17).find_map(|_| match next(&mut rider) {
        Poll::Ready(ended) => ended,
        Poll::Pending => None,
    });
    let ended = ended.and_then(Result::err).expect("it gives up");
    assert_eq!((ended.gave_up().expect("a give-up").cause, asks.get()), (Cause::Route, 17));
    let warned = heard.all().iter().filter(|said| said.level == Level::WARN).count();
    assert_eq!((warned, heard.all().len()), (1, 1));
}

/// C9: it answers and dies in one poll, for ever.
#[test]
fn an_owner_that_answers_and_dies_is_asked_once_a_pace() {
    for same in [true, false] {
        let owner = Owner::new();
        let dies = move |attempt: u32| {
            let tag = if same { "A1".to_owned() } else { format!("{attempt:04X}") };
            Reply::Serve(vec![Ok(1), Err(by(&tag))])
        };
        let mut rider =
            RideOut::builder(address(), owner.answers(dies)).timer(owner.clock.clone()).build();
        let (items, goes_on) = step(&mut rider, &owner, 1_000);
        assert!(goes_on && items > 100, "it answers, so nothing bounds it");
        assert_eq!(owner.asks(), items);
        let paces = owner.asked.borrow().windows(2).all(|pair| pair[1] - pair[0] >= ms(500));
        assert!(paces, "never two asks within a pace: {:?}", owner.asked.borrow());

        let owner = Owner::new();
        let mut rider = RideOut::builder(address(), owner.answers(dies))
            .timer(owner.clock.clone())
            .budget(Budget::default().proven_after(ms(1_000)))
            .build();
        let (_, goes_on) = step(&mut rider, &owner, 1_000);
        assert!(!goes_on, "it has proven nothing");
        assert_eq!(owner.asks(), if same { 18 } else { 4 });
    }
}

/// C38: what a poll without a turn left had seen of the subscription is seen again: its waker was the old
/// task's.
#[test]
fn moved_in_mid_refusals_the_new_task_is_woken() {
    let (items, served) = mpsc::unbounded();
    let (refuse, refused) = oneshot::channel::<Refusal>();
    let (mut served, mut refused) = (Some(served), Some(refused));
    let asks = Rc::new(Cell::new(0));
    let asked = Rc::clone(&asks);
    let ask = move |ask: Ask| -> BoxFuture<'static, _> {
        asked.set(ask.attempt);
        match ask.attempt {
            1 => ready(Ok(Strict::new(served.take().expect("once")))).boxed(),
            2 => refused.take().expect("once").map(|it| Err(it.expect("sent"))).boxed(),
            // Each of them another activation.
            attempt @ ..100 => ready(Err(by(&format!("{attempt:02X}")))).boxed(),
            _ => pending().boxed(),
        }
    };
    // Each teardown is complete at the second look.
    let mut rider = RideOut::builder(address(), ask)
        .join(|_| Some(tokio::task::yield_now()))
        .timer(Clock::new())
        .budget(endless())
        .build();
    let (old, old_waker) = Task::new();
    items.unbounded_send(Ok(1)).expect("open");
    assert!(next_for(&mut rider, &old_waker).is_ready());
    rider.nudger().nudge();
    assert!(next_for(&mut rider, &old_waker).is_pending());
    refuse.send(by("FFFF")).expect("it asks");
    assert!(next_for(&mut rider, &old_waker).is_pending());
    assert!((3..100).contains(&asks.get()), "no turn was left after {} asks", asks.get());

    let (new, new_waker) = Task::new();
    while asks.get() < 100 {
        assert!(next_for(&mut rider, &new_waker).is_pending());
    }
    assert_eq!(kept(&old), 0, "the old task is kept");
    let wakes = new.wakes();
    items.unbounded_send(Ok(2)).expect("open");
    assert_eq!(new.wakes(), wakes + 1);
    assert!(matches!(next_for(&mut rider, &new_waker), Poll::Ready(Some(Ok(2)))));
}

/// C37 where a refresh runs on: the old subscription's end is met on an item's way, in a poll that has
/// no turn left to look at it.
#[test]
fn a_subscription_whose_end_has_to_wait_is_not_polled_again() {
    let (items, old) = mpsc::unbounded::<Result<u64, Refusal>>();
    let (refuse, refused) = oneshot::channel::<Refusal>();
    let (mut old, mut refused) = (Some(old), Some(refused));
    let ask = move |ask: Ask| -> BoxFuture<'static, _> {
        match ask.attempt {
            1 => ready(Ok(Strict::new(old.take().expect("once")))).boxed(),
            2 => refused.take().expect("once").map(|it| Err(it.expect("sent"))).boxed(),
            // Each of them another activation.
            attempt @ ..200 => ready(Err(by(&format!("{attempt:02X}")))).boxed(),
            _ => ready(Ok(Strict::open([9]))).boxed(),
        }
    };
    let mut rider = RideOut::builder(address(), ask)
        .join(|_| Some(tokio::task::yield_now()))
        .timer(Clock::new())
        .budget(Budget::default().activations(u32::MAX))
        .build();
    let nudger = rider.nudger();
    items.unbounded_send(Ok(1)).expect("open");
    assert!(matches!(next(&mut rider), Poll::Ready(Some(Ok(1)))));
    nudger.nudge();
    assert!(next(&mut rider).is_pending());

    drop(items);
    refuse.send(by("FFFF")).expect("it is asking");
    let mut pending = 0;
    while next(&mut rider).map(|it| matches!(it, Some(Ok(9)))) != Poll::Ready(true) {
        pending += 1;
        assert!(pending < 1_000, "it is stuck");
    }
    assert!(pending > 0, "one poll was enough, so nothing had to wait");
}

/// C12.
#[test]
fn of_two_that_join_one_is_woken_and_dropped_and_the_other_asks() {
    let (teardown, owner) = (Teardown::new(), Owner::new());
    let rider = || {
        let joined = teardown.clone();
        let replies = |attempt| if attempt == 1 { Reply::Refuse(by("A1")) } else { Reply::Open(1) };
        RideOut::builder(address(), owner.answers(replies))
            .join(move |_| Some(joined.completed()))
            .timer(owner.clock.clone())
            .build()
    };
    let (mut first, mut second) = (rider(), rider());
    let ((one, one_waker), (other, other_waker)) = (Task::new(), Task::new());
    assert!(next_for(&mut first, &one_waker).is_pending());
    assert!(next_for(&mut second, &other_waker).is_pending());
    assert_eq!((owner.asks(), teardown.waiters()), (2, 2));

    let wakes = (one.wakes() + 1, other.wakes() + 1);
    teardown.complete();
    assert_eq!((one.wakes(), other.wakes()), wakes);
    drop(first);
    assert!(matches!(next_for(&mut second, &other_waker), Poll::Ready(Some(Ok(1)))));
    assert_eq!(owner.asks(), 3);
}

/// C20: nothing but time.
#[test]
fn refused_and_left_alone_a_rider_asks_again_by_itself() {
    for refusal in [by("A1"), by_route()] {
        let owner = Owner::new();
        let refused = refusal.clone();
        let replies = move |attempt| match attempt {
            1 => Reply::Refuse(refused.clone()),
            _ => Reply::Open(1),
        };
        // A killed process announces nothing: its teardown never comes.
        let mut rider = RideOut::builder(address(), owner.answers(replies))
            .join(|_| Some(pending()))
            .timer(owner.clock.clone())
            .build();
        let (task, waker) = Task::new();
        assert!(next_for(&mut rider, &waker).is_pending());
        let wakes = task.wakes();
        owner.clock.skip().expect("it waits for time");
        assert_eq!(task.wakes(), wakes + 1, "{refusal}");
        assert!(matches!(next_for(&mut rider, &waker), Poll::Ready(Some(Ok(1)))), "{refusal}");
    }
}

/// C24, and C23.
#[test]
fn after_ten_refusals_and_an_answer_one_subscription_lives() {
    let owner = Owner::new();
    let replies = |attempt| if attempt <= 10 { Reply::Refuse(by_route()) } else { Reply::Open(1) };
    let mut rider =
        RideOut::builder(address(), owner.answers(replies)).timer(owner.clock.clone()).build();
    let nudger = rider.nudger();
    // Whatever else asks for it meanwhile.
    while next(&mut rider).is_pending() {
        nudger.nudge();
        owner.clock.skip();
    }
    // None of them is left over (C23).
    assert!(next(&mut rider).is_pending());
    assert_eq!((owner.asks(), owner.live.get()), (11, 1));
    drop(rider);
    assert_eq!(owner.live.get(), 0);
}

/// C25.
#[test]
fn dropped_between_refusal_and_ask_it_never_asks() {
    let owner = Owner::new();
    let mut rider = RideOut::builder(address(), owner.answers(|_| Reply::Refuse(by_route())))
        .timer(owner.clock.clone())
        .build();
    assert!(next(&mut rider).is_pending());
    let nudger = rider.nudger();
    drop(rider);
    nudger.nudge();
    owner.clock.advance(ms(100_000));
    assert_eq!((owner.asks(), owner.live.get(), owner.clock.sleeps()), (1, 0, 0));
}

/// However often it is polled, and woken for nothing, it does the same at the same time.
#[test]
fn spurious_polls_and_wakes_change_nothing() {
    let run = |spurious: u32| {
        let owner = Owner::new();
        let replies = |attempt| match attempt {
            1 | 2 | 5 => Reply::Refuse(by("A1")),
            3 => Reply::Refuse(by_route()),
            4 => Reply::Serve(vec![Ok(1), Ok(2), Err(by("B1"))]),
            6 => Reply::Silent,
            7 => Reply::Serve(vec![Ok(3)]),
            8 => Reply::Refuse(not_found()),
            _ => unreachable!("a verdict is final"),
        };
        let news = stream::iter([News::Arrived(tag("D1")), News::Ended(Some(tag("E1")))]);
        let mut rider = RideOut::builder(address(), owner.answers(replies))
            .join(|activation| (activation == tag("B1")).then(pending))
            .news(news.chain(stream::pending()))
            .timer(owner.clock.clone())
            .re_ask_on_completion()
            .build();
        let mut seen = Vec::new();
        loop {
            let polled = next(&mut rider);
            let idle = polled.is_pending();
            if let Poll::Ready(item) = polled {
                let over = item.is_none();
                let item = item.map(|it| it.map_err(|error| error.to_string()));
                seen.push((owner.clock.elapsed(), item));
                if over {
                    break;
                }
            }
            // Only where it was idle: an item is none too many.
            for _ in 0..if idle { spurious } else { 0 } {
                let (_, waker) = Task::new();
                waker.wake_by_ref();
                assert!(next_for(&mut rider, &waker).is_pending());
            }
            if idle {
                owner.clock.skip().expect("it waits for time");
            }
        }
        (seen, owner.asked.take(), owner.clock.made())
    };
    let (seen, asked, made) = run(0);
    assert_eq!((seen.len(), asked.len()), (5, 8));
    assert_eq!(run(1), (seen.clone(), asked.clone(), made));
    assert_eq!(run(100), (seen, asked, made));
}
