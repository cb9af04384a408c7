//! What can be asked of a hub, and how is it answered?

use std::sync::Arc;

use tokio::sync::oneshot;

use super::{Versioned, subscription::Opened};
use crate::{
    activation::StreamId,
    owner::{Message, MessageKind, PendingReply, ReplyPath},
    refusal::Refusal,
    unwind,
};

/// The answer to a request, on its own way back, which no route closes.
pub(super) type Reply<A> = oneshot::Sender<Result<A, Refusal>>;

/// Gives an answer. Where the asker is gone nobody is told, and a waker of its that panics is its own affair.
pub(super) fn answer<A>(reply: Reply<A>, answer: Result<A, Refusal>) {
    unwind::contained(|| _ = reply.send(answer));
}

/// Makes the next state of one, at the owner and at every subscriber.
pub(super) type Patch<T> = Arc<dyn Fn(&T) -> T + Send + Sync>;

/// A request on its way to a hub.
pub(super) enum Request<T> {
    Subscribe { stream: StreamId, attempt: u32, reply: Reply<Opened<T>> },
    Read { reply: Reply<Arc<Versioned<T>>> },
    Write { value: T, reply: Reply<u64> },
    Patch { patch: Patch<T>, reply: Reply<u64> },
    Beat { stream: StreamId },
}

impl<T> Message for Request<T> {
    fn name(&self) -> &str {
        match self {
            Request::Subscribe { .. } => "SubscribeRequest",
            Request::Read { .. } => "ReadRequest",
            Request::Write { .. } => "WriteRequest",
            Request::Patch { .. } => "PatchRequest",
            Request::Beat { .. } => "Beat",
        }
    }

    fn kind(&self) -> MessageKind {
        match self {
            Request::Beat { .. } => MessageKind::Ignorable,
            _ => MessageKind::Request,
        }
    }

    /// All ask from this process, so that whoever speaks reaches them the same way.
    fn refuse(self, refusal: Refusal, _: ReplyPath) {
        match self {
            Request::Subscribe { reply, .. } => answer(reply, Err(refusal)),
            Request::Read { reply } => answer(reply, Err(refusal)),
            Request::Write { reply, .. } | Request::Patch { reply, .. } => {
                answer(reply, Err(refusal));
            }
            Request::Beat { .. } => {}
        }
    }
}

/// A request that a hub has taken up: its reply is pending.
pub(super) struct Accepted<T> {
    pub(super) request: Request<T>,
    pub(super) pending: PendingReply,
}

impl<T> Message for Accepted<T> {
    fn name(&self) -> &str {
        self.request.name()
    }

    fn kind(&self) -> MessageKind {
        self.request.kind()
    }

    fn refuse(self, refusal: Refusal, reply_path: ReplyPath) {
        self.request.refuse(refusal, reply_path);
    }
}
