//! Where an address goes whose host leaves (R45): to whom, when, and what becomes of one that nobody takes.

use crate::{
    heard::Heard,
    hosts::{SENDING, hosted, leaves},
    *,
};

/// R45: of two that leave at once neither hands to the other.
#[tokio::test(start_paused = true)]
async fn two_that_leave_at_once_hand_to_a_third() {
    for (first, second) in [("host-1", "host-2"), ("host-2", "host-1")] {
        let (mesh, address, owner) = hosted(3);
        let mut news = mesh.news(&address, StreamId::mint());
        let faults = [mesh.drain_host(first), mesh.drain_host(second)];
        torn_down(&mesh, &owner).await;
        settle().await;
        assert_eq!(mesh.host_of(&address).as_deref(), Some("host-3"));
        assert_eq!(told(&mut news).len(), 1, "it moved once");
        assert!(faults.iter().all(FaultGuard::is_in_force));
    }
}

#[tokio::test(start_paused = true)]
async fn where_nobody_takes_it_an_address_is_kept_until_somebody_comes() {
    let (mesh, address, owner) = hosted(2);
    let faults = [mesh.drain_host("host-1"), mesh.drain_host("host-2")];
    for _ in 0..4 {
        advance(900 * SECOND).await;
        settle().await;
        leaves(&mesh, &address, &owner).await;
        assert_eq!(mesh.activation_of(&address).as_ref(), Some(&owner));
    }
    mesh.add_host("host-3");
    torn_down(&mesh, &owner).await;
    assert_eq!(mesh.host_of(&address).as_deref(), Some("host-3"));
    drop(faults);
}

/// A host that cannot be reached takes no address; one that can be again does, without an ask.
#[tokio::test(start_paused = true)]
async fn an_address_is_not_handed_to_a_host_that_is_not_reached() {
    let (mesh, address, owner) = hosted(2);
    let refuses = mesh.refuse_host("host-2");
    let drains = mesh.drain_host("host-1");
    for _ in 0..3 {
        settle().await;
        advance(60 * SECOND).await;
    }
    settle().await;
    leaves(&mesh, &address, &owner).await;
    assert_eq!(mesh.activation_of(&address).as_ref(), Some(&owner));

    drop(refuses);
    torn_down(&mesh, &owner).await;
    assert_eq!(mesh.host_of(&address).as_deref(), Some("host-2"));
    drop(drains);
}

#[tokio::test(start_paused = true)]
async fn an_address_that_is_kept_goes_with_its_host() {
    let (mesh, address, owner) = hosted(1);
    let drains = mesh.drain_host("host-1");
    advance(60 * SECOND).await;
    leaves(&mesh, &address, &owner).await;

    let killed = mesh.kill_host("host-1");
    is_by_route(&refused(&mesh, &address).await, &address, "Host");
    advance(5 * SECOND).await;
    is_by_route(&refused(&mesh, &address).await, &address, "Mesh");
    assert_eq!(mesh.activation_of(&address), None);

    drop(drains);
    is_by_route(&refused(&mesh, &address).await, &address, "Mesh");
    drop(killed);
    assert_ne!(subscribe(&mesh, &address).await.activation(), &owner);
}

#[tokio::test(start_paused = true)]
async fn a_host_that_is_back_takes_what_it_kept() {
    let (mesh, address, owner) = hosted(1);
    let fault = mesh.drain_host("host-1");
    settle().await;
    drop(fault);
    leaves(&mesh, &address, &owner).await; // its process before is on its way
    torn_down(&mesh, &owner).await;
    settle().await;
    assert_ne!(mesh.activation_of(&address).expect("without an ask"), owner);
    assert!(mesh.subscribe(&address, StreamId::mint()).await.is_ok());
}

/// R45: what a host has begun is finished first.
#[tokio::test(start_paused = true)]
async fn an_owner_moves_once_it_is_idle() {
    let (mesh, address, owner) = hosted(2);
    let store = mesh.hold_store(&address);
    let write = tokio::spawn({
        let (mesh, address) = (mesh.clone(), address.clone());
        async move { mesh.write(&address, 2).await }
    });
    settle().await;
    let fault = mesh.drain_host("host-1");
    advance(20 * SECOND).await;
    settle().await;
    leaves(&mesh, &address, &owner).await;
    assert!(!write.is_finished());

    drop(store);
    assert_eq!(write.await.unwrap(), Ok(2));
    torn_down(&mesh, &owner).await;
    assert_eq!(mesh.host_of(&address).as_deref(), Some("host-2"));
    assert_eq!(value(&mut subscribe(&mesh, &address).await).await, 2);
    drop(fault);
}

