//! A rider of one's own, from the operators: from the ask to the items.
//!
//! ```sh
//! cargo run --example own_rider
//! ```
//!
//! It shows how an attempt obeys each wait that a charge can ask for, where a refusal inside the stream
//! goes, and what a nudge from elsewhere does. The times are virtual, and every run prints the same.
//!
//! `rider.rs` is the rider, `owner.rs` the script that it is run against; `loom-tests/tests/own_rider.rs`
//! runs the rider under every interleaving. It hears no news, resumes nowhere, logs no give-up, and holds
//! back nothing where an owner answers and dies at once. `RideOut` does all that, on the same operators.

mod owner;
mod rider;
mod story;

use std::error::Error;

// The rider's clock.
use tokio::time::{sleep, timeout};

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() -> Result<(), Box<dyn Error>> {
    for line in story::run().await? {
        println!("{line}");
    }
    Ok(())
}
