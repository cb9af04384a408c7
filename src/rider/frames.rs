//! Has a frame of this subscription been lost?
//!
//! Where an owner numbers the frames of a subscription one by one, a number that is more than one above
//! the highest so far says that a frame between them is missing (`R44b`).
//!
//! # Invariants
//!
//! 1. The first frame is the base: where an owner begins to count says nothing.
//! 2. A number that is no higher than the highest is no gap: a frame that came twice, or late, leaves
//!    nothing out. The frame that overtook the late one was the gap.
//! 3. What has a gap has it until its end: only another subscription has every frame again.

/// The frames of one subscription, by their numbers.
#[derive(Debug, Default)]
pub(super) struct Frames {
    highest: Option<u64>,
    gap: bool,
}

impl Frames {
    /// The frame `number` passes; returns whether none is missing (invariant 3).
    pub(super) fn pass(&mut self, number: u64) -> bool {
        if self.highest.is_some_and(|highest| number > highest.saturating_add(1)) {
            self.gap = true;
        }
        self.highest = self.highest.max(Some(number));
        !self.gap
    }

    /// Whether there was a gap.
    pub(super) fn has_gap(&self) -> bool {
        self.gap
    }
}
