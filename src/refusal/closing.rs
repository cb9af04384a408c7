use super::{Kind, Party, Refusal, Seam};
use crate::{
    activation::Activation,
    address::Address,
    sentence::{Open, Tail},
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
/// use rideout::{Address, Closing, Classify, Rejection, Ruling};
///
/// let address: Address = "prices/eur".parse()?;
/// let closing = Closing::new(address.clone()).activation("017DA86C".parse()?).detail("RunLevel=Dead");
///
/// let refusal = closing.at_the_door("cannot process SubscribeRequest");
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
        self.detail = detail.into();
        self
    }

    /// Says that the owner leaves with its host.
    #[must_use]
    pub fn host_stopping(mut self) -> Self {
        self.host_stopping = true;
        self
    }

    /// Returns the refusal of `request` at `seam`: a promise, in the words of that place.
    ///
    /// The request is named by its type, such as `SubscribeRequest`. What a child's creation refuses is
    /// the child's address, and what a gate refuses is told with its gates.
    ///
    /// # Examples
    ///
    /// ```
    /// use rideout::{Address, Closing, Seam};
    ///
    /// let address: Address = "prices/eur".parse()?;
    /// let closing = Closing::new(address.clone());
    /// let refusal = closing.refuse(Seam::Mailbox, "WriteRequest");
    /// assert_eq!(refusal, closing.accepted("cannot finish WriteRequest"));
    /// # Ok::<_, rideout::address::InvalidAddress>(())
    /// ```
    pub fn refuse(&self, seam: Seam, request: &str) -> Refusal {
        let (verb, tail) = seam.words();
        let host_stopping = self.host_stopping || seam == Seam::Leaving;

        self.say(&format!("{verb} {request}"), tail, host_stopping)
            .with_never_applied(seam.is_never_applied())
    }

    /// Returns the refusal of a request that was turned away at the door: a promise, never applied.
    ///
    /// For a seam of your own that [`Seam`] does not name.
    ///
    ///
    /// `what` says what was refused, such as `cannot process SubscribeRequest`.
    pub fn at_the_door(&self, what: &str) -> Refusal {
        self.say(what, Tail::AtTheDoor, self.host_stopping)
    }

    /// Returns the refusal of a request that was accepted and then could not be finished.
    ///
    /// It is a promise, and says that no handler ran: the request was parked or queued. Where one
    /// ran, say so by [`with_never_applied(false)`](Refusal::with_never_applied); otherwise a
    /// writer sends its change again.
    ///
    /// # Examples
    ///
    /// ```
    /// use rideout::{Address, Closing};
    ///
    /// let address: Address = "prices/eur".parse()?;
    /// let parked = Closing::new(address.clone()).accepted("cannot finish WriteRequest");
    /// assert!(parked.is_never_applied(&address));
    /// assert!(!parked.with_never_applied(false).is_never_applied(&address)); // a handler ran
    /// # Ok::<_, rideout::address::InvalidAddress>(())
    /// ```
    pub fn accepted(&self, what: &str) -> Refusal {
        self.say(what, Tail::Accepted, self.host_stopping)
    }

    fn say(&self, what: &str, tail: Tail, host_stopping: bool) -> Refusal {
        let open = Open {
            address: self.address.as_str(),
            detail: &self.detail,
            tag: self.activation.as_ref().map(Activation::as_str),
            host_stopping,
        };

        Refusal {
            activation: self.activation.clone(),
            ..Refusal::new(Kind::ShuttingDown, open.refuse(what, tail))
                .with_speaker(Party::Owner)
                .with_never_applied(true)
        }
    }
}
