//! What `RideOut`, `Phases` and `PointRead` keep, and the timer and the news that a rider is given where it
//! has none: over every state of a ride, and to every end of one.

mod bounded;

use std::{
    cell::RefCell,
    fmt::Debug,
    future::{Pending, pending, ready},
    rc::Rc,
};

#[cfg(feature = "tokio")]
use crate::contracts::harness::keeps_as_a_future;
use crate::contracts::harness::{After, Case, Feed, Strict, keeps, keeps_as_a_future_then};
use crate::support::{
    hand_clock::{Clock, Count, address, ms},
    strict::{self, Hasty},
    words::{by, by_route, not_found, tag},
};
use futures::{
    FutureExt, Stream, StreamExt,
    channel::oneshot,
    future::LocalBoxFuture,
    stream::{self, FusedStream, LocalBoxStream},
};
use rideout::{
    Activation, Budget, News, PointRead, Refusal, RideOut,
    rider::{Answer, Ask, NoNews, Phase, RideOutBuilder},
    teardown::Teardown,
};

/// Not to be polled after its error either.
type Items = strict::Strict<u64>;
type Reply = oneshot::Sender<Result<(), Refusal>>;
type Asking = LocalBoxFuture<'static, Result<Answer<Items>, Refusal>>;
type Asks = Box<dyn FnMut(Ask) -> Asking>;
type Joins = Box<dyn FnMut(Activation) -> Option<LocalBoxFuture<'static, ()>>>;
type Builder = RideOutBuilder<Asks, Joins, LocalBoxStream<'static, News>, (), Clock>;
type Rider = RideOut<Asks, Joins, LocalBoxStream<'static, News>, (), Clock>;

/// What comes next, wherever a rider waits.
#[derive(Clone)]
enum Next {
    /// The ask is answered: by a refusal, or by a subscription.
    Refuses(Refusal),
    Opens,
    /// The subscription speaks.
    Item(u64),
    Fails(Refusal),
    Completes,
    /// The teardown of A1 is complete.
    TornDown,
    Hears(News),
    Nudge,
    /// The next sleep is over.
    Time,
}

use Next::{Completes, Fails, Hears, Item, Nudge, Opens, Refuses, Time, TornDown};

/// All that a rider is given, and how much of it is alive.
#[derive(Clone)]
struct World {
    clock: Clock,
    alive: Count,
    teardown: Teardown,
    news: Feed<News>,
    items: Feed<Result<u64, Refusal>>,
    ask: Rc<RefCell<Option<Reply>>>,
}

impl World {
    fn new() -> Self {
        World {
            clock: Clock::new(),
            alive: Count::default(),
            teardown: Teardown::new(),
            news: Feed::new(),
            items: Feed::new(),
            ask: Rc::default(),
        }
    }

    /// The answer to one ask.
    fn asked(&self) -> impl Future<Output = Result<(), Refusal>> + Unpin + use<> {
        let (reply, answer) = oneshot::channel();
        *self.ask.borrow_mut() = Some(reply);
        let alive = self.alive.one();
        Strict::new(answer.map(move |it| {
            let _ = &alive;
            it.expect("the owner answers")
        }))
    }

    fn asks(&self) -> Asks {
        let world = self.clone();
        Box::new(move |_| {
            let (asked, items, alive) = (world.asked(), world.items.clone(), world.alive.clone());
            Box::pin(async move {
                asked.await?;
                let items = Items::new(items.stream()).counted(&alive);
                Ok(Answer::new(items).served_by(tag("F0")))
            })
        })
    }

    /// The teardown of A1 can be seen, and so can that of A2, which never comes.
    fn joins(&self) -> Joins {
        let world = self.clone();
        Box::new(move |activation| {
            let alive = world.alive.one();
            let never = activation == tag("A2");
            let teardown = if never { Teardown::new() } else { world.teardown.clone() };
            let join = Strict::new(teardown.completed()).inspect(move |()| _ = &alive);
            (never || activation == tag("A1")).then(|| join.boxed_local())
        })
    }

