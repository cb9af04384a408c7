//! What the examples `own_client` and `own_rider` show must be so.

#[path = "../../examples/own_client/main.rs"]
#[expect(dead_code, reason = "`main` is the example's own")]
mod own_client;
#[path = "../../examples/own_rider/main.rs"]
#[expect(dead_code, reason = "`main` is the example's own")]
mod own_rider;

use std::time::Duration;

use tokio::time::timeout;

/// By the virtual clock, far longer than an example takes.
const LONG: Duration = Duration::from_secs(3600);
const HANGS: &str = "it never ends";

/// Expects the lines that begin so, in this order and perhaps with others between them.
fn assert_told(told: &[String], expected: &[&str]) {
    let mut lines = told.iter();
    for start in expected {
        let found = lines
            .any(|line| line.split_whitespace().collect::<Vec<_>>().join(" ").starts_with(start));
        assert!(found, "not told, or not there: {start}\n{told:#?}");
    }
}

fn count(told: &[String], what: &str) -> usize {
    told.iter().filter(|line| line.contains(what)).count()
}

#[tokio::test(start_paused = true)]
async fn a_client_of_ones_own_misses_no_tick_over_roll_kill_silence_and_give_up() {
    let (ticks, told) = timeout(LONG, own_client::run()).await.expect(HANGS).unwrap();
    assert!(ticks.iter().copied().eq(1..=58), "{ticks:?}");
    assert_told(
        &told,
        &[
            // A roll: joined as long as the pod drains, then rested until the successor arrives.
            "12 s reader: refused by activation 6f1c2b9e0d3a4c579e217a5d3f0b8c11, charged to the activation axis",
            "42 s reader: refused by the route",
            "47 s reader: served by activation b27d90f451c84f0e8a631d94e6c2705f",
            // A kill: found by the directory, and nothing is joined.
            "62 s reader: refused by activation b27d90f451c84f0e8a631d94e6c2705f, charged to the activation axis",
            "62 s reader: refused by the route",
            "67 s reader: served by activation 0c85e3aa7b1249d6b0fe52c1978d4e36",
            // Silence: 15 s after the last tick, and the same pod serves again one pace later.
            "85 s reader: refused by the route",
            "88 s reader: served by activation 0c85e3aa7b1249d6b0fe52c1978d4e36",
            // A clean completion is the owner's going too. A give-up, after two minutes of the route; and it begins again where it was.
            "92 s reader: refused by activation 0c85e3aa7b1249d6b0fe52c1978d4e36, charged to the activation axis",
            "222 s reader: prices/eur: the route refused 41 times (budget 40)",
            "282 s reader: begins again behind tick 18",
            "282 s reader: served by activation e94a16d7c30f4b85a7d28f6b05317ca9",
            "292 s reader: not found",
        ],
    );
    assert_eq!(count(&told, "served by"), 5);
    // No concern over the budget is told.
    assert_eq!(count(&told, "watchdog"), 0, "{told:#?}");
}

#[tokio::test(start_paused = true)]
async fn a_rider_of_ones_own_obeys_each_wait() {
    let told = timeout(LONG, own_rider::run()).await.expect(HANGS).unwrap();
    assert_told(
        &told,
        &[
            "0 ms uncharged",
            "0 ms ask 1",
            "0 ms item 2",
            // Refused in the stream: joins, whatever is nudged meanwhile.
            "0 ms refused by activation 0A, charged to the activation axis (1 of 3)",
            "100 ms nudged",
            "300 ms ask 2",
            // The same one again: rests.
            "300 ms refused by activation 0A, charged to the time axis (1 of 16)",
            "800 ms ask 3",
            // Nothing to join: at once, and then at a pace.
            "800 ms refused by activation 0B, charged to the activation axis (2 of 3)",
            "800 ms ask 4",
            "800 ms refused by activation 0C, charged to the activation axis (3 of 3)",
            "1300 ms ask 5",
            "1300 ms item 4",
            // A nudge: nothing is waited for.
            "2000 ms nudged",
            "2000 ms uncharged",
            "2000 ms ask 6",
            // Its answer has cleared the counts. A teardown that never comes: the limit ends the join.
            "2000 ms refused by activation 0D, charged to the activation axis (1 of 3)",
            "10000 ms ask 7",
            "10000 ms item 6",
            // An answer gives the ask at once its turn again.
            "10000 ms ask 8",
            "10000 ms item 7",
            "10000 ms the end: deleted",
        ],
    );
    assert_eq!(count(&told, "  ask "), 8);
    assert_eq!(count(&told, "  item "), 7);
}
