//! The requests to a hub, and their answers.

use std::sync::Arc;

use rideout::{
    Refusal,
    activation::StreamId,
    owner::{Message, MessageKind, PendingReply, ReplyPath},
};
use tokio::sync::oneshot;

use crate::{
    frame::{Patch, Versioned},
    panics,
    subscription::Opened,
};

/// The answer to a request, on its own way back, which no route closes.
pub(crate) type Reply<A> = oneshot::Sender<Result<A, Refusal>>;

/// Gives an answer. Where the asker is gone nobody is told, and a waker of its that panics is its own affair.
pub(crate) fn answer<A>(reply: Reply<A>, answer: Result<A, Refusal>) {
    panics::contained(|| _ = reply.send(answer));
}

/// A request on its way to a hub.
pub(crate) enum Request<T> {
    Subscribe { stream: StreamId, attempt: u32, reply: Reply<Opened<T>> },
    Read { reply: Reply<Arc<Versioned<T>>> },
    Write { value: T, reply: Reply<u64> },
    Patch { patch: Patch<T>, reply: Reply<u64> },
    Beat { stream: StreamId },
    Goodbye { stream: StreamId, attempt: u32 },
}

impl<T> Message for Request<T> {
    fn name(&self) -> &str {
        match self {
            Request::Subscribe { .. } => "SubscribeRequest",
            Request::Read { .. } => "ReadRequest",
            Request::Write { .. } => "WriteRequest",
            Request::Patch { .. } => "PatchRequest",
            Request::Beat { .. } => "Beat",
            Request::Goodbye { .. } => "Goodbye",
        }
    }

    fn kind(&self) -> MessageKind {
        match self {
            Request::Beat { .. } | Request::Goodbye { .. } => MessageKind::Ignorable,
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
            Request::Beat { .. } | Request::Goodbye { .. } => {}
        }
    }
}

/// A request that a hub has taken up: its reply is pending.
pub(crate) struct Accepted<T> {
    pub(crate) request: Request<T>,
    pub(crate) pending: PendingReply,
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
