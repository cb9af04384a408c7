use std::{fmt, time::Duration};

use crate::activation::Activation;

/// Names the side that a refusal says it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Party {
    /// The owner of the address.
    Owner,
    /// Whatever stands between asker and owner: a host, a router, the reader's own side.
    Route,
}

impl fmt::Display for Party {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Party::Owner => "owner",
            Party::Route => "route",
        })
    }
}

/// Says who spoke: the owner, perhaps naming its activation, or the route.
///
/// A route has no activation of the owner to name, so one with a tag cannot be written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Speaker {
    /// The owner itself, with the activation that refused where it was named.
    Owner(Option<Activation>),
    /// The route; no owner was reached.
    Route,
}

impl Speaker {
    /// Returns the side that spoke.
    pub fn party(&self) -> Party {
        match self {
            Speaker::Owner(_) => Party::Owner,
            Speaker::Route => Party::Route,
        }
    }

    /// Returns the activation that spoke, where it was named.
    pub fn activation(&self) -> Option<&Activation> {
        match self {
            Speaker::Owner(activation) => activation.as_ref(),
            Speaker::Route => None,
        }
    }
}

/// What an accounting needs to know of one promise: who gave it, and how long it asks to be left
/// alone.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
///
/// use rideout::{Activation, Rejection};
///
/// let mut rejection = Rejection::by_owner(Some(Activation::mint()));
/// rejection.not_before = Some(Duration::from_secs(1));
/// assert_ne!(rejection, Rejection::by_route());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// Who refused.
    pub speaker: Speaker,
    /// A hint: a rest under this rejection lasts at least so long. It shortens no wait.
    pub not_before: Option<Duration>,
}

impl Rejection {
    /// Returns a rejection by the owner, without a hint.
    ///
    /// Without an activation it counts as one more owner each time, and three spend the default budget
    /// (`R7`): where nobody can be named, and the owner need not be the one that refused, say
    /// [`by_route`](Rejection::by_route).
    pub fn by_owner(activation: Option<Activation>) -> Self {
        Self { speaker: Speaker::Owner(activation), not_before: None }
    }

    /// Returns a rejection by the route, without a hint.
    pub fn by_route() -> Self {
        Self { speaker: Speaker::Route, not_before: None }
    }
}

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
