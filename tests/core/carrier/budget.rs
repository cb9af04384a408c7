//! The bounds of a ride-out: defaults, worst case, concerns (`R7`, `R10`, `R20b`, `C10`, `C35`).

use std::{collections::HashMap, time::Duration};

use rideout::{
    Budget, Rejection,
    activation::StreamId,
    budget::Concern,
    ledger::{Axis, Ledger, Wait},
};

const fn secs(count: u64) -> Duration {
    Duration::from_secs(count)
}

const fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

fn ledger(budget: Budget) -> Ledger {
    Ledger::new(StreamId::mint(), "x".parse().expect("valid"), budget)
}

/// What an attempt under `rejection` waits for, the first one of its key.
fn wait(budget: Budget, rejection: Rejection) -> Wait {
    ledger(budget).charge(rejection).expect("within the budget").wait()
}

#[test]
fn the_defaults_are_those_of_the_contract() {
    let said = format!("{:?}", Budget::default());
    for part in [
        "activations: 3",
        "re_asks: 16",
        "pace: 500ms",
        "join_limit: 8s",
        "ask_limit: 60s",
        "hint_limit: 8s",
        "spread: 0ns",
        "watchdog: 8s",
        "proven_after: None",
        "longest: None",
    ] {
        assert!(said.contains(part), "{part} in {said}");
    }
    assert_eq!(Budget::default(), Budget::new());
    assert!(Budget::default().concerns().is_empty(), "16 rests of 500 ms reach the watchdog");
}

#[test]
fn a_pace_below_a_millisecond_is_one() {
    // R20b.
    for (pace, counts) in [
        (Duration::ZERO, ms(1)),
        (Duration::from_nanos(999_999), ms(1)),
        (ms(1), ms(1)),
        (Duration::from_nanos(1_000_001), Duration::from_nanos(1_000_001)),
        (Duration::MAX, Duration::MAX),
    ] {
        let budget = Budget::new().pace(pace);
        assert_eq!(wait(budget, Rejection::by_route()), Wait::Rest(counts));
        assert!(budget.worst_case().waits >= counts, "{pace:?}");
    }
}

/// The accounting written plainly: counts alone, owners as numbers.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
struct Counts {
    owners: Vec<u32>,
    untagged: u32,
    route: u32,
}

/// The longest run of rejections from `counts` on, the one that gives up included, and the longest
/// sum of waits: by trying every one.
fn longest(
    counts: &Counts,
    budget: &Budget,
    (activations, re_asks): (u32, u32),
    seen: &mut HashMap<Counts, (u64, Duration)>,
) -> (u64, Duration) {
    if let Some(known) = seen.get(counts) {
        return *known;
    }
    let mut worst = (0, Duration::ZERO);
    let mut try_one = |next: Counts, spent: bool, rejection: Rejection, first: bool| {
        let (asks, waits) = if spent {
            (0, Duration::ZERO)
        } else {
            let fresh = wait(*budget, rejection.clone());
            let waited = match fresh {
                Wait::Join { limit, rest } if first => limit.max(rest),
                other => other.rest(),
            };
            let (asks, waits) = longest(&next, budget, (activations, re_asks), seen);
            (asks, waits + waited)
        };
        worst = (worst.0.max(asks + 1), worst.1.max(waits));
    };
    let hinted = |mut rejection: Rejection| {
        rejection.not_before = Some(Duration::MAX);
        rejection
    };
    let distinct = u32::try_from(counts.owners.len()).expect("few") + counts.untagged;

    let mut next = counts.clone();
    next.route += 1;
    try_one(next, counts.route == re_asks, hinted(Rejection::by_route()), false);
    let mut next = counts.clone();
    next.untagged += 1;
    try_one(next, distinct == activations, hinted(Rejection::by_owner(None)), false);
    let owner = || hinted(Rejection::by_owner(Some("A".parse().expect("hex"))));
    let mut next = counts.clone();
    next.owners.push(0);
    try_one(next, distinct == activations, owner(), true);
    for index in 0..counts.owners.len() {
        let mut next = counts.clone();
        next.owners[index] += 1;
        // Sorted, since who is who makes no difference.
        next.owners.sort_unstable();
        try_one(next, counts.owners[index] == re_asks, owner(), false);
    }
    seen.insert(counts.clone(), worst);
    worst
}

#[test]
fn the_worst_case_is_the_worst_of_all_cases() {
    // R10, against every sequence of rejections there is.
    for activations in 0..4 {
        for re_asks in 0..4 {
            for (join_limit, hint_limit, spread) in [
                (secs(8), secs(3), Duration::ZERO),
                (secs(8), Duration::ZERO, Duration::ZERO),
                (ms(100), secs(3), Duration::ZERO),
                (ms(100), Duration::ZERO, ms(7)),
                (secs(2), secs(9), secs(1)),
            ] {
                // At least one activation, so that a wait can be looked up for any key.
                let wide = Budget::new()
                    .activations(9)
                    .re_asks(9)
                    .pace(ms(500))
                    .join_limit(join_limit)
                    .hint_limit(hint_limit);
                let bounds = (activations, re_asks);
                let (asks, waits) = longest(&Counts::default(), &wide, bounds, &mut HashMap::new());
                let budget = wide.activations(activations).re_asks(re_asks).spread(spread);
                let worst = budget.worst_case();
                assert_eq!(worst.asks, asks, "{bounds:?}");
                let spreads = spread * u32::try_from(asks - 1).expect("few");
                assert_eq!(worst.waits, waits + spreads, "{budget:?}");
            }
        }
    }
}

