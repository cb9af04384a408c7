//! What became of an owner's frames: who is dropped for it, and what is said?

use std::{collections::HashSet, time::Instant};

use super::register::subscriber;
use crate::{
    activation::StreamId,
    address::Address,
    diagnosis::{Line, RefusalLog},
    owner::{EvictionCounts, Evictions},
    refusal::Refusal,
    time::{Timer, TokioTimer},
};

/// The deliveries of one owner to its readers.
pub(super) struct Deliveries {
    owner: Address,
    evictions: Evictions,
    // Those whose last frame was refused, and who were not dropped for it.
    refusing: HashSet<StreamId>,
    // One identity may be read at two addresses: what one owner is refused is no affair of the other's log.
    log: RefusalLog,
    // What its times are counted from.
    began: Instant,
}

impl Deliveries {
    pub(super) fn new(owner: Address) -> Self {
        Self {
            evictions: Evictions::new(owner.clone()),
            owner,
            refusing: HashSet::new(),
            log: RefusalLog::new(),
            began: TokioTimer.now(),
        }
    }

    pub(super) fn counts(&self) -> EvictionCounts {
        self.evictions.counts()
    }

    /// A reader is served no longer, for another reason than an eviction.
    pub(super) fn forget(&mut self, stream: StreamId) {
        self.evictions.forget(&subscriber(stream));
    }

    /// Frames go out to these, who are all that are served: whoever was refused and has said goodbye since
    /// is part of no storm.
    pub(super) fn are_to(&mut self, served: impl Iterator<Item = StreamId>) {
        if self.refusing.is_empty() {
            return;
        }
        let served: HashSet<_> = served.collect();
        for stream in self.refusing.extract_if(|stream| !served.contains(stream)) {
            self.evictions.forget(&subscriber(stream));
        }
    }

    /// A frame has found its reader.
    pub(super) fn arrived(&mut self, reader: &Address, stream: StreamId) {
        self.evictions.delivered(reader);
        let swallowed = self.log.delivered(reader);
        if swallowed > 0 {
            let owner = &self.owner;
            tracing::info!(%owner, %reader, swallowed, "deliveries arrive again");
        }
        self.refusing.remove(&stream);
    }

    /// A frame was refused: says what is worth a line (`R51`), and returns whether the reader is to be
    /// dropped (`R50`).
    pub(super) fn refused(
        &mut self,
        reader: &Address,
        stream: StreamId,
        refusal: &Refusal,
    ) -> bool {
        let now = TokioTimer.now();
        let line = self.log.refused(reader, now.saturating_duration_since(self.began));
        // The others have their line of the evictions, which tell each refusal at `DEBUG`.
        if let Line::Warn { swallowed } = line {
            let owner = &self.owner;
            tracing::warn!(%owner, %reader, swallowed, "deliveries are refused: {refusal}");
        }
        let evicts = self.evictions.refused(reader, refusal, now);
        if evicts {
            self.refusing.remove(&stream);
        } else {
            self.refusing.insert(stream);
        }
        evicts
    }
}
