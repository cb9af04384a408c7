//! Who refuses, for any of them.

use proptest::prelude::*;
use rideout::{Refusal, Rejection};

use crate::support::words::{by, by_route, tag, unnamed};

/// Who refuses: the route, the owner untagged, or one of five activations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Who {
    Route,
    Untagged,
    Owner(u8),
}

impl Who {
    pub(crate) fn rejection(self) -> Rejection {
        match self {
            Who::Route => Rejection::by_route(),
            Who::Untagged => Rejection::by_owner(None),
            Who::Owner(number) => Rejection::by_owner(Some(tag(&format!("A{number}")))),
        }
    }

    pub(crate) fn refusal(self) -> Refusal {
        match self {
            Who::Route => by_route(),
            Who::Untagged => unnamed(),
            Who::Owner(number) => by(&format!("A{number}")),
        }
    }
}

pub(crate) fn who() -> impl Strategy<Value = Who> {
    prop_oneof![Just(Who::Route), Just(Who::Untagged), (0..5_u8).prop_map(Who::Owner)]
}
