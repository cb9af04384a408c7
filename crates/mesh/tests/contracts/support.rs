//! What the harness of the contracts needs.

#[path = "../../../../tests/support/by_hand.rs"]
pub(crate) mod by_hand;
#[path = "../../../../tests/support/hand_clock.rs"]
pub(crate) mod hand_clock;
#[path = "../../../../tests/core/support/mine.rs"]
pub(crate) mod mine;
