use super::Frame;

/// What an ask led to. Without a frame its answer is held, or given back after the [end](super::Subscribers::end).
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "an ask is answered by its frame, or refused"]
#[non_exhaustive]
pub struct Asked<K, S, A> {
    /// The state, and the acknowledgement to be given after it.
    pub frame: Option<Frame<K, S, A>>,
    /// The sink that no frame goes to from here on: that of the registration before, where this is a
    /// refresh, or the asker's own after the [end](super::Subscribers::end).
    pub replaced: Option<S>,
    /// An answer to be refused as one that could not be finished: the oldest that was held, where 16 are
    /// held already, or the asker's own after the end.
    pub refused: Option<A>,
}
