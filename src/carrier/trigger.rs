//! One reason to ask: a nudge, or a rejection.

use crate::{ledger::Charge, refusal::Rejection};

/// What asks for an ask.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Trigger {
    /// The first ask, or a nudge: uncharged.
    Ask,
    /// A rejection, yet to be charged.
    Rejected(Rejection),
    /// An attempt that was dropped before it was over: owed again, under the charge that it had.
    Owed(Charge),
}

impl From<Rejection> for Trigger {
    fn from(rejection: Rejection) -> Self {
        Trigger::Rejected(rejection)
    }
}
