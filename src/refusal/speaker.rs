use std::fmt;

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
