//! What the examples that run on the mesh show must be so.

#![expect(clippy::duplicate_mod, reason = "two of these programs bring the file that they share")]

mod chaos;
mod dead_subscriber;
mod leaving_host;
mod ride_out;
