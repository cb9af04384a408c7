use super::Lifecycle;

/// Guard for the [`Lifecycle::pending`] method: a reply that is still to be given.
#[derive(Debug)]
#[must_use = "a reply is pending until its guard is dropped"]
pub struct PendingReply {
    pub(super) lifecycle: Lifecycle,
}

impl Drop for PendingReply {
    fn drop(&mut self) {
        self.lifecycle.shared.state.announce(|state| {
            state.pending -= 1;
            state.quiesced()
        });
    }
}
