//! What these tests share. The owner's have the files of `tests/support/` as well.

#[path = "../../support/by_hand.rs"]
pub(crate) mod by_hand;
pub(crate) mod chain;
#[path = "../../support/hand_clock.rs"]
pub(crate) mod hand_clock;
#[path = "../../support/heard.rs"]
pub(crate) mod heard;
pub(crate) mod mine;
mod mined_clock;
#[path = "../../support/paused.rs"]
pub(crate) mod paused;
pub(crate) mod ruled;
pub(crate) mod script;
pub(crate) mod strict;
#[path = "../../support/task.rs"]
pub(crate) mod task;
pub(crate) mod words;
