//! What these tests share. The reader's side has the files of `tests/support/` as well.

#[path = "../../support/by_hand.rs"]
pub(crate) mod by_hand;
pub(crate) mod driven;
#[path = "../../support/hand_clock.rs"]
pub(crate) mod hand_clock;
#[path = "../../support/heard.rs"]
pub(crate) mod heard;
#[path = "../../support/paused.rs"]
pub(crate) mod paused;
#[path = "../../support/recognised.rs"]
pub(crate) mod recognised;
#[path = "../../support/task.rs"]
pub(crate) mod task;
