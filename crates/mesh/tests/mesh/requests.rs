//! Requests that wait behind an owner's gates, and how each of them ends (R38, R41).

use std::pin::Pin;

use futures::TryFutureExt;
use tracing::Level;

use crate::{heard::Heard, *};

type Answer = Pin<Box<dyn Future<Output = Result<u64, Refusal>> + Send>>;

/// A request under way, in the mailbox of its owner.
fn sent(request: impl Future<Output = Result<u64, Refusal>> + Send + 'static) -> Answer {
    let mut request = request.boxed();
    assert!((&mut request).now_or_never().is_none());
    request
}

fn write(mesh: &Mesh<u64>, address: &Address, value: u64) -> Answer {
    let (mesh, address) = (mesh.clone(), address.clone());
    sent(async move { mesh.write(&address, value).await })
}

fn patch(mesh: &Mesh<u64>, address: &Address, by: u64) -> Answer {
    let (mesh, address) = (mesh.clone(), address.clone());
    sent(async move { mesh.patch(&address, move |it| *it = *it * 10 + by).await })
}

fn read(mesh: &Mesh<u64>, address: &Address) -> Answer {
    let (mesh, address) = (mesh.clone(), address.clone());
    sent(async move { mesh.read(&address).map_ok(|state| state.value).await })
}

