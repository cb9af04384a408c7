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
