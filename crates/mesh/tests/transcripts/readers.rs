//! What a reader did, and what became of it.

use crate::*;

/// Nudges `rider` from eight threads at once.
fn nudge_from_everywhere(nudger: &Nudger) {
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| (0..16).for_each(|_| nudger.nudge()));
        }
    });
}

#[tokio::test(start_paused = true)]
async fn eager_probes_in_a_burst() {
    // Change feed, announcement, refusal and several readers' nudges each probed an owner at once.
    // It came back under a burst of asks for one stream, and each of them cost it a registration.
    // R16: one re-ask is outstanding, and all that came meanwhile is exactly one more.
    for is_refused in [false, true] {
        let (mesh, address) = mesh();
        mesh.set_latency(20 * MS);
        mesh.set_teardown(Duration::ZERO);
        let rider = mesh.ride_out(&address);
        let nudger = rider.nudger();
        let mut rider = rider.phases();
        assert_eq!(value(ride(&mut rider).await.1), 1);
        advance(SECOND).await;
        assert_eq!((look(&mut rider), mesh.asks(&address)), (vec![], 1));

        let ended = mesh.recycle(&address).unwrap();
        torn_down(&mesh, &ended).await;
        nudge_from_everywhere(&nudger);
        let charges = look(&mut rider);
        assert_eq!(entries(&charges), once_and_then_time(&ended, 1), "the announcement");
        assert_eq!(mesh.asks(&address), 2, "one for all of them");

        let fault = is_refused.then(|| mesh.refuse_route(&address));
        nudge_from_everywhere(&nudger);
        assert_eq!((look(&mut rider), mesh.asks(&address)), (vec![], 2), "one is outstanding");
        advance(20 * MS).await;
        let mut charges = look(&mut rider); // it arrives
        settle().await;
        charges.extend(look(&mut rider));
        drop(fault);
        if is_refused {
            assert_eq!(entries(&charges), [(Axis::Time, Key::Route, 1)]);
            nudge_from_everywhere(&nudger);
            assert_eq!(
                (look(&mut rider), mesh.asks(&address)),
                (vec![], 2),
                "its rest covers them"
            );
        } else {
            assert_eq!((charges, mesh.asks(&address)), (vec![], 3), "one for all of them");
        }

        let quiet = timeout(MINUTE, async { while rider.next().await.is_some() {} });
        assert!(quiet.await.is_err(), "it has ended");
        assert_eq!((mesh.asks(&address), mesh.subscribers(&address)), (3, 1), "and nothing after");
    }
}

#[tokio::test(start_paused = true)]
async fn a_give_up_that_froze_a_reader() {
    // A reader's budget was spent, and its stream said nothing more: neither a value nor an end.
    // Nobody could tell it from a quiet owner, and nobody opened it again.
    // C21, C31, R23: the give-up, the end, one warning; and whoever opens anew is served.
    let heard = Heard::begin();
    let (mesh, address) = mesh();
    let mut frozen = mesh.ride_out(&address);
    assert_eq!(in_time(frozen.next()).await.unwrap().unwrap().value, 1);
    let owner = mesh.activation_of(&address).unwrap();
    let fault = mesh.hold_route(&address).unwrap();
    mesh.recycle(&address);

    let end = in_time(frozen.next()).await.and_then(Result::err).map(RideError::into_end);
    let Some(End::GaveUp { report, last }) = end else { panic!("no give-up: {end:?}") };
    assert_eq!((report.cause, &report.key), (Cause::Wedged, &Key::Activation(owner.clone())));
    is_by_owner(&last.expect("the last refusal"), &address, &owner);
    assert!(matches!(frozen.next().now_or_never(), Some(None)), "then the end, at once");
    assert!(frozen.is_terminated() && matches!(frozen.next().now_or_never(), Some(None)));
    let [said] = &heard.all()[..] else { panic!("one warning") };
    assert_eq!((said.level, said.field("key")), (tracing::Level::WARN, owner.as_str()));

    drop(fault);
    let asks = mesh.asks(&address);
    assert_eq!(in_time(mesh.ride_out(&address).next()).await.unwrap().unwrap().value, 1);
    assert_eq!((mesh.asks(&address), heard.all().len()), (asks + 1, 1), "nothing was remembered");
}

