//! Waiting for a teardown as an event.

use std::future::Pending;

use crate::activation::Activation;

/// Where a rider learns that an activation's teardown is complete: any closure from the activation to
/// a future, or to `None` where it cannot be observed from here.
///
/// Called when an attempt is about to wait, never when its rejection arrived (`R13`).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no join",
    label = "expected a closure from `Activation` to an `Option` of a future that is ready once the teardown is complete"
)]
pub trait Join {
    /// Is ready once the teardown is complete; at once where it already is.
    type Teardown: Future<Output = ()>;

    /// Looks for the teardown of `activation`.
    fn teardown(&mut self, activation: Activation) -> Option<Self::Teardown>;
}

impl<F, Fut> Join for F
where
    F: FnMut(Activation) -> Option<Fut>,
    Fut: Future<Output = ()>,
{
    type Teardown = Fut;

    fn teardown(&mut self, activation: Activation) -> Option<Fut> {
        self(activation)
    }
}

/// The join of a rider that was given none: no teardown can be observed.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoJoin;

impl Join for NoJoin {
    type Teardown = Pending<()>;

    fn teardown(&mut self, _: Activation) -> Option<Pending<()>> {
        None
    }
}
