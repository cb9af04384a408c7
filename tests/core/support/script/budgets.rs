//! Budgets of any settings (`C35`).

use std::time::Duration;

use proptest::{option, prelude::*};
use rideout::Budget;

pub(crate) fn any_duration() -> impl Strategy<Value = Duration> {
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

pub(crate) fn any_budget() -> impl Strategy<Value = Budget> {
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
