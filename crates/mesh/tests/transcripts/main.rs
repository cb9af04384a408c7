//! The incidents that shaped the rules, each retold on the embedded mesh, in virtual time.
//!
//! The verdicts are structural (R60): what was counted, in which order, and what happened after the
//! release. Each test begins with what happened then, in this crate's terms.

use std::{
    collections::{HashMap, HashSet},
    future::{Future, ready},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    time::Duration,
};

use futures::{
    FutureExt, Stream, StreamExt,
    future::{BoxFuture, join_all},
    stream::{FusedStream, Pending},
};
use rideout::{
    Activation, Address, Budget, Classify, Kind, News, Refusal, Rejection, RideError, RideOut,
    Ruling,
    activation::StreamId,
    carrier::End,
    ledger::{Axis, Cause, Charge, GaveUp, Key, Ledger},
    owner::{Disposing, Lifecycle, Message, ReplyPath},
    refusal::Seam,
    rider::{NoJoin, NoNews, Nudger, Phase, RideOutBuilder, Source},
    time::TokioTimer,
};
use rideout_mesh::{FaultGuard, Mesh, NewsStream, Subscription, Update};
use tokio::{
    runtime::Handle,
    task::yield_now,
    time::{Instant, advance, timeout},
};

mod beats;
mod counting;
#[path = "../../../../tests/support/heard.rs"]
mod heard;
mod owners;
mod readers;

use heard::Heard;

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);

fn address(text: &str) -> Address {
    text.parse().unwrap()
}

/// A mesh with the value 1 stored at `prices/eur`.
fn mesh() -> (Mesh<u64>, Address) {
    let (mesh, address) = (Mesh::new(), address("prices/eur"));
    mesh.store(&address, 1);
    (mesh, address)
}

/// What a broken mesh would never do ends the test in virtual time, instead of hanging it.
async fn in_time<F: Future>(future: F) -> F::Output {
    timeout(2 * MINUTE, future).await.expect("within two minutes")
}

/// Lets every task run that can.
async fn settle() {
    for _ in 0..16 {
        yield_now().await;
    }
}

type Step = Result<Phase<Update<u64>>, RideError<Refusal>>;

/// Reads until the next item, or the end: what was charged meanwhile, and what came then.
async fn ride<R>(rider: &mut R) -> (Vec<Charge>, Result<u64, RideError<Refusal>>)
where
    R: Stream<Item = Step> + Unpin,
{
    let mut charges = Vec::new();
    loop {
        match in_time(rider.next()).await.expect("it is not over") {
            Ok(Phase::RidingOut(charge)) => charges.push(charge),
            Ok(Phase::Live(item)) => return (charges, Ok(item.value)),
            Ok(_) => {}
            Err(error) => return (charges, Err(error)),
        }
    }
}

/// Reads what is there, without any time passing: what was charged meanwhile.
fn look<R>(rider: &mut R) -> Vec<Charge>
where
    R: Stream<Item = Step> + Unpin,
{
    let mut charges = Vec::new();
    while let Some(next) = rider.next().now_or_never() {
        match next.expect("it is not over") {
            Ok(Phase::RidingOut(charge)) => charges.push(charge),
            Ok(_) => {}
            Err(error) => panic!("{error}"),
        }
    }
    charges
}

/// Reads for so long, and no item comes: what was charged meanwhile.
async fn look_for<R>(rider: &mut R, time: Duration) -> Vec<Charge>
where
    R: Stream<Item = Step> + Unpin,
{
    let mut charges = Vec::new();
    let reading = async {
        loop {
            match rider.next().await.expect("it is not over") {
                Ok(Phase::RidingOut(charge)) => charges.push(charge),
                other => panic!("{other:?}"),
            }
        }
    };
    let over: Result<(), _> = timeout(time, reading).await;
    assert!(over.is_err());
    charges
}

/// What charges say: the axis, on whose account, and the how-manyth.
fn entries(charges: &[Charge]) -> Vec<(Axis, Key, u32)> {
    let entry = |charge: &Charge| Some((charge.axis()?, charge.key()?, charge.count()));
    charges.iter().map(|charge| entry(charge).expect("charged")).collect()
}

/// One activation's account: charged once, and on the time axis from then on.
fn once_and_then_time(tag: &Activation, refusals: u32) -> Vec<(Axis, Key, u32)> {
    let key = || Key::Activation(tag.clone());
    let repeats = (1..refusals).map(|count| (Axis::Time, key(), count));
    std::iter::once((Axis::Activation, key(), 1)).chain(repeats).collect()
}

fn gave_up(end: Result<u64, RideError<Refusal>>) -> GaveUp {
    let error = end.expect_err("it ends");
    error.gave_up().expect("no verdict").clone()
}

fn value(end: Result<u64, RideError<Refusal>>) -> u64 {
    end.unwrap_or_else(|error| panic!("{error}"))
}

/// What was told so far.
fn told(news: &mut NewsStream) -> Vec<News> {
    std::iter::from_fn(|| news.next().now_or_never().flatten()).collect()
}

/// How many activations started so far.
fn arrivals(news: &mut NewsStream) -> usize {
    told(news).iter().filter(|news| matches!(news, News::Arrived(_))).count()
}

async fn subscribe(mesh: &Mesh<u64>, address: &Address) -> Subscription<u64> {
    mesh.subscribe(address, StreamId::mint()).await.unwrap().into_stream()
}

async fn refused(mesh: &Mesh<u64>, address: &Address) -> Refusal {
    mesh.subscribe(address, StreamId::mint()).await.unwrap_err()
}

async fn torn_down(mesh: &Mesh<u64>, activation: &Activation) {
    in_time(mesh.teardown_of(activation).expect("observable")).await;
    settle().await;
}

/// Has whoever is at the address refuse: an activation that is told to end as soon as it is there.
fn recycle_anew(mesh: &Mesh<u64>, address: &Address) -> Activation {
    let started = mesh.activate(address).unwrap();
    assert_eq!(mesh.recycle(address).as_ref(), Some(&started));
    started
}

/// A rider that hears nothing and can join nothing: all that it has is its ask.
fn deaf(
    mesh: &Mesh<u64>,
    address: &Address,
) -> RideOutBuilder<
    impl Source<(), Future: Send, Stream: Send, Item = Update<u64>, Error = Refusal>,
    NoJoin,
    NoNews,
    (),
    TokioTimer,
> {
    let (mesh, asked) = (mesh.clone(), address.clone());
    RideOut::builder(address.clone(), move |ask| {
        let (mesh, address) = (mesh.clone(), asked.clone());
        async move { mesh.subscribe(&address, ask.stream).await }
    })
}

/// R2–R4: a promise by the owner's activation, by its fields and by its text alone.
fn is_by_owner(refusal: &Refusal, asked: &Address, activation: &Activation) {
    let rejection = Rejection::by_owner(Some(activation.clone()));
    assert_eq!(refusal.classify(asked), Ruling::Promise(rejection.clone()), "{refusal}");
    assert_eq!(Refusal::from_text(&refusal.message).promise(asked), Some(rejection), "{refusal}");
}