    fn heard(&self) -> LocalBoxStream<'static, News> {
        let alive = self.alive.one();
        Strict::new(self.news.stream().inspect(move |_| _ = &alive)).boxed_local()
    }

    fn builder(&self) -> Builder {
        RideOut::builder(address(), self.asks())
            .join(self.joins())
            .news(self.heard())
            .timer(self.clock.clone())
    }

    fn does(&self, next: Next, nudge: impl Fn()) {
        let answers = |answer| {
            let ask = self.ask.borrow_mut().take();
            let _ = ask.map(|ask| ask.send(answer));
        };
        match next {
            Refuses(refusal) => answers(Err(refusal)),
            Opens => answers(Ok(())),
            Item(item) => self.items.send(Ok(item)),
            Fails(refusal) => self.items.send(Err(refusal)),
            Completes => self.items.end(),
            TornDown => _ = self.teardown.complete(),
            Hears(news) => self.news.send(news),
            Nudge => nudge(),
            Time => _ = self.clock.skip(),
        }
    }

    /// The case of what `of` makes of a rider, to whom all that happens, and then time alone.
    fn case<S>(&self, subject: S, happens: Vec<Next>, nudge: impl Fn() + 'static) -> Case<S> {
        let (world, left) = (self.clone(), self.clone());
        let mut happens = happens.into_iter();
        Case::new(subject)
            .stimulus(move || world.does(happens.next().unwrap_or(Time), &nudge))
            .gone(move || {
                let waits = left.teardown.waiters();
                assert_eq!((left.alive.get(), left.clock.sleeps(), waits), (0, 0, 0));
            })
            .lets_go()
    }
}

/// Through every state: it asks, joins, rests, is live, refreshes, is refused a refresh, is refused while
/// live, is held back, and hears of the end of the one that it is live on.
fn ride() -> Vec<Next> {
    vec![
        Refuses(by("A1")),
        TornDown,
        Refuses(by_route()),
        Time,
        Opens,
        Item(1),
        Item(2),
        Hears(News::Ended(Some(tag("E1")))),
        Nudge,
        Item(3),
        Refuses(by_route()),
        Item(4),
        Time,
        Opens,
        Item(5),
        Fails(by_route()),
        Hears(News::Arrived(tag("D1"))),
        Time,
        Opens,
        Hears(News::Ended(None)),
        Time,
        Refuses(by("A2")),
        Time,
        Refuses(not_found()),
    ]
}

/// Every other way for a ride to end, and by what.
fn ends() -> Vec<(Budget, Vec<Next>)> {
    let budget = Budget::default();
    let lived = budget.proven_after(ms(10_000));
    vec![
        (budget, vec![Opens, Item(1), Completes]),
        (budget, vec![Opens, Completes]),
        (budget, vec![Opens, Item(1), Fails(not_found())]),
        (budget.activations(0), vec![Refuses(by("B1"))]),
        (lived.activations(0), vec![Opens, Item(1), Fails(by("B1"))]),
        (budget.longest(ms(400)), vec![Refuses(by_route())]),
        (budget.ask_limit(ms(100)).re_asks(0), vec![Time]),
        (
            budget.spread(ms(100)).re_asks(1),
            vec![Refuses(by_route()), Time, Time, Refuses(by_route())],
        ),
    ]
}

/// All rides of a rider, with beats beside it and without; as what `of` makes of it.
fn rides<S: FusedStream<Item: Debug> + 'static>(of: impl Fn(Rider) -> S) {
    for (budget, happens) in ends().into_iter().chain([(Budget::default(), ride())]) {
        for beats in [false, true] {
            keeps(|| {
                let world = World::new();
                let mut builder = world.builder().budget(budget);
                if beats {
                    let alive = world.alive.one();
                    builder = builder.keep_alive(move |_| _ = &alive);
                }
                let rider = builder.build();
                let nudger = rider.nudger();
                world.case(of(rider), happens.clone(), move || nudger.nudge())
            });
        }
    }
}

