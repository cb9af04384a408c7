//! How one lifetime of an owner, and one stream of a reader, is told from every other.
//!
//! Identities are minted, or taken from whatever names a lifetime already: not from a memory address,
//! which is used again, and not from a short hash, which collides. A counter makes a mint unique in its
//! process; a seed drawn once a process, mixed in by a bijection, keeps two processes apart without ever
//! folding two counts into one.

use std::{
    cmp, fmt,
    hash::{BuildHasher, RandomState},
    str::FromStr,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicU64, Ordering},
    },
};

/// The most digits an activation can have.
pub const MAX_DIGITS: usize = 64;

/// The most digits that are kept in place: with them an activation has three words.
const SHORT: usize = 16;

/// How many digits a UUID has.
const UUID_DIGITS: usize = 32;

/// Identifies one lifetime of an owner at its address: 1 to 64 hex digits.
///
/// A recycle ends one activation and starts another. The digits are kept as they are written and
/// compared as they are written, so `0d` and `0D` are two activations. Up to 16 digits, those of a mint, need
/// no memory of their own; cloning shares the text of a longer one.
///
/// It names a lifetime and not a place: a pod's UID is one, its name is none where the next pod has that
/// name too.
///
/// | you have | take |
/// |---|---|
/// | nothing that names a lifetime | [`mint`](Activation::mint) |
/// | hex digits, such as those of a refusal | [`parse`](str::parse) |
/// | a UUID as text | [`from_uuid`](Activation::from_uuid) |
/// | a UUID or another number of 128 bits | [`from`](Activation#impl-From<u128>-for-Activation) |
/// | any other text | [`of_text`](Activation::of_text) |
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
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Activation {
    digits: Digits,
}

/// Equal digits are kept equally: a text that is short enough is always kept in place, with zeros behind it.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Digits {
    Short { length: u8, digits: InPlace },
    Long(Arc<str>),
}

/// Aligned, so that it can be looked at in words.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(align(8))]
struct InPlace([u8; SHORT]);

impl Activation {
    /// Returns a new identity of 16 upper-case digits, unique in this process and never reused.
    pub fn mint() -> Self {
        static MINTED: AtomicU64 = AtomicU64::new(0);
        let digits = InPlace(hex(next_identity(&MINTED)));
        Self { digits: Digits::Short { length: SHORT as u8, digits } }
    }

    /// Returns the identity that a UUID is, from its text with dashes: 8, 4, 4, 4 and 12 hex digits.
    ///
    /// It is that of the UUID's number, so the case of the text does not matter.
    /// [`parse`](str::parse) does not take this form: what it takes is kept as it is written, and no dash
    /// is a hex digit.
    ///
    /// # Errors
    ///
    /// [`InvalidUuid`] where the text has another form, braces and a leading `urn:uuid:` included.
    ///
    /// # Examples
    ///
    /// ```
    /// use rideout::Activation;
    ///
    /// let pod = Activation::from_uuid("123e4567-e89b-12d3-a456-426614174000")?;
    /// assert_eq!(pod.as_str(), "123E4567E89B12D3A456426614174000");
    /// assert_eq!(pod, Activation::from(0x123e4567_e89b_12d3_a456_426614174000));
    /// assert!("123e4567-e89b-12d3-a456-426614174000".parse::<Activation>().is_err());
    /// # Ok::<_, rideout::activation::InvalidUuid>(())
    /// ```
    pub fn from_uuid(text: &str) -> Result<Self, InvalidUuid> {
        // So much of it as shows what it is, and no more of what a stranger sends.
        let invalid = || InvalidUuid { text: text.chars().take(40).collect() };

        let parts: Vec<_> = text.split('-').collect();
        let lengths: Vec<_> = parts.iter().map(|part| part.len()).collect();
        let digits = parts.concat();
        if lengths != [8, 4, 4, 4, 12] || not_hex(&digits, UUID_DIGITS).is_some() {
            return Err(invalid());
        }
        u128::from_str_radix(&digits, 16).map(Self::from).map_err(|_| invalid())
    }

