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

use std::{error::Error, pin::pin, rc::Rc, time::Duration};

use futures::{StreamExt, future};
use owner::Owner;
use rideout::Address;
use rider::Rider;
use tokio::time::{sleep, timeout};

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() -> Result<(), Box<dyn Error>> {
    for line in run().await? {
        println!("{line}");
    }
    Ok(())
}

/// Reads until the verdict, while it is nudged from elsewhere; returns what there is to tell.
pub(crate) async fn run() -> Result<Vec<String>, Box<dyn Error>> {
    let address: Address = "prices/eur".parse()?;
    let owner = Rc::new(Owner::new(&address)?);
    let rider = Rider::new(address, Rc::clone(&owner));

    let reading = async {
        let mut items = pin!(rider.items());
        while let Some(said) = items.next().await {
            match said {
                Ok(item) => owner.tell(format_args!("      item {item}")),
                Err(error) => return owner.tell(format_args!("      the end: {error}")),
            }
        }
    };
    let elsewhere = async {
        sleep(Duration::from_millis(100)).await;
        owner.tell("nudged, during the wait: its ask is the nudge's too");
        rider.carrier().nudge();
        sleep(Duration::from_millis(200)).await;
        owner.tear_down();
        sleep(Duration::from_millis(1700)).await;
        owner.tell("nudged, while live: it asks again, and nothing is charged");
        rider.carrier().nudge();
    };
    future::join(reading, elsewhere).await;
    Ok(owner.told())
}
