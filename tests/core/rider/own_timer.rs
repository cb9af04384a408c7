//! A rider on a user's own clock, with nothing of a runtime: a queue of what is due, and a loop that polls
//! whoever was woken. What is here builds without the feature `tokio`.

use std::{
    cell::{Cell, RefCell},
    pin::{Pin, pin},
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    task::{Context, Poll, Wake, Waker},
    time::{Duration, Instant},
};

use futures::{Stream, StreamExt, TryStreamExt, stream};
use rideout::{
    Budget, PointRead, Refusal, RideOut,
    refusal::{Closing, Seam},
    rider::Ask,
    time::Timer,
};

/// A clock that is moved by whoever has nothing else to do.
#[derive(Clone)]
struct Simulated {
    began: Instant,
    elapsed: Rc<Cell<Duration>>,
    due: Rc<RefCell<Vec<(Duration, Waker)>>>,
}

impl Simulated {
    fn new() -> Self {
        Simulated { began: Instant::now(), elapsed: Rc::default(), due: Rc::default() }
    }

    /// Runs `task` to its end, in no time.
    fn run<F: Future>(&self, task: F) -> F::Output {
        struct Woken(AtomicBool);

        impl Wake for Woken {
            fn wake(self: Arc<Self>) {
                self.0.store(true, Relaxed);
            }
        }

        let woken = Arc::new(Woken(AtomicBool::new(true)));
        let waker = Waker::from(Arc::clone(&woken));
        let mut task = pin!(task);
        loop {
            while woken.0.swap(false, Relaxed) {
                if let Poll::Ready(output) = task.as_mut().poll(&mut Context::from_waker(&waker)) {
                    return output;
                }
            }
            let next = self.due.borrow().iter().map(|(at, _)| *at).min();
            self.elapsed.set(next.expect("it waits for a sleep, or for ever"));
            let now = self.elapsed.get();
            self.due.borrow_mut().extract_if(.., |(at, _)| *at <= now).for_each(|it| it.1.wake());
        }
    }
}

impl Timer for Simulated {
    type Sleep = Sleep;

    fn sleep(&self, duration: Duration) -> Sleep {
        Sleep { clock: self.clone(), until: self.elapsed.get().saturating_add(duration) }
    }

    fn now(&self) -> Instant {
        self.began + self.elapsed.get()
    }
}

struct Sleep {
    clock: Simulated,
    until: Duration,
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.clock.elapsed.get() >= self.until {
            return Poll::Ready(());
        }
        self.clock.due.borrow_mut().push((self.until, cx.waker().clone()));
        Poll::Pending
    }
}

fn address() -> rideout::Address {
    "prices/eur".parse().expect("a valid address")
}

fn draining() -> Refusal {
    let owner = Closing::new(address()).activation("0A".parse().expect("hex digits"));
    owner.refuse(Seam::Door, "Subscribe")
}

/// An owner that drains until then, and then serves.
fn owner(
    clock: &Simulated,
    until: Duration,
) -> impl FnMut(Ask) -> std::future::Ready<Result<Prices, Refusal>> + use<> {
    let clock = clock.clone();
    move |_| {
        let back = clock.elapsed.get() >= until;
        let prices = stream::iter(vec![Ok(101), Ok(102)]);
        std::future::ready(if back { Ok(prices) } else { Err(draining()) })
    }
}

type Prices = stream::Iter<std::vec::IntoIter<Result<u32, Refusal>>>;

#[test]
fn a_rider_rides_out_on_a_clock_of_ones_own() {
    let clock = Simulated::new();
    let owner = owner(&clock, Duration::from_millis(1_200));
    let prices = RideOut::builder(address(), owner).timer(clock.clone()).build();
    assert_eq!(clock.run(prices.try_collect::<Vec<_>>()).unwrap(), [101, 102]);
    // At once, and then a pace each.
    assert_eq!(clock.elapsed.get(), Duration::from_millis(1_500));
}

/// Without the feature a rider has no timer, and so none of a runtime's, until it is given one.
#[cfg(not(feature = "tokio"))]
#[test]
fn without_the_feature_there_is_no_timer_but_ones_own() {
    let clock = Simulated::new();
    let rider = RideOut::builder(address(), owner(&clock, Duration::from_millis(1_200)));
    let unset = std::any::type_name_of_val(&rider);
    assert!(unset.contains("NoTimer") && !unset.contains("Simulated"), "{unset}");
    let rider = rider.timer(clock.clone());
    let set = std::any::type_name_of_val(&rider);
    assert!(set.contains("Simulated") && !set.contains("NoTimer"), "{set}");
    assert_eq!(clock.run(rider.build().try_collect::<Vec<_>>()).unwrap(), [101, 102]);
}

#[test]
fn a_give_up_comes_at_the_time_of_that_clock() {
    let clock = Simulated::new();
    let ask = |_| async { Err::<stream::Empty<Result<(), _>>, _>(draining()) };
    let rider = RideOut::builder(address(), ask)
        .join(|_| Some(std::future::pending()))
        .timer(clock.clone())
        .budget(Budget::default().re_asks(2).join_limit(Duration::from_secs(4)))
        .build();
    let [ended] = &clock.run(rider.collect::<Vec<_>>())[..] else {
        panic!("one error, and the end")
    };
    assert!(ended.as_ref().is_err_and(|it| it.gave_up().is_some()), "{ended:?}");
    assert_eq!(clock.elapsed.get(), Duration::from_secs(5));
}

#[test]
fn a_read_keeps_its_deadline_by_that_clock() {
    let clock = Simulated::new();
    let late = |_| async { Err::<(), _>(draining()) };
    let ended = clock.run(PointRead::builder(address(), late).timer(clock.clone()).build());
    assert!(ended.as_ref().is_err_and(|it| it.recycling().is_some()), "{ended:?}");
    assert_eq!(clock.elapsed.get(), Duration::from_secs(10));

    let mut prices = owner(&clock, Duration::from_millis(11_700));
    let read = PointRead::builder(address(), move |ask| {
        let answer = prices(ask);
        async { answer.await?.next().await.expect("one at least") }
    });
    assert_eq!(clock.run(read.timer(clock.clone()).build()).unwrap(), 101);
    assert_eq!(clock.elapsed.get(), Duration::from_secs(12));
}

/// Every part may be of one thread only: the rider is then, too.
#[test]
fn what_is_of_one_thread_only_is_polled_there() {
    let clock = Simulated::new();
    let last = Rc::new(Cell::new(0));
    let seen = Rc::clone(&last);
    let rider = RideOut::builder(address(), owner(&clock, Duration::from_secs(1)))
        .timer(clock.clone())
        .build();
    let watched: Pin<Box<dyn Stream<Item = _>>> =
        Box::pin(rider.inspect_ok(move |it| seen.set(*it)));
    assert_eq!(clock.run(watched.count()), 2);
    assert_eq!(last.get(), 102);
}
