//! Faults under guards, and owners that are killed or wedged.

use crate::*;

/// R58: nobody refuses for the killed, and its entry goes when its lease ends.
#[tokio::test(start_paused = true)]
async fn a_killed_owner_says_nothing_and_the_route_refuses_until_its_lease_ends() {
    let (mesh, address) = mesh();
    mesh.set_lease(4 * SECOND);
    let mut prices = subscribe(&mesh, &address).await;
    let mut news = mesh.news(&address, prices.stream_id());
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
    let mut news = mesh.news(&address, prices.stream_id());
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
    mesh.set_watchdog(Duration::MAX);
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
    let mut news = mesh.news(&address, StreamId::mint());
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
    assert_eq!(format!("{mesh:?}").matches("host-1").count(), 1);
    drop(subscribe(&mesh, &address).await);
    assert_eq!(mesh.host_of(&address).as_deref(), Some("host-2"));

    drop(fault);
    let second = mesh.recycle(&address).unwrap();
    torn_down(&mesh, &second).await;
    drop(subscribe(&mesh, &address).await);
    assert_eq!(mesh.host_of(&address).as_deref(), Some("host-1"));
}

/// R59: a door that refuses does so whoever is behind it, one that this very ask started too.
#[tokio::test(start_paused = true)]
async fn a_refusing_door_refuses_the_ask_that_starts_its_owner() {
    let (mesh, address) = mesh();
    let fault = mesh.refuse_door(&address);
    let refusal = refused(&mesh, &address).await;
    let started = mesh.activation_of(&address).expect("it was started");
    is_by_owner(&refusal, &address, &started);
    assert_eq!(mesh.subscribers(&address), 0);

    drop(fault);
    let prices = subscribe(&mesh, &address).await;
    assert_eq!(prices.activation(), &started);
}
