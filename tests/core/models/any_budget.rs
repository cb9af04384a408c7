//! Any budget is safe, whatever is said and heard: no rider and no read of it panics, spins, or leaves
//! anything behind (`C35`, `R20b`).

use std::{cell::RefCell, pin::pin, rc::Rc, time::Duration};

use crate::support::{
    hand_clock::{address, ms},
    script::{
        Owner, Reply, Seen, after,
        budgets::{any_budget, any_duration},
        in_virtual_time, serve, watch,
        who::{Who, who},
    },
    words::tag,
};
use futures::{
    channel::oneshot,
    future::{Either, pending, select},
};
use proptest::{collection::vec, option, prelude::*};
use rideout::{
    Budget, News, PointRead, Refusal,
    rider::{Ask, PointReadEnd, PointReadError},
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
        4 => (who(), 0..20_u64, any::<bool>())
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

/// Any budget, and one in four that gives up on nothing and waits for nothing.
fn budgets() -> impl Strategy<Value = Budget> {
    let endless = Budget::new().activations(u32::MAX).re_asks(u32::MAX);
    let hasty = endless.pace(Duration::ZERO).hint_limit(Duration::ZERO);
    prop_oneof![
        3 => any_budget(),
        1 => any_duration().prop_map(move |limit| hasty.join_limit(limit)),
    ]
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

/// The most asks that went out in one millisecond: no pace is shorter.
fn at_once(times: &[u64]) -> usize {
    times.chunk_by(|one, next| one == next).map(<[u64]>::len).max().unwrap_or(0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_rider_of_any_budget_neither_spins_nor_leaves_anything(
        script in vec(says(), 1..40),
        budget in budgets(),
        interval in any_duration(),
        heard in heard(),
        teardowns in vec(0..9_000_u64, 5),
    ) {
        in_virtual_time(async move {
            let (mut says, enough) = for_ever(script);
            let mut owner = Owner::scripted(move |_| says().reply());
            for (number, at) in (0..).zip(&teardowns) {
                owner = owner.teardown(&format!("A{number}"), *at);
            }
            let news = heard.len();
            let rider = owner.builder().join(owner.join()).news(owner.news_of(heard)).budget(budget);
            let mut rider = rider.keep_alive(|_| {}).keep_alive_interval(interval).build();

            let ended = match select(pin!(watch(&owner, &mut rider, AN_HOUR)), enough).await {
                Either::Left((seen, _)) => seen.last() == Some(&(owner.now(), Seen::Completed)),
                Either::Right(_) => false,
            };
            // One that was paced, one that had nothing to wait for (R18), and those that news hastened.
            let most = at_once(&owner.times());
            prop_assert!(most <= 2 + news, "{} asks at once, {} news", most, news);
            prop_assert!(!ended || owner.alive() == [0; 5]);
            drop(rider);
            prop_assert_eq!(owner.alive(), [0; 5]);
            Ok(())
        })?;
    }

    #[test]
    fn a_read_of_any_budget_and_deadline_ends_by_it(
        script in vec(says(), 1..40),
        budget in budgets(),
        deadline in any_duration(),
        heard in heard(),
    ) {
        in_virtual_time(async move {
            let owner = Owner::answers([Reply::Silent]);
            let (mut says, enough) = for_ever(script);
            let times = Rc::new(RefCell::new(Vec::new()));
            let (asked, clock) = (Rc::clone(&times), owner.clone());
            let news = heard.len();
            let read = PointRead::builder(address(), move |_: Ask| {
                asked.borrow_mut().push(clock.now());
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
            let read = tokio::time::timeout(ms(AN_HOUR), read.news(owner.news_of(heard)).build());
            match select(pin!(read), enough).await {
                Either::Left((Ok(ended), _)) => {
                    let end = ended.as_ref().map_err(PointReadError::end);
                    let spent = matches!(end, Err(PointReadEnd::Recycling(_) | PointReadEnd::TimedOut { .. }));
                    prop_assert!(spent, "{:?}", ended);
                    // The clock is a whole millisecond's.
                    prop_assert!(ms(owner.now()) < deadline.saturating_add(ms(1)));
                }
                Either::Left((Err(_), _)) => prop_assert!(deadline >= ms(AN_HOUR)),
                Either::Right(_) => {}
            }
            let most = at_once(&times.borrow());
            prop_assert!(most <= 2 + news, "{} asks at once, {} news", most, news);
            prop_assert!(!deadline.is_zero() || most == 0);
            prop_assert_eq!(owner.alive(), [0; 5]);
            Ok(())
        })?;
    }
}
