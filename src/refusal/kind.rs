use std::{convert::Infallible, fmt, str::FromStr};

/// Says what a refusal means.
///
/// Only [`ShuttingDown`](Kind::ShuttingDown) is a promise: the address may come back, and the ask
/// is worth repeating. Every other kind is a verdict, and final.
///
/// # Forward compatibility
///
/// A name that this build does not know reads as [`Unknown`](Kind::Unknown), a verdict, from text
/// and from the wire alike. It is never an error and never a promise.
///
/// # Examples
///
/// ```
/// use rideout::Kind;
///
/// assert!(Kind::ShuttingDown.is_promise());
/// assert_eq!("NotFound".parse(), Ok(Kind::NotFound));
/// assert_eq!("Throttled".parse(), Ok(Kind::Unknown));
/// assert_eq!(Kind::RoutingLoop.to_string(), "RoutingLoop");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub enum Kind {
    /// A refusal that this build cannot read.
    #[default]
    Unknown,
    /// The handler failed with an exception.
    Exception,
    /// Nothing is at the address: the only evidence of absence.
    NotFound,
    /// The owner read the request and declined it.
    Rejected,
    /// Nothing handles such a request.
    Ignored,
    /// The request was attempted and failed; a bring-up that timed out is one.
    Failed,
    /// The request came round to where it had been.
    RoutingLoop,
    /// The asker did not say who it is.
    Unauthorized,
    /// The asker may not do this.
    Forbidden,
    /// The owner, or the route to it, is going away: the promise that the address may come back.
    ShuttingDown,
}

impl Kind {
    /// Every kind that this build knows.
    pub const ALL: &'static [Kind] = &[
        Kind::Unknown,
        Kind::Exception,
        Kind::NotFound,
        Kind::Rejected,
        Kind::Ignored,
        Kind::Failed,
        Kind::RoutingLoop,
        Kind::Unauthorized,
        Kind::Forbidden,
        Kind::ShuttingDown,
    ];

    /// Returns whether a refusal of this kind is to be ridden out.
    pub fn is_promise(self) -> bool {
        self == Kind::ShuttingDown
    }

    /// Returns the name by which the kind crosses a wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Unknown => "Unknown",
            Kind::Exception => "Exception",
            Kind::NotFound => "NotFound",
            Kind::Rejected => "Rejected",
            Kind::Ignored => "Ignored",
            Kind::Failed => "Failed",
            Kind::RoutingLoop => "RoutingLoop",
            Kind::Unauthorized => "Unauthorized",
            Kind::Forbidden => "Forbidden",
            Kind::ShuttingDown => "ShuttingDown",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Kind {
    type Err = Infallible;

    fn from_str(name: &str) -> Result<Self, Infallible> {
        let known = Self::ALL.iter().find(|kind| kind.as_str() == name);
        Ok(known.copied().unwrap_or_default())
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Kind {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // A kind that is present wins over the text, also where it is not even a name: were it
        // taken for absent, the text could make a promise of it.
        let name = super::wire::lenient::<String, D>(deserializer)?;
        Ok(name.unwrap_or_default().parse().unwrap_or_else(|never| match never {}))
    }
}
