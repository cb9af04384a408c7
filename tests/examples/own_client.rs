//! What the example `own_client` shows must be so.

#[path = "../../examples/own_client/client.rs"]
mod client;
#[path = "../../examples/own_client/cluster.rs"]
mod cluster;
#[path = "../../examples/own_client/story.rs"]
mod story;

use tokio::time::timeout;

use crate::told::{HANGS, LONG, assert_told, count};

#[tokio::test(start_paused = true)]
async fn a_client_of_ones_own_misses_no_tick_over_roll_kill_silence_and_give_up() {
    let (ticks, told) = timeout(LONG, story::run()).await.expect(HANGS).unwrap();
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
