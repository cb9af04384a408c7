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