async fn waits(answers: impl IntoIterator<Item = &mut Answer>) {
    settle().await;
    for answer in answers {
        assert!(answer.now_or_never().is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn writes_wait_in_order_and_reads_pass() {
    let (mesh, address) = mesh();
    let mut prices = subscribe(&mesh, &address).await;
    let fault = mesh.hold_store(&address);
    assert!(fault.is_in_force());
    let mut parked = [
        write(&mesh, &address, 2),
        patch(&mesh, &address, 3),
        patch(&mesh, &address, 4),
        write(&mesh, &address, 5),
        patch(&mesh, &address, 6),
    ];
    waits(&mut parked).await;
    assert_eq!(mesh.read(&address).await.unwrap().value, 1);
    assert_eq!(value(&mut subscribe(&mesh, &address).await).await, 1);
    assert_eq!(value(&mut prices).await, 1);
    advance(29 * SECOND).await;
    waits(&mut parked).await;
    assert!(is_silent(&mut prices));

    let mut last = write(&mesh, &address, 7);
    drop(fault);
    for (at, answer) in parked.into_iter().enumerate() {
        assert_eq!(answer.await, Ok(2 + at as u64));
    }
    assert_eq!((&mut last).await, Ok(7));
    for expected in [2, 23, 234, 5, 56, 7] {
        assert_eq!(value(&mut prices).await, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn two_holders_of_a_store_hold_it_until_both_let_go() {
    let (mesh, address) = mesh();
    let (first, second) = (mesh.hold_store(&address), mesh.hold_store(&address));
    let other = self::address("rates/usd");
    mesh.store(&other, 1);
    assert_eq!(mesh.write(&other, 2).await, Ok(2));
    let mut parked = [write(&mesh, &address, 2)];
    drop(first);
    waits(&mut parked).await;
    drop(second);
    let [parked] = parked;
    assert_eq!(in_time(parked).await, Ok(2));
}

/// R41: with the gates as they were recorded, who asked for the teardown, and why.
#[tokio::test(start_paused = true)]
async fn what_is_parked_is_refused_at_the_teardown() {
    type End = fn(&Mesh<u64>, &Address) -> Option<Activation>;
    let ends: [(End, &str); 3] = [
        (|mesh, address| mesh.recycle(address), "behind gate `store`; recycle. The"),
        (
            |mesh, address| {
                drop(mesh.land(std::slice::from_ref(address)));
                mesh.activation_of(address)
            },
            "behind gate `store`; recycle: a landing. The",
        ),
        (
            |mesh, address| {
                drop(mesh.linger_host("host-1"));
                mesh.activation_of(address)
            },
            "behind gate `store`; dispose asked for by host-1: the host is stopped. The",
        ),
    ];
    for (end, told) in ends {
        let (mesh, address) = mesh();
        let _fault = mesh.hold_store(&address);
        mesh.activate(&address).unwrap();
        let mut parked = [write(&mesh, &address, 2), patch(&mesh, &address, 3)];
        waits(&mut parked).await;
        let began = Instant::now();
        let owner = end(&mesh, &address).unwrap();
        for (refusal, name) in join_all(parked).await.into_iter().zip(["Write", "Patch"]) {
            let refusal = refusal.unwrap_err();
            is_by_owner(&refusal, &address, &owner);
            assert!(refusal.message.contains(told), "{refusal}");
            assert!(refusal.message.contains(&format!("cannot finish {name}Request")), "{refusal}");
        }
        // R38: replies are waited for, 2 s at most.
        assert_eq!(began.elapsed(), 2 * SECOND);
        torn_down(&mesh, &owner).await;
        assert_eq!(mesh.read(&address).await.unwrap().value, 1);
    }
}

/// R38: an owner that was told to end serves while its replies are out.
#[tokio::test(start_paused = true)]
async fn what_is_parked_is_finished_while_its_owner_quiesces() {
    let (mesh, address) = mesh();
    let mut prices = subscribe(&mesh, &address).await;
    let mut news = mesh.news(&address, prices.stream_id());
    let fault = mesh.hold_store(&address);
    let mut parked = [write(&mesh, &address, 2)];
    waits(&mut parked).await;
    let began = Instant::now();
    let owner = mesh.recycle(&address).unwrap();
    advance(SECOND / 2).await;
    assert_eq!(mesh.read(&address).await.unwrap().value, 1);
    waits(&mut parked).await;
    drop(fault);
    assert_eq!(join_all(parked).await, [Ok(2)]);
    settle().await;
    is_by_owner(&refused(&mesh, &address).await, &address, &owner);
    assert_eq!((value(&mut prices).await, value(&mut prices).await), (1, 2));
    torn_down(&mesh, &owner).await;
    assert_eq!(began.elapsed(), SECOND);
    settle().await;
    assert_eq!(told(&mut news), [News::Ended(Some(owner))]);
}

/// R41: after 30 s, a verdict, and one error for the whole episode.
#[tokio::test(start_paused = true)]
async fn what_waits_too_long_fails() {
    let heard = Heard::begin();
    let (mesh, address) = mesh();
    let owner = mesh.activate(&address).unwrap();
    let fault = mesh.hold_store(&address);
    let mut first = [write(&mesh, &address, 2)];
    settle().await;
    advance(SECOND).await;
    let mut second = [patch(&mesh, &address, 3)];
    waits(&mut second).await;
    advance(29 * SECOND - SECOND / 1000).await;
    waits(&mut first).await;
    advance(SECOND / 1000).await;
    settle().await;
    let [first] = first;
    let refusal = first.now_or_never().expect("after 30 s").unwrap_err();
    assert_eq!(refusal.classify(&address), Ruling::Verdict(Kind::Failed));
    assert_eq!(refusal.activation.as_ref(), Some(&owner));
    assert!(refusal.message.contains("cannot finish WriteRequest, behind gate `store`"));
    waits(&mut second).await;
    advance(SECOND).await;
    settle().await;
    let [second] = second;
    assert_eq!(second.now_or_never().expect("30 s").unwrap_err().kind, Some(Kind::Failed));
    assert_eq!(heard.all().iter().filter(|said| said.level == Level::ERROR).count(), 1);
    assert_eq!(mesh.activation_of(&address), Some(owner), "it lives");
    drop(fault);
    assert_eq!(mesh.write(&address, 9).await, Ok(2));
}

#[tokio::test(start_paused = true)]
async fn a_full_backlog_fails_what_comes() {
    let heard = Heard::begin();
    let (mesh, address) = mesh();
    mesh.activate(&address).unwrap();
    let fault = mesh.hold_store(&address);
    let mut parked: Vec<_> = (0..512).map(|at| write(&mesh, &address, 100 + at)).collect();
    waits(&mut parked).await;
    for _ in 0..3 {
        let refusal = in_time(write(&mesh, &address, 2)).await.unwrap_err();
        assert_eq!(refusal.classify(&address), Ruling::Verdict(Kind::Failed));
        assert!(refusal.message.contains("512 wait already"), "{refusal}");
    }
    assert_eq!(mesh.read(&address).await.unwrap().value, 1);
    assert_eq!(heard.all().iter().filter(|said| said.level == Level::ERROR).count(), 1);
    drop(fault);
    for (at, answer) in in_time(join_all(parked)).await.into_iter().enumerate() {
        assert_eq!(answer, Ok(2 + at as u64));
    }
    assert_eq!(mesh.write(&address, 7).await, Ok(514));
}

/// R41: without a state everything but an ask waits, and a bring-up that takes too long is a verdict (R1).
#[tokio::test(start_paused = true)]
async fn while_there_is_no_state_requests_wait() {
    let (mesh, address) = mesh();
    let fault = mesh.hold_state(&address);
    let mut parked = [read(&mesh, &address), write(&mesh, &address, 2), patch(&mesh, &address, 3)];
    waits(&mut parked).await;
    drop(fault);
    assert_eq!(join_all(parked).await, [Ok(1), Ok(2), Ok(3)]);
    assert_eq!(read(&mesh, &address).await, Ok(23));

    mesh.recycle(&address);
    torn_down(&mesh, &mesh.activation_of(&address).unwrap()).await;
    let _fault = mesh.hold_state(&address);
    let began = Instant::now();
    let parked = [read(&mesh, &address), write(&mesh, &address, 2)];
    for refusal in in_time(join_all(parked)).await {
        assert_eq!(refusal.unwrap_err().classify(&address), Ruling::Verdict(Kind::Failed));
    }
    assert_eq!(began.elapsed(), 30 * SECOND);
}

/// What stood behind a request that has expired goes at that moment, not when something else happens.
#[tokio::test(start_paused = true)]
async fn what_an_expired_request_held_up_goes_on() {
    let (mesh, address) = mesh();
    let (state, store) = (mesh.hold_state(&address), mesh.hold_store(&address));
    let mut stuck = [write(&mesh, &address, 2)];
    waits(&mut stuck).await;
    drop(store);
    settle().await;
    advance(SECOND).await;
    let mut behind = [write(&mesh, &address, 3)];
    waits(&mut behind).await;
    let store = mesh.hold_store(&address);
    drop(state);
    waits(stuck.iter_mut().chain(&mut behind)).await;

    let began = Instant::now();
    let ([stuck], [behind]) = (stuck, behind);
    assert_eq!(in_time(stuck).await.unwrap_err().kind, Some(Kind::Failed));
    assert_eq!(in_time(behind).await, Ok(2));
    assert_eq!(began.elapsed(), 29 * SECOND);
    drop(store);
}

/// A patch is the user's code: where it panics at the owner, its request alone fails.
#[tokio::test(start_paused = true)]
async fn a_patch_that_panics_fails_alone() {
    let (mesh, address) = mesh();
    let mut prices = subscribe(&mesh, &address).await;
    let fault = mesh.hold_store(&address);
    let mut before = [write(&mesh, &address, 2)];
    let panics = sent({
        let (mesh, address) = (mesh.clone(), address.clone());
        async move { mesh.patch(&address, |_| panic!("a patch that panics")).await }
    });
    let after = patch(&mesh, &address, 3);
    waits(&mut before).await;
    drop(fault);
    assert_eq!(join_all(before).await, [Ok(2)]);
    let refusal = in_time(panics).await.unwrap_err();
    assert_eq!(refusal.classify(&address), Ruling::Verdict(Kind::Failed));
    assert!(!refusal.is_never_applied(&address));
    assert_eq!(in_time(after).await, Ok(3));
    let expected = [(1, 1, 1), (2, 2, 2), (3, 3, 23)];
    for (frame, version, value) in expected {
        let item = in_time(prices.next()).await.unwrap().unwrap();
        assert_eq!((item.frame, item.version, item.value), (frame, version, value));
    }
    assert_eq!(mesh.subscribers(&address), 1);
}

/// A write that is accepted and then meets a deletion does not undo it.
#[tokio::test(start_paused = true)]
async fn a_deletion_is_not_undone_by_what_was_parked() {
    let (mesh, address) = mesh();
    let owner = mesh.activate(&address).unwrap();
    let mut changes = mesh.changes(&address);
    let fault = mesh.hold_store(&address);
    let mut parked = [write(&mesh, &address, 2), patch(&mesh, &address, 3)];
    waits(&mut parked).await;
    assert_eq!(mesh.delete(&address).as_ref(), Some(&owner));
    drop(fault);
    for refusal in in_time(join_all(parked)).await {
        let refusal = refusal.unwrap_err();
        is_by_owner(&refusal, &address, &owner);
    }
    torn_down(&mesh, &owner).await;
    let refusal = mesh.write(&address, 2).await.unwrap_err();
    assert_eq!(refusal.classify(&address), Ruling::Verdict(Kind::NotFound));
    assert_eq!(changes.next().now_or_never(), None);
}

/// R40: refused by name, and what was asked for is in no refusal.
#[tokio::test(start_paused = true)]
async fn a_refusal_names_the_request_by_its_type() {
    let (mesh, address) = mesh();
    let owner = mesh.activate(&address).unwrap();
    mesh.recycle(&address);
    let refusals = [
        ("SubscribeRequest", refused(&mesh, &address).await),
        ("ReadRequest", mesh.read(&address).await.unwrap_err()),
        ("WriteRequest", mesh.write(&address, 777).await.unwrap_err()),
        ("PatchRequest", mesh.patch(&address, |_| {}).await.unwrap_err()),
    ];
    for (name, refusal) in refusals {
        is_by_owner(&refusal, &address, &owner);
        assert!(refusal.message.contains(&format!("cannot process {name};")), "{refusal}");
    }
}
