//! The embedded mesh (R58–R60): each operation and each fault, in virtual time, by what happened.

use std::{
    future::Future,
    sync::{Arc, OnceLock},
    task::{Context, Wake, Waker},
    time::Duration,
};

use futures::{FutureExt, StreamExt, TryStreamExt, future::join_all, stream::FusedStream};
use rideout::{
    Activation, Address, Classify, Kind, News, Refusal, Rejection, RideError, Ruling,
    activation::StreamId,
    ledger::Key,
    refusal::{Closing, Seam, Speaker, answered_by},
};
use rideout_mesh::{FaultGuard, Mesh, NewsStream, Subscription, Update};
use tokio::{
    runtime::Handle,
    task::yield_now,
    time::{Instant, advance, timeout},
};

#[path = "../../../../tests/support/heard.rs"]
mod heard;
#[path = "../../../../tests/support/recognised.rs"]
mod recognised;

mod beats;
mod children;
mod ends;
mod faults;
mod feeds;
mod goodbyes;
mod hostile;
mod hosts;
mod interleavings;
mod landings;
mod leftovers;
mod lines;
mod memory;
mod moves;
mod owners;
mod requests;
mod riders;
mod seams;
mod streams;
mod trees;
mod waves;

const SECOND: Duration = Duration::from_secs(1);

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
    timeout(60 * SECOND, future).await.expect("within a minute")
}

async fn subscribe(mesh: &Mesh<u64>, address: &Address) -> Subscription<u64> {
    mesh.subscribe(address, StreamId::mint()).await.unwrap().into_stream()
}

async fn refused(mesh: &Mesh<u64>, address: &Address) -> Refusal {
    mesh.subscribe(address, StreamId::mint()).await.unwrap_err()
}

async fn value(prices: &mut Subscription<u64>) -> u64 {
    in_time(prices.next()).await.unwrap().unwrap().value
}

async fn torn_down(mesh: &Mesh<u64>, activation: &Activation) {
    in_time(mesh.teardown_of(activation).expect("observable")).await;
}

/// Lets every task run that can.
async fn settle() {
    for _ in 0..8 {
        yield_now().await;
    }
}

/// What was told so far.
fn told(news: &mut NewsStream) -> Vec<News> {
    std::iter::from_fn(|| news.next().now_or_never().flatten()).collect()
}

/// The stream is neither at an item nor at its end.
fn is_silent(prices: &mut Subscription<u64>) -> bool {
    prices.next().now_or_never().is_none() && !prices.is_terminated()
}

/// R2–R4: the owner is recognised by field and by text, its tag is there, and nobody else spoke.
fn is_by_owner(refusal: &Refusal, asked: &Address, activation: &Activation) {
    let rejection = Rejection::by_owner(Some(activation.clone()));
    assert_eq!(refusal.classify(asked), Ruling::Promise(rejection.clone()));
    assert!(answered_by(&refusal.message, asked), "{refusal}");
    let path = asked.path();
    for other in [&path[..path.len() - 1], &format!("{path}/child")] {
        assert!(!answered_by(&refusal.message, &address(other)), "{refusal}");
    }
    assert_eq!(Refusal::from_text(&refusal.message).promise(asked), Some(rejection), "{refusal}");
    assert!(refusal.is_never_applied(asked));
}

/// The route's promise, by field and by text.
fn is_by_route(refusal: &Refusal, asked: &Address, side: &str) {
    assert_eq!(refusal.promise(asked), Some(Rejection::by_route()), "{refusal}");
    assert!(!answered_by(&refusal.message, asked), "{refusal}");
    let text = Refusal::from_text(&refusal.message);
    assert_eq!(text.promise(asked), Some(Rejection::by_route()), "{refusal}");
    assert!(refusal.message.starts_with(side), "{refusal}");
}
