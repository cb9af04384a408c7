//! What happens to the pods, and what their reader makes of it.

use std::time::Duration;

use futures::{StreamExt, channel::mpsc};
use rideout::address::InvalidAddress;
use tokio::time::sleep;

use super::{client, cluster::Cluster};

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
