//! A goodbye on its way to the owner that served the stream.

use rideout::{Address, activation::StreamId, owner::LeavingHost};
use tokio::sync::mpsc::WeakUnboundedSender;

use crate::request::Request;

/// A goodbye to one registration: that of a stream by one ask. It is put into the mailbox of the owner
/// that served it, and ends no registration but that one.
pub(crate) struct Farewell<T> {
    pub(crate) owner: Address,
    pub(crate) host: LeavingHost,
    pub(crate) stream: StreamId,
    pub(crate) attempt: u32,
    // Weak: what is still to be said keeps no owner alive.
    pub(crate) mailbox: WeakUnboundedSender<Request<T>>,
}

impl<T> Farewell<T> {
    /// Puts it into the owner's mailbox, past the door: it asks for nothing, and an owner that ends is told
    /// too, so that it announces its end to nobody who has gone.
    pub(crate) fn say(self) {
        let goodbye = Request::Goodbye { stream: self.stream, attempt: self.attempt };
        if let Some(mailbox) = self.mailbox.upgrade() {
            // An owner that was lost hears nothing.
            _ = mailbox.send(goodbye);
        }
    }

    /// Returns whether there is still somebody to hear it.
    pub(crate) fn is_owed(&self) -> bool {
        self.mailbox.strong_count() > 0
    }
}
