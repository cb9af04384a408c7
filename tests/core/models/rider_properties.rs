//! What holds for any script of an owner: no ask is early, none is beside another, none is lost (`R10`,
//! `R11`, `R16`–`R18`).

mod ridden;

use std::time::Duration;

use self::ridden::Ridden;
use crate::support::{
    hand_clock::ms,
    script::{
        NEVER, Owner, Reply, Seen, after, in_virtual_time, serve, watch,
        who::{Who, who},
    },
    words::tag,
};
use futures::StreamExt;
use proptest::{collection::vec, option, prelude::*};
use rideout::{
    Budget, News,
    ledger::{Cause, Wait},
    refusal::Speaker,
};

/// What an owner says to one ask.
#[derive(Clone, Debug)]
enum Says {
    Refuses {
        who: Who,
        late: u64,
        hint: Option<u64>,
    },
    /// Opens, and dies after so long, by `who`.
    Dies {
        who: Who,
        lives: u64,
        item: bool,
    },
    Silent,
}

fn says() -> impl Strategy<Value = Says> {
    prop_oneof![
        8 => (who(), prop_oneof![Just(0), 0..300_u64], option::of(0..2_000_u64))
            .prop_map(|(who, late, hint)| Says::Refuses { who, late, hint }),
        2 => (who(), 0..900_u64, any::<bool>())
            .prop_map(|(who, lives, item)| Says::Dies { who, lives, item }),
        1 => Just(Says::Silent),
    ]
}

impl Says {
    fn reply(&self) -> Reply {
        match self {
            Says::Refuses { who, late, hint: None } => after(*late, who.refusal()),
            Says::Refuses { who, late, hint: Some(hint) } => {
                after(*late, who.refusal().with_retry_after(ms(*hint)))
            }
            Says::Dies { who, lives, item } => {
                serve(item.then_some(1)).fails(*lives, who.refusal()).into()
            }
            Says::Silent => Reply::Silent,
        }
    }

    /// Who rejects, when it does.
    fn who(&self) -> Who {
        match self {
            Says::Refuses { who, .. } | Says::Dies { who, .. } => *who,
            Says::Silent => Who::Route,
        }
    }

    /// How long after its ask the rejection comes.
    fn rejects_after(&self) -> u64 {
        match self {
            Says::Refuses { late, .. } => *late,
            Says::Dies { lives, .. } => *lives,
            Says::Silent => 5_000,
        }
    }
}

fn news() -> impl Strategy<Value = News> {
    let known = || (0..4_usize).prop_map(|index| tag(["A0", "A1", "B0", "C0"][index]));
    prop_oneof![
        option::of(known()).prop_map(News::Ended),
        option::of(known()).prop_map(News::NotServing),
        known().prop_map(News::Arrived),
    ]
}

