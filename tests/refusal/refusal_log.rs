//! Which refusals are lines (`R51`): one at once, one a minute that sums up, none lost, none for ever.

use std::time::Duration;

use proptest::prelude::*;
use rideout::{
    Address,
    diagnosis::{Line, RefusalLog},
};

fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn address(n: u64) -> Address {
    format!("clients/{n}").parse().unwrap()
}

const FIRST: Line = Line::Warn { swallowed: 0 };

#[test]
fn the_first_is_a_line_at_once_and_repeats_are_not() {
    let mut log = RefusalLog::new();
    assert_eq!(log.refused(&address(1), secs(0)), FIRST);
    for _ in 0..1_000 {
        assert_eq!(log.refused(&address(1), secs(0)), Line::Debug);
    }
    // Each address has its own.
    assert_eq!(log.refused(&address(2), secs(0)), FIRST);
    assert_eq!(log.len(), 2);
}

#[test]
fn a_line_a_minute_sums_up_to_the_instant() {
    let mut log = RefusalLog::new();
    log.refused(&address(1), secs(7));
    log.refused(&address(1), secs(7));
    let minute = secs(7 + 60);
    assert_eq!(log.refused(&address(1), minute - Duration::from_nanos(1)), Line::Debug);
    assert_eq!(log.refused(&address(1), minute), Line::Warn { swallowed: 2 });
    assert_eq!(log.refused(&address(1), minute), Line::Debug);
    // Nobody was refused meanwhile: nothing that was told is told again.
    assert_eq!(log.refused(&address(1), minute + secs(300)), Line::Warn { swallowed: 1 });
    assert_eq!(log.refused(&address(1), minute + secs(600)), FIRST);
}

/// The story: 46 minutes, up to 1,169 refusals a minute.
#[test]
fn the_story_is_46_lines_that_account_for_every_refusal() {
    let mut log = RefusalLog::new();
    let (mut lines, mut told, mut refusals) = (0, 0, 0);
    for minute in 0..46 {
        for n in 0..1_169_u64 {
            let now = secs(minute * 60) + Duration::from_millis(n * 60_000 / 1_169);
            refusals += 1;
            if let Line::Warn { swallowed } = log.refused(&address(1), now) {
                lines += 1;
                told += 1 + swallowed;
            }
        }
    }
    assert_eq!((lines, refusals), (46, 46 * 1_169));
    assert_eq!(told + log.delivered(&address(1)), refusals);
}

#[test]
fn a_delivery_clears_its_address_and_no_other() {
    let mut log = RefusalLog::new();
    for n in [1, 2, 1, 2] {
        log.refused(&address(n), secs(0));
    }
    assert_eq!(log.delivered(&address(1)), 1);
    assert_eq!(log.delivered(&address(1)), 0);
    assert_eq!(log.delivered(&address(3)), 0);
    assert_eq!(log.refused(&address(1), secs(1)), FIRST);
    assert_eq!(log.refused(&address(2), secs(1)), Line::Debug);
}

#[test]
fn the_least_recent_goes_where_there_are_too_many() {
    let mut log = RefusalLog::new();
    for n in 0..512 {
        assert_eq!(log.refused(&address(n), secs(0)), FIRST);
    }
    assert_eq!(log.refused(&address(0), secs(1)), Line::Debug); // no longer the least recent
    assert_eq!(log.refused(&address(512), secs(1)), FIRST);
    assert_eq!(log.len(), 512);
    assert_eq!(log.refused(&address(0), secs(1)), Line::Debug);
    assert_eq!(log.refused(&address(2), secs(1)), Line::Debug);
    assert_eq!(log.refused(&address(1), secs(1)), FIRST); // it went
}

#[test]
fn idle_ones_are_swept_and_others_are_not() {
    let mut log = RefusalLog::new();
    for n in 0..100 {
        log.refused(&address(n), secs(0));
    }
    log.refused(&address(0), secs(30));
    log.refused(&address(500), secs(600));
    assert_eq!(log.len(), 101);
    log.refused(&address(500), secs(601));
    assert_eq!(log.len(), 2, "only the one that was refused half a minute later");
    assert_eq!(log.refused(&address(0), secs(602)), Line::Warn { swallowed: 1 });
    log.refused(&address(500), secs(10_000));
    assert_eq!(log.len(), 1);
}

