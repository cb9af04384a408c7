//! A reader follows a value in the embedded mesh while its owner is recycled three ways; beside it, on
//! the same events, a plain retry loop.
//!
//! ```sh
//! cargo run --example ride_out
//! ```
//!
//! The times are virtual, so the six seconds take no time, and every run prints the same.

mod events;
mod retry;
mod rider;

use std::{error::Error, rc::Rc};

use events::Stage;

fn main() -> Result<(), Box<dyn Error>> {
    println!("rider: RideOut, with join and news. retry: asks again at once, three times.");
    println!("A, B, C, D: the owner's activations, one after the other.");
    println!();
    let (rider, retry) = follow()?;

    println!();
    println!("                           the rider            three retries at once");
    println!("values seen, each once     {:<20} {}", rider.seen(), retry.seen());
    println!("at the end                 {:<20} {}", rider.end, retry.end);
    println!("asks, over three outages   {:<20} {}", rider.asks, retry.asks);
    println!("most asks within 10 ms     {:<20} {}", rider.in_a_burst(), retry.in_a_burst());
    Ok(())
}

/// Runs both readers against the same events, and prints what happens to them.
fn follow() -> Result<(events::Account, events::Account), Box<dyn Error>> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
    let local = tokio::task::LocalSet::new();
    local.block_on(&runtime, async {
        let stage = Rc::new(Stage::new("prices/eur".parse()?));
        let (nudger, riding) = rider::follow(&stage);
        let riding = tokio::task::spawn_local(riding);
        let retrying = tokio::task::spawn_local(retry::follow(Rc::clone(&stage)));
        stage.play(nudger).await?;
        Ok((riding.await?, retrying.await?))
    })
}
