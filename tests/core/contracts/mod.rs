//! What every stream and every future of the crate keeps, shown by one harness.

mod carrier;
mod faults;
mod harness;
mod matrix;
mod owner;
mod panics;
mod riders;
mod sent;
