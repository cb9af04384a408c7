use std::{collections::BTreeSet, mem, time::Instant};

use super::{Frame, Released};

/// One stream that is served: to whom, and how far.
pub(super) struct Registration<K, S, A> {
    pub(super) key: K,
    pub(super) sink: S,
    pub(super) attempt: u32,
    // Of the last frame; 0 before the first.
    pub(super) number: u64,
    // Empty wherever there is a state.
    pub(super) held: Vec<A>,
    pub(super) due: (Instant, u64),
}

impl<K: Clone, S: Clone, A> Registration<K, S, A> {
    /// Returns its next frame.
    pub(super) fn next_frame(&mut self) -> Frame<K, S, A> {
        let (key, sink) = self.key_and_sink();
        self.next_frame_to(key, sink)
    }

    pub(super) fn key_and_sink(&self) -> (K, S) {
        (self.key.clone(), self.sink.clone())
    }

    /// Makes its next frame of a key and a sink that were cloned before (invariants 2 and 3).
    pub(super) fn next_frame_to(&mut self, key: K, sink: S) -> Frame<K, S, A> {
        self.number = self.number.saturating_add(1);
        let acknowledgements = mem::take(&mut self.held);
        Frame { key, attempt: self.attempt, sink, number: self.number, acknowledgements }
    }
}

impl<K, S, A> Registration<K, S, A> {
    /// Moves its release away (invariant 4). An older reading of the clock takes nothing back.
    pub(super) fn postpone_release(&mut self, at: Instant, due: &mut BTreeSet<(Instant, u64)>) {
        let moved = (at, self.due.1);
        if moved > self.due && due.remove(&self.due) {
            due.insert(moved);
            self.due = moved;
        }
    }

    pub(super) fn released(self) -> Released<K, S, A> {
        Released { key: self.key, attempt: self.attempt, sink: self.sink, held: self.held }
    }
}
