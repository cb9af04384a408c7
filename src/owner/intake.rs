//! Who is answered by an owner that ends, and with what? Every request, by a promise, and nothing else.
//!
//! A [`Message`] says what it is and how it is refused; the rules are methods of
//! [`Lifecycle`], one for each place where a message can meet the end: [`admit`](Lifecycle::admit) at
//! the door, [`discard`](Lifecycle::discard) in the queue, [`failed`](Lifecycle::failed) in a handler.
//! [`Gates`](super::Gates) are the fourth.
//!
//! # Invariants
//!
//! 1. **Only a request is answered, and not the owner's own** (`R40`, C30): a refusal of a reply or of
//!    a refusal would be answered in turn, for ever.
//! 2. **What is not let in is gone**: it was answered, or nobody waits for an answer.

use std::{error::Error, fmt, iter};

use super::{Lifecycle, ReplyPath, RunLevel};
use crate::{
    address::Address,
    refusal::{Kind, Party, Refusal, Seam},
};

/// What a message is to those who might refuse it.
///
/// # Examples
///
/// See [`Message`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MessageKind {
    /// Somebody waits for an answer.
    #[default]
    Request,
    /// The answer to a request.
    Reply,
    /// A request's refusal, on its way back.
    Refusal,
    /// Nobody waits for an answer: a beat, an event.
    Ignorable,
}

/// What arrives at an owner, together with the means to refuse it.
///
/// In most owners it is the envelope that the mailbox carries. It is asked while nothing is locked.
///
/// # Examples
///
/// ```
/// use futures::{FutureExt, channel::oneshot};
/// use rideout::{
///     Refusal,
///     owner::{Ending, Lifecycle, Message, MessageKind, ReplyPath},
/// };
///
/// enum Ask {
///     Price { reply: oneshot::Sender<Result<u64, Refusal>> },
///     Beat,
/// }
///
/// impl Message for Ask {
///     fn name(&self) -> &str {
///         match self {
///             Ask::Price { .. } => "PriceRequest",
///             Ask::Beat => "Beat",
///         }
///     }
///
///     fn sort(&self) -> MessageKind {
///         match self {
///             Ask::Price { .. } => MessageKind::Request,
///             Ask::Beat => MessageKind::Ignorable,
///         }
///     }
///
///     fn refuse(self, refusal: Refusal, _: ReplyPath) {
///         if let Ask::Price { reply } = self {
///             let _ = reply.send(Err(refusal)); // the asker may be gone
///         }
///     }
/// }
///
/// let owner = Lifecycle::new("prices/eur".parse()?);
/// let (reply, answer) = oneshot::channel();
/// let ask = owner.admit(Ask::Price { reply }).expect("it serves");
///
/// owner.dispose(Ending::recycle());
/// owner.discard(ask); // its turn never came
/// assert!(owner.admit(Ask::Beat).is_none()); // and nobody was answered
///
/// let refusal = answer.now_or_never().unwrap()?.unwrap_err();
/// assert!(refusal.promise(owner.address()).is_some());
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
pub trait Message {
    /// Returns the name of its type, for the refusal and for logs: no content, which may be secret.
    fn name(&self) -> &str;

    /// Returns what it is; a request unless said otherwise.
    fn sort(&self) -> MessageKind {
        MessageKind::Request
    }

    /// Returns who sent it, where that is known. An owner does not answer itself.
    fn sender(&self) -> Option<&Address> {
        None
    }

    /// Sends `refusal` to whoever waits for the answer, by means of `reply_path`.
    fn refuse(self, refusal: Refusal, reply_path: ReplyPath);
}

/// The error by which a handler says that it failed because its owner is disposing.
///
/// It may stand anywhere among the sources of the handler's own error, in a transparent wrapper too.
///
/// # Examples
///
/// ```
/// use rideout::owner::Disposing;
///
/// fn read() -> Result<u64, std::io::Error> {
///     Err(std::io::Error::other(Disposing)) // its file is closed already
/// }
/// assert_eq!(read().unwrap_err().to_string(), "the owner is disposing");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Disposing;

impl fmt::Display for Disposing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("the owner is disposing")
    }
}

impl Error for Disposing {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&Mark)
    }
}

/// What [`Disposing`] is known by: a wrapper that passes for what it wraps (a transparent one,
/// `io::Error`, `Arc`) hides the error itself, and shows its source.
#[derive(Debug, thiserror::Error)]
#[error("what the request needed is gone")]
struct Mark;

impl Lifecycle {
    /// Lets a message in, or returns `None`: it was refused, or dropped where nobody is to be answered.
    ///
    /// | at the door is | while the owner serves | while it refuses | when it is dead |
    /// |---|---|---|---|
    /// | a request | let in | refused | refused |
    /// | a reply, a refusal, what the owner sent itself | let in | let in | dropped |
    /// | what is ignorable | let in | dropped | dropped |
    ///
    /// So an owner that refuses still hears what it waits for and what it tells itself, and its own last
    /// code can finish. One that leaves with its host says so ([`Seam::Leaving`]).
    ///
    /// # Examples
    ///
    /// See [`Message`].
    pub fn admit<M: Message>(&self, message: M) -> Option<M> {
        if !self.is_refusing() {
            return Some(message);
        }
        let is_own = self.is_own(&message);
        let is_let_in = match message.sort() {
            MessageKind::Request => is_own,
            MessageKind::Reply | MessageKind::Refusal => true,
            MessageKind::Ignorable => false,
        };
        if is_let_in && self.level() < RunLevel::Dead {
            return Some(message);
        }
        let seam = if self.is_leaving() { Seam::Leaving } else { Seam::Door };
        self.answer(message, |request| self.closing().refuse(seam, request));
        None
    }

