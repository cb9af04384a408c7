//! What the harness of the contracts needs, and these tests beside it.

#[path = "../../../../tests/core/support/mine.rs"]
pub(crate) mod mine;
#[path = "../../../../tests/support/task.rs"]
pub(crate) mod task;

use std::time::Duration;

use rideout::Address;

pub(crate) fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

pub(crate) fn address() -> Address {
    "prices/eur".parse().expect("a valid address")
}
