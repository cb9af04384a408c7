//! How one lifetime of an owner, and one stream of a reader, is told from every other.
//!
//! Identities are minted, never derived: not from a memory address, which is used again, and not
//! from a short hash, which collides. A counter makes a mint unique in its process; a seed drawn
//! once a process, mixed in by a bijection, keeps two processes apart without ever folding two
//! counts into one.

use std::{
    fmt,
    hash::{BuildHasher, RandomState},
    str::FromStr,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicU64, Ordering},
    },
};

/// The most digits an activation can have.
pub const MAX_DIGITS: usize = 64;

/// Identifies one lifetime of an owner at its address: 1 to 64 hex digits.
///
/// A recycle ends one activation and starts another. The digits are kept as they are written and
/// compared as they are written, so `0d` and `0D` are two activations. Cloning shares the text.
///
/// It names a lifetime and not a place: a pod's UID without its dashes is one, its name is none where
/// the next pod has that name too.
///
/// # Examples
///
/// ```
/// use rideout::Activation;
///
/// let activation: Activation = "017DA86C".parse()?;
/// assert_eq!(activation.as_str(), "017DA86C");
/// assert_ne!(activation, "017da86c".parse()?);
/// assert!("the first one".parse::<Activation>().is_err());
///
/// assert_ne!(Activation::mint(), Activation::mint());
/// # Ok::<(), rideout::activation::InvalidActivation>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Activation {
    digits: Arc<str>,
}

impl Activation {
    /// Returns a new identity of 16 upper-case digits, unique in this process and never reused.
    pub fn mint() -> Self {
        static MINTED: AtomicU64 = AtomicU64::new(0);
        Self { digits: format!("{:016X}", next(&MINTED)).into() }
    }

    /// Returns the digits, as they were written.
    pub fn as_str(&self) -> &str {
        &self.digits
    }
}

impl fmt::Debug for Activation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Activation({self})")
    }
}

impl fmt::Display for Activation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Activation {
    type Err = InvalidActivation;

    fn from_str(text: &str) -> Result<Self, InvalidActivation> {
        match not_hex(text, MAX_DIGITS) {
            None => Ok(Self { digits: text.into() }),
            Some(found) => Err(InvalidActivation { found }),
        }
    }
}

/// Identifies one stream of one reader, for the whole life of its rider.
///
/// The same identity is in each ask, beat, unsubscribe, warning and give-up of the rider.
///
/// # Examples
///
/// ```
/// use rideout::StreamId;
///
/// let stream = StreamId::mint();
/// assert_ne!(stream, StreamId::mint());
/// assert_eq!(stream.to_string().parse(), Ok(stream));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StreamId(u64);

impl StreamId {
    /// Returns a new identity, unique in this process and never reused.
    pub fn mint() -> Self {
        static MINTED: AtomicU64 = AtomicU64::new(0);
        Self(next(&MINTED))
    }
}

impl fmt::Debug for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StreamId({self})")
    }
}

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016X}", self.0)
    }
}

impl FromStr for StreamId {
    type Err = InvalidStreamId;

    fn from_str(text: &str) -> Result<Self, InvalidStreamId> {
        let invalid = |found| InvalidStreamId { found };

        if let Some(found) = not_hex(text, 16) {
            return Err(invalid(found));
        }
        u64::from_str_radix(text, 16).map(Self).map_err(|error| invalid(error.to_string()))
    }
}

/// Says why a text is not an [`Activation`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("activation has {found}, expected 1 to {MAX_DIGITS} hex digits")]
pub struct InvalidActivation {
    found: String,
}

/// Says why a text is not a [`StreamId`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("stream id has {found}, expected 1 to 16 hex digits")]
pub struct InvalidStreamId {
    found: String,
}

/// Returns what `text` has instead of 1 to `most` hex digits.
fn not_hex(text: &str, most: usize) -> Option<String> {
    if let Some((at, found)) = text.char_indices().find(|(_, c)| !c.is_ascii_hexdigit()) {
        return Some(format!("{found:?} at byte {at}"));
    }
    match text.len() {
        0 => Some("no digit".into()),
        length if length > most => Some(format!("{length} digits")),
        _ => None,
    }
}

/// Returns the next count, mixed with the seed of this process.
fn next(minted: &AtomicU64) -> u64 {
    // Drawn from the standard library's source and not from `fastrand`'s, which a user may seed:
    // two processes with one seed would mint the same identities.
    static SEED: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one("identity"));

    mix(minted.fetch_add(1, Ordering::Relaxed).wrapping_add(*SEED))
}

/// Spreads neighbouring counts over all 64 bits: splitmix64's last step, a bijection, so that two
/// counts never meet.
fn mix(count: u64) -> u64 {
    let mixed = (count ^ (count >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

#[cfg(feature = "serde")]
impl serde::Serialize for Activation {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Activation {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for StreamId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for StreamId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