    /// Refuses a message that was let in, and whose turn never came: in a sweep of the queue.
    ///
    /// # Examples
    ///
    /// See [`Message`].
    pub fn discard<M: Message>(&self, message: M) {
        self.answer(message, |request| self.closing().refuse(Seam::Mailbox, request));
    }

    /// Answers a message whose handler failed.
    ///
    /// | the error is, or has among its sources | answer |
    /// |---|---|
    /// | [`Disposing`] | a promise, which does not say that nothing was applied |
    /// | a [`Refusal`] that is a promise, and this owner is on its way out | the same: who asks again meets its successor |
    /// | a [`Refusal`] that is a promise, and this owner goes on | [`Failed`](Kind::Failed): it is another's promise, and asking here again would keep nobody's |
    /// | a [`Refusal`] that is a verdict | its kind; but [`Failed`](Kind::Failed) for another's [`NotFound`](Kind::NotFound), which is no evidence that nothing is here |
    /// | neither | [`Failed`](Kind::Failed) |
    ///
    /// A verdict has the error's text. An error of `anyhow` and a `Box<dyn Error>` are given as what they
    /// deref to.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::cell::RefCell;
    ///
    /// use rideout::{
    ///     Kind, Refusal,
    ///     owner::{Disposing, Lifecycle, Message, ReplyPath},
    /// };
    ///
    /// struct Write<'a>(&'a RefCell<Vec<Refusal>>);
    ///
    /// impl Message for Write<'_> {
    ///     fn name(&self) -> &str {
    ///         "WriteRequest"
    ///     }
    ///
    ///     fn refuse(self, refusal: Refusal, _: ReplyPath) {
    ///         self.0.borrow_mut().push(refusal);
    ///     }
    /// }
    ///
    /// let (owner, said) = (Lifecycle::new("prices/eur".parse()?), RefCell::default());
    /// owner.failed(Write(&said), &Disposing);
    /// owner.failed(Write(&said), &"-1".parse::<u32>().unwrap_err());
    ///
    /// let said = said.into_inner();
    /// assert!(said[0].promise(owner.address()).is_some());
    /// assert!(!said[0].is_never_applied(owner.address())); // it may have been, in part
    /// assert_eq!(said[1].kind, Some(Kind::Failed));
    /// # Ok::<_, rideout::address::InvalidAddress>(())
    /// ```
    pub fn failed<M: Message>(&self, message: M, error: &(dyn Error + 'static)) {
        self.answer(message, |request| match self.verdict(error) {
            Some(kind) => self.judge(kind, &error.to_string()),
            None => self.closing().refuse(Seam::Handler, request),
        });
    }

    /// Answers where an answer is due (invariant 1), with what `refuse` says of the request.
    pub(super) fn answer<M: Message>(&self, message: M, refuse: impl FnOnce(&str) -> Refusal) {
        if message.sort() == MessageKind::Request && !self.is_own(&message) {
            let refusal = refuse(message.name());
            message.refuse(refusal, self.reply_path());
        }
    }

    /// Returns the verdict of this owner.
    pub(super) fn judge(&self, kind: Kind, text: &str) -> Refusal {
        Refusal::by_owner(kind, self.activation(), text)
    }

    fn is_own(&self, message: &impl Message) -> bool {
        message.sender().is_some_and(|sender| sender.path() == self.address().path())
    }

    /// Returns the verdict that the failure of a handler is, or `None` for a promise.
    fn verdict(&self, error: &(dyn Error + 'static)) -> Option<Kind> {
        if causes(error).any(|cause| cause.is::<Mark>()) {
            return None;
        }
        let Some(refusal) = causes(error).find_map(|cause| cause.downcast_ref::<Refusal>()) else {
            return Some(Kind::Failed);
        };
        if refusal.promise(self.address()).is_some() {
            let is_going = self.ending().is_some() || self.is_refusing();
            return (!is_going).then_some(Kind::Failed);
        }
        Some(match refusal.kind {
            // Evidence of absence (R29), but of what another was asked for.
            Some(Kind::NotFound) if !self.may_have_said(refusal) => Kind::Failed,
            Some(kind) => kind,
            None => Kind::Failed,
        })
    }

    fn may_have_said(&self, refusal: &Refusal) -> bool {
        refusal.speaker != Some(Party::Route)
            && refusal.activation.as_ref().is_none_or(|other| other == self.activation())
    }
}

/// Yields an error and its sources: not for ever, where one leads back to itself.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    iter::successors(Some(error), |&cause| cause.source()).take(64)
}
