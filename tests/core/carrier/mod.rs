//! The operators and what they stand on: carrier, slot, teardown, budget and ledger; polled by hand.

mod budget;
mod chains;
mod charge;
mod concat_attempts;
mod defer;
mod handle;
mod ledger;
mod operators;
mod properties;
mod slot;
mod teardown;
mod wakers;
