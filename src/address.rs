//! What makes a text an address: a path, perhaps with a host, that can forge nothing.
//!
//! An address is woven into sentences that are contract between owners and readers, and read out
//! of them again. It is therefore checked once, when it is made; a rider takes an [`Address`], so
//! that nothing later can fail on it.

use std::{fmt, str::FromStr, sync::Arc};

use crate::sentence;

/// The longest address, in bytes.
pub const MAX_LENGTH: usize = 1024;

/// Names what an owner serves: `path`, or `path~host`.
///
/// The path is the text before the first `~`; an owner is recognised by its path alone, wherever
/// it is hosted. Two addresses are equal if their whole text is. Cloning shares the text.
///
/// Not every text is an address. Its path is not empty and has no white space at its ends; it has
/// at most [`MAX_LENGTH`] bytes and no control character; and it holds none of the words by which
/// an owner's refusal is recognised, not even together with the space that a sentence puts before
/// and after it. Everything else is allowed, inner spaces included.
///
/// # Examples
///
/// ```
/// use rideout::Address;
///
/// let address: Address = "prices/eur~host-7".parse()?;
/// assert_eq!(address.path(), "prices/eur");
/// assert_eq!(address.host(), Some("host-7"));
/// assert_eq!(address.to_string(), "prices/eur~host-7");
///
/// assert!("".parse::<Address>().is_err());
/// # Ok::<(), rideout::address::InvalidAddress>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Address {
    checked: Arc<Checked>,
}

#[derive(PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Checked {
    text: Box<str>,
    // How much of it is the path, which every reading of a refusal looks for.
    path: usize,
}

impl Address {
    /// Returns the whole text.
    pub fn as_str(&self) -> &str {
        &self.checked.text
    }

    /// Returns the text before the first `~`, never empty.
    pub fn path(&self) -> &str {
        &self.checked.text[..self.checked.path]
    }

    /// Returns the text after the first `~`, if there is any.
    pub fn host(&self) -> Option<&str> {
        let (_, host) = self.as_str().split_once('~')?;
        Some(host).filter(|host| !host.is_empty())
    }

    fn check(text: &str) -> Result<(), InvalidAddress> {
        let path = path_of(text);

        if text.len() > MAX_LENGTH {
            return Err(InvalidAddress::TooLong { length: text.len() });
        }
        if let Some((at, found)) = text.char_indices().find(|(_, c)| c.is_control()) {
            return Err(InvalidAddress::ControlCharacter { found, at });
        }
        if path.is_empty() {
            return Err(InvalidAddress::EmptyPath { text: text.into() });
        }
        if path.trim() != path || text.trim_end() != text {
            return Err(InvalidAddress::Untrimmed { text: text.into() });
        }
        // The path, which stands in sentences alone too, is where the text begins.
        match sentence::forged_by(text) {
            Some(word) => Err(InvalidAddress::Forges { text: text.into(), word }),
            None => Ok(()),
        }
    }
}

fn path_of(text: &str) -> &str {
    text.split_once('~').map_or(text, |(path, _)| path)
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({:?})", self.as_str())
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Address {
    type Err = InvalidAddress;

    fn from_str(text: &str) -> Result<Self, InvalidAddress> {
        Self::check(text)?;
        let path = path_of(text).len();
        Ok(Self { checked: Arc::new(Checked { text: text.into(), path }) })
    }
}

impl TryFrom<&str> for Address {
    type Error = InvalidAddress;

    fn try_from(text: &str) -> Result<Self, InvalidAddress> {
        text.parse()
    }
}

impl TryFrom<String> for Address {
    type Error = InvalidAddress;

    fn try_from(text: String) -> Result<Self, InvalidAddress> {
        text.parse()
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Address {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Address {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// Says why a text is not an [`Address`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidAddress {
    /// The text before the first `~` is empty.
    #[error("address {text:?} has an empty path, expected text before the first `~`")]
    EmptyPath {
        /// The text that was found.
        text: String,
    },
    /// The text is longer than [`MAX_LENGTH`].
    #[error("address has {length} bytes, expected at most {MAX_LENGTH}")]
    TooLong {
        /// The length that was found, in bytes.
        length: usize,
    },
    /// The text holds a control character.
    #[error("address holds the control character {found:?} at byte {at}, expected none")]
    ControlCharacter {
        /// The first such character.
        found: char,
        /// Where it begins, in bytes.
        at: usize,
    },
    /// White space stands at an end of the path or of the text, where a sentence could not show it.
    #[error("address {text:?} has white space at an end, expected none around path and host")]
    Untrimmed {
        /// The text that was found.
        text: String,
    },
    /// The text could pass for a part of a refusal that nobody minted.
    #[error("address {text:?} would read as {word:?} in a sentence, expected no word of a refusal")]
    Forges {
        /// The text that was found.
        text: String,
        /// The word of a refusal that it forms, alone or with a space before and after it.
        word: &'static str,
    },
}
