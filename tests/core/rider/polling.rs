//! Every poll is bounded (`R20b`), nothing starves (`R21`), and who is woken is who waits: polled by
//! hand, with a clock that is moved by hand.

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
    Activation, Budget, Cause, News, PointRead, Refusal, Rejection, RideOut, Teardown,
    rider::{Answer, Ask, Phase},
};
use tracing::Level;

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

mod floods {
    use super::*;

    /// News that there is always more of, and that mean nothing to who is live on F0.
    fn babble() -> impl Stream<Item = News> {
        stream::repeat(News::Ended(Some(tag("EE"))))
    }

    fn by_f0<S>(stream: S) -> Answer<S> {
        Answer::new(stream).served_by(tag("F0"))
    }

    /// Polls until an item comes; fails where `most` polls are not enough.
    fn item_within<S, T, E>(most: u32, rider: &mut S) -> T
    where
        S: Stream<Item = Result<T, E>> + Unpin,
    {
        for _ in 0..most {
            match next(rider) {
                Poll::Ready(Some(Ok(item))) => return item,
                Poll::Ready(_) => panic!("it ended"),
                Poll::Pending => {}
            }
        }
        panic!("starved for {most} polls")
    }

    #[test]
    fn news_do_not_starve_items() {
        let ask = |_| ready(Ok::<_, Refusal>(by_f0(stream::iter((0..1_000_u32).map(Ok)))));
        let mut rider = RideOut::builder(address(), ask).news(babble()).timer(Clock::new()).build();
        for item in 0..1_000 {
            assert_eq!(item_within(2, &mut rider), item);
        }
    }

