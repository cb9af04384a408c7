//! The words of the cases: who refuses, and with what.

use rideout::{
    Activation, Refusal,
    refusal::{Closing, Seam},
};

use super::hand_clock::address;

pub(crate) fn tag(digits: &str) -> Activation {
    digits.parse().expect("hex digits")
}

/// A promise by the owner's activation: `R(a)` of the cases.
pub(crate) fn by(digits: &str) -> Refusal {
    Closing::new(address()).activation(tag(digits)).refuse(Seam::Door, "Subscribe")
}

/// A promise by the owner that names no activation: `R(?)`.
pub(crate) fn unnamed() -> Refusal {
    Closing::new(address()).refuse(Seam::Door, "Subscribe")
}

/// A promise by the route: `R(rt)`.
pub(crate) fn by_route() -> Refusal {
    Refusal::host_cannot_route(&address())
}

/// A verdict: `NF`.
pub(crate) fn not_found() -> Refusal {
    Refusal::no_node(&address())
}
