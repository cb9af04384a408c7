//! Beats: who is served where, found out by who asks for nothing (R26, R22, C22).

use crate::*;

#[tokio::test(start_paused = true)]
async fn an_owner_that_does_not_serve_the_stream_says_so_itself() {
    let (mesh, address) = mesh();
    let prices = subscribe(&mesh, &address).await;
    let owner = prices.activation().clone();
    let stranger = StreamId::mint();
    let mut news = [mesh.news(&address, prices.stream_id()), mesh.news(&address, stranger)];

    mesh.beat(&address, prices.stream_id());
    mesh.beat(&address, stranger);
    settle().await;
    assert_eq!(told(&mut news[0]), [], "served");
    assert_eq!(told(&mut news[1]), [News::NotServing(Some(owner.clone()))]);

    let stream = prices.stream_id();
    drop(prices);
    mesh.beat(&address, stream);
    settle().await;
    assert_eq!(told(&mut news[0]), [News::NotServing(Some(owner))]);
    assert_eq!((told(&mut news[1]), mesh.asks(&address)), (vec![], 1));
}

/// R26: it starts an owner, as an ask would, and the successor answers for itself.
#[tokio::test(start_paused = true)]
async fn a_beat_finds_the_successor() {
    let (mesh, address) = mesh();
    let mut prices = subscribe(&mesh, &address).await;
    let mut news = mesh.news(&address, prices.stream_id());
    let owner = mesh.dispose(&address).unwrap();

    // R40: nobody answers a beat on the way out.
    mesh.beat(&address, prices.stream_id());
    settle().await;
    assert_eq!(told(&mut news), []);
    torn_down(&mesh, &owner).await;
    mesh.beat(&address, prices.stream_id());
    settle().await;
    let successor = mesh.activation_of(&address).expect("the beat has started it");
    assert_ne!(successor, owner);
    let expected = [News::Arrived(successor.clone()), News::NotServing(Some(successor))];
    assert_eq!(told(&mut news), expected);
    assert_eq!((value(&mut prices).await, mesh.asks(&address)), (1, 1));
    assert!(is_silent(&mut prices));
}

#[tokio::test(start_paused = true)]
async fn a_beat_to_where_nothing_is_is_answered_by_nobody_in_particular() {
    let (mesh, address) = mesh();
    let stream = StreamId::mint();
    let nowhere = self::address("rates/chf");
    let mut news = [mesh.news(&nowhere, stream), mesh.news(&address, stream)];
    mesh.beat(&nowhere, stream);
    settle().await;
    assert_eq!(told(&mut news[0]), [News::NotServing(None)]);
    assert_eq!((told(&mut news[1]), mesh.activation_of(&nowhere)), (vec![], None));
}

