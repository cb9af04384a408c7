//! Reactive-stream combinators that ride out an owner that goes away and may come back.

#![forbid(unsafe_code)]

mod monitor;
mod slot;
mod sync;
mod teardown;

pub mod activation;
pub mod address;

pub use slot::{Claim, Permit, Slot};
pub use teardown::{Completed, Teardown};
