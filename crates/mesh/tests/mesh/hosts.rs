//! Hosts that stop, linger, are cut off or killed, alone and all at once (R45, R46, R58, R59).

use rideout_mesh::FaultGuard;

use crate::*;

pub(crate) const SENDING: &str = "its host is stopping";

/// A mesh with `hosts` hosts, and an owner of `prices/eur` on the first.
pub(crate) fn hosted(hosts: usize) -> (Mesh<u64>, Address, Activation) {
    let (mesh, address) = mesh();
    (2..=hosts).for_each(|number| mesh.add_host(&format!("host-{number}")));
    let owner = mesh.activate(&address).unwrap();
    assert_eq!(mesh.host_of(&address).as_deref(), Some("host-1"));
    (mesh, address, owner)
}

/// The owner refuses, since its host leaves.
pub(crate) async fn leaves(mesh: &Mesh<u64>, address: &Address, owner: &Activation) {
    let refusal = refused(mesh, address).await;
    is_by_owner(&refusal, address, owner);
    assert!(refusal.message.contains(SENDING), "{refusal}");
    assert!(refusal.message.ends_with("Rejecting now."), "{refusal}");
}

#[tokio::test(start_paused = true)]
async fn a_drained_host_tells_its_readers_and_hands_off_without_an_ask() {
    let (mesh, address, owner) = hosted(2);
    let mut prices = subscribe(&mesh, &address).await;
    let (mut news, mut stranger) =
        (mesh.news(&address, prices.stream_id()), mesh.news(&address, StreamId::mint()));
    assert_eq!(value(&mut prices).await, 1);

    let fault = mesh.drain_host("host-1");
    assert!(fault.is_in_force());
    assert_eq!(told(&mut news), [News::Ended(Some(owner.clone()))]);
    assert_eq!(told(&mut stranger), []);
    leaves(&mesh, &address, &owner).await;
    is_by_owner(&mesh.write(&address, 2).await.unwrap_err(), &address, &owner);
    is_by_owner(&mesh.read(&address).await.unwrap_err(), &address, &owner);

    let asks = mesh.asks(&address);
    torn_down(&mesh, &owner).await;
    let successor = mesh.activation_of(&address).expect("handed off");
    assert_ne!(successor, owner);
    assert_eq!(mesh.host_of(&address).as_deref(), Some("host-2"));
    settle().await;
    // It was told once: the end of one that leaves is not announced a second time.
    assert_eq!(told(&mut news), [News::Arrived(successor.clone())]);
    assert_eq!((told(&mut stranger), mesh.asks(&address)), (vec![News::Arrived(successor)], asks));
    assert!(is_silent(&mut prices));

    drop(fault);
    settle().await;
    assert_eq!(mesh.host_of(&address).as_deref(), Some("host-2"));
}

/// Asks, in the very wake-up of the announcement.
struct Asks {
    mesh: Mesh<u64>,
    address: Address,
    other: Address,
    heard: OnceLock<(Refusal, Option<String>)>,
}

impl Wake for Asks {
    fn wake(self: Arc<Self>) {
        let ask = self.mesh.subscribe(&self.address, StreamId::mint()).now_or_never();
        let refusal = ask.expect("refused at the door").unwrap_err();
        let placed = self.mesh.activate(&self.other).ok();
        let host = placed.and_then(|_| self.mesh.host_of(&self.other));
        _ = self.heard.set((refusal, host));
    }
}

/// R46: the drain set and the refusals first, then the announcements.
#[tokio::test(start_paused = true)]
async fn who_hears_that_a_host_stops_finds_it_stopping() {
    for lingers in [false, true] {
        let (mesh, address, owner) = hosted(2);
        let other = self::address("rates/usd");
        mesh.store(&other, 7);
        let prices = subscribe(&mesh, &address).await;
        let mut news = mesh.news(&address, prices.stream_id());
        let heard = OnceLock::new();
        let asks = Arc::new(Asks { mesh: mesh.clone(), address: address.clone(), other, heard });
        let waker = Waker::from(Arc::clone(&asks));
        assert!(news.poll_next_unpin(&mut Context::from_waker(&waker)).is_pending());

        let fault = if lingers { mesh.linger_host("host-1") } else { mesh.drain_host("host-1") };
        let (refusal, host) = asks.heard.get().expect("it was announced");
        is_by_owner(refusal, &address, &owner);
        assert!(refusal.message.contains(SENDING), "{refusal}");
        assert_eq!(host.as_deref(), Some("host-2"), "nothing starts on what stops");
        assert!(fault.is_in_force());
    }
}

