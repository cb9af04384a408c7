//! The embedded mesh (R58–R60): each operation and each fault, in virtual time, by what happened.

use std::{future::Future, time::Duration};

use futures::{FutureExt, StreamExt, TryStreamExt, future::join_all, stream::FusedStream};
use rideout::{
    Activation, Address, Closing, Kind, News, Refusal, Refused, Rejection, RideError, RideOut,
    Ruling, Speaker, StreamId,
    ledger::Key,
    mesh::{FaultGuard, Mesh, NewsStream, Subscription, Versioned},
    refusal::answered_by,
    rider::Answer,
};
use tokio::{
    runtime::Handle,
    task::yield_now,
    time::{Instant, advance},
};

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

async fn subscribe(mesh: &Mesh<u64>, address: &Address) -> Subscription<u64> {
    mesh.subscribe(address, StreamId::mint()).await.unwrap()
}

async fn refused(mesh: &Mesh<u64>, address: &Address) -> Refusal {
    mesh.subscribe(address, StreamId::mint()).await.unwrap_err()
}

async fn value(prices: &mut Subscription<u64>) -> u64 {
    prices.next().await.unwrap().unwrap().value
}

async fn torn_down(mesh: &Mesh<u64>, activation: &Activation) {
    mesh.teardown_of(activation).expect("observable").await;
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
    assert_eq!(refusal.ruling(asked), Ruling::Promise(rejection.clone()));
    assert!(answered_by(&refusal.message, asked), "{refusal}");
    assert!(!answered_by(&refusal.message, &address("prices")), "{refusal}");
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

#[test]
fn the_face_fits_a_rider() {
    fn is_send<F: Send>(_: F) {}
    fn is<T: Send + Sync + Unpin + 'static>() {}
    is::<Mesh<u64>>();
    is::<Subscription<u64>>();
    is::<NewsStream>();
    is::<FaultGuard<u64>>();
    let (mesh, address) = mesh();
    is_send(mesh.subscribe(&address, StreamId::mint()));
    is_send(mesh.write(&address, 1));
}

#[tokio::test(start_paused = true)]
async fn a_subscription_is_the_full_state_and_then_the_changes() {
    let (mesh, address) = mesh();
    let mut early = subscribe(&mesh, &address).await;
    assert_eq!(mesh.write(&address, 10).await, Ok(2));
    let mut late = subscribe(&mesh, &address).await;
    assert_eq!(mesh.write(&address, 20).await, Ok(3));

    let item = |version, value| Some(Ok(Versioned { version, value }));
    assert_eq!(early.next().await, item(1, 1));
    assert_eq!(early.next().await, item(2, 10));
    assert_eq!(early.next().await, item(3, 20));
    assert_eq!(late.next().await, item(2, 10));
    assert_eq!(late.next().await, item(3, 20));
    assert!(is_silent(&mut early) && is_silent(&mut late));
}

#[tokio::test(start_paused = true)]
async fn without_stored_state_the_router_answers_not_found() {
    let (mesh, _) = mesh();
    let nowhere = address("prices/chf");
    let mut news = mesh.news(&nowhere);

    let refusal = refused(&mesh, &nowhere).await;
    assert_eq!(refusal.ruling(&nowhere), Ruling::Verdict(Kind::NotFound));
    assert_eq!(refusal.speaker(&nowhere), Speaker::Route);
    assert_eq!(mesh.write(&nowhere, 1).await.unwrap_err().kind, Some(Kind::NotFound));
    assert_eq!(mesh.activate(&nowhere).unwrap_err().kind, Some(Kind::NotFound));
    assert_eq!((mesh.activation_of(&nowhere), told(&mut news)), (None, vec![]));
    assert_eq!((mesh.recycle(&nowhere), mesh.dispose(&nowhere)), (None, None));
    assert!(mesh.kill(&nowhere).is_none() && mesh.hold_route(&nowhere).is_none());
    assert_eq!(mesh.asks(&nowhere), 1);

    mesh.store(&nowhere, 7);
    assert_eq!(value(&mut subscribe(&mesh, &nowhere).await).await, 7);
}

#[tokio::test(start_paused = true)]
async fn asks_at_one_instant_start_one_activation() {
    let (mesh, address) = mesh();
    let mut news = mesh.news(&address);
    let streams = join_all((0..20).map(|_| subscribe(&mesh, &address))).await;

    let activation = streams[0].activation().clone();
    assert!(streams.iter().all(|prices| *prices.activation() == activation));
    assert_eq!(told(&mut news), [News::Arrived(activation)]);
    assert_eq!((mesh.subscribers(&address), mesh.asks(&address)), (20, 20));
}

#[tokio::test(start_paused = true)]
async fn an_owner_is_known_by_its_path() {
    let (mesh, address) = mesh();
    let elsewhere = self::address("prices/eur~host-9");
    let prices = subscribe(&mesh, &elsewhere).await;
    assert_eq!(mesh.activation_of(&address).as_ref(), Some(prices.activation()));

    let activation = mesh.recycle(&address).unwrap();
    let refusal = refused(&mesh, &address).await;
    is_by_owner(&refusal, &address, &activation);
    is_by_owner(&refusal, &elsewhere, &activation);
}

/// R40, R38, R43, R42, in this order.
#[tokio::test(start_paused = true)]
async fn a_recycle_refuses_tears_down_is_announced_and_comes_back() {
    let (mesh, address) = mesh();
    mesh.set_teardown(3 * SECOND);
    let mut prices = subscribe(&mesh, &address).await;
    assert_eq!(value(&mut prices).await, 1);
    let mut news = mesh.news(&address);
    let began = Instant::now();

    let recycled = mesh.recycle(&address).unwrap();
    assert_eq!(prices.activation(), &recycled);
    let refusal = refused(&mesh, &address).await;
    is_by_owner(&refusal, &address, &recycled);
    assert!(refusal.message.ends_with("Rejecting now."), "{refusal}");
    assert!(refusal.message.contains("asked for by a recycle"), "{refusal}");
    is_by_owner(&mesh.write(&address, 2).await.unwrap_err(), &address, &recycled);
    assert_eq!(mesh.activation_of(&address).as_ref(), Some(&recycled));

    let mut join = mesh.teardown_of(&recycled).unwrap();
    advance(2 * SECOND).await;
    settle().await;
    assert!((&mut join).now_or_never().is_none());
    is_by_owner(&refused(&mesh, &address).await, &address, &recycled);
    assert_eq!(told(&mut news), []);

    join.await;
    assert_eq!(began.elapsed(), 3 * SECOND);
    assert_eq!(told(&mut news), [News::Ended(Some(recycled.clone()))]);
    assert_eq!((mesh.activation_of(&address), mesh.subscribers(&address)), (None, 0));
    assert!(mesh.teardown_of(&recycled).unwrap().now_or_never().is_some());

    let mut next = subscribe(&mesh, &address).await;
    assert_ne!(next.activation(), &recycled);
    assert_eq!(told(&mut news), [News::Arrived(next.activation().clone())]);
    assert_eq!(mesh.write(&address, 3).await, Ok(2));
    assert_eq!((value(&mut next).await, value(&mut next).await), (1, 3));
    assert!(is_silent(&mut prices));
}

/// R2: what was in the mailbox when the owner was told gets the other tail; it was not applied.
#[tokio::test(start_paused = true)]
async fn what_was_accepted_and_could_not_be_finished_says_so() {
    let (mesh, address) = mesh();
    mesh.activate(&address).unwrap();
    settle().await;
    let (mut ask, mut write) =
        (mesh.subscribe(&address, StreamId::mint()).boxed(), mesh.write(&address, 2).boxed());
    assert!((&mut ask).now_or_never().is_none() && (&mut write).now_or_never().is_none());

    let activation = mesh.recycle(&address).unwrap();
    for refusal in [ask.await.unwrap_err(), write.await.unwrap_err()] {
        is_by_owner(&refusal, &address, &activation);
        assert!(refusal.message.ends_with("retry to get the authoritative answer."), "{refusal}");
    }
    torn_down(&mesh, &activation).await;
    assert_eq!(value(&mut subscribe(&mesh, &address).await).await, 1);
}

/// R43: a dispose is silent, and so is a recycle that nobody has subscribed to.
#[tokio::test(start_paused = true)]
async fn only_a_recycle_is_announced_and_only_to_subscribers() {
    let (mesh, address) = mesh();
    let mut prices = subscribe(&mesh, &address).await;
    let mut news = mesh.news(&address);

    let disposed = mesh.dispose(&address).unwrap();
    // The first who asks for the end decides how it ends.
    assert_eq!(mesh.recycle(&address).as_ref(), Some(&disposed));
    let refusal = refused(&mesh, &address).await;
    is_by_owner(&refusal, &address, &disposed);
    assert!(refusal.message.contains("asked for by a dispose"), "{refusal}");
    torn_down(&mesh, &disposed).await;
    settle().await;
    assert_eq!(told(&mut news), []);
    assert_eq!(value(&mut prices).await, 1);
    assert!(is_silent(&mut prices));

    let unheard = mesh.activate(&address).unwrap();
    drop(subscribe(&mesh, &address).await);
    mesh.recycle(&address);
    torn_down(&mesh, &unheard).await;
    settle().await;
    assert_eq!(told(&mut news), [News::Arrived(unheard)]);
}

/// R58: nobody refuses for the killed, and its entry goes when its lease ends.
#[tokio::test(start_paused = true)]
async fn a_killed_owner_says_nothing_and_the_route_refuses_until_its_lease_ends() {
    let (mesh, address) = mesh();
    mesh.set_lease(4 * SECOND);
    let mut prices = subscribe(&mesh, &address).await;
    let mut news = mesh.news(&address);
    let mut join = mesh.teardown_of(prices.activation()).unwrap();

    let killed = mesh.kill(&address).unwrap();
    assert_eq!(prices.activation(), &killed);
    assert!(mesh.teardown_of(&killed).is_none());
    assert_eq!((mesh.recycle(&address), mesh.subscribers(&address)), (None, 0));
    for _ in 0..4 {
        is_by_route(&refused(&mesh, &address).await, &address, "Host");
        assert_eq!(mesh.activation_of(&address).as_ref(), Some(&killed));
        advance(SECOND).await;
        // Being killed again renews no lease.
        mesh.kill(&address);
    }
    assert_eq!(mesh.activation_of(&address), None);

    let next = subscribe(&mesh, &address).await;
    assert_ne!(next.activation(), &killed);
    assert_eq!(value(&mut prices).await, 1);
    assert!(is_silent(&mut prices));
    assert_eq!(told(&mut news), [News::Arrived(next.activation().clone())]);
    assert!((&mut join).now_or_never().is_none());
}

/// R32: the route does not claim to know what a killed owner did with what it had accepted.
#[tokio::test(start_paused = true)]
async fn an_ask_that_a_killed_owner_had_accepted_is_refused_by_the_route() {
    let (mesh, address) = mesh();
    mesh.activate(&address).unwrap();
    settle().await;
    let mut write = mesh.write(&address, 2).boxed();
    assert!((&mut write).now_or_never().is_none());

    mesh.kill(&address);
    let refusal = write.await.unwrap_err();
    is_by_route(&refusal, &address, "Host");
    assert!(!refusal.is_never_applied(&address));
    assert!(mesh.write(&address, 2).await.unwrap_err().is_never_applied(&address));
}

#[tokio::test(start_paused = true)]
async fn an_owner_that_is_killed_in_its_teardown_never_completes_it() {
    let (mesh, address) = mesh();
    let prices = subscribe(&mesh, &address).await;
    let mut news = mesh.news(&address);
    let recycled = mesh.recycle(&address).unwrap();
    let mut join = mesh.teardown_of(&recycled).unwrap();
    settle().await;

    assert_eq!(mesh.kill(&address).as_ref(), Some(&recycled));
    is_by_route(&refused(&mesh, &address).await, &address, "Host");
    advance(60 * SECOND).await;
    settle().await;
    assert!((&mut join).now_or_never().is_none());
    assert_eq!(told(&mut news), []);
    drop(prices);
    assert_ne!(subscribe(&mesh, &address).await.activation(), &recycled);
}

/// A teardown that is wedged: the owner refuses for as long as anybody waits.
#[tokio::test(start_paused = true)]
async fn a_teardown_may_last_for_ever() {
    let (mesh, address) = mesh();
    mesh.set_teardown(Duration::MAX);
    mesh.activate(&address).unwrap();
    let wedged = mesh.recycle(&address).unwrap();
    mesh.set_teardown(Duration::ZERO); // too late for this one

    advance(3600 * SECOND).await;
    settle().await;
    is_by_owner(&refused(&mesh, &address).await, &address, &wedged);
    assert!(mesh.teardown_of(&wedged).unwrap().now_or_never().is_none());
}

/// R19: teardown completed is not "can answer".
#[tokio::test(start_paused = true)]
async fn a_held_route_points_at_the_corpse_until_it_is_let_go() {
    let (mesh, address) = mesh();
    let mut news = mesh.news(&address);
    let corpse = mesh.activate(&address).unwrap();
    let (fault, second) = (mesh.hold_route(&address).unwrap(), mesh.hold_route(&address).unwrap());
    assert!(!fault.is_in_force());
    assert_eq!(subscribe(&mesh, &address).await.activation(), &corpse);

    mesh.recycle(&address);
    torn_down(&mesh, &corpse).await;
    assert!(fault.is_in_force());
    let refusal = refused(&mesh, &address).await;
    is_by_owner(&refusal, &address, &corpse);
    assert!(refusal.message.contains("RunLevel=Dead"), "{refusal}");

    // The directory runs ahead of its routes (R18b).
    let successor = mesh.activate(&address).unwrap();
    assert_ne!(successor, corpse);
    assert_eq!(told(&mut news)[1..], [News::Arrived(successor.clone())]);
    is_by_owner(&refused(&mesh, &address).await, &address, &corpse);

    drop(fault);
    is_by_owner(&refused(&mesh, &address).await, &address, &corpse);
    drop(second);
    assert_eq!(subscribe(&mesh, &address).await.activation(), &successor);
}

#[tokio::test(start_paused = true)]
async fn a_route_held_at_a_killed_owner_refuses_past_its_lease() {
    let (mesh, address) = mesh();
    mesh.set_lease(Duration::ZERO);
    mesh.activate(&address).unwrap();
    let fault = mesh.hold_route(&address).unwrap();
    mesh.kill(&address);
    assert!(fault.is_in_force());
    is_by_route(&refused(&mesh, &address).await, &address, "Host");
    drop(fault);
    assert!(mesh.subscribe(&address, StreamId::mint()).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_route_that_refuses_reaches_nobody_and_starts_nobody() {
    let (mesh, address) = mesh();
    let other = self::address("prices/usd");
    mesh.store(&other, 5);
    let (fault, second) = (mesh.refuse_route(&address), mesh.refuse_route(&address));
    assert!(fault.is_in_force());

    is_by_route(&refused(&mesh, &address).await, &address, "Mesh");
    assert!(mesh.write(&address, 2).await.unwrap_err().is_never_applied(&address));
    assert_eq!(mesh.activation_of(&address), None);
    assert_eq!(value(&mut subscribe(&mesh, &other).await).await, 5);

    let activation = mesh.activate(&address).unwrap();
    is_by_route(&refused(&mesh, &address).await, &address, "Mesh");
    drop(fault);
    is_by_route(&refused(&mesh, &address).await, &address, "Mesh");
    drop(second);
    assert_eq!(subscribe(&mesh, &address).await.activation(), &activation);
}

/// R58: an activation starts on a host that is not leaving.
#[tokio::test(start_paused = true)]
async fn a_host_that_refuses_is_passed_over() {
    let (mesh, address) = mesh();
    let unknown = mesh.refuse_host("host-2");
    assert!(!unknown.is_in_force());
    drop(unknown);
    let first = mesh.activate(&address).unwrap();
    assert_eq!(mesh.host_of(&address).as_deref(), Some("host-1"));

    let fault = mesh.refuse_host("host-1");
    assert!(fault.is_in_force());
    is_by_route(&refused(&mesh, &address).await, &address, "Host");
    mesh.recycle(&address);
    torn_down(&mesh, &first).await;
    is_by_route(&refused(&mesh, &address).await, &address, "Mesh"); // no host is left

    mesh.add_host("host-2");
    mesh.add_host("host-1");
    drop(subscribe(&mesh, &address).await);
    assert_eq!(mesh.host_of(&address).as_deref(), Some("host-2"));

    drop(fault);
    let second = mesh.recycle(&address).unwrap();
    torn_down(&mesh, &second).await;
    drop(subscribe(&mesh, &address).await);
    assert_eq!(mesh.host_of(&address).as_deref(), Some("host-1"));
}

#[tokio::test(start_paused = true)]
async fn a_subscription_is_counted_while_it_is_held() {
    let (mesh, address) = mesh();
    let stream = StreamId::mint();
    let mut first = mesh.subscribe(&address, stream).await.unwrap();
    let other = subscribe(&mesh, &address).await;
    assert_eq!(mesh.subscribers(&address), 2);

    // R44: the same stream again is no second registration, and its predecessor falls silent.
    let mut second = mesh.subscribe(&address, stream).await.unwrap();
    assert_eq!(mesh.subscribers(&address), 2);
    mesh.write(&address, 2).await.unwrap();
    assert_eq!(value(&mut first).await, 1);
    assert!(is_silent(&mut first));
    assert_eq!((value(&mut second).await, value(&mut second).await), (1, 2));

    drop(first);
    assert_eq!(mesh.subscribers(&address), 2);
    drop((second, other));
    assert_eq!(mesh.subscribers(&address), 0);
}

/// C25: dropped before it was sent, no ask leaves; dropped on the way, nothing is served.
#[tokio::test(start_paused = true)]
async fn an_ask_that_is_dropped_leaves_nothing_behind() {
    let (mesh, address) = mesh();
    drop(mesh.subscribe(&address, StreamId::mint()));
    assert_eq!(mesh.asks(&address), 0);

    let mut in_the_mailbox = mesh.subscribe(&address, StreamId::mint()).boxed();
    assert!((&mut in_the_mailbox).now_or_never().is_none());
    drop(in_the_mailbox);
    settle().await;
    assert_eq!((mesh.asks(&address), mesh.subscribers(&address)), (1, 0));

    mesh.set_latency(SECOND);
    let mut on_the_way = mesh.subscribe(&address, StreamId::mint()).boxed();
    assert!((&mut on_the_way).now_or_never().is_none());
    drop(on_the_way);
    advance(2 * SECOND).await;
    settle().await;
    assert_eq!((mesh.asks(&address), mesh.subscribers(&address)), (2, 0));
}

/// An ask meets the world as it is when it arrives.
#[tokio::test(start_paused = true)]
async fn latency_is_the_way_to_the_owner() {
    let (mesh, address) = mesh();
    mesh.set_latency(2 * SECOND);
    mesh.activate(&address).unwrap();
    let began = Instant::now();
    let mut ask = mesh.subscribe(&address, StreamId::mint()).boxed();
    assert!((&mut ask).now_or_never().is_none());
    let recycled = mesh.recycle(&address).unwrap();
    torn_down(&mesh, &recycled).await;

    assert_ne!(ask.await.unwrap().activation(), &recycled);
    assert_eq!(began.elapsed(), 2 * SECOND);
}

/// A rider of `address` with everything that a mesh gives one.
fn rider(
    mesh: &Mesh<u64>,
    address: &Address,
) -> impl FusedStream<Item = Result<u64, RideError<Refusal>>> + Unpin + use<> {
    let (asked, joined, address) = (mesh.clone(), mesh.clone(), address.clone());
    let news = mesh.news(&address);
    RideOut::new(address.clone(), move |ask| {
        let (mesh, address) = (asked.clone(), address.clone());
        async move { mesh.subscribe(&address, ask.stream).await.map(Answer::from) }
    })
    .join(move |activation| joined.teardown_of(&activation))
    .news(news)
    .version(|item| item.version)
    .map_ok(|item| item.value)
}

/// C19: a live reader hears of a recycle by the announcement alone, and ends up on the successor,
/// although the first re-ask still finds the corpse.
#[tokio::test(start_paused = true)]
async fn a_rider_is_live_again_after_a_recycle() {
    let (mesh, address) = mesh();
    let mut prices = rider(&mesh, &address);
    assert_eq!(prices.try_next().await.unwrap(), Some(1));

    let fault = mesh.hold_route(&address).unwrap();
    let recycled = mesh.recycle(&address).unwrap();
    let mut next = prices.try_next();
    while mesh.asks(&address) < 3 {
        assert!((&mut next).now_or_never().is_none());
        settle().await;
        advance(SECOND / 100).await;
    }
    assert!(fault.is_in_force() && mesh.activation_of(&address).is_none());
    drop(fault);
    assert_eq!(next.await.unwrap(), Some(1));
    assert_ne!(mesh.activation_of(&address), Some(recycled));

    mesh.write(&address, 2).await.unwrap();
    assert_eq!(prices.try_next().await.unwrap(), Some(2));
    assert_eq!((mesh.asks(&address), mesh.subscribers(&address)), (4, 1));
    drop(prices);
    assert_eq!(mesh.subscribers(&address), 0);
}

/// C3: no ask while the teardown of the one that refused is pending, then exactly one.
#[tokio::test(start_paused = true)]
async fn a_rider_joins_the_teardown() {
    let (mesh, address) = mesh();
    mesh.set_teardown(7 * SECOND);
    mesh.activate(&address).unwrap();
    mesh.dispose(&address);
    let began = Instant::now();
    let mut prices = rider(&mesh, &address);
    assert_eq!(prices.try_next().await.unwrap(), Some(1));
    assert_eq!((began.elapsed(), mesh.asks(&address)), (7 * SECOND, 2));
}

/// C4 and its like: a fault that stays is given up on by its cause, after exactly so many asks.
#[tokio::test(start_paused = true)]
async fn a_rider_gives_up_on_a_fault_that_stays() {
    async fn gives_up(mesh: &Mesh<u64>, address: &Address) -> (Key, usize) {
        let mut prices = rider(mesh, address);
        let Some(Err(RideError::GaveUp { report, .. })) = prices.next().await else {
            panic!("did not give up");
        };
        assert!(prices.next().await.is_none());
        (report.key.clone(), mesh.asks(address))
    }

    let (mesh, address) = mesh();
    let fault = mesh.refuse_route(&address);
    assert_eq!(gives_up(&mesh, &address).await, (Key::Route, 17));
    drop(fault);

    let corpse = mesh.activate(&address).unwrap();
    let fault = mesh.hold_route(&address).unwrap();
    mesh.recycle(&address);
    assert_eq!(gives_up(&mesh, &address).await, (Key::Activation(corpse), 17 + 18));
    drop(fault);
    assert_eq!(rider(&mesh, &address).try_next().await.unwrap(), Some(1));
}

/// R18b: an arrival ends a rest at once.
#[tokio::test(start_paused = true)]
async fn a_rider_recovers_at_the_speed_of_an_arrival() {
    let (mesh, address) = mesh();
    let fault = mesh.refuse_route(&address);
    let began = Instant::now();
    let mut prices = rider(&mesh, &address);
    assert!(prices.next().now_or_never().is_none());

    drop(fault);
    mesh.activate(&address).unwrap();
    assert_eq!(prices.try_next().await.unwrap(), Some(1));
    assert_eq!((began.elapsed(), mesh.asks(&address)), (Duration::ZERO, 2));
}

/// A subscription outlives its owner in silence, and its mesh with a word.
async fn is_gone_with_its_mesh(mut prices: Subscription<u64>, mut news: NewsStream) {
    let asked = prices.address().clone();
    let refusal = loop {
        match prices.next().await {
            Some(Ok(_)) => {}
            Some(Err(refusal)) => break refusal,
            None => panic!("completed without a word"),
        }
    };
    is_by_route(&refusal, &asked, "Mesh");
    assert_eq!(prices.next().await, None);
    assert!(prices.is_terminated());
    while news.next().await.is_some() {}
    settle().await;
    assert_eq!(Handle::current().metrics().num_alive_tasks(), 0);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_left_when_the_mesh_is_dropped() {
    type Act = fn(&Mesh<u64>, &Address);
    let acts: [Act; 5] = [
        |_, _| {},
        |mesh, address| drop(mesh.recycle(address)),
        |mesh, address| drop(mesh.kill(address)),
        |mesh, address| {
            mesh.recycle(address);
            mesh.kill(address);
        },
        |mesh, address| {
            mesh.set_teardown(Duration::ZERO);
            mesh.recycle(address);
        },
    ];
    for act in acts {
        for settled in [false, true] {
            let (mesh, address) = mesh();
            let prices = subscribe(&mesh, &address).await;
            let news = mesh.news(&address);
            let fault = mesh.hold_route(&address).unwrap();
            act(&mesh, &address);
            if settled {
                settle().await;
            }

            let clone = mesh.clone();
            drop(mesh);
            assert_eq!(clone.asks(&address), 1);
            drop(clone);
            is_gone_with_its_mesh(prices, news).await;
            assert!(!fault.is_in_force());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_dropped_mesh_wakes_a_subscription_that_had_fallen_silent() {
    let (mesh, address) = mesh();
    let mut prices = subscribe(&mesh, &address).await;
    let news = mesh.news(&address);
    assert_eq!(value(&mut prices).await, 1);
    let activation = mesh.dispose(&address).unwrap();
    torn_down(&mesh, &activation).await;

    let waiting = tokio::spawn(async move {
        let item = prices.next().await;
        (item, prices)
    });
    settle().await;
    assert!(!waiting.is_finished());
    drop(mesh);
    let (item, prices) = waiting.await.unwrap();
    assert!(matches!(item, Some(Err(_))), "{item:?}");
    drop((prices, news));
}

#[tokio::test(start_paused = true)]
async fn teardowns_that_are_over_since_long_are_forgotten() {
    let (mesh, address) = mesh();
    mesh.set_teardown(Duration::ZERO);
    let mut over = Vec::new();
    for _ in 0..1030 {
        let activation = mesh.activate(&address).unwrap();
        mesh.recycle(&address);
        torn_down(&mesh, &activation).await;
        over.push(activation);
    }
    settle().await;
    let known: Vec<_> = over.iter().map(|over| mesh.teardown_of(over).is_some()).collect();
    assert!(known[..6].iter().all(|known| !known) && known[6..].iter().all(|known| *known));
    assert!(mesh.teardown_of(&Activation::mint()).is_none());
}

/// An owner whose runtime went away was lost like a killed one, though nobody killed it.
#[test]
fn an_owner_goes_with_its_runtime() {
    let runtime = || {
        tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap()
    };
    fn on<F: Future>(runtime: &tokio::runtime::Runtime, future: F) -> F::Output {
        runtime.block_on(future)
    }

    let (mesh, address) = mesh();
    mesh.set_lease(Duration::ZERO);
    let first = runtime();
    let mut prices = on(&first, subscribe(&mesh, &address));
    drop(first);
    assert_eq!(mesh.subscribers(&address), 0);

    let second = runtime();
    let next = on(&second, subscribe(&mesh, &address));
    assert_ne!(next.activation(), prices.activation());
    assert_eq!(on(&second, value(&mut prices)), 1);
    assert!(is_silent(&mut prices));
}

/// Whatever threads do: each ask is answered or promised to, each teardown completes, and writes are
/// neither lost nor doubled.
#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn many_threads_find_one_owner_at_a_time() {
    let (mesh, address) = mesh();
    mesh.set_teardown(Duration::ZERO);
    let writers = (0..4).map(|_| {
        let (mesh, address) = (mesh.clone(), address.clone());
        tokio::spawn(async move {
            let mut written = 0;
            while written < 100 {
                let prices = mesh.subscribe(&address, StreamId::mint()).await;
                let refusal = match mesh.write(&address, written).await {
                    Ok(_) => {
                        written += 1;
                        if written % 10 == 0 {
                            let recycled = mesh.recycle(&address);
                            let join = recycled.and_then(|recycled| mesh.teardown_of(&recycled));
                            // Another writer's recycle may have come first.
                            if let Some(join) = join {
                                join.await;
                            }
                        }
                        prices.err()
                    }
                    Err(refusal) => Some(refusal),
                };
                let closing = Closing::new(address.clone()).at_the_door("");
                if let Some(refusal) = refusal {
                    assert_eq!(refusal.kind, closing.kind, "{refusal}");
                    assert!(refusal.is_never_applied(&address), "{refusal}");
                    yield_now().await;
                }
            }
        })
    });
    for writer in join_all(writers).await {
        writer.unwrap();
    }
    let last = mesh.store(&address, 0);
    assert_eq!(last, 1 + 4 * 100 + 1);
}
