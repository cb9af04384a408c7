use super::ReplyPath;
use crate::{address::Address, refusal::Refusal};

/// What a message is to those who might refuse it.
///
/// # Examples
///
/// See [`Message`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
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
/// use rideout::{Refusal, owner::{Ending, Lifecycle, Message, MessageKind, ReplyPath}};
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
///     fn kind(&self) -> MessageKind {
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
    fn kind(&self) -> MessageKind {
        MessageKind::Request
    }

    /// Returns who sent it, where that is known. An owner does not answer itself.
    fn sender(&self) -> Option<&Address> {
        None
    }

    /// Sends `refusal` to whoever waits for the answer, by means of `reply_path`.
    fn refuse(self, refusal: Refusal, reply_path: ReplyPath);
}