/// R46: those that the owner serves were told; who was on the way joins them no more.
#[tokio::test(start_paused = true)]
async fn an_ask_in_the_mailbox_of_one_that_leaves_is_refused() {
    let (mesh, address, owner) = hosted(1);
    settle().await;
    let mut ask = mesh.subscribe(&address, StreamId::mint()).boxed();
    let mut write = mesh.write(&address, 2).boxed();
    assert!((&mut ask).now_or_never().is_none() && (&mut write).now_or_never().is_none());
    let fault = mesh.drain_host("host-1");
    let refusal = ask.await.unwrap_err();
    is_by_owner(&refusal, &address, &owner);
    assert!(refusal.message.contains(SENDING), "{refusal}");
    assert_eq!(write.await, Ok(2)); // it was accepted, and can be finished
    assert_eq!(mesh.subscribers(&address), 0);
    drop(fault);
}

/// R45: refused as the owner, unconditionally, and handed off by nobody.
#[tokio::test(start_paused = true)]
async fn a_host_that_lingers_refuses_as_its_owners_until_it_is_let_go() {
    let (mesh, address, owner) = hosted(2);
    let mut prices = subscribe(&mesh, &address).await;
    let mut news = mesh.news(&address, prices.stream_id());
    assert_eq!(value(&mut prices).await, 1);
    let fault = mesh.linger_host("host-1");
    assert!(fault.is_in_force());
    assert_eq!(told(&mut news), [News::Ended(Some(owner.clone()))]);
    for _ in 0..3 {
        leaves(&mesh, &address, &owner).await;
        advance(600 * SECOND).await;
        settle().await;
    }
    assert_eq!(mesh.activation_of(&address).as_ref(), Some(&owner));
    assert!(mesh.teardown_of(&owner).unwrap().now_or_never().is_none());
    mesh.add_host("host-3"); // takes nothing either
    settle().await;
    leaves(&mesh, &address, &owner).await;

    drop(fault);
    torn_down(&mesh, &owner).await;
    settle().await;
    assert!(matches!(told(&mut news)[..], [News::Arrived(_)]));
    assert!(mesh.subscribe(&address, StreamId::mint()).await.is_ok());
}

