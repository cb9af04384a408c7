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
//! stands for yours: pods that serve, and a directory that watches them.

mod client;
mod cluster;

use std::time::Duration;

use cluster::Cluster;
use futures::{StreamExt, channel::mpsc};
use rideout::address::InvalidAddress;
use tokio::time::sleep;

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() -> Result<(), InvalidAddress> {
    let (ticks, told) = run().await?;
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

/// Plays the story to a reader in a task of its own; returns its ticks, and what there is to tell.
pub(crate) async fn run() -> Result<(Vec<u64>, Vec<String>), InvalidAddress> {
    let cluster = Cluster::new();
    let (sender, ticks) = mpsc::unbounded();
    let reading = client::follow("prices/eur".parse()?, cluster.clone(), sender);
    tokio::spawn(reading);
    play(&cluster).await;
    // The reader has ended, and its end of the channel with it.
    Ok((ticks.collect().await, cluster.told()))
}

/// What happens to the pods. Each of them is called `prices-0`.
async fn play(cluster: &Cluster) {
    let [a, b, c, d] = [
        "6f1c2b9e-0d3a-4c57-9e21-7a5d3f0b8c11",
        "b27d90f4-51c8-4f0e-8a63-1d94e6c2705f",
        "0c85e3aa-7b12-49d6-b0fe-52c1978d4e36",
        "e94a16d7-c30f-4b85-a7d2-8f6b05317ca9",
    ];
    let after = |seconds| sleep(Duration::from_secs(seconds));
    let arrives = |pod| {
        cluster.tell(format!("   pod {pod} arrives"));
        cluster.start(pod);
    };
    let is_gone = |pod| {
        cluster.tell(format!("   the directory sees that pod {pod} is gone"));
        cluster.vanish(pod);
    };

    arrives(a);
    after(12).await;
    cluster.tell("1. a roll: the pod drains for 30 s, and its successor takes 5 s more");
    cluster.drain(false);
    after(30).await;
    is_gone(a);
    after(5).await;
    arrives(b);

    after(5).await;
    cluster.tell("2. the pod is killed, and says nothing");
    cluster.kill();
    after(10).await;
    is_gone(b);
    after(5).await;
    arrives(c);

    after(5).await;
    cluster.tell("3. the connection dies, and nobody is told; the pod lives");
    cluster.cut();

    after(20).await;
    cluster.tell(
        "4. a roll: the pod completes its streams, and for two minutes there is no successor",
    );
    cluster.drain(true);
    after(10).await;
    is_gone(c);
    after(130).await;
    arrives(d);

    after(60).await;
    cluster.tell("5. the service is deleted");
    cluster.delete();
}
