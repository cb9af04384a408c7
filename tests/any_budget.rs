//! Any budget is safe, whatever is said and heard: no rider and no read of it panics, spins, or leaves
//! anything behind (`C35`, `R20b`).

mod script;

use std::{cell::Cell, pin::pin, rc::Rc, time::Duration};

use futures::{
    channel::oneshot,
    future::{Either, pending, select},
};
use proptest::{collection::vec, option, prelude::*};
use rideout::{News, Read, ReadError, Refusal, rider::Ask};
use script::{
    Owner, Reply, Seen, address, after,
    budgets::{any_budget, any_duration},
    ms, serve, tag, watch,
    who::{Who, who},
};

/// How often an owner is asked before its reader goes away.
const STEPS: u32 = 10_000;

/// No reader waits longer.
const AN_HOUR: u64 = 3_600_000;

/// What an owner says to one ask.
#[derive(Clone, Debug)]
enum Says {
    Refuses { who: Who, late: u64, hint: Option<Duration> },
    Dies { who: Who, lives: u64, item: bool },
    Silent,
}

fn says() -> impl Strategy<Value = Says> {
    let late = prop_oneof![9 => Just(0), 1 => 0..300_u64];
    prop_oneof![
        16 => (who(), late, option::of(any_duration()))
            .prop_map(|(who, late, hint)| Says::Refuses { who, late, hint }),
        4 => (who(), 0..900_u64, any::<bool>())
            .prop_map(|(who, lives, item)| Says::Dies { who, lives, item }),
        1 => Just(Says::Silent),
    ]
}

impl Says {
    /// How long after its ask the rejection comes.
    fn rejects_after(&self) -> u64 {
        match self {
            Says::Refuses { late, .. } => *late,
            Says::Dies { lives, .. } => *lives,
            Says::Silent => 0,
        }
    }

    fn refusal(&self) -> Option<Refusal> {
        match self {
            Says::Refuses { who, hint: Some(hint), .. } => {
                Some(who.refusal().with_retry_after(*hint))
            }
            Says::Refuses { who, .. } | Says::Dies { who, .. } => Some(who.refusal()),
            Says::Silent => None,
        }
    }

    fn reply(&self) -> Reply {
        match (self, self.refusal()) {
            (Says::Refuses { late, .. }, Some(refusal)) => after(*late, refusal),
            (Says::Dies { lives, item, .. }, Some(refusal)) => {
                serve(item.then_some(1)).fails(*lives, refusal).into()
            }
            _ => Reply::Silent,
        }
    }
}

/// News by the pause before each.
fn heard() -> impl Strategy<Value = Vec<(u64, News)>> {
    let known = || (0..4_usize).prop_map(|index| tag(["A0", "A1", "B0", "C0"][index]));
    let news = prop_oneof![
        option::of(known()).prop_map(News::Ended),
        option::of(known()).prop_map(News::NotServing),
        known().prop_map(News::Arrived),
    ];
    vec((0..600_u64, news), 0..20).prop_map(|heard| {
        let mut at = 0;
        let at = |(pause, news)| {
            at += pause;
            (at, news)
        };
        heard.into_iter().map(at).collect()
    })
}

/// What an owner says for ever, one thing after the other, and what comes when it was asked often enough.
fn for_ever(script: Vec<Says>) -> (impl FnMut() -> Says + 'static, oneshot::Receiver<()>) {
    let (enough, reached) = oneshot::channel();
    let mut enough = Some(enough);
    let mut says = (1..).zip(script.into_iter().cycle());
    let says = move || {
        let (number, says) = says.next().expect("a cycle");
        if number == STEPS {
            enough.take().into_iter().for_each(|it| _ = it.send(()));
        }
        says
    };
    (says, reached)
}

fn in_virtual_time<F: Future>(future: F) -> F::Output {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_time().start_paused(true).build().expect("a runtime");
    runtime.block_on(future)
}