    /// Refused or left alone, its rest, its join's limit and its ask's limit come all the same.
    #[test]
    fn news_do_not_starve_timers() {
        for first in ["a rest", "a join", "an ask"] {
            let clock = Clock::new();
            let ask = move |ask: Ask| -> BoxFuture<'static, _> {
                match (ask.attempt, first) {
                    (1, "a rest") => ready(Err(by_route())).boxed(),
                    (1, "a join") => ready(Err(by("A1"))).boxed(),
                    (1, _) => pending().boxed(),
                    _ => ready(Ok(Strict::open([7]))).boxed(),
                }
            };
            let mut rider = RideOut::builder(address(), ask)
                .join(|_| Some(pending()))
                // Nothing to who waits, or asks.
                .news(stream::repeat(News::Ended(None)))
                .timer(clock.clone())
                .budget(Budget::default().ask_limit(ms(500)).join_limit(ms(500)))
                .build();
            let (task, waker) = Task::new();
            for _ in 0..8 {
                let wakes = task.wakes();
                assert!(next_for(&mut rider, &waker).is_pending(), "{first}");
                assert!(task.wakes() > wakes, "{first}: there is more of it, and nobody says so");
            }
            clock.advance(ms(500));
            if first == "an ask" {
                // Counts as refused by the route.
                for _ in 0..8 {
                    assert!(next(&mut rider).is_pending(), "{first}");
                }
                clock.advance(ms(500));
            }
            assert_eq!(item_within(8, &mut rider), 7, "{first}");
        }
    }

    #[test]
    fn news_do_not_starve_the_rest_of_a_read_nor_its_deadline() {
        let clock = Clock::new();
        let ask = |ask: Ask| ready(if ask.attempt == 1 { Err(by_route()) } else { Ok(7) });
        let mut read = Box::pin(
            PointRead::builder(address(), ask).news(babble()).timer(clock.clone()).build(),
        );
        let (task, waker) = Task::new();
        assert!(poll(&mut read, &waker).is_pending());
        assert_eq!(task.wakes(), 1, "there is more of it");
        clock.advance(ms(500));
        let answer = (0..8).find_map(|_| match poll(&mut read, Waker::noop()) {
            Poll::Ready(answer) => Some(answer),
            Poll::Pending => None,
        });
        assert_eq!(answer.expect("starved").unwrap(), 7);

        let silent = |_| pending::<Result<(), Refusal>>();
        let mut read = Box::pin(
            PointRead::builder(address(), silent).news(babble()).timer(clock.clone()).build(),
        );
        assert!(poll(&mut read, Waker::noop()).is_pending());
        clock.advance(ms(10_000));
        assert!(poll(&mut read, Waker::noop()).is_ready());
    }

    /// An owner whose subscriptions never pause; the one that an ask opens tells its number.
    fn tireless() -> impl FnMut(Ask) -> Ready<Result<Answer<Tireless>, Refusal>> {
        |ask| ready(Ok(by_f0(stream::repeat(Ok(ask.attempt)))))
    }

    type Tireless = stream::Repeat<Result<u32, Refusal>>;

    /// R21: at most 32 items pass before news is looked at.
    fn news_are_heard<S: Stream + Unpin>(mut rider: S, tell: &mpsc::UnboundedSender<News>) {
        tell.unbounded_send(News::Ended(None)).expect("it listens");
        let items = (0..=TURNS).take_while(|_| next(&mut rider).is_ready()).count();
        assert!(items <= TURNS as usize, "{items} items passed");
    }

    #[test]
    fn items_do_not_starve_news() {
        for before in [0, 1, 31, 32, 33, 100] {
            let rider = || {
                let (tell, news) = mpsc::unbounded();
                let mut rider =
                    RideOut::builder(address(), tireless()).news(news).timer(Clock::new()).build();
                for _ in 0..before {
                    assert_eq!(item_within(1, &mut rider), 1);
                }
                (rider, tell)
            };
            let (live, tell) = rider();
            news_are_heard(live, &tell);
            let (live, tell) = rider();
            let items = live.phases().try_filter_map(|phase| {
                let item = if let Phase::Live(item) = phase { Some(item) } else { None };
                ready(Ok(item))
            });
            news_are_heard(items, &tell);
        }
    }

    /// While a refresh is out, and does not answer.
    #[test]
    fn items_do_not_starve_news_beside_a_refresh() {
        let (tell, news) = mpsc::unbounded();
        let ask = |ask: Ask| {
            let first = ask.attempt == 1;
            async move {
                if !first {
                    pending::<()>().await;
                }
                Ok::<_, Refusal>(stream::repeat(Ok(1)))
            }
        };
        let clock = Clock::new();
        let mut rider = RideOut::builder(address(), |it| Box::pin(ask(it)))
            .news(news)
            .timer(clock.clone())
            .build();
        assert_eq!(item_within(1, &mut rider), 1);
        rider.nudger().nudge();
        for _ in 0..2_000 {
            assert_eq!(item_within(1, &mut rider), 1);
        }
        assert_eq!(clock.sleeps(), 1, "the refresh is out");
        news_are_heard(rider, &tell);
    }

    #[test]
    fn neither_items_nor_news_starve_a_nudge() {
        let mut rider =
            RideOut::builder(address(), tireless()).news(babble()).timer(Clock::new()).build();
        assert_eq!(item_within(2, &mut rider), 1);
        rider.nudger().nudge();
        let asked = (0..1_000).any(|_| item_within(4, &mut rider) == 2);
        assert!(asked, "the refresh is starved");
    }

    /// A refresh that was refused rests while the old subscription goes on without a pause.
    #[test]
    fn neither_items_nor_news_starve_timers() {
        let clock = Clock::new();
        let ask = |ask: Ask| {
            ready(match ask.attempt {
                2 => Err(by_route()),
                attempt => Ok(by_f0(stream::repeat(Ok(attempt)))),
            })
        };
        for babbling in [false, true] {
            let news =
                if babbling { babble().left_stream() } else { stream::empty().right_stream() };
            let mut rider =
                RideOut::builder(address(), ask).news(news).timer(clock.clone()).build();
            assert_eq!(item_within(2, &mut rider), 1);
            rider.nudger().nudge();
            for _ in 0..1_000 {
                assert_eq!(item_within(4, &mut rider), 1);
            }
            assert_eq!(clock.sleeps(), 1, "it was refused, and rests");
            clock.advance(ms(500));
            let asked = (0..4_000).any(|_| item_within(4, &mut rider) == 3);
            assert!(asked, "the rest is starved");
        }
    }
}