#[test]
fn every_setting_is_safe() {
    let mut log = RefusalLog::new().every(Duration::ZERO);
    assert_eq!(log.refused(&address(1), secs(0)), FIRST);
    assert_eq!(log.refused(&address(1), secs(0)), FIRST);

    let mut log = RefusalLog::new().every(Duration::MAX);
    assert_eq!(log.refused(&address(1), Duration::ZERO), FIRST);
    assert_eq!(log.refused(&address(1), Duration::MAX - secs(1)), Line::Debug);
    assert_eq!(log.refused(&address(1), Duration::MAX), Line::Warn { swallowed: 1 });

    let mut log = RefusalLog::default().most_addresses(0);
    assert_eq!(log.refused(&address(1), secs(0)), FIRST);
    assert!(log.is_empty());
    assert_eq!(log.refused(&address(1), secs(0)), FIRST);
    assert_eq!(format!("{log:?}"), "RefusalLog { addresses: 0, every: 60s, .. }");
}

/// A clock that is read out of order neither panics nor makes a line.
#[test]
fn an_older_reading_of_the_clock_takes_nothing_back() {
    let mut log = RefusalLog::new();
    assert_eq!(log.refused(&address(1), secs(100)), FIRST);
    assert_eq!(log.refused(&address(1), secs(1)), Line::Debug);
    log.refused(&address(2), secs(660));
    assert_eq!(log.len(), 2, "it was refused at 100");
    assert_eq!(log.refused(&address(1), secs(160)), Line::Warn { swallowed: 1 });
}

#[test]
fn nothing_grows_over_many_refusals() {
    let many: Vec<_> = (0..5_000).map(address).collect();
    let mut log = RefusalLog::new();
    let round = |log: &mut RefusalLog, from: u64| {
        for n in from..from + 100_000 {
            log.refused(&many[n as usize % many.len()], Duration::from_millis(n));
        }
    };
    round(&mut log, 0);
    let held = allocation_counter::measure(|| round(&mut log, 100_000));
    assert!(held.bytes_current.abs() < 16_384, "{held:?}");
    assert_eq!(log.len(), 512);

    // The control: more addresses are more memory.
    let mut larger = RefusalLog::new().most_addresses(usize::MAX);
    let held = allocation_counter::measure(|| round(&mut larger, 0));
    assert!(held.bytes_current > 400_000, "{held:?}");
}

proptest! {
    /// At most one line a minute and address unless it was cleared, and every refusal is told or kept.
    #[test]
    fn lines_are_a_minute_apart_and_account_for_all(
        steps in prop::collection::vec((0..3_u64, 0..40_u64, prop::bool::weighted(0.1)), 0..200),
    ) {
        let mut log = RefusalLog::new();
        let mut now = 0;
        // Of each address: when its last line was, and how many were refused since.
        let mut known: [Option<(u64, u64)>; 3] = [None; 3];
        for (n, later, succeeds) in steps {
            now += later;
            let known = &mut known[n as usize];
            if succeeds {
                let kept = known.take().map_or(0, |(_, swallowed)| swallowed);
                prop_assert_eq!(log.delivered(&address(n)), kept);
                continue;
            }
            match (log.refused(&address(n), secs(now)), *known) {
                (Line::Warn { swallowed: 0 }, None) => *known = Some((now, 0)),
                (Line::Warn { swallowed }, Some((line, kept))) => {
                    prop_assert!(now - line >= 60);
                    // Idle for ten minutes is as good as new.
                    prop_assert!(swallowed == kept || now - line > 600);
                    *known = Some((now, 0));
                }
                (Line::Debug, Some((line, kept))) => {
                    prop_assert!(now - line < 60);
                    *known = Some((line, kept + 1));
                }
                (line, known) => prop_assert!(false, "{:?} of {:?}", line, known),
            }
        }
    }
}
