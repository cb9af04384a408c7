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

use std::error::Error;

use super::{
    Lifecycle, Message, MessageKind, RunLevel,
    disposing::{causes, is_disposing},
};
use crate::refusal::{Kind, Party, Refusal, Seam};

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
        let is_let_in = match message.kind() {
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
    /// | [`Disposing`](super::Disposing) | a promise, which does not say that nothing was applied |
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
    /// use rideout::{Kind, Refusal, owner::{Disposing, Lifecycle, Message, ReplyPath}};
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
        self.answer(message, |request| match self.kind_of_failure(error) {
            Some(kind) => self.verdict(kind, &error.to_string()),
            None => self.closing().refuse(Seam::Handler, request),
        });
    }

    /// Answers where an answer is due (invariant 1), with what `refuse` says of the request.
    pub(super) fn answer<M: Message>(&self, message: M, refuse: impl FnOnce(&str) -> Refusal) {
        if message.kind() == MessageKind::Request && !self.is_own(&message) {
            let refusal = refuse(message.name());
            message.refuse(refusal, self.reply_path());
        }
    }

    /// Returns the verdict of this owner.
    pub(super) fn verdict(&self, kind: Kind, text: &str) -> Refusal {
        Refusal::by_owner(kind, self.activation(), text)
    }

    fn is_own(&self, message: &impl Message) -> bool {
        message.sender().is_some_and(|sender| sender.path() == self.address().path())
    }

    /// Returns the kind of verdict that the failure of a handler is, or `None` for a promise.
    fn kind_of_failure(&self, error: &(dyn Error + 'static)) -> Option<Kind> {
        if is_disposing(error) {
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
