//! Reactive-stream combinators that ride out an owner that goes away and may come back.

#![forbid(unsafe_code)]

mod monitor;
mod sentence;
mod slot;
mod sync;
mod teardown;

pub mod activation;
pub mod address;
pub mod budget;
pub mod carrier;
pub mod diagnosis;
pub mod ledger;
pub mod refusal;
pub mod rider;
pub mod time;
pub mod verdict;

pub use activation::{Activation, StreamId};
pub use address::Address;
pub use budget::Budget;
pub use carrier::{Carrier, CarrierExt, RideError};
pub use ledger::{Axis, Cause, Charge, GaveUp, Key, Ledger, Wait};
pub use refusal::{Closing, Kind, News, Party, Refusal, Rejection, Speaker};
pub use rider::{Read, ReadError, RideOut};
pub use slot::{Claim, Permit, Slot};
pub use teardown::{Completed, Teardown};
pub use verdict::{Judged, Refused, Ruling};
