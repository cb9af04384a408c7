use super::{Kind, Party, Refusal, Wording};
use crate::{
    activation::Activation,
    address::Address,
    sentence::{self, Open},
};

/// An owner that is closing, and the refusals it gives.
///
/// Whatever refuses for an owner (its door, a gate, a queue, a handler) takes its words from here,
/// so that each of its refusals carries the same activation and the reader recognises every one.
/// Text given as detail or as what was refused is free: words that would read as another refusal
/// inside the sentence have the case of their first letter changed, control characters become
/// spaces.
///
/// The sentence calls whatever serves an address a hub; the word is part of the contract (`R2`).
///
/// # Examples
///
/// ```
/// use rideout::{Address, Classify, Rejection, Ruling, refusal::{Closing, Seam}};
///
/// let address: Address = "prices/eur".parse()?;
/// let closing = Closing::new(address.clone()).activation("017DA86C".parse()?).detail("RunLevel=Dead");
///
/// let refusal = closing.refuse(Seam::Door, "SubscribeRequest");
/// assert_eq!(
///     refusal.classify(&address),
///     Ruling::Promise(Rejection::by_owner(Some("017DA86C".parse()?))),
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Closing {
    address: Address,
    activation: Option<Activation>,
    // Made plain.
    detail: String,
    host_stopping: bool,
}

impl Closing {
    /// Returns a closing owner at `address` that names neither activation nor detail.
    pub fn new(address: Address) -> Self {
        Self { address, activation: None, detail: String::new(), host_stopping: false }
    }

    /// Names the activation that is closing.
    #[must_use]
    pub fn activation(mut self, activation: Activation) -> Self {
        self.activation = Some(activation);
        self
    }

    /// Says how far the owner is, or who asked for its teardown, for people who read the refusal.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = sentence::plain(detail);
        self
    }

    /// Says that the owner leaves with its host.
    #[must_use]
    pub fn host_stopping(mut self) -> Self {
        self.host_stopping = true;
        self
    }

    /// Returns the refusal of `request` at `place`: a promise, in the words of that place.
    ///
    /// The place is a [`Seam`](super::Seam), or has a [`Wording`] of your own. The request is named by its
    /// type, such as `SubscribeRequest`. What a child's creation refuses is the child's address, and what a
    /// gate refuses is told with its gates.
    ///
    /// # Examples
    ///
    /// ```
    /// use rideout::{Address, refusal::{Closing, Seam, Wording}};
    ///
    /// let address: Address = "prices/eur".parse()?;
    /// let closing = Closing::new(address.clone());
    /// let queued = closing.refuse(Seam::Mailbox, "WriteRequest");
    /// assert!(queued.message.contains("cannot finish WriteRequest"));
    ///
    /// let leased = closing.refuse(Wording::turned_away("cannot lease"), "LeaseRequest");
    /// assert!(leased.message.contains("cannot lease LeaseRequest"));
    /// assert!(leased.promise(&address).is_some());
    /// # Ok::<_, rideout::address::InvalidAddress>(())
    /// ```
    pub fn refuse<'a>(&self, place: impl Into<Wording<'a>>, request: &str) -> Refusal {
        let Wording { verb, tail, host_stopping, never_applied } = place.into();
        let open = Open {
            address: self.address.as_str(),
            detail: &self.detail,
            tag: self.activation.as_ref().map(Activation::as_str),
            host_stopping: self.host_stopping || host_stopping,
        };

        Refusal {
            kind: Some(Kind::ShuttingDown),
            message: open.refuse([verb, request], tail),
            speaker: Some(Party::Owner),
            activation: self.activation.clone(),
            retry_after: None,
            never_applied: Some(never_applied),
            target_unserved: false,
            released: false,
        }
    }
}