/// An owner that says `script` again and again, and whose activations are torn down at `teardowns`.
fn cycling(script: &[Says], teardowns: &[u64]) -> Owner {
    let replies: Vec<_> = script.iter().map(Says::reply).collect();
    let mut replies = replies.into_iter().cycle();
    let owner = Owner::scripted(move |_| replies.next().expect("a cycle"));
    (0..)
        .zip(teardowns)
        .fold(owner, |owner, (number, at)| owner.teardown(&format!("A{number}"), *at))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn no_ask_is_early_and_none_is_beside_another(
        script in vec(says(), 1..40),
        budget in (0..4_u32, 0..6_u32, 1..800_u64),
        teardowns in vec(0..9_000_u64, 5),
    ) {
        // R7, R11, R16, R18, R20c.
        let (activations, re_asks, pace) = budget;
        let budget = Budget::new()
            .activations(activations).re_asks(re_asks).pace(ms(pace)).ask_limit(ms(5_000));
        in_virtual_time(async move {
            let owner = cycling(&script, &teardowns);
            let mut rider = owner.builder().join(owner.join()).budget(budget).build();
            let seen = watch(&owner, &mut rider, 100_000).await;
            let asked = owner.asked();
            prop_assert!(asked.iter().all(|ask| (ask.asks, ask.streams) == (0, 0)));
            prop_assert!((1..).zip(&asked).all(|(number, ask)| ask.attempt == number));

            let mut unwaited = 0;
            for (index, pair) in asked.windows(2).enumerate() {
                let said = &script[index % script.len()];
                let (rejected, next) = (pair[0].at + said.rejects_after(), &pair[1]);
                let waited = ms(next.at - rejected);
                match (next.charge.wait(), next.charge.rejection().map(|it| &it.speaker)) {
                    (Wait::Rest(rest), _) => prop_assert_eq!(waited, rest),
                    (Wait::Join { limit, rest }, Some(Speaker::Owner(Some(activation)))) => {
                        let number = usize::from(activation.as_str().as_bytes()[1] - b'0');
                        let left = ms(teardowns[number].saturating_sub(rejected));
                        let held = matches!(said, Says::Dies { lives, .. } if *lives < pace);
                        if !left.is_zero() {
                            let least = if held { ms(pace) } else { Duration::ZERO };
                            prop_assert_eq!(waited, left.min(limit).max(least));
                        } else if waited.is_zero() {
                            unwaited += 1;
                        } else {
                            prop_assert!(waited == rest || held && waited == ms(pace));
                        }
                    }
                    (wait, speaker) => prop_assert!(false, "{:?} after {:?}", wait, speaker),
                }
            }
            // Once a ride-out at most, and there is one for each life that was an answer.
            let answers = script.iter().filter(|it| matches!(it, Says::Dies { .. })).count();
            let rounds = asked.len() / script.len() + 1;
            prop_assert!(unwaited <= 1 + answers * rounds);
            let over = seen.iter().any(|(_, seen)| matches!(seen, Seen::GaveUp(_)));
            drop(rider);
            prop_assert!(!over || seen.last().is_some_and(|(_, it)| *it == Seen::Completed));
            prop_assert_eq!(owner.alive(), [0; 5]);
            Ok(())
        })?;
    }

    #[test]
    fn an_ask_is_early_only_by_an_arrival_that_has_not_refused(
        script in vec(says(), 1..40),
        arrivals in vec((0..900_u64, 0..8_u8), 0..30),
        budget in (0..4_u32, 0..6_u32, 1..800_u64),
        teardowns in vec(0..9_000_u64, 5),
    ) {
        // R11, R18, R18b.
        let (activations, re_asks, pace) = budget;
        let budget = Budget::new()
            .activations(activations).re_asks(re_asks).pace(ms(pace)).ask_limit(ms(5_000));
        let mut at = 0;
        let arrivals: Vec<_> = arrivals
            .into_iter()
            .map(|(pause, number)| {
                at += pause;
                (at, Who::Owner(number))
            })
            .collect();
        in_virtual_time(async move {
            let owner = cycling(&script, &teardowns);
            let news = arrivals.iter().filter_map(|(at, who)| {
                Some((*at, News::Arrived(who.rejection().speaker.activation()?.clone())))
            });
            let rider = owner.builder().join(owner.join()).budget(budget);
            let mut rider = rider.news(owner.news_of(news.collect())).build();
            watch(&owner, &mut rider, 100_000).await;

            let mut seen = Ridden::new(&arrivals, &teardowns, activations, pace);
            for (said, pair) in script.iter().cycle().zip(owner.asked().windows(2)) {
                seen.asks_again(said, &pair[0], &pair[1])?;
            }
            Ok::<_, TestCaseError>(())
        })?;
    }

    #[test]
    fn a_rider_that_is_never_answered_ends_within_its_worst_case(
        script in vec(who(), 1..40),
        hint in 0..2_000_u64,
        budget in (0..4_u32, 0..6_u32, 1..800_u64, 0..500_u64),
    ) {
        // R10, in time too.
        let (activations, re_asks, pace, spread) = budget;
        let budget = Budget::new()
            .activations(activations).re_asks(re_asks).pace(ms(pace)).spread(ms(spread))
            .hint_limit(ms(1_000)).join_limit(ms(1_500));
        in_virtual_time(async move {
            let refusals: Vec<Reply> =
                script.iter().map(|who| who.refusal().with_retry_after(ms(hint)).into()).collect();
            let mut refusals = refusals.into_iter().cycle();
            let owner = Owner::scripted(move |_| refusals.next().expect("a cycle"))
                .teardown("A0", NEVER).teardown("A1", 700);
            let mut rider = owner.builder().join(owner.join()).budget(budget).build();
            let seen = watch(&owner, &mut rider, NEVER).await;
            let worst = budget.worst_case();
            prop_assert!(matches!(seen[..], [(_, Seen::GaveUp(_)), (_, Seen::Completed)]));
            prop_assert!(owner.times().len() as u64 <= worst.asks);
            prop_assert!(ms(owner.now()) <= worst.waits);
            prop_assert_eq!(owner.alive(), [0; 5]);
            Ok(())
        })?;
    }

    #[test]
    fn no_nudge_is_lost_and_none_is_doubled(
        script in vec(says(), 1..20),
        nudges in vec(0..300_u64, 0..20),
        late in 0..200_u64,
    ) {
        // R16.
        in_virtual_time(async move {
            let rejected = script.iter().filter(|it| !matches!(it, Says::Silent)).count();
            let replies: Vec<_> = script
                .iter()
                .filter(|it| !matches!(it, Says::Silent))
                .map(Says::reply)
                .collect();
            let mut replies = replies.into_iter();
            let serves = move || after(late, serve([1]));
            let owner = Owner::scripted(move |_| replies.next().unwrap_or_else(serves));
            let budget = Budget::new().activations(100).re_asks(100);
            let mut rider = owner.builder().budget(budget).build();
            let nudger = rider.nudger();
            let mut last = 0;
            let all = async {
                for pause in &nudges {
                    last += pause;
                    owner.reach(last).await;
                    nudger.nudge();
                }
            };
            futures::join!(watch(&owner, &mut rider, 60_000), all);
            let asked = owner.asked();
            prop_assert!(asked.iter().all(|ask| ask.asks == 0), "one at a time");
            prop_assert!(asked.iter().all(|ask| ask.streams <= 1), "beside one old subscription");
            prop_assert!(asked.len() <= 1 + rejected + nudges.len());
            let newest = asked.last().map(|ask| ask.at);
            prop_assert!(newest >= Some(last), "asked after the last nudge");
            prop_assert_eq!(owner.alive()[..2].to_vec(), vec![0, 1], "live, once");
            prop_assert!(futures::poll!(rider.next()).is_pending());
            Ok(())
        })?;
    }

    #[test]
    fn whatever_is_heard_it_ends_up_live_and_nothing_parks(
        script in vec(says(), 1..20),
        nudges in vec(0..600_u64, 0..12),
        heard in vec((0..600_u64, news()), 0..20),
        join in any::<bool>(),
        longest in option::of(1_000..20_000_u64),
    ) {
        // R16, R20, R22, R25, C20.
        in_virtual_time(async move {
            let mut replies = script.iter().map(Says::reply).collect::<Vec<_>>().into_iter();
            let serves = || serve([1]).by("B0").into();
            let mut owner = Owner::scripted(move |_| replies.next().unwrap_or_else(serves));
            if join {
                owner = owner.teardown("A0", 500).teardown("A1", NEVER).teardown("B0", 0);
            }
            let mut budget = Budget::new().activations(100).re_asks(100).ask_limit(ms(5_000));
            if let Some(longest) = longest {
                budget = budget.longest(ms(longest));
            }
            let mut at = 0;
            let heard: Vec<_> = heard
                .into_iter()
                .map(|(pause, news)| {
                    at += pause;
                    (at, news)
                })
                .collect();
            let rider = owner.builder().join(owner.join()).budget(budget);
            let mut rider = rider.news(owner.news_of(heard)).build();
            let nudger = rider.nudger();
            let all = async {
                let mut at = 0;
                for pause in &nudges {
                    at += pause;
                    owner.reach(at).await;
                    nudger.nudge();
                }
            };
            let (seen, ()) = futures::join!(watch(&owner, &mut rider, 400_000), all);
            let asked = owner.asked();
            prop_assert!(asked.iter().all(|ask| ask.asks == 0), "one at a time");
            prop_assert!(asked.iter().all(|ask| ask.streams <= 1), "beside one old subscription");
            match seen.last() {
                Some((_, Seen::Completed)) => {
                    let (_, ended) = &seen[seen.len() - 2];
                    let outlasted = matches!(ended, Seen::GaveUp(Cause::Outlasted { .. }));
                    prop_assert!(outlasted);
                    prop_assert!(longest.is_some());
                    prop_assert_eq!(owner.alive(), [0; 5]);
                }
                _ => prop_assert_eq!(owner.alive(), [0, 1, 0, 1, 0]),
            }
            drop(rider);
            prop_assert_eq!(owner.alive(), [0; 5]);
            Ok(())
        })?;
    }
}