/// The most asks in so many milliseconds: one in each, since no pace is shorter, and one for each that is
/// not paced.
fn most(millis: u64, unpaced: usize) -> usize {
    usize::try_from(millis).expect("an hour") + unpaced
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_rider_of_any_budget_neither_spins_nor_leaves_anything(
        script in vec(says(), 1..40),
        budget in any_budget(),
        interval in any_duration(),
        heard in heard(),
        teardowns in vec(0..9_000_u64, 5),
    ) {
        in_virtual_time(async move {
            let (mut says, enough) = for_ever(script);
            let answers = Rc::new(Cell::new(0));
            let counted = Rc::clone(&answers);
            let mut owner = Owner::scripted(move |_| {
                let says = says();
                counted.set(counted.get() + usize::from(matches!(says, Says::Dies { .. })));
                says.reply()
            });
            for (number, at) in (0..).zip(&teardowns) {
                owner = owner.teardown(&format!("A{number}"), *at);
            }
            let arrivals = heard.len();
            let rider = owner.rider().join(owner.join()).news(owner.news_of(heard)).budget(budget);
            let mut rider = rider.keep_alive(|_| {}).beat_every(interval);

            let ended = match select(pin!(watch(&owner, &mut rider, AN_HOUR)), enough).await {
                Either::Left((seen, _)) => seen.last() == Some(&(owner.now(), Seen::Completed)),
                Either::Right(_) => false,
            };
            // The first ask, and in each ride-out the one that has nothing to wait for (R18).
            let asks = owner.asked().len();
            let most = most(owner.now(), 2 + arrivals + answers.get());
            prop_assert!(asks <= most, "{} asks, at most {}", asks, most);
            prop_assert!(!ended || owner.alive() == [0; 5]);
            drop(rider);
            prop_assert_eq!(owner.alive(), [0; 5]);
            Ok(())
        })?;
    }

    #[test]
    fn a_read_of_any_budget_and_deadline_ends_by_it(
        script in vec(says(), 1..40),
        budget in any_budget(),
        deadline in any_duration(),
        heard in heard(),
    ) {
        in_virtual_time(async move {
            let owner = Owner::answers([Reply::Silent]);
            let (mut says, enough) = for_ever(script);
            let (asks, clock) = (Rc::new(Cell::new(0)), owner.clone());
            let counted = Rc::clone(&asks);
            let arrivals = heard.len();
            let read = Read::new(address(), move |_: Ask| {
                counted.set(counted.get() + 1);
                let (says, clock, one) = (says(), clock.clone(), clock.asks.one());
                async move {
                    let _one = one;
                    clock.reach(clock.now() + says.rejects_after()).await;
                    match says.refusal() {
                        Some(refusal) => Err::<u64, _>(refusal),
                        None => pending().await,
                    }
                }
            });
            let read = read.timer(owner.timer.clone()).deadline(deadline).budget(budget);
            let read = tokio::time::timeout(ms(AN_HOUR), read.news(owner.news_of(heard)));
            match select(pin!(read), enough).await {
                Either::Left((Ok(ended), _)) => {
                    let spent = matches!(ended, Err(ReadError::Recycling(_) | ReadError::TimedOut { .. }));
                    prop_assert!(spent, "{:?}", ended);
                    // The clock is a whole millisecond's.
                    prop_assert!(ms(owner.now()) < deadline + ms(1));
                }
                Either::Left((Err(_), _)) => prop_assert!(deadline >= ms(AN_HOUR)),
                Either::Right(_) => {}
            }
            let most = most(owner.now(), 2 + arrivals);
            prop_assert!(asks.get() <= most, "{} asks, at most {}", asks.get(), most);
            prop_assert!(!deadline.is_zero() || asks.get() == 0);
            prop_assert_eq!(owner.alive(), [0; 5]);
            Ok(())
        })?;
    }
}
