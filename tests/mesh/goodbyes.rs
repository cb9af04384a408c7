//! Who is pushed to, and who is gone (R49, R50, R51).

use crate::*;

/// R49, R50: a goodbye that the owner did not hear costs it one refused frame.
#[tokio::test(start_paused = true)]
async fn a_reader_that_is_gone_costs_one_frame() {
    let (mesh, address) = mesh();
    let (gone, mut stays) = (subscribe(&mesh, &address).await, subscribe(&mesh, &address).await);
    let fault = mesh.drop_goodbyes(&address);
    drop(gone);
    assert_eq!((mesh.subscribers(&address), mesh.evictions(&address).evicted), (2, 0));

    for version in 2..5 {
        assert_eq!(mesh.write(&address, version).await, Ok(version));
        let counts = mesh.evictions(&address);
        assert_eq!((mesh.subscribers(&address), counts.evicted, counts.verdicts), (1, 1, 1));
    }
    assert_eq!(mesh.streams(&address), [stays.stream()]);
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
    let stream = rolled.stream();
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

/// R49: the goodbye of a predecessor that comes late leaves its successor alone, at both ends.
#[tokio::test(start_paused = true)]
async fn a_late_goodbye_hits_no_successor() {
    let (mesh, address) = mesh();
    let first = subscribe(&mesh, &address).await;
    let mut second = mesh.subscribe(&address, first.stream()).await.unwrap().into_stream();
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
        assert_eq!(mesh.subscribers(&address), 2);
        drop(first);
        assert_eq!(mesh.subscribers(&address), 2, "refused still");
        drop(second);
        assert_eq!(mesh.streams(&address), [stays.stream()]);
    }
}

/// It names the ask: one that is said late ends no registration that came after it.
#[tokio::test(start_paused = true)]
async fn a_goodbye_that_waited_ends_its_own_registration_alone() {
    let (mesh, address) = mesh();
    let gone = subscribe(&mesh, &address).await;
    let stream = gone.stream();
    let fault = mesh.refuse_route(&address);
    drop(gone);
    drop(fault);
    assert_eq!(mesh.subscribers(&address), 0);

    let gone = mesh.subscribe(&address, stream).await.unwrap().into_stream();
    let lost = mesh.drop_goodbyes(&address);
    drop(gone);
    drop(lost);
    let back = mesh.subscribe(&address, stream).await.unwrap().into_stream();
    assert_eq!(mesh.streams(&address), [back.stream()]);
    mesh.write(&address, 2).await.unwrap();
    assert_eq!(mesh.evictions(&address).evicted, 0);
}

/// R51: one line at once, then one a minute that sums up the rest; the refusals go on.
#[tokio::test(start_paused = true)]
async fn a_storm_is_summed_up() {
    let heard = heard::Heard::begin();
    let (mesh, address) = mesh();
    mesh.set_idle_release(Duration::MAX);
    let faults = (mesh.drop_goodbyes(&address), mesh.forget_releases(&address));
    drop((subscribe(&mesh, &address).await, subscribe(&mesh, &address).await));
    for at in 0..600 {
        mesh.write(&address, at).await.unwrap();
        advance(SECOND).await;
    }
    drop(faults);
    let said = heard.all();
    let lines = said.iter().filter(|it| it.message().starts_with("deliveries are refused")).count();
    assert_eq!(lines, 2 * 10, "two readers, ten minutes");
    assert_eq!(mesh.evictions(&address).promises, 1200);
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

/// R51: a reader that came back was delivered to, by the state that it was answered with, so its next
/// refusal is news; and no storm goes on over it.
#[tokio::test(start_paused = true)]
async fn the_answer_to_an_ask_is_a_delivery() {
    let heard = heard::Heard::begin();
    let (mesh, address) = mesh();
    mesh.set_idle_release(Duration::MAX);
    let mut reader = subscribe(&mesh, &address).await;
    for roll in 1..=2 {
        let faults = (mesh.drop_goodbyes(&address), mesh.forget_releases(&address));
        let stream = reader.stream();
        drop(reader);
        mesh.write(&address, 2 * roll).await.unwrap();
        mesh.write(&address, 2 * roll + 1).await.unwrap();
        drop(faults);
        reader = mesh.subscribe(&address, stream).await.unwrap().into_stream();
        // Longer than what is called a storm.
        advance(31 * 60 * SECOND).await;
    }
    advance(SECOND).await;
    let said = heard.all();
    let count = |start| said.iter().filter(|it| it.message().starts_with(start)).count();
    assert_eq!((count("deliveries are refused"), count("storming")), (2, 0));
    let swallowed = said.iter().filter(|it| it.message().starts_with("deliveries are refused"));
    assert!(swallowed.into_iter().all(|it| it.field("swallowed") == "0"), "news each time");
    assert_eq!(value(&mut reader).await, 5);
}
