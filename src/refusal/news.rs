use crate::activation::Activation;

/// What a reader hears of an address besides the answers to its asks.
///
/// A missing activation means that the sender did not name one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum News {
    /// The owner announces that it ended the stream.
    Ended(Option<Activation>),
    /// The owner answers a beat: this activation does not serve that stream.
    NotServing(Option<Activation>),
    /// An activation arrived at the address.
    Arrived(Activation),
}