#[test]
fn a_rider_keeps_what_streams_keep() {
    rides(|rider| rider);
}

#[test]
fn phases_keep_what_streams_keep() {
    rides(Rider::phases);
}

#[cfg(feature = "tokio")]
#[test]
fn a_box_keeps_what_streams_keep() {
    let rider = || {
        let items = [Ok(1), Ok(2), Err(not_found())];
        RideOut::builder(address(), move |_| ready(Ok(stream::iter(items.clone()))))
            .timer(Hasty::new())
            .build()
    };
    keeps(|| Case::new(rider().boxed()));
    keeps(|| Case::new(rider().boxed().phases()));
}

/// C37 where a completion is not the end.
#[test]
fn a_rider_that_asks_on_completion_keeps_what_streams_keep() {
    keeps(|| {
        let world = World::new();
        let happens = vec![
            Opens,
            Completes,
            Time,
            Opens,
            Item(1),
            Fails(by_route()),
            Time,
            Refuses(not_found()),
        ];
        world.case(world.builder().re_ask_on_completion().build(), happens, || ())
    });
}

/// The ride comes by all that it says.
#[test]
fn the_ride_is_through_every_state() {
    let world = World::new();
    let rider = world.builder().build();
    let nudger = rider.nudger();
    let case = world.case(rider.phases(), ride(), move || nudger.nudge());
    let shown = case.items().into_iter().map(|it| match it {
        Ok(Phase::RidingOut(charge)) => charge.key().map_or_else(String::new, |it| it.to_string()),
        Ok(Phase::Answered(_)) => "answered".to_owned(),
        Ok(Phase::Live(item)) => item.to_string(),
        Ok(other) => panic!("what is {other:?}?"),
        Err(_) => "over".to_owned(),
    });
    let expected = "A1 (route) answered 1 2 3 (route) 4 answered 5 (route) answered F0 A2 over";
    assert_eq!(shown.collect::<Vec<_>>().join(" "), expected);
}

#[test]
fn no_news_keep_what_streams_keep() {
    keeps(|| Case::new(NoNews));
}

/// Through every state of a read, and to each of its ends.
#[test]
fn a_read_keeps_what_futures_keep() {
    let budget = Budget::default().spread(ms(100));
    let through = vec![
        Refuses(by("A1")),
        Refuses(by("A1")),
        Time,
        Refuses(by_route()),
        Hears(News::Ended(None)),
        Hears(News::Arrived(tag("B1"))),
        Time,
        Opens,
    ];
    let ends = [
        (ms(10_000), through),
        (ms(10_000), vec![Refuses(not_found())]),
        (ms(10_000), vec![Refuses(Refusal::new(rideout::Kind::Failed, "no"))]),
        (ms(1_000), vec![Refuses(by_route()), Time, Time]),
        (ms(1_000), vec![Time]),
        (ms(0), vec![]),
    ];
    for (deadline, happens) in ends {
        keeps_as_a_future_then(After::Pending, || {
            let world = World::new();
            let asking = world.clone();
            let read = PointRead::builder(address(), move |_| asking.asked())
                .news(world.heard())
                .timer(world.clock.clone())
                .budget(budget)
                .deadline(deadline)
                .build();
            world.case(read, happens.clone(), || ())
        });
    }
}

#[cfg(feature = "tokio")]
#[test]
fn a_sleep_of_tokio_s_keeps_what_futures_keep() {
    keeps_as_a_future(|| {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_time().start_paused(true).build().expect("a runtime");
        let sleep = {
            let _entered = runtime.enter();
            rideout::time::Timer::sleep(&rideout::time::TokioTimer, ms(10))
        };
        Case::new(sleep).stimulus(move || runtime.block_on(tokio::time::advance(ms(4))))
    });
}
