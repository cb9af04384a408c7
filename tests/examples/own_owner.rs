//! What the example `owner` shows must be so: it parks, refuses and announces, and its readers ride it out.

#[path = "../../examples/owner/owner.rs"]
mod owner;
#[path = "../../examples/owner/story.rs"]
mod story;
#[path = "../../examples/owner/subscribers.rs"]
mod subscribers;

use std::{sync::Arc, time::Duration};

use owner::{Prices, Request, What};
use rideout::{
    Activation, Refusal,
    activation::StreamId,
    owner::{Ending, Lifecycle, Registry},
};
use tokio::{
    sync::{mpsc, oneshot},
    time::sleep,
};

/// By the virtual clock, far longer than the story.
const LONG: Duration = Duration::from_secs(3600);

async fn told() -> Vec<String> {
    tokio::time::timeout(LONG, story::run()).await.expect("it ends").unwrap()
}

#[tokio::test(start_paused = true)]
async fn an_owner_of_ones_own_is_ridden_out() {
    let told = told().await;
    let told: Vec<_> =
        told.iter().map(|it| it.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let expected = [
        // Parked while it loads, in the order of arrival.
        "100 ms writer sets 101",
        "300 ms reader 1 served by activation A",
        "300 ms reader 1 price 100",
        "300 ms reader 1 price 101",
        "300 ms writer it is set, by activation A",
        // Refused at the door.
        "1000 ms ops recycles",
        "1000 ms writer sets 102",
        "1000 ms writer Hub prices/eur is shutting down (RunLevel=DisposeHosted, recycle asked for by ops, activation #A) — cannot process SetRequest;",
        "1200 ms reader 2 refused by activation A, charged to the activation axis (1 of 3), joins",
        // Announced when it is dead; its successor loads.
        "1500 ms reader 1 refused by activation A, charged to the activation axis (1 of 3), joins",
        "1800 ms reader 2 served by activation B",
        "1800 ms reader 2 price 101",
        "1800 ms reader 1 served by activation B",
        "1800 ms reader 1 price 101",
        "2000 ms reader 2 leaves",
        "2000 ms writer sets 102",
        "2000 ms reader 1 price 102",
        "2000 ms writer it is set, by activation B",
    ];
    assert_eq!(told.len(), expected.len(), "{told:#?}");
    for (line, expected) in told.iter().zip(expected) {
        assert!(line.starts_with(expected), "not {expected}: {told:#?}");
    }
}

#[tokio::test(start_paused = true)]
async fn every_run_tells_the_same() {
    assert_eq!(told().await, told().await);
}

fn prices() -> Prices {
    let address = "prices/eur".parse().unwrap();
    Prices { address, owners: Registry::new(), stored: Arc::default() }
}

type Answer = oneshot::Receiver<Result<Activation, Refusal>>;

fn ask(prices: &Prices, what: What) -> Answer {
    let (reply, answer) = oneshot::channel();
    prices.deliver(Request(what, reply));
    answer
}

type Stream = mpsc::UnboundedReceiver<Result<u64, Refusal>>;

fn subscribe(prices: &Prices) -> (Answer, Stream) {
    let (sink, received) = mpsc::unbounded_channel();
    (ask(prices, What::Subscribe { stream: StreamId::mint(), attempt: 1, sink }), received)
}

fn owner(prices: &Prices) -> Lifecycle {
    prices.owners.resolve(&prices.address).expect("an owner is there").0
}

async fn live(prices: &Prices) -> (Activation, Stream) {
    let (answer, mut stream) = subscribe(prices);
    let by = answer.await.unwrap().unwrap();
    assert_eq!(stream.recv().await, Some(Ok(0)));
    (by, stream)
}

#[tokio::test(start_paused = true)]
async fn a_recycle_is_announced_and_a_plain_dispose_is_not() {
    let prices = prices();
    let (by, mut stream) = live(&prices).await;
    let recycled = owner(&prices);
    recycled.dispose(Ending::recycle());
    let end = stream.recv().await.expect("it is announced").unwrap_err();
    assert!(recycled.teardown().is_complete()); // and not before
    assert!(end.promise(&prices.address).is_some());
    assert_eq!(end.activation, Some(by.clone()));
    assert_eq!(stream.recv().await, None);

    let (next, mut stream) = live(&prices).await;
    assert_ne!(next, by);
    owner(&prices).dispose(Ending::dispose());
    assert_eq!(stream.recv().await, None);
}

#[tokio::test(start_paused = true)]
async fn whoever_waits_is_refused_by_the_place_where_it_waits() {
    let prices = prices();
    let parked = ask(&prices, What::Set { price: 7 });
    sleep(Duration::from_millis(100)).await; // it is behind the gate
    let queued = ask(&prices, What::Set { price: 8 });
    owner(&prices).dispose(Ending::recycle());
    let turned_away = ask(&prices, What::Set { price: 9 });

    for (answer, said) in [
        (parked, "cannot finish SetRequest, behind gate `loading`"),
        (queued, "cannot finish SetRequest."),
        (turned_away, "cannot process SetRequest;"),
    ] {
        let refusal = answer.await.unwrap().unwrap_err();
        assert!(refusal.message.contains(said), "{refusal}");
        assert!(refusal.promise(&prices.address).is_some());
        assert!(refusal.is_never_applied(&prices.address));
    }
    owner(&prices).teardown().completed().await;
    live(&prices).await; // on what it was: nothing was applied
}

#[tokio::test(start_paused = true)]
async fn a_subscriber_is_known_by_its_beats_and_goodbyes() {
    let told = tokio::time::timeout(LONG, subscribers::run()).await.expect("it ends");
    assert_eq!(
        told,
        [
            "asks, and is answered: true",
            "hears Some((1, 101)) and Some((2, 102))",
            "asks again, and is answered: true",
            "hears Some((1, 102)), and no more of the first",
            "is served after a late goodbye: true",
            "is served after 11 silent minutes: false",
            "is gone, and 0 are to be told of the end",
        ]
    );
}