/// R45: an address without an activation has one token a host, in all its refusals.
#[tokio::test(start_paused = true)]
async fn what_a_lingering_host_does_not_have_it_refuses_under_one_tag() {
    async fn tag(mesh: &Mesh<u64>, address: &Address) -> Activation {
        let refusal = refused(mesh, address).await;
        let tag = refusal.activation.clone().expect("tagged");
        is_by_owner(&refusal, address, &tag);
        assert!(refusal.message.contains(SENDING), "{refusal}");
        tag
    }

    let (mesh, first) = mesh();
    let (second, elsewhere) = (address("rates/usd"), address("prices/eur~host-7"));
    mesh.store(&second, 2);
    let fault = mesh.linger_host("host-1");
    let tags = [tag(&mesh, &first).await, tag(&mesh, &second).await];
    assert_ne!(tags[0], tags[1]);
    for _ in 0..3 {
        advance(60 * SECOND).await;
        assert_eq!([tag(&mesh, &first).await, tag(&mesh, &second).await], tags);
        assert_eq!(tag(&mesh, &elsewhere).await, tags[0]);
        for refusal in [
            mesh.write(&first, 2).await.unwrap_err(),
            mesh.read(&first).await.unwrap_err(),
            mesh.activate(&first).unwrap_err(),
        ] {
            is_by_owner(&refusal, &first, &tags[0]);
        }
    }
    assert_eq!(mesh.activation_of(&first), None);
    assert_eq!(refused(&mesh, &address("rates/chf")).await.kind, Some(Kind::NotFound));

    // Another process of that name is another one.
    drop(fault);
    let fault = mesh.linger_host("host-1");
    assert_ne!(tag(&mesh, &first).await, tags[0]);

    // What cannot be reached, or is gone, says nothing in anybody's name.
    let refuses = mesh.refuse_host("host-1");
    is_by_route(&refused(&mesh, &first).await, &first, "Mesh");
    drop(refuses);
    drop(tag(&mesh, &first).await);
    let killed = mesh.kill_host("host-1");
    is_by_route(&refused(&mesh, &first).await, &first, "Mesh");
    drop((killed, fault));
    assert!(mesh.subscribe(&first, StreamId::mint()).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_killed_host_says_nothing_and_comes_back_with_nothing() {
    let (mesh, address, owner) = hosted(1);
    let mut prices = subscribe(&mesh, &address).await;
    let mut news = mesh.news(&address, prices.stream_id());
    assert_eq!(value(&mut prices).await, 1);
    settle().await;
    let held = mesh.hold_state(&self::address("rates/usd"));
    mesh.store(&self::address("rates/usd"), 1);
    let ask = tokio::spawn({
        let mesh = mesh.clone();
        async move { mesh.subscribe(&self::address("rates/usd"), StreamId::mint()).await }
    });
    settle().await;

    let fault = mesh.kill_host("host-1");
    assert!(fault.is_in_force());
    // R32: whoever it had accepted is told by the route, which knows nothing of it.
    let refusal = in_time(ask).await.unwrap().unwrap_err();
    is_by_route(&refusal, &self::address("rates/usd"), "Host");
    assert_eq!(refusal.never_applied, Some(false));
    is_by_route(&refused(&mesh, &address).await, &address, "Host");
    assert!(mesh.teardown_of(&owner).is_none());
    assert_eq!((mesh.subscribers(&address), mesh.recycle(&address)), (0, None));

    drop(fault); // it starts anew, but the leases of its owners run
    for _ in 0..5 {
        is_by_route(&refused(&mesh, &address).await, &address, "Host");
        advance(SECOND).await;
    }
    let next = subscribe(&mesh, &address).await;
    assert_ne!(next.activation(), &owner);
    assert_eq!(mesh.host_of(&address).as_deref(), Some("host-1"));
    assert_eq!(told(&mut news), [News::Arrived(next.activation().clone())]);
    assert!(is_silent(&mut prices));
    drop(held);
}

type Fault = fn(&Mesh<u64>) -> FaultGuard<u64>;

/// All orders of four.
fn orders() -> Vec<[usize; 4]> {
    let mut orders = Vec::new();
    for code in 0..256_usize {
        let order = [code & 3, code >> 2 & 3, code >> 4 & 3, code >> 6 & 3];
        if (0..4).all(|it| order.contains(&it)) {
            orders.push(order);
        }
    }
    assert_eq!(orders.len(), 24);
    orders
}

/// R59: as long as one of them holds, the host is away; when the last is dropped it serves.
#[tokio::test(start_paused = true)]
async fn guards_of_all_kinds_on_one_host_come_and_go_in_any_order() {
    let kinds: [Fault; 4] = [
        |mesh| mesh.refuse_host("host-1"),
        |mesh| mesh.linger_host("host-1"),
        |mesh| mesh.drain_host("host-1"),
        |mesh| mesh.kill_host("host-1"),
    ];
    for begun in orders() {
        for ended in orders() {
            let (mesh, address, owner) = hosted(1);
            let fresh = self::address("rates/usd");
            mesh.store(&fresh, 7);
            settle().await;
            let mut faults: [Option<FaultGuard<u64>>; 4] = [const { None }; 4];
            for kind in begun {
                faults[kind] = Some(kinds[kind](&mesh));
            }
            for kind in ended {
                for fault in faults.iter().flatten() {
                    assert!(fault.is_in_force(), "{begun:?} {ended:?} before {kind}");
                }
                for asked in [&address, &fresh] {
                    let refusal = refused(&mesh, asked).await;
                    assert!(refusal.promise(asked).is_some(), "{refusal}");
                }
                assert_eq!(mesh.activation_of(&fresh), None, "{begun:?} {ended:?}");
                faults[kind] = None;
                settle().await;
            }
            let mut prices = subscribe(&mesh, &fresh).await;
            assert_eq!(value(&mut prices).await, 7);
            advance(60 * SECOND).await;
            settle().await;
            let mut prices = subscribe(&mesh, &address).await;
            assert_eq!(value(&mut prices).await, 1);
            assert_ne!(prices.activation(), &owner);
            assert!(!format!("{mesh:?}").contains("Draining"));
        }
    }
}

/// R59: a host that is added under a guard is away from its first moment, and its guard's end harms
/// nobody.
#[tokio::test(start_paused = true)]
async fn a_host_that_is_added_under_a_guard_is_away() {
    let kinds: [Fault; 4] = [
        |mesh| mesh.refuse_host("host-2"),
        |mesh| mesh.linger_host("host-2"),
        |mesh| mesh.drain_host("host-2"),
        |mesh| mesh.kill_host("host-2"),
    ];
    for kind in kinds {
        let (mesh, address) = mesh();
        let cut_off = mesh.refuse_host("host-1");
        let fault = kind(&mesh);
        assert!(!fault.is_in_force());
        mesh.add_host("host-2");
        assert!(fault.is_in_force());
        assert!(mesh.activate(&address).is_err());
        drop(fault);
        let owner = mesh.activate(&address).unwrap();
        assert_eq!(mesh.host_of(&address).as_deref(), Some("host-2"));
        drop((cut_off, kind(&Mesh::new())));
        drop(mesh.kill_host("host-9"));
        settle().await;
        assert!(mesh.subscribe(&address, StreamId::mint()).await.is_ok());
        assert_eq!(mesh.activation_of(&address), Some(owner));
    }
}

/// R59: the fault of a door is one of whoever is there, from its first request on.
#[tokio::test(start_paused = true)]
async fn a_door_refuses_the_ask_that_starts_its_owner() {
    let (mesh, address) = mesh();
    let fault = mesh.refuse_door(&address);
    let refusal = refused(&mesh, &address).await;
    let owner = mesh.activation_of(&address).expect("the ask has started it");
    is_by_owner(&refusal, &address, &owner);
    is_by_owner(&mesh.write(&address, 2).await.unwrap_err(), &address, &owner);

    mesh.recycle(&address);
    torn_down(&mesh, &owner).await;
    let refusal = refused(&mesh, &address).await;
    let successor = mesh.activation_of(&address).expect("the ask has started it");
    assert_ne!(successor, owner);
    is_by_owner(&refusal, &address, &successor);
    drop(fault);
    assert_eq!(subscribe(&mesh, &address).await.activation(), &successor);
}

/// R46: at the last outbound is closed: what is finished after that is answered, and sent to nobody; and
/// nobody is told twice.
#[tokio::test(start_paused = true)]
async fn a_host_that_stops_sends_nothing_after_its_announcements() {
    for stops in [false, true] {
        let (mesh, address, owner) = hosted(1);
        drop(mesh.refuse_host("host-1")); // which leaves it as it was
        let mut prices = subscribe(&mesh, &address).await;
        let mut news = mesh.news(&address, prices.stream_id());
        assert_eq!(value(&mut prices).await, 1);
        let store = mesh.hold_store(&address);
        let mut write = mesh.write(&address, 2).boxed();
        assert!((&mut write).now_or_never().is_none());
        settle().await;
        let faults = stops.then(|| {
            [mesh.linger_host("host-1"), mesh.drain_host("host-1"), mesh.linger_host("host-1")]
        });
        drop(store);
        assert_eq!(in_time(write).await, Ok(2));
        if stops {
            assert_eq!(told(&mut news), [News::Ended(Some(owner))]);
            assert!(is_silent(&mut prices));
        } else {
            assert_eq!((told(&mut news), value(&mut prices).await), (vec![], 2));
        }
        drop(faults);
    }
}

#[tokio::test(start_paused = true)]
async fn one_that_leaves_says_how_far_it_is() {
    for (is_held, level) in [(true, "RunLevel=Starting,"), (false, "RunLevel=Started,")] {
        let (mesh, address) = mesh();
        let hold = is_held.then(|| mesh.hold_state(&address));
        mesh.activate(&address).unwrap();
        settle().await;
        let fault = mesh.linger_host("host-1");
        let refusal = refused(&mesh, &address).await;
        assert!(refusal.message.contains(level), "{refusal}");
        drop((hold, fault));
    }
}
