//! Reactive-stream combinators that ride out an owner that goes away and may come back.

#![forbid(unsafe_code)]

mod sync;

pub mod activation;
pub mod address;
