//! The live subscription: its stream, and what is known of it.

use std::time::Instant;

use pin_project::pin_project;

use super::frames::Frames;
use crate::activation::Activation;

/// A subscription from its opening to its end.
#[pin_project(project = LiveProj)]
pub(super) struct Live<S> {
    // `None` once it has completed, until that has taken effect: it is not polled again.
    #[pin]
    pub(super) stream: Option<S>,
    pub(super) opened_at: Instant,
    /// Who serves it, where that is known.
    pub(super) by: Option<Activation>,
    /// Who refused in the ride-out that led to it (`R22`).
    pub(super) refused_before: Vec<Activation>,
    /// Whether its first item has passed.
    pub(super) spoke: bool,
    /// Whether it counts as an answer (`R9`).
    pub(super) proven: bool,
    /// Its frames, where they are numbered.
    pub(super) frames: Frames,
}

impl<S> Live<S> {
    pub(super) fn new(
        stream: S,
        by: Option<Activation>,
        opened_at: Instant,
        refused_before: Vec<Activation>,
    ) -> Self {
        Live {
            stream: Some(stream),
            opened_at,
            by,
            refused_before,
            spoke: false,
            proven: false,
            frames: Frames::default(),
        }
    }
}
