//! The readers and the writer of an owner, and what happens to it.

use std::{
    fmt::Display,
    sync::{Arc, Mutex, atomic::AtomicU64},
    time::Duration,
};

use futures::StreamExt;
use rideout::{
    Activation, Refusal, RideOut,
    address::InvalidAddress,
    owner::{Ending, Registry},
    rider::{Answer, Ask, Phase},
};
use tokio::{
    sync::{mpsc, oneshot},
    time::{Instant, sleep_until},
};
use tokio_stream::wrappers::UnboundedReceiverStream;

use super::owner::{Prices, Request, What};

/// Plays the story to two readers and a writer; returns what there is to tell.
pub(crate) async fn run() -> Result<Vec<String>, InvalidAddress> {
    let (owners, stored) = (Registry::new(), Arc::new(AtomicU64::new(100)));
    let prices = Prices { address: "prices/eur".parse()?, owners, stored };
    let told = Told::new();
    let at = |millis| sleep_until(told.began + Duration::from_millis(millis));

    let one = tokio::spawn(follow("reader 1", prices.clone(), told.clone()));
    at(100).await;
    set(&prices, 101, &told).await;

    at(1000).await;
    told.tell("ops", "recycles the owner, whose files take half a second to close");
    if let Some((owner, _)) = prices.owners.resolve(&prices.address) {
        owner.dispose(Ending::recycle().asked_by("ops"));
    }
    set(&prices, 102, &told).await;
    at(1200).await;
    let other = tokio::spawn(follow("reader 2", prices.clone(), told.clone()));

    at(2000).await;
    told.tell("reader 2", "leaves");
    other.abort();
    set(&prices, 102, &told).await;
    at(3000).await;
    one.abort();
    Ok(told.lines())
}

async fn set(prices: &Prices, price: u64, told: &Told) {
    told.tell("writer", format_args!("sets {price}"));
    match ask(prices, What::Set { price }).await {
        Ok(by) => told.tell("writer", format_args!("it is set, by activation {by}")),
        Err(refusal) => told.tell("writer", refusal),
    }
}

/// Asks the owner, and returns who it was.
async fn ask(prices: &Prices, what: What) -> Result<Activation, Refusal> {
    let (reply, answer) = oneshot::channel();
    prices.deliver(Request(what, reply));
    // Where it panicked, nobody knows what it still did.
    let lost = |_| Err(Refusal::host_cannot_route(&prices.address).with_never_applied(false));
    answer.await.unwrap_or_else(lost)
}

type Stream = UnboundedReceiverStream<Result<u64, Refusal>>;

async fn subscribe(
    prices: Prices,
    Ask { stream, attempt, .. }: Ask,
) -> Result<Answer<Stream>, Refusal> {
    let (sink, received) = mpsc::unbounded_channel();
    let owner = ask(&prices, What::Subscribe { stream, attempt, sink }).await?;
    Ok(Answer::new(UnboundedReceiverStream::new(received)).served_by(owner))
}

/// Tells what a reader meets.
async fn follow(name: &'static str, prices: Prices, told: Told) {
    let (address, directory) = (prices.address.clone(), prices.clone());
    let rider = RideOut::builder(address, move |ask| subscribe(prices.clone(), ask))
        .join(move |activation| {
            let (owner, _) = directory.owners.resolve(&directory.address)?;
            (*owner.activation() == activation).then(|| owner.teardown().completed())
        })
        .re_ask_on_completion()
        .build(); // an owner that panicked says nothing

    let mut phases = rider.phases();
    while let Some(phase) = phases.next().await {
        match phase {
            Ok(Phase::Live(price)) => told.tell(name, format_args!("price {price}")),
            Ok(Phase::Answered(Some(by))) => told.serves(name, by),
            Ok(Phase::Answered(None)) => told.tell(name, "served"),
            Ok(Phase::RidingOut(charge)) => told.tell(name, charge),
            Ok(_) => {}
            Err(error) => told.tell(name, error),
        }
    }
}

/// What there is to tell. Clones share it.
#[derive(Clone)]
struct Told {
    began: Instant,
    lines: Arc<Mutex<Vec<String>>>,
    // Those that have served, to be told as A, B, …: their names are others in each run.
    owners: Arc<Mutex<Vec<Activation>>>,
}

impl Told {
    fn new() -> Self {
        Self { began: Instant::now(), lines: Arc::default(), owners: Arc::default() }
    }

    fn tell(&self, who: &str, what: impl Display) {
        let line = format!("{:>5} ms  {who:<9} {what}", self.began.elapsed().as_millis());
        self.lines.lock().expect("nothing panics under it").push(line);
    }

    fn serves(&self, who: &str, by: Activation) {
        self.tell(who, format_args!("served by activation {by}"));
        let mut owners = self.owners.lock().expect("nothing panics under it");
        if !owners.contains(&by) {
            owners.push(by);
        }
    }

    fn lines(&self) -> Vec<String> {
        let owners = self.owners.lock().expect("nothing panics under it");
        let named = |line: &String| {
            let names = ('A'..='Z').map(String::from).zip(owners.iter());
            names.fold(line.clone(), |line, (name, owner)| line.replace(owner.as_str(), &name))
        };
        self.lines.lock().expect("nothing panics under it").iter().map(named).collect()
    }
}
