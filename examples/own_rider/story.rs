//! One reader, and what happens to it.

use std::{error::Error, pin::pin, rc::Rc, time::Duration};

use futures::{StreamExt, future};
use rideout::Address;
use tokio::time::sleep;

use super::{owner::Owner, rider::Rider};

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