/// A rider of a drained host is live again on the next one, told by nobody but the host.
#[tokio::test(start_paused = true)]
async fn a_rider_moves_with_its_owner() {
    for hosts in [1, 2] {
        let (mesh, address, owner) = hosted(hosts);
        let mut prices = mesh.ride_out(&address);
        assert_eq!(in_time(prices.try_next()).await.unwrap().unwrap().value, 1);
        let fault = mesh.drain_host("host-1");
        assert!(timeout(SECOND / 2, prices.try_next()).await.is_err());
        mesh.store(&address, 2);
        drop(fault);
        assert_eq!(in_time(prices.try_next()).await.unwrap().unwrap().value, 2);
        assert_ne!(mesh.activation_of(&address), Some(owner));
        assert_eq!(mesh.subscribers(&address), 1);
    }
}

/// R45: as long as routes lead to an owner that was handed off, it refuses under its own tag.
#[tokio::test(start_paused = true)]
async fn a_route_held_at_one_that_moved_meets_its_tag() {
    let (mesh, address, owner) = hosted(2);
    let route = mesh.hold_route(&address).unwrap();
    assert!(!route.is_in_force());
    let fault = mesh.drain_host("host-1");
    torn_down(&mesh, &owner).await;
    assert!(route.is_in_force());
    assert_eq!(mesh.host_of(&address).as_deref(), Some("host-2"));
    for _ in 0..2 {
        leaves(&mesh, &address, &owner).await;
        advance(60 * SECOND).await;
    }
    drop(route);
    assert!(mesh.subscribe(&address, StreamId::mint()).await.is_ok());
    drop(fault);
}

/// An owner that is ending already when its host stops goes as it was told first, and moves all the same.
#[tokio::test(start_paused = true)]
async fn an_owner_that_ends_when_its_host_stops_moves_too() {
    let (mesh, address, owner) = hosted(2);
    let prices = subscribe(&mesh, &address).await;
    let mut news = mesh.news(&address, prices.stream_id());
    mesh.recycle(&address);
    settle().await;
    let fault = mesh.drain_host("host-1");
    let refusal = refused(&mesh, &address).await;
    is_by_owner(&refusal, &address, &owner);
    assert!(refusal.message.contains("recycle") && refusal.message.contains(SENDING), "{refusal}");
    torn_down(&mesh, &owner).await;
    settle().await;
    assert_eq!(mesh.host_of(&address).as_deref(), Some("host-2"));
    let told = told(&mut news);
    assert_eq!(told.iter().filter(|news| **news == News::Ended(Some(owner.clone()))).count(), 1);

    // What is deleted does not move: nothing of it is left.
    let gone = mesh.activation_of(&address).unwrap();
    let second = mesh.drain_host("host-2");
    mesh.delete(&address);
    torn_down(&mesh, &gone).await;
    assert_eq!(mesh.activation_of(&address), None);
    drop((fault, second));
}

/// A host that is back is nobody's last resort: it takes what others hand off.
#[tokio::test(start_paused = true)]
async fn a_host_that_is_back_takes_what_another_hands_off() {
    for kind in [Mesh::drain_host, Mesh::linger_host, Mesh::kill_host, Mesh::refuse_host] {
        let (mesh, address, owner) = hosted(2);
        drop(kind(&mesh, "host-2"));
        let fault = mesh.drain_host("host-1");
        torn_down(&mesh, &owner).await;
        assert_eq!(mesh.host_of(&address).as_deref(), Some("host-2"));
        drop(fault);
    }
}

#[tokio::test(start_paused = true)]
async fn an_owner_that_is_forced_as_its_host_stops_moves_too() {
    for (teardown, is_forced) in [(SECOND, false), (Duration::MAX, true)] {
        let heard = Heard::begin();
        let (mesh, address, owner) = hosted(2);
        mesh.set_teardown(teardown);
        let fault = mesh.drain_host("host-1");
        torn_down(&mesh, &owner).await;
        settle().await;
        let is_error = |said: &heard::Said| said.level == tracing::Level::ERROR;
        assert_eq!(heard.all().iter().any(is_error), is_forced);
        assert_eq!(mesh.host_of(&address).as_deref(), Some("host-2"));
        assert_eq!(mesh.asks(&address), 0, "nobody asked for it");
        drop(fault);
    }
}
