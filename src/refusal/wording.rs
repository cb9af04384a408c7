use super::Seam;
use crate::sentence::Tail;

/// What a refusal says of the place where an owner gives it: what it cannot do, and how the sentence
/// ends.
///
/// Each [`Seam`] has one, so [`refuse`](super::Closing::refuse) takes a `Seam` as it is. For a place that
/// `Seam` does not name, make one of your own. The sentence has two endings, so there are two kinds:
///
/// | the request was | wording |
/// |---|---|
/// | turned away, before anything looked at it | [`turned_away`](Wording::turned_away) |
/// | let in, and then could not be finished | [`accepted`](Wording::accepted) |
///
/// # Examples
///
/// An owner that tells those it serves that their streams are over:
///
/// ```
/// use rideout::{Address, refusal::{Closing, Wording}};
///
/// let address: Address = "prices/eur".parse()?;
/// let closing = Closing::new(address.clone());
/// let end = closing.refuse(Wording::accepted("cannot go on with"), "SubscribeRequest");
/// assert!(end.message.contains("cannot go on with SubscribeRequest"));
/// assert!(end.promise(&address).is_some());
/// # Ok::<_, rideout::address::InvalidAddress>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Wording<'a> {
    pub(super) verb: &'a str,
    pub(super) tail: Tail,
    pub(super) host_stopping: bool,
    // Whether no handler has seen the request (`R32`).
    pub(super) never_applied: bool,
}

impl<'a> Wording<'a> {
    /// Returns the wording of a request that was turned away before anything looked at it: never applied.
    ///
    /// `verb` stands before the request, such as `cannot lease`.
    pub fn turned_away(verb: &'a str) -> Self {
        Self { verb, tail: Tail::AtTheDoor, host_stopping: false, never_applied: true }
    }

    /// Returns the wording of a request that was let in and then could not be finished.
    ///
    /// It says that no handler ran: the request was parked or queued. Where one ran, say so by
    /// [`with_never_applied(false)`](super::Refusal::with_never_applied); otherwise a writer sends its
    /// change again.
    ///
    /// # Examples
    ///
    /// ```
    /// use rideout::{Address, refusal::{Closing, Wording}};
    ///
    /// let address: Address = "prices/eur".parse()?;
    /// let refusal = Closing::new(address.clone()).refuse(Wording::accepted("cannot flush"), "Write");
    /// assert!(refusal.is_never_applied(&address));
    /// assert!(!refusal.with_never_applied(false).is_never_applied(&address)); // a handler ran
    /// # Ok::<_, rideout::address::InvalidAddress>(())
    /// ```
    pub fn accepted(verb: &'a str) -> Self {
        Self { tail: Tail::Accepted, ..Self::turned_away(verb) }
    }
}

impl From<Seam> for Wording<'static> {
    fn from(seam: Seam) -> Self {
        match seam {
            Seam::Door => Self::turned_away("cannot process"),
            Seam::Creation => Self::turned_away("cannot create"),
            Seam::Leaving => Self { host_stopping: true, ..Self::turned_away("cannot process") },
            Seam::Mailbox | Seam::Gate | Seam::Reassert => Self::accepted("cannot finish"),
            Seam::Handler => Self { never_applied: false, ..Self::accepted("cannot finish") },
        }
    }
}
