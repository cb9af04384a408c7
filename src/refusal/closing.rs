use crate::{activation::Activation, address::Address, refusal::Refusal};

/// An owner that is closing, and the refusals it gives.
///
/// Whatever refuses for an owner (its door, a gate, a queue, a handler) takes its words from here,
/// so that each of its refusals carries the same activation and the reader recognises every one.
/// Text given as detail or as what was refused is free: words that would read as another refusal
/// inside the sentence have the case of their first letter changed, control characters become
/// spaces.
#[derive(Clone, Debug)]
pub struct Closing {
    pub(super) address: Address,
    pub(super) activation: Option<Activation>,
    pub(super) detail: String,
    pub(super) host_stopping: bool,
}

impl Closing {
    /// Returns a closing owner at `address` that names neither activation nor detail.
    pub fn new(address: Address) -> Self {
        Self { address, activation: None, detail: String::new(), host_stopping: false }
    }

    /// Names the activation that is closing.
    #[must_use]
    pub fn activation(mut self, activation: Activation) -> Self {
        self.activation = Some(activation);
        self
    }

    /// Says how far the owner is, or who asked for its teardown, for people who read the refusal.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = detail.into();
        self
    }

    /// Says that the owner leaves with its host.
    #[must_use]
    pub fn host_stopping(mut self) -> Self {
        self.host_stopping = true;
        self
    }

    /// Returns the refusal of a request that was turned away at the door.
    pub fn at_the_door(&self, what: &str) -> Refusal {
        todo!("{what}")
    }

    /// Returns the refusal of a request that was accepted and then could not be finished.
    pub fn accepted(&self, what: &str) -> Refusal {
        todo!("{what}")
    }
}
