//! One step of a rider, as its phases tell it.

use crate::{activation::Activation, ledger::Charge};

/// What a rider is doing (`R27`).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Phase<T> {
    /// A rejection was charged, and is being ridden out: "coming back" on a screen, not an error. Where
    /// a refresh was refused, items of the subscription that it was to replace still come between.
    RidingOut(Charge),
    /// An ask succeeded: a subscription opened, served by this activation where that is known.
    Answered(Option<Activation>),
    /// The subscription is live, and this is its next item.
    Live(T),
}
