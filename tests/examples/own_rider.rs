//! What the example `own_rider` shows must be so.

#[path = "../../examples/own_rider/owner.rs"]
mod owner;
#[path = "../../examples/own_rider/rider.rs"]
mod rider;
#[path = "../../examples/own_rider/story.rs"]
mod story;

use tokio::time::{sleep, timeout};

use crate::told::{HANGS, LONG, assert_told, count};

#[tokio::test(start_paused = true)]
async fn a_rider_of_ones_own_obeys_each_wait() {
    let told = timeout(LONG, story::run()).await.expect(HANGS).unwrap();
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