/// C22, R40: what cannot be delivered is answered by nobody.
#[tokio::test(start_paused = true)]
async fn a_beat_that_is_refused_is_not_answered() {
    let (mesh, address) = mesh();
    mesh.activate(&address).unwrap();
    let stream = StreamId::mint();
    let mut news = mesh.news(&address, stream);
    type Fault = fn(&Mesh<u64>, &Address) -> FaultGuard<u64>;
    let faults: [Fault; 5] = [
        |mesh, address| mesh.refuse_route(address),
        |mesh, address| mesh.refuse_door(address),
        |mesh, _| mesh.refuse_host("host-1"),
        |mesh, _| mesh.linger_host("host-1"),
        |mesh, _| mesh.kill_host("host-1"),
    ];
    for (at, fault) in faults.into_iter().enumerate() {
        let fault = fault(&mesh, &address);
        mesh.beat(&address, stream);
        settle().await;
        assert_eq!(told(&mut news), [], "{at}");
        drop(fault);
        advance(60 * SECOND).await;
        settle().await;
        let _ = told(&mut news);
        mesh.beat(&address, stream);
        settle().await;
        let answers = told(&mut news);
        assert!(matches!(answers.last(), Some(News::NotServing(Some(_)))), "{at}: {answers:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_beat_is_on_its_way_as_long_as_an_ask() {
    let (mesh, address) = mesh();
    let owner = mesh.activate(&address).unwrap();
    let stream = StreamId::mint();
    let mut news = mesh.news(&address, stream);
    mesh.set_latency(3 * SECOND);
    mesh.beat(&address, stream);
    settle().await;
    advance(3 * SECOND - SECOND / 1000).await;
    settle().await;
    assert_eq!(told(&mut news), []);
    advance(SECOND / 1000).await;
    settle().await;
    assert_eq!(told(&mut news), [News::NotServing(Some(owner))]);
}

/// Lets the tasks end that can: so many are left.
async fn tasks_are(left: usize) {
    let is_over = || Handle::current().metrics().num_alive_tasks() <= left;
    for _ in (0..100_000).take_while(|_| !is_over()) {
        yield_now().await;
    }
}

/// C22: fire and forget.
#[tokio::test(start_paused = true)]
async fn a_hundred_thousand_beats_leave_nothing() {
    let (mesh, address) = mesh();
    let prices = subscribe(&mesh, &address).await;
    let nowhere = self::address("rates/chf");
    settle().await;
    let tasks = Handle::current().metrics().num_alive_tasks();
    for latency in (0..50).map(|round| if round % 10 == 0 { SECOND } else { Duration::ZERO }) {
        mesh.set_latency(latency);
        for _ in 0..1000 {
            mesh.beat(&address, prices.stream_id());
            mesh.beat(&nowhere, prices.stream_id());
        }
        for _ in 0..200 {
            yield_now().await; // all of them on their way
        }
        advance(SECOND).await;
        tasks_are(tasks).await;
    }
    assert_eq!(Handle::current().metrics().num_alive_tasks(), tasks);
    assert_eq!((mesh.subscribers(&address), mesh.asks(&address)), (1, 1));
    assert_eq!(mesh.activation_of(&address).as_ref(), Some(prices.activation()));

    // A beat on its way is no task that outlives its mesh.
    mesh.set_latency(Duration::MAX);
    mesh.beat(&address, prices.stream_id());
    settle().await;
    assert_eq!(Handle::current().metrics().num_alive_tasks(), tasks + 1);
    drop(mesh);
    settle().await;
    assert_eq!(Handle::current().metrics().num_alive_tasks(), 0);
}

/// R26, R43: a dispose is silent, and an owner that is killed says nothing: the beat finds both, and
/// nothing was written.
#[tokio::test(start_paused = true)]
async fn a_rider_finds_a_moved_owner_by_its_beat() {
    type End = fn(&Mesh<u64>, &Address) -> Option<Activation>;
    let ends: [End; 2] =
        [|mesh, address| mesh.dispose(address), |mesh, address| mesh.kill(address)];
    for (end, in_first) in [(ends[0], true), (ends[0], false), (ends[1], true), (ends[1], false)] {
        let (mesh, address) = mesh();
        let mut prices = mesh.ride_out(&address);
        assert_eq!(in_time(prices.try_next()).await.unwrap().unwrap().value, 1);
        if !in_first {
            assert!(timeout(6 * SECOND, prices.try_next()).await.is_err());
        }
        let owner = end(&mesh, &address).unwrap();
        mesh.store(&address, 2);
        let began = Instant::now();
        let item = in_time(prices.try_next()).await.unwrap().unwrap();
        assert_eq!(item.value, 2);
        // The first beat after 5 s, each later one after 45 s more; one may meet the owner's last
        // moments.
        let most = if in_first { 50 } else { 45 };
        assert!(began.elapsed() <= most * SECOND, "{:?}", began.elapsed());
        assert!(began.elapsed() >= 4 * SECOND, "nobody told it");
        assert_ne!(mesh.activation_of(&address), Some(owner));
        assert_eq!(mesh.asks(&address), 2);
    }
}

/// A parent's cascade is silent to its child's readers, and found all the same (R43).
#[tokio::test(start_paused = true)]
async fn a_rider_of_a_child_finds_the_end_of_its_parent() {
    let (mesh, child) = mesh();
    let parent = address("prices");
    mesh.store(&parent, 1);
    mesh.activate(&parent).unwrap();
    let mut prices = mesh.ride_out(&child);
    assert_eq!(in_time(prices.try_next()).await.unwrap().unwrap().value, 1);
    let owner = mesh.activation_of(&child);
    mesh.recycle(&parent);
    mesh.store(&child, 2);
    assert_eq!(in_time(prices.try_next()).await.unwrap().unwrap().value, 2);
    assert_ne!(mesh.activation_of(&child), owner);
}
