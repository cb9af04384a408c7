//! What is a refusal, who spoke it, and is it a promise?
//!
//! Only a promise is worth riding out, and only who made it says how: the owner's activation is
//! joined, the route is given time. Both are decided here, from the fields where the sender knew
//! them and otherwise from the sentence, which is contract.

mod closing;
mod kind;
mod news;
mod rejection;
mod seam;
mod speaker;
#[cfg(feature = "serde")]
mod wire;
mod wording;

use std::{fmt, time::Duration};

use crate::{
    activation::{self, Activation},
    address::Address,
    sentence,
};

pub use self::{
    closing::Closing,
    kind::Kind,
    news::News,
    rejection::Rejection,
    seam::Seam,
    speaker::{Party, Speaker},
    wording::Wording,
};

/// A typed "no" to an ask, or the end of a live subscription announced by its owner.
///
/// It says everything twice: in fields, and in a sentence that owners and readers of any build
/// share. What a field says counts; a field that the sender did not know is absent, and the
/// sentence stands in for it. A kind that is present always wins: no text makes a promise of a
/// verdict.
///
/// An owner takes its refusals from a [`Closing`]; a route from
/// [`host_cannot_route`](Refusal::host_cannot_route) and its neighbours. The fields are public for
/// readers and adapters, and `with_…` sets them in passing.
///
/// # Serde
///
/// Absent fields take their defaults, unknown ones are ignored, and a malformed one counts as
/// absent (a malformed kind as [`Unknown`](Kind::Unknown)), so that no field of another shape costs the
/// refusal. What the format itself cannot read, such as a number out of its range, does.
/// This needs a format that describes itself, such as JSON.
///
/// # Examples
///
/// ```
/// use rideout::{Activation, Address, Kind, Refusal, refusal::{Closing, Seam, Speaker}};
///
/// let asked: Address = "prices/eur".parse()?;
/// let activation = Activation::mint();
/// let refusal = Closing::new(asked.clone()).activation(activation.clone()).refuse(Seam::Door, "Ask");
///
/// let promise = refusal.promise(&asked).expect("shutting down is a promise");
/// assert_eq!(promise.speaker, Speaker::Owner(Some(activation)));
///
/// // The sentence alone says the same, but not to one who asked another owner.
/// let relayed = Refusal::from_text(refusal.message);
/// assert_eq!(relayed.promise(&asked), Some(promise));
/// assert_eq!(relayed.promise(&"prices/usd".parse()?), None);
///
/// assert_eq!(Refusal::new(Kind::Failed, relayed.message).promise(&asked), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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

    /// Returns the promise of a leaving host that it does not route to `address`.
    pub fn host_cannot_route(address: &Address) -> Self {
        Self::by_route(Kind::ShuttingDown, sentence::host_cannot_route(address.as_str()))
            .with_never_applied(true)
    }

    /// Returns the promise of a mesh that is going away that it does not route to `address`.
    pub fn mesh_cannot_route(address: &Address) -> Self {
        Self::by_route(Kind::ShuttingDown, sentence::mesh_cannot_route(address.as_str()))
            .with_never_applied(true)
    }

    /// Returns the verdict that no route leads to `address`; whether anything is there, it leaves
    /// open.
    pub fn no_route(address: &Address) -> Self {
        Self::by_route(Kind::Failed, sentence::no_route(address.as_str()))
    }

    /// Returns the verdict that nothing is at `address`.
    pub fn no_node(address: &Address) -> Self {
        Self::by_route(Kind::NotFound, sentence::no_node(address.as_str()))
    }

    /// Returns the verdict of an owner. Whatever its text was made of, it reads as nobody's promise where
    /// the kind is lost on its way.
    pub(crate) fn by_owner(kind: Kind, activation: &Activation, text: &str) -> Self {
        Self::new(kind, sentence::plain(text))
            .with_speaker(Party::Owner)
            .with_activation(activation.clone())
    }

    fn by_route(kind: Kind, message: String) -> Self {
        Self::new(kind, message).with_speaker(Party::Route)
    }

    /// Says who speaks.
    #[must_use]
    pub fn with_speaker(mut self, speaker: Party) -> Self {
        self.speaker = Some(speaker);
        self
    }

    /// Names the activation that refuses.
    #[must_use]
    pub fn with_activation(mut self, activation: Activation) -> Self {
        self.activation = Some(activation);
        self
    }

    /// Asks not to be asked again before this long.
    #[must_use]
    pub fn with_retry_after(mut self, retry_after: Duration) -> Self {
        self.retry_after = Some(retry_after);
        self
    }

    /// Says whether the request certainly had no effect.
    #[must_use]
    pub fn with_never_applied(mut self, never_applied: bool) -> Self {
        self.never_applied = Some(never_applied);
        self
    }

    /// Says that the delivery's target is not served where it was delivered.
    #[must_use]
    pub fn with_target_unserved(mut self) -> Self {
        self.target_unserved = true;
        self
    }

    /// Says that the target is known to have said goodbye.
    #[must_use]
    pub fn with_released(mut self) -> Self {
        self.released = true;
        self
    }

    /// Returns the promise that this refusal makes to one who asked `asked`, or `None` for a
    /// verdict.
    ///
    /// A kind that is present decides. Without one the text does: it is a promise where it carries
    /// the banner of `asked` and says that the address may come back, or says that a host or mesh
    /// which is going away cannot route to it.
    ///
    /// # Examples
    ///
    /// ```
    /// use rideout::{Address, Kind, Refusal, Rejection};
    ///
    /// let asked: Address = "prices/eur".parse()?;
    /// let text = Refusal::host_cannot_route(&asked).message;
    /// assert_eq!(Refusal::from_text(text.clone()).promise(&asked), Some(Rejection::by_route()));
    /// assert_eq!(Refusal::new(Kind::Failed, text).promise(&asked), None); // a kind always wins
    /// # Ok::<_, rideout::address::InvalidAddress>(())
    /// ```
    pub fn promise(&self, asked: &Address) -> Option<Rejection> {
        let speaker = match self.kind {
            Some(kind) if kind.is_promise() => self.speaker(asked),
            Some(_) => return None,
            None if sentence::may_promise(&self.message) => self.speaker_of_text(asked)?,
            None => return None,
        };
        Some(Rejection { speaker, not_before: self.retry_after })
    }

    /// Returns who spoke to one who asked `asked`.
    ///
    /// The fields decide where they are present. Otherwise it is the owner where the text carries
    /// the banner of `asked`, or a tag and no banner at all; everything else is the route's. A tag
    /// that stands beside another's banner only is not this owner's.
    ///
    /// # Examples
    ///
    /// ```
    /// use rideout::{Address, Refusal, refusal::{Closing, Seam, Speaker}};
    ///
    /// let (asked, child): (Address, Address) = ("prices".parse()?, "prices/eur".parse()?);
    /// let text = Closing::new(child.clone()).activation("0C".parse()?).refuse(Seam::Door, "Get").message;
    /// let relayed = Refusal::from_text(format!("delivery failed: {text}"));
    /// assert_eq!(relayed.speaker(&child), Speaker::Owner(Some("0C".parse()?)));
    /// assert_eq!(relayed.speaker(&asked), Speaker::Route);
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn speaker(&self, asked: &Address) -> Speaker {
        self.speaker_beside(|| sentence::after_banner(&self.message, asked.path()))
    }

    /// Returns who spoke, where `own` finds what follows the owner's banner.
    fn speaker_beside<'a>(&'a self, own: impl FnOnce() -> Option<&'a str>) -> Speaker {
        if self.speaker == Some(Party::Route) {
            return Speaker::Route;
        }
        if self.speaker == Some(Party::Owner) && self.activation.is_some() {
            // The fields say it all: most refusals between two of one build are not even parsed.
            return Speaker::Owner(self.activation.clone());
        }

        let own = own();
        let text = match own {
            None if sentence::has_banner(&self.message) => None,
            None => Some(self.message.as_str()),
            rest => rest,
        };
        let tag = || Some(Activation::of_hex(sentence::tag(text?, activation::MAX_DIGITS)?));
        let activation = self.activation.clone().or_else(tag);
        let tagged_alone = text.is_some() && activation.is_some();

        if own.is_some() || tagged_alone || self.speaker == Some(Party::Owner) {
            Speaker::Owner(activation)
        } else {
            Speaker::Route
        }
    }

    /// Returns who made the promise that the text alone makes, if it makes one.
    #[inline(never)]
    fn speaker_of_text(&self, asked: &Address) -> Option<Speaker> {
        let (message, path) = (self.message.as_str(), asked.path());

        let own = sentence::after_banner(message, path);
        if own.is_some() && sentence::promises(message) {
            return Some(self.speaker_beside(|| own));
        }
        sentence::cannot_route_to(message, path).then(|| match self.speaker {
            Some(Party::Owner) => self.speaker_beside(|| own),
            Some(Party::Route) | None => Speaker::Route,
        })
    }

    /// Returns whether the request that `asked` was sent was certainly never applied, so that it
    /// may be sent again.
    ///
    /// Only a promise can say so: by its field or, where that is absent, by an owner's full
    /// sentence or a statement that it could not be routed.
    ///
    /// # Examples
    ///
    /// ```
    /// use rideout::{Address, Kind, Refusal};
    ///
    /// let asked: Address = "prices/eur".parse()?;
    /// assert!(Refusal::host_cannot_route(&asked).is_never_applied(&asked));
    /// assert!(!Refusal::new(Kind::ShuttingDown, "cut off").is_never_applied(&asked));
    /// # Ok::<_, rideout::address::InvalidAddress>(())
    /// ```
    pub fn is_never_applied(&self, asked: &Address) -> bool {
        if let Some(never_applied) = self.never_applied {
            return never_applied && self.promise(asked).is_some();
        }
        // What says so makes a promise, unless the kind is another.
        let (message, path) = (self.message.as_str(), asked.path());
        self.kind.is_none_or(Kind::is_promise)
            && sentence::may_promise(message)
            && (sentence::after_banner(message, path).is_some_and(sentence::has_tail)
                || sentence::cannot_route_to(message, path))
    }
}

/// Returns whether `message` carries the banner of `owner`, also inside a text that relays it.
///
/// The banner of a child, of a longer or shorter name, and the sentences by which a host or mesh
/// says that it cannot route are not this owner's.
///
/// # Examples
///
/// ```
/// use rideout::{Address, Refusal, refusal::{Closing, Seam, answered_by}};
///
/// let owner: Address = "prices/eur~host-7".parse()?;
/// let said = Closing::new(owner.clone()).refuse(Seam::Door, "Ask").message;
///
/// assert!(answered_by(&format!("delivery failed: {said}"), &owner));
/// assert!(answered_by(&said, &"prices/eur".parse()?));
/// assert!(!answered_by(&said, &"prices".parse()?));
/// assert!(!answered_by(&Refusal::host_cannot_route(&owner).message, &owner));
/// # Ok::<(), rideout::address::InvalidAddress>(())
/// ```
pub fn answered_by(message: &str, owner: &Address) -> bool {
    sentence::after_banner(message, owner.path()).is_some()
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
