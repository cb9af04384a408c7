use super::Lifecycle;

/// Guard for the [`Lifecycle::pending`] method: a reply that is still to be given.
#[derive(Debug)]
#[must_use = "a reply is pending until its guard is dropped"]
pub struct PendingReply {
    lifecycle: Lifecycle,
}

impl Lifecycle {
    /// Counts a reply that is pending until the guard is dropped: quiescing waits for it (`R38`).
    ///
    /// # Examples
    ///
    /// See [`Lifecycle`].
    pub fn pending(&self) -> PendingReply {
        self.shared.state.with(|state| state.pending += 1);
        PendingReply { lifecycle: self.clone() }
    }
}

impl Drop for PendingReply {
    fn drop(&mut self) {
        self.lifecycle.shared.state.announce(|state| {
            state.pending -= 1;
            state.end_quiescing_if_idle()
        });
    }
}
