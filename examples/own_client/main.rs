//! A client, an error enum and a directory of one's own, together: a reader of ticks that live in pods.
//!
//! ```sh
//! cargo run --example own_client
//! ```
//!
//! It shows a roll that is survived; a killed pod, which says nothing, found by the directory; a
//! connection that falls silent, made a promise by a timeout; and a give-up after which the reader
//! begins again from its last tick. The times are virtual, and every run prints the same.
//!
//! `client.rs` is what to take along: the error, the activation, the budget, the reader. `cluster.rs`
//! stands for yours: pods that serve, and a directory that watches them. `story.rs` is what happens to them.

mod client;
mod cluster;
mod story;

use rideout::address::InvalidAddress;

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() -> Result<(), InvalidAddress> {
    let (ticks, told) = story::run().await?;
    for line in told {
        println!("{line}");
    }
    println!();
    match ticks[..] {
        [first, .., last] if (first..=last).eq(ticks.iter().copied()) => {
            println!("ticks {first} to {last}: none is missing, none came twice");
        }
        _ => println!("ticks {ticks:?}"),
    }
    Ok(())
}
