//! A whole rider as one task, its owner, its news and its nudges on other threads (R16, R18, R20c, R22): the
//! production code on loom's primitives, one property a model.

mod address;
mod common {
    pub(crate) mod check;
    pub(crate) mod yields;
}

use std::{
    cell::Cell,
    future::{Pending, poll_fn},
    pin::Pin,
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

use address::{Items, Script, World, activation, join, sleep, spawn};
use common::check::check;
use futures_core::Stream;
use loom::{future::block_on, sync::Arc, thread};
use rideout_under_loom::{
    Budget, News, Refusal, RideError, RideOut,
    rider::{Answer, Nudger},
    time::Timer,
};

const LINGERS: Script = Script { lingers: true, is_silent: false, refuses: false };
const LINGERS_AND_REFUSES: Script = Script { refuses: true, ..LINGERS };

/// A clock on which a minute passes between two looks, so that every subscription was a long one (R11),
/// and no sleep is ever over.
struct Clock {
    began: Instant,
    looks: Cell<u32>,
}

impl Timer for Clock {
    type Sleep = Pending<()>;

    fn sleep(&self, _: Duration) -> Pending<()> {
        sleep()
    }

    fn now(&self) -> Instant {
        self.looks.set(self.looks.get() + 1);
        self.began + Duration::from_secs(60) * self.looks.get()
    }
}

type Polled = Poll<Option<Result<usize, RideError<Refusal>>>>;

/// A rider, and the owner that its last item came from.
struct Rider {
    items: Pin<Box<dyn Stream<Item = Result<usize, RideError<Refusal>>>>>,
    nudger: Nudger,
    served_by: Option<usize>,
}

impl Rider {
    fn new(world: &Arc<World>) -> Rider {
        Rider::told_who_serves(world, true)
    }

    fn told_who_serves(world: &Arc<World>, told: bool) -> Rider {
        let (asked, torn_down) = (Arc::clone(world), Arc::clone(world));
        let ask = move |_| {
            let world = Arc::clone(&asked);
            async move {
                let owner = world.ask().await?;
                let answer = Answer::new(Items(Some(owner)));
                Ok(if told { answer.served_by(activation(owner)) } else { answer })
            }
        };
        let items = RideOut::builder("prices/eur".parse().unwrap(), ask)
            .join(move |it| (it == activation(0)).then(|| torn_down.teardown.completed()))
            .news(world.feed.clone())
            // No end is charged twice: that would be a give-up.
            .budget(Budget::default().re_asks(0))
            .timer(Clock { began: Instant::now(), looks: Cell::new(0) })
            .build();
        Rider { nudger: items.nudger(), items: Box::pin(items), served_by: None }
    }

    fn poll_in(&mut self, cx: &mut Context<'_>) -> Polled {
        let polled = self.items.as_mut().poll_next(cx);
        if let Poll::Ready(item) = &polled {
            let Some(Ok(owner)) = item else { panic!("{item:?}") };
            self.served_by = Some(*owner);
        }
        polled
    }

    fn poll(&mut self) -> Polled {
        self.poll_in(&mut Context::from_waker(Waker::noop()))
    }

    /// Waits for items until `enough`.
    fn ride(&mut self, enough: impl Fn(usize) -> bool) {
        while !self.served_by.is_some_and(&enough) {
            self.next();
        }
    }

    fn next(&mut self) {
        block_on(poll_fn(|cx| self.poll_in(cx).map(drop)));
    }

    /// Runs whatever there is to run.
    fn settle(&mut self, world: &World) {
        while self.poll().is_ready() || world.is_out() {}
    }

    /// All is quiet, and as many asks were made; one more nudge is one more.
    fn judge(&mut self, world: &World, asks: std::ops::RangeInclusive<usize>) {
        self.settle(world);
        let asked = world.asks();
        assert!(asks.contains(&asked), "{asked} asks, not {asks:?}");
        assert_eq!(world.teardown.waiters(), 0);
        self.nudger.nudge();
        self.settle(world);
        assert_eq!(world.asks(), asked + 1, "a nudge while all is quiet is one ask");
    }
}

/// A rider that was polled, and has its first ask out.
fn with_an_ask_out(world: &Arc<World>) -> Rider {
    let mut rider = Rider::new(world);
    assert!(rider.poll().is_pending());
    assert!(world.is_out());
    rider
}

/// A rider that is live on the first owner.
fn live(world: &Arc<World>) -> Rider {
    let mut rider = Rider::new(world);
    rider.next();
    assert_eq!(rider.served_by, Some(0));
    rider
}

/// Another thread nudges.
fn nudging(world: &Arc<World>, rider: &Rider) -> thread::JoinHandle<()> {
    let nudger = rider.nudger.clone();
    spawn(world, move |world| {
        world.want();
        nudger.nudge();
    })
}

/// A refusal, an announcement and a nudge race, while the first ask is out: one ask is out at a time, the
/// rider ends at the successor, and the nudge is covered.
#[test]
fn one_ask_is_out_whatever_asks_for_it() {
    check("one_ask", Some(2), 100, || {
        let world = World::new(LINGERS);
        let mut rider = with_an_ask_out(&world);
        let others = [nudging(&world, &rider), spawn(&world, World::go)];
        rider.ride(|owner| owner == 1 && world.is_covered());
        join(others);
        rider.judge(&world, 2..=3);
    });
}

/// A nudge while live is one refresh; one before the first ask goes out is that ask.
#[test]
fn a_nudge_is_not_lost_between_look_and_wait() {
    check("nudge", Some(3), 5, || {
        let world = World::new(Script::default());
        let mut rider = Rider::new(&world);
        let nudge = nudging(&world, &rider);
        rider.ride(|_| world.is_covered());
        join([nudge]);
        rider.judge(&world, 1..=2);
    });
}

/// A nudge while an ask is out is exactly one more; and where that one is refused, the next attempt is
/// it.
#[test]
fn a_nudge_while_an_ask_is_out_is_one_more() {
    for (script, asks, name) in
        [(LINGERS, 2..=2, "one_more"), (LINGERS_AND_REFUSES, 2..=3, "the_next_attempt_is_it")]
    {
        check(name, Some(2), 5, move || {
            let world = World::new(script);
            world.teardown.complete();
            let mut rider = with_an_ask_out(&world);
            let nudge = nudging(&world, &rider);
            rider.ride(|_| world.is_covered());
            join([nudge]);
            rider.judge(&world, asks.clone());
        });
    }
}

/// A nudge while a rider joins does not end the join, and is satisfied by the ask at its end.
#[test]
fn a_nudge_during_a_wait_is_satisfied_by_the_ask_at_its_end() {
    check("during_the_wait", Some(3), 5, || {
        let world = World::new(Script::default());
        world.close();
        let mut rider = Rider::new(&world);
        assert!(rider.poll().is_pending());
        let (nudger, owner) = (rider.nudger.clone(), Arc::clone(&world));
        let other = thread::spawn(move || {
            nudger.nudge();
            owner.teardown.complete();
        });
        rider.next();
        join([other]);
        rider.judge(&world, 2..=2);
    });
}

/// Refused, a rider joins the teardown: the completion comes before, between or after its look and its
/// wait, and it asks once more.
#[test]
fn a_teardown_is_not_lost_between_look_and_wait() {
    check("teardown", Some(4), 5, || {
        let world = World::new(Script::default());
        world.close();
        let mut rider = Rider::new(&world);
        let owner = spawn(&world, |world| _ = world.teardown.complete());
        rider.next();
        assert_eq!(rider.served_by, Some(1));
        join([owner]);
        // Refused once, or not at all where the teardown was over before.
        rider.judge(&world, 1..=2);
    });
}

/// The owner that a rider is live on goes on another thread: it hears of it, and follows.
#[test]
fn an_announced_end_is_not_lost_between_look_and_wait() {
    check("announced", Some(3), 5, || {
        let world = World::new(Script::default());
        let mut rider = live(&world);
        let owner = spawn(&world, World::go);
        rider.next();
        assert_eq!(rider.served_by, Some(1));
        join([owner]);
        rider.judge(&world, 2..=2);
    });
}

/// The owner goes and owes an answer, and a nudge comes: the announcement drops the ask and gives back its
/// place, and whatever was owed is the next one's.
#[test]
fn an_announcement_drops_the_ask_that_is_out_and_loses_nothing() {
    check("dropped_ask", Some(2), 20, || {
        let world = World::new(Script { is_silent: true, ..Script::default() });
        let mut rider = with_an_ask_out(&world);
        let others = [nudging(&world, &rider), spawn(&world, World::go)];
        rider.ride(|owner| owner == 1 && world.is_covered());
        join(others);
        rider.judge(&world, 2..=3);
    });
}

/// The owner that a rider is live on goes while a refresh is out: what the refresh is refused with is
/// charged, the end of what it was to replace is not, and the rider ends at the successor.
#[test]
fn the_end_of_what_a_refresh_replaces_is_not_charged_beside_it() {
    check("refresh_and_end", Some(2), 20, || {
        let world = World::new(LINGERS);
        let mut rider = live(&world);
        let owner = spawn(&world, World::go);
        rider.nudger.nudge();
        rider.ride(|owner| owner == 1);
        join([owner]);
        rider.judge(&world, 2..=3);
    });
}

/// The goodbye of a predecessor comes late, around its successor's answer: it ends nothing, whether
/// the answer says who serves or not.
#[test]
fn a_late_goodbye_does_not_end_the_successor() {
    for (told, name) in [(true, "late_goodbye"), (false, "late_goodbye_to_one_untold")] {
        check(name, Some(3), 5, move || {
            let world = World::new(LINGERS_AND_REFUSES);
            world.close();
            world.teardown.complete();
            let mut rider = Rider::told_who_serves(&world, told);
            let late = spawn(&world, |world| world.feed.announce(News::Ended(Some(activation(0)))));
            rider.next();
            assert_eq!(rider.served_by, Some(1));
            join([late]);
            rider.judge(&world, 2..=2);
        });
    }
}

/// A rider is dropped while it joins, as the teardown completes and a nudge comes: it leaves no ask and
/// no waiter, and nobody asks.
#[test]
fn a_rider_that_is_dropped_while_it_waits_leaves_nothing() {
    check("dropped_waiting", Some(3), 5, || {
        let world = World::new(Script::default());
        world.close();
        let mut rider = Rider::new(&world);
        assert!(rider.poll().is_pending());
        assert_eq!(world.teardown.waiters(), 1);
        let others =
            [nudging(&world, &rider), spawn(&world, |world| _ = world.teardown.complete())];
        drop(rider);
        assert_eq!(world.teardown.waiters(), 0);
        join(others);
        assert_eq!((world.asks(), world.is_out()), (1, false));
    });
}

/// A rider is moved to another task while it joins, or while it is live (C38): the task that polled it
/// last is woken, by the teardown and by a nudge.
#[test]
fn a_moved_rider_is_woken_where_it_was_polled_last() {
    check("moved_joining", None, 2, || {
        let world = World::new(Script::default());
        world.close();
        let mut rider = Rider::new(&world);
        assert!(rider.poll().is_pending());
        let owner = spawn(&world, |world| _ = world.teardown.complete());
        rider.next();
        join([owner]);
        rider.judge(&world, 2..=2);
    });
    check("moved_live", None, 2, || {
        let world = World::new(Script::default());
        let mut rider = live(&world);
        let nudge = nudging(&world, &rider);
        rider.next();
        join([nudge]);
        rider.judge(&world, 2..=2);
    });
}

/// A live rider whose stream was polled last waits with one task's waker, and is moved to another: what
/// rings its bell between the look and the wait is heard, at the task that polled it last.
#[test]
fn a_moved_live_rider_hears_news_where_it_was_polled_last() {
    check("moved_hears", Some(3), 5, || {
        let world = World::new(Script::default());
        let mut rider = live(&world);
        // The stream waits with this task's waker, for which nobody waits; the news ring the bell.
        assert!(rider.poll().is_pending());
        let owner = spawn(&world, World::go);
        rider.next();
        assert_eq!(rider.served_by, Some(1));
        join([owner]);
        rider.judge(&world, 2..=2);
    });
}