/// An owner that counts when it was asked, in virtual time.
#[derive(Clone)]
struct Owner {
    clock: Clock,
    asked: Rc<RefCell<Vec<Duration>>>,
    live: Count,
}

impl Owner {
    fn new() -> Self {
        Owner { clock: Clock::new(), asked: Rc::default(), live: Count::default() }
    }

    fn asks(&self) -> usize {
        self.asked.borrow().len()
    }

    /// The most asks in one millisecond.
    fn densest(&self) -> usize {
        let asked = self.asked.borrow();
        let until = |at: Duration| asked.partition_point(|it| *it < at + ms(1));
        asked.iter().enumerate().map(|(first, at)| until(*at) - first).max().unwrap_or(0)
    }

    fn answers<F>(
        &self,
        mut reply: F,
    ) -> impl FnMut(Ask) -> LocalBoxFuture<'static, Result<Strict<u64>, Refusal>> + use<F>
    where
        F: FnMut(u32) -> Reply + 'static,
    {
        let owner = self.clone();
        move |ask| {
            owner.asked.borrow_mut().push(owner.clock.elapsed());
            match reply(ask.attempt) {
                Reply::Refuse(refusal) => ready(Err(refusal)).boxed_local(),
                Reply::Silent => pending().boxed_local(),
                Reply::Serve(parts) => {
                    ready(Ok(Strict::of(parts).counted(&owner.live))).boxed_local()
                }
                Reply::Open(item) => {
                    ready(Ok(Strict::open([item]).counted(&owner.live))).boxed_local()
                }
            }
        }
    }
}

enum Reply {
    Refuse(Refusal),
    Silent,
    Serve(Vec<Result<u64, Refusal>>),
    Open(u64),
}

