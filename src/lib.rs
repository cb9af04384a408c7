//! Reactive-stream combinators that ride out an owner that goes away and may come back.

#![forbid(unsafe_code)]

mod sentence;
mod sync;

pub mod activation;
pub mod address;
pub mod refusal;
pub mod verdict;

pub use activation::{Activation, StreamId};
pub use address::Address;
pub use refusal::{Closing, Kind, News, Party, Refusal, Rejection, Speaker};
pub use verdict::{Judged, Refused, Ruling};
