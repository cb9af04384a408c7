//! What holds for any budget, any sequence of rejections and any trigger: the bound of `R10`, the
//! accounting of `R7`–`R9` against a plain second one, and one re-ask at a time (`R16`).

mod script;

use std::{collections::BTreeMap, time::Duration};

use futures::StreamExt;
use proptest::{collection::vec, option, prelude::*};
use rideout::{Axis, Budget, Cause, Ledger, Refusal, Rejection, Speaker, StreamId, Wait};
use script::{NEVER, Owner, Reply, Seen, after, by, by_route, ms, serve, tag, unnamed, watch};

/// Who refuses: the route, the owner untagged, or one of five activations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Who {
    Route,
    Untagged,
    Owner(u8),
}

impl Who {
    fn rejection(self) -> Rejection {
        match self {
            Who::Route => Rejection::by_route(),
            Who::Untagged => Rejection::by_owner(None),
            Who::Owner(number) => Rejection::by_owner(Some(tag(&format!("A{number}")))),
        }
    }

    fn refusal(self) -> Refusal {
        match self {
            Who::Route => by_route(),
            Who::Untagged => unnamed(),
            Who::Owner(number) => by(&format!("A{number}")),
        }
    }
}

fn who() -> impl Strategy<Value = Who> {
    prop_oneof![Just(Who::Route), Just(Who::Untagged), (0..5_u8).prop_map(Who::Owner)]
}

/// A rejection, or an answer.
fn steps() -> impl Strategy<Value = Vec<Option<Who>>> {
    vec(prop_oneof![9 => who().prop_map(Some), 1 => Just(None)], 0..200)
}

fn small() -> impl Strategy<Value = Budget> {
    (0..5_u32, 0..5_u32)
        .prop_map(|(activations, re_asks)| Budget::new().activations(activations).re_asks(re_asks))
}

fn any_duration() -> impl Strategy<Value = Duration> {
    prop_oneof![
        Just(Duration::ZERO),
        Just(Duration::MAX),
        (any::<u64>(), 0..1_000_000_000_u32).prop_map(|(secs, nanos)| Duration::new(secs, nanos)),
        (0..100_000_u64).prop_map(Duration::from_micros),
    ]
}

fn any_count() -> impl Strategy<Value = u32> {
    prop_oneof![Just(0), Just(1), Just(u32::MAX), any::<u32>()]
}

fn any_budget() -> impl Strategy<Value = Budget> {
    let counts = (any_count(), any_count());
    let durations: [_; 6] = std::array::from_fn(|_| any_duration());
    (counts, durations, option::of(any_duration()), option::of(any_duration())).prop_map(
        |((activations, re_asks), [pace, join, ask, hint, spread, watchdog], proven, longest)| {
            let mut budget = Budget::new()
                .activations(activations)
                .re_asks(re_asks)
                .pace(pace)
                .join_limit(join)
                .ask_limit(ask)
                .hint_limit(hint)
                .spread(spread)
                .watchdog(watchdog);
            if let Some(proven) = proven {
                budget = budget.proven_after(proven);
            }
            if let Some(longest) = longest {
                budget = budget.longest(longest);
            }
            budget
        },
    )
}

fn ledger(budget: Budget) -> Ledger {
    Ledger::new(StreamId::mint(), "x".parse().expect("valid"), budget)
}

/// The accounting written a second time, as a reader of the table would: a list of what has refused.
#[derive(Default)]
struct Plain(Vec<Who>);

impl Plain {
    /// The axis and the count of `who`, who refuses now.
    fn charge(&mut self, who: Who) -> (Axis, u32) {
        let before = self.0.clone();
        self.0.push(who);
        let named = match who {
            Who::Owner(_) => before.contains(&who),
            Who::Route => true,
            Who::Untagged => false,
        };
        if named {
            // One that refused before counts from its second time on; the route from its first.
            let times = self.0.iter().filter(|it| **it == who).count();
            let first = usize::from(who != Who::Route);
            return (Axis::Time, u32::try_from(times - first).expect("few"));
        }
        let mut owners = BTreeMap::new();
        let untagged = self.0.iter().filter(|it| **it == Who::Untagged).count();
        for owner in self.0.iter().filter(|it| matches!(it, Who::Owner(_))) {
            *owners.entry(*owner).or_insert(0) += 1;
        }
        (Axis::Activation, u32::try_from(owners.len() + untagged).expect("few"))
    }

    fn names(&self) -> usize {
        let mut names: Vec<_> = self.0.iter().filter(|it| matches!(it, Who::Owner(_))).collect();
        names.sort();
        names.dedup();
        names.len()
    }

