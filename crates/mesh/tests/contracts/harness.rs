//! The harness of the library's contracts: of its files, those that any stream or future is shown by.

#[path = "../../../../tests/core/contracts/harness/case.rs"]
mod case;
#[path = "../../../../tests/core/contracts/harness/keeps.rs"]
mod keeps;
#[path = "../../../../tests/core/contracts/harness/once.rs"]
mod once;
#[path = "../../../../tests/core/contracts/harness/panics.rs"]
mod panics;

pub(crate) use self::{
    case::Case,
    keeps::{keeps, keeps_as_a_future},
    panics::outlives_panics,
};
