//! What is a refusal, who spoke it, and is it a promise?

mod closing;
mod kind;
mod speaker;
#[cfg(feature = "serde")]
mod wire;

use std::{fmt, time::Duration};

use crate::{activation::Activation, address::Address};

pub use closing::Closing;
pub use kind::Kind;
pub use speaker::{News, Party, Rejection, Speaker};

/// A typed "no" to an ask, or the end of a live subscription announced by its owner.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default))]
#[non_exhaustive]
pub struct Refusal {
    /// What the refusal means. Absent where it came as text alone.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub kind: Option<Kind>,
    /// The sentence, for people and for readers that know no fields.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "wire::lenient_or_default"))]
    pub message: String,
    /// Who spoke, where the sender says so.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "wire::lenient"))]
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub speaker: Option<Party>,
    /// The activation that refused, where the sender says so.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "wire::lenient"))]
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub activation: Option<Activation>,
    /// A hint: not before this long. Crosses a wire as whole milliseconds.
    #[cfg_attr(feature = "serde", serde(with = "wire::millis"))]
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub retry_after: Option<Duration>,
    /// Whether the request certainly had no effect, where the sender says so.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "wire::lenient"))]
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub never_applied: Option<bool>,
    /// Whether the delivery's target is not served where it was delivered.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "wire::lenient_or_default"))]
    pub target_unserved: bool,
    /// Whether the target is known to have said goodbye.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "wire::lenient_or_default"))]
    pub released: bool,
}

impl Refusal {
    /// Returns a refusal of `kind` that says `message`.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind: Some(kind), message: message.into(), ..Self::default() }
    }

    /// Returns a refusal that came as text alone.
    pub fn from_text(message: impl Into<String>) -> Self {
        Self { message: message.into(), ..Self::default() }
    }

    /// Returns the promise that this refusal is to an asker of `asked`, or `None` for a verdict.
    pub fn promise(&self, asked: &Address) -> Option<Rejection> {
        todo!("{asked}")
    }

    /// Returns whether the refused request to `asked` was certainly never applied.
    pub fn is_never_applied(&self, asked: &Address) -> bool {
        todo!("{asked}")
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.message.is_empty() {
            return fmt::Display::fmt(&self.kind.unwrap_or_default(), f);
        }
        f.pad(&self.message)
    }
}

impl std::error::Error for Refusal {}
