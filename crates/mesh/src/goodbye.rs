//! The guard of a reader's end of a stream: it says goodbye when it is dropped.

use rideout::activation::StreamId;

/// Says goodbye to a stream when it is dropped.
pub(crate) struct Goodbye {
    pub(crate) stream: StreamId,
    // `None` once it is said.
    say: Option<Box<dyn FnOnce() + Send + Sync>>,
}

impl Goodbye {
    /// Returns the goodbye to `stream`, which is said by `say`.
    pub(crate) fn new(stream: StreamId, say: impl FnOnce() + Send + Sync + 'static) -> Self {
        Self { stream, say: Some(Box::new(say)) }
    }
}

impl Drop for Goodbye {
    fn drop(&mut self) {
        if let Some(say) = self.say.take() {
            say();
        }
    }
}