    /// Returns an identity of 32 upper-case digits that is made of `text` by a hash: equal texts give
    /// equal identities, in any process, build and version of this crate.
    ///
    /// The text must name a lifetime, and nothing that comes back: `broker-3/epoch 17`, and not
    /// `broker-3`.
    ///
    /// # Algorithm
    ///
    /// The 128-bit FNV-1a hash of the text's bytes in UTF-8. It is part of the contract, so that an owner
    /// and an observer of its lifetimes can each make the identity. It is no cryptographic hash: who can
    /// choose texts can make two of them meet, so give it no text of a stranger.
    ///
    /// # Examples
    ///
    /// ```
    /// use rideout::Activation;
    ///
    /// let broker = Activation::of_text("broker-3/epoch 17");
    /// assert_eq!(broker, Activation::of_text("broker-3/epoch 17"));
    /// assert_ne!(broker, Activation::of_text("broker-3/epoch 18"));
    /// ```
    pub fn of_text(text: &str) -> Self {
        Self::from(fnv_1a(text.as_bytes()))
    }

    /// Returns the identity of these digits, which were looked at before.
    pub(crate) fn of_hex(digits: &str) -> Self {
        debug_assert_eq!(not_hex(digits, MAX_DIGITS), None);
        let text = digits.as_bytes();
        if text.len() > SHORT {
            return Self { digits: Digits::Long(digits.into()) };
        }
        let mut digits = InPlace([0; SHORT]);
        digits.0[..text.len()].copy_from_slice(text);
        Self { digits: Digits::Short { length: text.len() as u8, digits } }
    }

    /// Returns the digits, as they were written.
    pub fn as_str(&self) -> &str {
        // Digits are text.
        str::from_utf8(self.as_bytes()).unwrap_or_default()
    }

    fn as_bytes(&self) -> &[u8] {
        match &self.digits {
            Digits::Short { length, digits } => &digits.0[..usize::from(*length)],
            Digits::Long(digits) => digits.as_bytes(),
        }
    }
}

impl PartialOrd for Activation {
    fn partial_cmp(&self, other: &Self) -> Option<cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Activation {
    fn cmp(&self, other: &Self) -> cmp::Ordering {
        self.as_bytes().cmp(other.as_bytes())
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

impl From<u128> for Activation {
    /// Returns the identity of 32 upper-case digits that write `number`, leading zeros included.
    fn from(number: u128) -> Self {
        Self::of_hex(&format!("{number:032X}"))
    }
}

impl FromStr for Activation {
    type Err = InvalidActivation;

    fn from_str(text: &str) -> Result<Self, InvalidActivation> {
        match not_hex(text, MAX_DIGITS) {
            None => Ok(Self::of_hex(text)),
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
/// use rideout::activation::StreamId;
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
        Self(next_identity(&MINTED))
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

/// Says that a text is not a UUID with dashes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("uuid begins with {text:?}, expected 8, 4, 4, 4 and 12 hex digits with dashes between")]
pub struct InvalidUuid {
    text: String,
}

/// Says why a text is not a [`StreamId`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("stream id has {found}, expected 1 to 16 hex digits")]
pub struct InvalidStreamId {
    found: String,
}

/// Returns what `text` has instead of 1 to `most` hex digits.
fn not_hex(text: &str, most: usize) -> Option<String> {
    if (1..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    if let Some((at, found)) = text.char_indices().find(|(_, c)| !c.is_ascii_hexdigit()) {
        return Some(format!("{found:?} at byte {at}"));
    }
    match text.len() {
        0 => Some("no digit".into()),
        length => Some(format!("{length} digits")),
    }
}

/// Writes a number as 16 upper-case digits.
fn hex(number: u64) -> [u8; SHORT] {
    std::array::from_fn(|at| b"0123456789ABCDEF"[(number >> (60 - 4 * at)) as usize & 0xF])
}

/// Returns the next count, mixed with the seed of this process.
fn next_identity(minted: &AtomicU64) -> u64 {
    // Drawn from the standard library's source and not from `fastrand`'s, which a user may seed:
    // two processes with one seed would mint the same identities.
    static SEED: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one("identity"));

    mix(minted.fetch_add(1, Ordering::Relaxed).wrapping_add(*SEED))
}

/// The 128-bit FNV-1a hash, with its published offset basis and prime.
fn fnv_1a(bytes: &[u8]) -> u128 {
    const OFFSET_BASIS: u128 = 0x6C62_272E_07BB_0142_62B8_2175_6295_C58D;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013B;

    bytes.iter().fold(OFFSET_BASIS, |hash, &byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME))
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
