//! An owner of one's own that refuses well, without the mesh, and readers that ride out its recycle.
//!
//! ```sh
//! cargo run --example owner
//! ```
//!
//! `owner.rs` is what to take along: a task with a mailbox that parks what comes too early, refuses from
//! when it is told to end, and says so to those whom it serves. `story.rs` has readers, and what happens to them.
//! `subscribers.rs` shows what an owner does for subscribers that it knows by their beats and goodbyes
//! alone. The times are virtual, and every run prints the same.

mod owner;
mod story;
mod subscribers;

use rideout::address::InvalidAddress;

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() -> Result<(), InvalidAddress> {
    story::run().await?.iter().for_each(|line| println!("{line}"));
    subscribers::run().await.iter().for_each(|line| println!("a subscriber {line}"));
    Ok(())
}
