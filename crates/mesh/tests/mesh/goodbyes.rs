//! Who is pushed to, and who is gone (R49, R50).

use crate::*;

/// R49, R50: a goodbye that the owner did not hear costs it one refused frame.
#[tokio::test(start_paused = true)]
async fn a_reader_that_is_gone_costs_one_frame() {
    let (mesh, address) = mesh();
    let (gone, mut stays) = (subscribe(&mesh, &address).await, subscribe(&mesh, &address).await);
    let fault = mesh.drop_goodbyes(&address);
    drop(gone);
    settle().await;
    assert_eq!((mesh.subscribers(&address), mesh.evictions(&address).evicted), (2, 0));

    for version in 2..5 {
        assert_eq!(mesh.write(&address, version).await, Ok(version));
        let counts = mesh.evictions(&address);
        assert_eq!((mesh.subscribers(&address), counts.evicted, counts.verdicts), (1, 1, 1));
    }
    assert_eq!(mesh.streams(&address), [stays.stream_id()]);
    for version in 1..5 {
        assert_eq!(value(&mut stays).await, version);
    }
    drop(fault);
}

/// R49, R50: a reader of whom nothing is known may come back, and is not dropped, however often it is
/// pushed to.
#[tokio::test(start_paused = true)]
async fn a_reader_that_may_come_back_is_not_dropped() {
    let (mesh, address) = mesh();
    mesh.set_idle_release(Duration::MAX);
    let rolled = subscribe(&mesh, &address).await;
    let stream = rolled.stream_id();
    let faults = (mesh.drop_goodbyes(&address), mesh.forget_releases(&address));
    drop(rolled);
    for at in 0..100 {
        mesh.write(&address, at).await.unwrap();
    }
    let counts = mesh.evictions(&address);
    assert_eq!((counts.promises, counts.unserved, counts.evicted), (100, 100, 0));
    assert_eq!(mesh.streams(&address), [stream]);

    // It does: one registration, from its state on.
    drop(faults);
    let mut back = mesh.subscribe(&address, stream).await.unwrap().into_stream();
    mesh.write(&address, 1000).await.unwrap();
    assert_eq!((value(&mut back).await, value(&mut back).await), (99, 1000));
    assert_eq!((mesh.subscribers(&address), mesh.evictions(&address).promises), (1, 100));
}

/// R49: what the route knows of a reader that is gone it forgets, to the instant, and then promises; only
/// its silence ends it.
#[tokio::test(start_paused = true)]
async fn a_release_is_remembered_for_ten_minutes() {
    for (idle, evicted) in [(599, 1), (600, 0)] {
        let (mesh, address) = mesh();
        mesh.set_idle_release(1200 * SECOND);
        let gone = subscribe(&mesh, &address).await;
        let fault = mesh.drop_goodbyes(&address);
        drop(gone);
        advance(idle * SECOND).await;
        mesh.write(&address, 2).await.unwrap();
        let counts = mesh.evictions(&address);
        assert_eq!((counts.evicted, counts.promises), (evicted, 1 - evicted));

        advance(600 * SECOND + SECOND).await;
        settle().await;
        assert_eq!(mesh.subscribers(&address), 0);
        drop(fault);
    }
}

/// R49: the goodbye of a predecessor that comes late leaves its successor alone, at both ends.
#[tokio::test(start_paused = true)]
async fn a_late_goodbye_hits_no_successor() {
    let (mesh, address) = mesh();
    let first = subscribe(&mesh, &address).await;
    let mut second = mesh.subscribe(&address, first.stream_id()).await.unwrap().into_stream();
    drop(first);
    mesh.write(&address, 2).await.unwrap();
    assert_eq!((value(&mut second).await, value(&mut second).await), (1, 2));
    assert_eq!((mesh.subscribers(&address), mesh.evictions(&address).evicted), (1, 0));
}

/// A goodbye that the route refuses is said when the route leads there again: by no push, and no timer.
#[tokio::test(start_paused = true)]
async fn a_goodbye_is_said_when_the_route_is_back() {
    type Fault = fn(&Mesh<u64>, &Address) -> FaultGuard<u64>;
    let faults: [Fault; 2] =
        [|mesh, address| mesh.refuse_route(address), |mesh, _| mesh.refuse_host("host-1")];
    for begin in faults {
        let (mesh, address) = crate::mesh();
        let (gone, stays) = (subscribe(&mesh, &address).await, subscribe(&mesh, &address).await);
        let (first, second) = (begin(&mesh, &address), begin(&mesh, &address));
        drop(gone);
        settle().await;
        assert_eq!(mesh.subscribers(&address), 2);
        drop(first);
        settle().await;
        assert_eq!(mesh.subscribers(&address), 2, "refused still");
        drop(second);
        settle().await;
        assert_eq!(mesh.streams(&address), [stays.stream_id()]);
    }
}

