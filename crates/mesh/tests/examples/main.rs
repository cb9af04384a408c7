//! What the examples that run on the mesh show must be so.

mod chaos;
mod command_line;
#[path = "../../../../examples/counts/mod.rs"]
mod counts;
mod dead_subscriber;
mod leaving_host;
mod ride_out;