#[test]
fn the_worst_case_is_reached_by_the_ledger_itself() {
    let budget = Budget::default();
    let mut ledger = ledger(budget);
    let mut asks = 0;
    let mut charge = |rejection: &Rejection| {
        asks += 1;
        ledger.charge(rejection.clone())
    };
    for owner in ["A", "B", "C"] {
        let rejection = Rejection::by_owner(Some(owner.parse().expect("hex")));
        for _ in 0..17 {
            charge(&rejection).expect("17 of each");
        }
    }
    for _ in 0..16 {
        charge(&Rejection::by_route()).expect("16 by the route");
    }
    assert_eq!(charge(&Rejection::by_route()).expect_err("one too many").axis, Axis::Time);
    assert_eq!(budget.worst_case().asks, asks);
}

#[test]
fn the_worst_case_of_extremes_saturates() {
    // C35.
    let most = Budget::new()
        .activations(u32::MAX)
        .re_asks(u32::MAX)
        .pace(Duration::MAX)
        .join_limit(Duration::MAX)
        .hint_limit(Duration::MAX)
        .spread(Duration::MAX);
    // One more than a `u64` can count.
    assert_eq!(most.worst_case().asks, u64::MAX);
    assert_eq!(most.worst_case().waits, Duration::MAX);

    let none = Budget::new()
        .activations(0)
        .re_asks(0)
        .pace(Duration::ZERO)
        .join_limit(Duration::ZERO)
        .hint_limit(Duration::ZERO);
    assert_eq!((none.worst_case().asks, none.worst_case().waits), (1, Duration::ZERO));

    // Many short waits: more than 2^32 of them, and no overflow on the way.
    let many = Budget::new()
        .activations(u32::MAX)
        .re_asks(1)
        .pace(ms(1))
        .join_limit(ms(1))
        .hint_limit(Duration::ZERO)
        .worst_case();
    let expected = (2.0 * f64::from(u32::MAX) + 1.0) / 1_000.0;
    assert!((many.waits.as_secs_f64() - expected).abs() < 0.01, "{many:?}");
}

#[test]
fn each_setting_that_cannot_do_its_work_is_named() {
    // C10.
    let watchdog = secs(8);
    let ok = Budget::new();
    for (budget, concern, says) in [
        (ok.activations(0), Concern::NoActivations, "activations is 0"),
        (ok.ask_limit(Duration::ZERO), Concern::NoTimeToAnswer, "ask_limit is 0"),
        (
            ok.join_limit(ms(7_999)),
            Concern::JoinBelowWatchdog { join_limit: ms(7_999), watchdog },
            "join_limit 7.999s is below the owner's watchdog 8s",
        ),
        (
            ok.pace(ms(499)),
            Concern::RestsBelowWatchdog { rests: ms(499 * 16), watchdog },
            "pace × re_asks 7.984s is below the owner's watchdog 8s",
        ),
        (
            ok.re_asks(15),
            Concern::RestsBelowWatchdog { rests: ms(7_500), watchdog },
            "pace × re_asks 7.5s",
        ),
        (
            ok.longest(ms(7_999)),
            Concern::LongestBelowWatchdog { longest: ms(7_999), watchdog },
            "longest 7.999s",
        ),
        (
            ok.proven_after(ms(500)),
            Concern::ProvenWithinPace { proven_after: ms(500), pace: ms(500) },
            "proven_after 500ms is not above the pace 500ms",
        ),
    ] {
        assert_eq!(budget.concerns(), [concern], "{budget:?}");
        assert!(concern.to_string().contains(says), "{concern}");
    }
    let none = ok.re_asks(0);
    let rests = Concern::RestsBelowWatchdog { rests: Duration::ZERO, watchdog };
    assert_eq!(none.concerns(), [Concern::NoReAsks, rests]);
    assert!(Concern::NoReAsks.to_string().contains("re_asks is 0"));
}

#[test]
fn what_is_just_enough_is_no_concern() {
    let ok = Budget::new();
    for budget in [
        ok.join_limit(secs(8)),
        ok.longest(secs(8)),
        ok.proven_after(ms(501)),
        ok.re_asks(1).pace(secs(8)),
        ok.activations(1).ask_limit(Duration::from_nanos(1)),
        ok.watchdog(Duration::ZERO).join_limit(Duration::ZERO).re_asks(1).pace(Duration::ZERO),
        ok.pace(Duration::MAX),
    ] {
        assert!(budget.concerns().is_empty(), "{:?}", budget.concerns());
    }
    // Against the watchdog of the setting, and no other.
    let slow = ok.watchdog(secs(30)).concerns();
    assert!(
        matches!(slow[..], [Concern::JoinBelowWatchdog { .. }, Concern::RestsBelowWatchdog { .. }]),
        "{slow:?}"
    );
}

#[test]
fn the_bound_by_the_clock_bounds_the_worst_case() {
    let worst = Budget::new().re_asks(u32::MAX).longest(ms(120_000)).worst_case();
    assert_eq!(worst.waits, ms(120_000));
}