    fn cause(&self, who: Who, axis: Axis) -> Cause {
        match (axis, who) {
            (Axis::Time, Who::Route) => Cause::Route,
            (Axis::Time, _) => Cause::Wedged,
            (Axis::Activation, _) if !self.0.contains(&Who::Untagged) => Cause::RecycleLoop,
            (Axis::Activation, _) if self.names() > 1 => Cause::RecycleLoop,
            (Axis::Activation, _) => Cause::Untagged,
        }
    }
}

proptest! {
    #[test]
    fn the_ledger_counts_as_the_table_says(activations in 0..5_u32, re_asks in 0..5_u32, steps in steps()) {
        let budget = Budget::new().activations(activations).re_asks(re_asks);
        let (mut ledger, mut plain) = (ledger(budget), Plain::default());
        for step in steps {
            let Some(who) = step else {
                ledger.answered();
                plain.0.clear();
                continue;
            };
            let refused_before = plain.0.contains(&who);
            let (axis, count) = plain.charge(who);
            let most = if axis == Axis::Time { re_asks } else { activations };
            match ledger.charge(who.rejection()) {
                Ok(charge) => {
                    prop_assert!(count <= most);
                    prop_assert_eq!((charge.axis(), charge.count(), charge.budget()), (Some(axis), count, most));
                    let joins = matches!(charge.wait(), Wait::Join { .. });
                    prop_assert_eq!(joins, matches!(who, Who::Owner(_)) && !refused_before);
                }
                Err(report) => {
                    prop_assert_eq!(count, most + 1);
                    prop_assert_eq!((report.axis, report.count, report.budget), (axis, count, most));
                    prop_assert_eq!(report.cause, plain.cause(who, axis));
                    break;
                }
            }
        }
    }

    #[test]
    fn no_ride_out_outlives_its_bound(budget in small(), steps in steps(), rest in vec(who(), 200)) {
        // R10: whatever arrives, and whatever came before the last answer.
        let worst = budget.worst_case();
        let mut ledger = ledger(budget);
        let mut ridden = 0;
        for step in steps.into_iter().chain([None]).chain(rest.into_iter().map(Some)) {
            let Some(who) = step else {
                ledger.answered();
                ridden = 0;
                continue;
            };
            ridden += 1;
            prop_assert!(ridden <= worst.asks);
            if ledger.charge(who.rejection()).is_err() {
                return Ok(());
            }
        }
        prop_assert!(ridden < worst.asks, "{} rejections were ridden out", ridden);
    }

    #[test]
    fn any_budget_is_safe(budget in any_budget(), steps in steps(), hint in any_duration()) {
        // C35, R20b: and says what it is.
        let worst = budget.worst_case();
        prop_assert!(worst.asks >= 1);
        for concern in budget.concerns() {
            prop_assert!(!concern.to_string().is_empty());
        }
        let mut ledger = ledger(budget);
        for step in steps {
            let Some(who) = step else { ledger.answered(); continue };
            let mut rejection = who.rejection();
            rejection.not_before = Some(hint);
            match ledger.charge(rejection) {
                Err(report) => prop_assert!(!report.to_string().is_empty()),
                Ok(charge) => match charge.wait() {
                    Wait::Rest(rest) => {
                        prop_assert!(rest >= Duration::from_millis(1));
                        prop_assert!(rest <= worst.waits);
                    }
                    Wait::Join { limit, rest } => prop_assert!(limit.max(rest) <= worst.waits),
                    wait => prop_assert!(false, "a charge waits for something: {:?}", wait),
                },
            }
        }
    }
}

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

    /// How long after its ask the rejection comes.
    fn rejects_after(&self) -> u64 {
        match self {
            Says::Refuses { late, .. } => *late,
            Says::Dies { lives, .. } => *lives,
            Says::Silent => 5_000,
        }
    }
}

fn in_virtual_time<F: Future>(future: F) -> F::Output {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_time().start_paused(true).build().expect("a runtime");
    runtime.block_on(future)
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
            let replies: Vec<_> = script.iter().map(Says::reply).collect();
            let mut replies = replies.into_iter().cycle();
            let mut owner = Owner::scripted(move |_| replies.next().expect("a cycle"));
            for (number, at) in (0..).zip(&teardowns) {
                owner = owner.teardown(&format!("A{number}"), *at);
            }
            let mut rider = owner.rider().join(owner.join()).budget(budget);
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
            let mut rider = owner.rider().join(owner.join()).budget(budget);
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
            let mut rider = owner.rider().budget(budget);
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
}