/// It names the ask: one that is said late ends no registration that came after it.
#[tokio::test(start_paused = true)]
async fn a_goodbye_that_waited_ends_its_own_registration_alone() {
    let (mesh, address) = mesh();
    let gone = subscribe(&mesh, &address).await;
    let stream = gone.stream_id();
    let fault = mesh.refuse_route(&address);
    drop(gone);
    drop(fault);
    settle().await;
    assert_eq!(mesh.subscribers(&address), 0);

    let gone = mesh.subscribe(&address, stream).await.unwrap().into_stream();
    let lost = mesh.drop_goodbyes(&address);
    drop(gone);
    drop(lost);
    let back = mesh.subscribe(&address, stream).await.unwrap().into_stream();
    assert_eq!(mesh.streams(&address), [back.stream_id()]);
    mesh.write(&address, 2).await.unwrap();
    assert_eq!(mesh.evictions(&address).evicted, 0);
}

/// R49, R50: one identity at two addresses is two registrations; the goodbye of one evicts nobody of the
/// other.
#[tokio::test(start_paused = true)]
async fn a_goodbye_at_one_address_is_none_at_another() {
    let (mesh, here) = mesh();
    let there = address("prices/usd");
    mesh.store(&there, 7);
    let stream = StreamId::mint();
    let mut stays = mesh.subscribe(&here, stream).await.unwrap().into_stream();
    let goes = mesh.subscribe(&there, stream).await.unwrap().into_stream();
    drop(goes);
    mesh.write(&here, 2).await.unwrap();
    assert_eq!((value(&mut stays).await, value(&mut stays).await), (1, 2));
    assert_eq!((mesh.subscribers(&here), mesh.subscribers(&there)), (1, 0));
    assert_eq!(mesh.evictions(&here).verdicts, 0);
}

/// What is said again can be lost again; then the first frame finds out.
#[tokio::test(start_paused = true)]
async fn a_goodbye_that_waited_can_be_lost() {
    let (mesh, address) = mesh();
    let gone = subscribe(&mesh, &address).await;
    let (route, lost) = (mesh.refuse_route(&address), mesh.drop_goodbyes(&address));
    drop(gone);
    drop(lost);
    drop(route);
    settle().await;
    assert_eq!(mesh.subscribers(&address), 1, "lost when it was said");

    let gone = subscribe(&mesh, &address).await;
    let route = mesh.refuse_route(&address);
    drop(gone);
    let lost = mesh.drop_goodbyes(&address);
    drop(route);
    settle().await;
    assert_eq!(mesh.subscribers(&address), 2, "lost when it was said again");
    drop(lost);
    mesh.write(&address, 2).await.unwrap();
    assert_eq!((mesh.subscribers(&address), mesh.evictions(&address).evicted), (0, 2));
}

/// A host that leaves, is killed or is not reached: the goodbye is heard there or never, and the owner's
/// successor knows nothing of the stream.
#[tokio::test(start_paused = true)]
async fn a_goodbye_to_a_host_that_goes_hits_no_successor() {
    type Fault = fn(&Mesh<u64>) -> FaultGuard<u64>;
    let faults: [Fault; 4] = [
        |mesh| mesh.linger_host("host-1"),
        |mesh| mesh.drain_host("host-1"),
        |mesh| mesh.kill_host("host-1"),
        |mesh| mesh.refuse_host("host-1"),
    ];
    for begin in faults {
        for is_late in [false, true] {
            let (mesh, address) = crate::mesh();
            mesh.add_host("host-2");
            let (gone, rolled) =
                (subscribe(&mesh, &address).await, subscribe(&mesh, &address).await);
            let unreached = is_late.then(|| mesh.refuse_route(&address));
            let fault = begin(&mesh);
            let stream = rolled.stream_id();
            drop(gone);
            advance(10 * SECOND).await;
            drop((fault, unreached));
            advance(10 * SECOND).await;
            settle().await;

            let mut rolled =
                (mesh.subscribe(&address, stream).await.unwrap().into_stream(), rolled);
            mesh.write(&address, 2).await.unwrap();
            assert_eq!((value(&mut rolled.0).await, value(&mut rolled.0).await), (1, 2));
            assert_eq!(
                (mesh.streams(&address), mesh.evictions(&address).verdicts),
                (vec![stream], 0)
            );
        }
    }
}

/// An owner that is recycled while answers are held refuses them, and those who held them said no goodbye.
#[tokio::test(start_paused = true)]
async fn a_held_ask_that_is_refused_is_no_goodbye() {
    let (mesh, address) = mesh();
    let hold = mesh.hold_state(&address);
    let stream = StreamId::mint();
    let mut ask = Box::pin(mesh.subscribe(&address, stream));
    assert!((&mut ask).now_or_never().is_none());
    settle().await;
    mesh.recycle(&address).expect("it loads");
    assert!(in_time(ask).await.is_err());
    drop(hold);
    advance(5 * SECOND).await;
    settle().await;

    let mut back = mesh.subscribe(&address, stream).await.unwrap().into_stream();
    mesh.write(&address, 2).await.unwrap();
    assert_eq!((value(&mut back).await, value(&mut back).await), (1, 2));
    assert_eq!(mesh.evictions(&address).verdicts, 0);
}
