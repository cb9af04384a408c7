//! Asks, subscriptions, and owners that end as they should.

use crate::*;

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

/// The next item: its frame, its version, its value.
async fn item(prices: &mut Subscription<u64>) -> (u64, u64, u64) {
    let Update { frame, version, value, .. } = in_time(prices.next()).await.unwrap().unwrap();
    (frame, version, value)
}

#[tokio::test(start_paused = true)]
async fn a_subscription_is_the_full_state_and_then_the_changes() {
    let (mesh, address) = mesh();
    let mut early = subscribe(&mesh, &address).await;
    assert_eq!(mesh.write(&address, 10).await, Ok(2));
    let mut late = subscribe(&mesh, &address).await;
    assert_eq!(mesh.write(&address, 20).await, Ok(3));

    assert_eq!(
        mesh.subscribe(&address, StreamId::mint()).await.unwrap().activation(),
        Some(late.activation())
    );
    assert_eq!(item(&mut early).await, (1, 1, 1));
    assert_eq!(item(&mut early).await, (2, 2, 10));
    assert_eq!(item(&mut early).await, (3, 3, 20));
    assert_eq!(item(&mut late).await, (1, 2, 10));
    assert_eq!(item(&mut late).await, (2, 3, 20));
    assert!(is_silent(&mut early) && is_silent(&mut late));
}

#[tokio::test(start_paused = true)]
async fn without_stored_state_the_router_answers_not_found() {
    let (mesh, _) = mesh();
    let nowhere = address("prices/chf");
    let mut news = mesh.news(&nowhere, StreamId::mint());

    let refusal = refused(&mesh, &nowhere).await;
    assert_eq!(refusal.classify(&nowhere), Ruling::Verdict(Kind::NotFound));
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
    let mut news = mesh.news(&address, StreamId::mint());
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
    let mut news = mesh.news(&address, prices.stream_id());
    let began = Instant::now();

    let recycled = mesh.recycle(&address).unwrap();
    assert_eq!(prices.activation(), &recycled);
    let refusal = refused(&mesh, &address).await;
    is_by_owner(&refusal, &address, &recycled);
    assert!(refusal.message.ends_with("Rejecting now."), "{refusal}");
    assert!(refusal.message.contains("RunLevel=DisposeHosted, recycle"), "{refusal}");
    is_by_owner(&mesh.write(&address, 2).await.unwrap_err(), &address, &recycled);
    assert_eq!(mesh.activation_of(&address).as_ref(), Some(&recycled));

    let mut join = mesh.teardown_of(&recycled).unwrap();
    advance(2 * SECOND).await;
    settle().await;
    assert!((&mut join).now_or_never().is_none());
    is_by_owner(&refused(&mesh, &address).await, &address, &recycled);
    assert_eq!(told(&mut news), []);

    in_time(join).await;
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

/// A waiter that asks for the successor in its very wake-up, when its owner has just died.
struct Impatient {
    mesh: Mesh<u64>,
    address: Address,
    successor: OnceLock<Activation>,
}

impl Wake for Impatient {
    fn wake(self: Arc<Self>) {
        let _ = self.successor.set(self.mesh.activate(&self.address).unwrap());
    }
}

/// R42: the dead are not handed out again, and do not remove their successor.
#[tokio::test(start_paused = true)]
async fn who_asks_as_soon_as_the_owner_is_dead_finds_its_successor() {
    let (mesh, address) = mesh();
    let recycled = mesh.activate(&address).unwrap();
    let successor = OnceLock::new();
    let impatient = Arc::new(Impatient { mesh: mesh.clone(), address: address.clone(), successor });
    let waker = Waker::from(Arc::clone(&impatient));
    let mut join = mesh.teardown_of(&recycled).unwrap();
    assert!(join.poll_unpin(&mut Context::from_waker(&waker)).is_pending());

    mesh.recycle(&address);
    torn_down(&mesh, &recycled).await;
    settle().await;
    let successor = impatient.successor.get().unwrap();
    assert_ne!(successor, &recycled);
    assert_eq!(mesh.activation_of(&address).as_ref(), Some(successor));
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
    let mut news = mesh.news(&address, prices.stream_id());

    let disposed = mesh.dispose(&address).unwrap();
    // The first who asks for the end decides how it ends.
    assert_eq!(mesh.recycle(&address).as_ref(), Some(&disposed));
    let refusal = refused(&mesh, &address).await;
    is_by_owner(&refusal, &address, &disposed);
    assert!(refusal.message.contains("RunLevel=DisposeHosted, dispose"), "{refusal}");
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

#[tokio::test(start_paused = true)]
async fn a_subscription_is_counted_while_it_is_held() {
    let (mesh, address) = mesh();
    let stream = StreamId::mint();
    let mut first = mesh.subscribe(&address, stream).await.unwrap().into_stream();
    let other = subscribe(&mesh, &address).await;
    assert_eq!(mesh.subscribers(&address), 2);

    // R44: the same stream again is no second registration, and its predecessor falls silent.
    let mut second = mesh.subscribe(&address, stream).await.unwrap().into_stream();
    assert_eq!(mesh.subscribers(&address), 2);
    mesh.write(&address, 2).await.unwrap();
    assert_eq!(value(&mut first).await, 1);
    assert!(is_silent(&mut first));
    assert_eq!((value(&mut second).await, value(&mut second).await), (1, 2));

    drop(first);
    settle().await;
    assert_eq!(mesh.subscribers(&address), 2);
    drop((second, other));
    settle().await;
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

    assert_ne!(ask.await.unwrap().activation(), Some(&recycled));
    assert_eq!(began.elapsed(), 2 * SECOND);
}
