//! What holds for any budget, any sequence of rejections and any trigger: the bound of `R10`, and the
//! accounting of `R7`–`R9` against a plain second one.

use std::{collections::BTreeSet, time::Duration};

use crate::support::script::{
    budgets::{any_budget, any_duration},
    who::{Who, who},
};
use proptest::{collection::vec, prelude::*};
use rideout::{
    Budget,
    activation::StreamId,
    ledger::{Axis, Cause, Ledger, Wait},
};

/// A rejection, or an answer.
fn steps() -> impl Strategy<Value = Vec<Option<Who>>> {
    vec(prop_oneof![9 => who().prop_map(Some), 1 => Just(None)], 0..200)
}

fn small() -> impl Strategy<Value = Budget> {
    (0..5_u32, 0..5_u32)
        .prop_map(|(activations, re_asks)| Budget::new().activations(activations).re_asks(re_asks))
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
        let untagged = self.0.iter().filter(|it| **it == Who::Untagged).count();
        (Axis::Activation, u32::try_from(self.names() + untagged).expect("few"))
    }

    fn names(&self) -> usize {
        let named = self.0.iter().filter(|it| matches!(it, Who::Owner(_)));
        named.collect::<BTreeSet<_>>().len()
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
        // C35, R20b: and says what it is. A wait is cut short by `longest`, not made shorter by it.
        let worst = budget.longest(Duration::MAX).worst_case();
        prop_assert!(budget.worst_case().waits <= worst.waits);
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