/// Polls `rider` through `steps` polls and skips of the clock; returns how many items it had, and
/// whether it went on to the last.
fn step<S, T, E>(rider: &mut S, owner: &Owner, steps: u32) -> (usize, bool)
where
    S: Stream<Item = Result<T, E>> + Unpin,
{
    let (task, waker) = Task::new();
    let (mut items, mut at_once) = (0, 0);
    for _ in 0..steps {
        let wakes = task.wakes();
        match next_for(rider, &waker) {
            Poll::Ready(Some(Ok(_))) => items += 1,
            Poll::Ready(Some(Err(_))) => {}
            Poll::Ready(None) => return (items, false),
            Poll::Pending if task.wakes() > wakes => {
                at_once += 1;
                assert!(at_once < 16, "it spins at {:?}", owner.clock.elapsed());
            }
            // A sleep of `Duration::MAX` is never over.
            Poll::Pending => match owner.clock.skip() {
                None => return (items, true),
                Some(left) if left.is_zero() => {}
                Some(_) => at_once = 0,
            },
        }
    }
    (items, true)
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

mod extremes {
    use super::*;

    /// What each of the settings is set to, from nothing to all there is.
    const WAITS: [Duration; 4] =
        [Duration::ZERO, Duration::from_nanos(1), Duration::from_millis(1), Duration::MAX];
    const COUNTS: [u32; 3] = [0, 1, u32::MAX];

    /// Each setting at each extreme, and all of them together.
    fn budgets() -> Vec<Budget> {
        let default = || Budget::default().activations(u32::MAX).re_asks(u32::MAX);
        let mut budgets = Vec::new();
        for count in COUNTS {
            budgets.push(default().activations(count));
            budgets.push(default().re_asks(count));
        }
        for wait in WAITS {
            let one = [
                default().pace(wait),
                default().join_limit(wait),
                default().ask_limit(wait),
                default().hint_limit(wait),
                default().spread(wait),
                default().watchdog(wait),
                default().proven_after(wait),
                default().longest(wait),
            ];
            budgets.extend(one);
            for count in COUNTS {
                let all = Budget::default().activations(count).re_asks(count);
                let all = all.pace(wait).join_limit(wait).ask_limit(wait).hint_limit(wait);
                let all = all.spread(wait).watchdog(wait);
                budgets.extend([all, all.proven_after(wait), all.longest(wait)]);
                // Nothing holds it up but one pace.
                budgets.push(all.pace(Duration::ZERO).proven_after(Duration::MAX));
            }
        }
        budgets
    }

    /// Comes by every kind of answer, in an order that never ends.
    fn moody(attempt: u32) -> Reply {
        let hinted = by_route().with_retry_after(Duration::MAX);
        match attempt % 9 {
            0 => Reply::Refuse(by("A1")),
            1 | 2 => Reply::Refuse(by(&format!("{attempt:04X}"))),
            3 => Reply::Refuse(by_route()),
            4 => Reply::Refuse(hinted),
            5 => Reply::Serve(vec![Err(by("A1"))]),
            6 => Reply::Serve(vec![Ok(1), Err(by(&format!("{attempt:04X}")))]),
            7 => Reply::Silent,
            _ => Reply::Serve(vec![]),
        }
    }

    type Gone = Option<LocalBoxFuture<'static, ()>>;

    /// Returns how often the owner was asked.
    fn through(budget: Budget, join: impl FnMut(Activation) -> Gone) -> usize {
        let owner = Owner::new();
        let mut rider = RideOut::builder(address(), owner.answers(moody))
            .join(join)
            .timer(owner.clock.clone())
            .budget(budget)
            .re_ask_on_completion()
            .build();
        step(&mut rider, &owner, 10_000);
        assert!(owner.densest() <= 2, "{} asks in a millisecond: {budget:?}", owner.densest());
        owner.asks()
    }

    /// C35: no panic, and no spin: one ask in a millisecond, and the one that goes out at once.
    #[test]
    fn every_setting_is_safe() {
        for budget in budgets() {
            let _ = (budget.worst_case(), budget.concerns());
            through(budget, |_| None);
            through(budget, |_| Some(ready(()).boxed_local()));
        }
        for budget in budgets().into_iter().filter(|it| !hurries(it)) {
            through(budget, |_| Some(pending().boxed_local()));
        }
        assert!(through(endless(), |_| None) > 1_000, "it goes through the moods");
    }

    /// A join that may not wait, of a teardown that is still to come, goes out at once by rule.
    fn hurries(budget: &Budget) -> bool {
        [Duration::ZERO, Duration::from_nanos(1)]
            .into_iter()
            .any(|limit| *budget == budget.join_limit(limit))
    }

    #[test]
    fn every_setting_of_a_read_is_safe() {
        for budget in budgets() {
            for deadline in WAITS {
                let owner = Owner::new();
                let asked = owner.clone();
                let ask = move |ask: Ask| -> LocalBoxFuture<'static, Result<u64, Refusal>> {
                    asked.asked.borrow_mut().push(asked.clock.elapsed());
                    match moody(ask.attempt) {
                        Reply::Refuse(refusal) => ready(Err(refusal)).boxed_local(),
                        _ => ready(Err(by_route())).boxed_local(),
                    }
                };
                let read = PointRead::builder(address(), ask).deadline(deadline).budget(budget);
                let read = read.timer(owner.clock.clone()).build();
                let mut read = Box::pin(read).into_stream();
                step(&mut read, &owner, 1_000);
                assert!(owner.densest() <= 2, "{} asks: {budget:?}", owner.densest());
            }
        }
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
