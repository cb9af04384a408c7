//! What is now to be sent, answered or refused.

/// One frame that is to be sent: its number, where to, and the answers that waited for it.
///
/// A frame 1 carries the whole state. What a later one carries, the state or what has changed, is the
/// owner's to say.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a frame that is not sent is a gap"]
#[non_exhaustive]
pub struct Frame<K, S, A> {
    /// Whose it is.
    pub key: K,
    /// The attempt that the stream was asked for by. With the key it names the registration, also where
    /// the sending fails and the subscriber is to be [dropped](super::Subscribers::unsubscribe) for it (`R50`).
    pub attempt: u32,
    /// Where it goes.
    pub sink: S,
    /// Its number: 1 after an ask, then one more each.
    pub number: u64,
    /// The answers to be given, in the order of their asks, after the frame is sent.
    pub acknowledgements: Vec<A>,
}

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

/// A stream that is served no more.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "held answers are to be refused"]
#[non_exhaustive]
pub struct Released<K, S, A> {
    /// Whose it was.
    pub key: K,
    /// The attempt that it was asked for by.
    pub attempt: u32,
    /// Where its frames went.
    pub sink: S,
    /// Answers to be refused as ones that could not be finished, in the order of their asks.
    pub held: Vec<A>,
}