#[tokio::test(start_paused = true)]
async fn not_found_on_a_re_ask() {
    // An address was deleted while its reader rode out the end of its owner.
    // The router's answer was taken for one more refusal, and the reader asked until its budget ended.
    // C14, R20: the verdict ends it in that poll; its beats stop, it asks no more, and warns of nothing.
    let heard = Heard::begin();
    let (mesh, address) = mesh();
    let mut rider = mesh.ride_out(&address);
    let stream = rider.stream_id();
    assert_eq!(in_time(rider.next()).await.unwrap().unwrap().value, 1);
    advance(SECOND).await;
    assert!(rider.next().now_or_never().is_none());

    let deleted = mesh.delete(&address).unwrap();
    torn_down(&mesh, &deleted).await;
    let mut beats = mesh.news(&address, stream);
    let Some(Some(Err(error))) = rider.next().now_or_never() else {
        panic!("the poll that asks hears the verdict");
    };
    let refusal = error.verdict().expect("no give-up");
    assert_eq!(refusal.classify(&address), Ruling::Verdict(Kind::NotFound));
    assert_eq!(mesh.asks(&address), 2);
    assert!(matches!(rider.next().now_or_never(), Some(None)));

    advance(10 * MINUTE).await;
    settle().await;
    assert_eq!((mesh.asks(&address), told(&mut beats)), (2, vec![]));
    assert!(heard.all().is_empty(), "{:?}", heard.all());
    mesh.beat(&address, stream);
    assert_eq!(told(&mut beats), [News::NotServing(None)], "a beat would have been heard");
}

/// What a host may be in while others roll.
type Befalls = fn(&Mesh<u64>, &str) -> Option<FaultGuard<u64>>;

#[tokio::test(start_paused = true)]
async fn no_router_says_not_found_during_a_roll() {
    // In a roll, a router that found no host for an address said that the address was not there.
    // Readers took it for a deletion, and were gone before the next host was up.
    // R58: where something is stored, whatever the hosts are in, the answer is a promise or a value.
    const STATES: [Befalls; 5] = [
        |_, _| None,
        |mesh, host| Some(mesh.refuse_host(host)),
        |mesh, host| Some(mesh.linger_host(host)),
        |mesh, host| Some(mesh.drain_host(host)),
        |mesh, host| Some(mesh.kill_host(host)),
    ];
    let hosts = ["host-1", "host-2", "host-3"];
    let nowhere = address("prices/chf");
    for world in 0..2 * STATES.len().pow(3) {
        let (mesh, address) = mesh();
        mesh.add_host(hosts[1]);
        mesh.add_host(hosts[2]);
        if world % 2 == 0 {
            mesh.activate(&address).unwrap();
        }
        let states = [world / 2, world / 10, world / 50].map(|state| STATES[state % 5]);
        let mut faults = Vec::new();
        for (host, befalls) in hosts.into_iter().zip(states) {
            faults.extend(befalls(&mesh, host));
            is_no_verdict(&mesh, &address, world).await;
            let refusal = refused(&mesh, &nowhere).await;
            let is_absent = refusal.classify(&nowhere) == Ruling::Verdict(Kind::NotFound);
            assert!(is_absent || refusal.promise(&nowhere).is_some(), "{world}: {refusal}");
        }
        for _ in 0..4 {
            advance(2 * SECOND).await;
            settle().await;
            is_no_verdict(&mesh, &address, world).await;
        }
        while !faults.is_empty() {
            drop(faults.remove(0));
            is_no_verdict(&mesh, &address, world).await;
        }
        let rider = &mut mesh.ride_out(&address).phases();
        assert_eq!(value(ride(rider).await.1), 1, "{world}: after the roll");
        // The control: there, and there alone.
        assert_eq!(refused(&mesh, &nowhere).await.kind, Some(Kind::NotFound), "{world}");
    }
}

async fn is_no_verdict(mesh: &Mesh<u64>, address: &Address, world: usize) {
    if let Err(refusal) = mesh.subscribe(address, StreamId::mint()).await {
        assert!(refusal.promise(address).is_some(), "{world}: {refusal}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_and_then_no_event_at_all() {
    // A reader was refused, and waited to be told that its owner was back.
    // Nobody tells: the one who would have had been refused by the same teardown.
    // C20: the rider asks again by itself, with nothing but time.
    let (mesh, address) = mesh();
    let refused = mesh.activate(&address).unwrap();
    let mut news = mesh.news(&address, StreamId::mint());
    mesh.dispose(&address);
    let mut rider = deaf(&mesh, &address).build().phases();
    let (charges, item) = ride(&mut rider).await;
    assert_eq!(value(item), 1);
    let refusals = u32::try_from(charges.len()).unwrap();
    assert_eq!(entries(&charges), once_and_then_time(&refused, refusals));
    assert_eq!(arrivals(&mut news), 1, "the ask itself was the event");
}
