//! What was counted, and on whose account.

use crate::*;

#[tokio::test(start_paused = true)]
async fn four_refusals_in_eleven_milliseconds() {
    // An owner that drained refused its reader four times within 11 ms.
    // Each refusal was counted like a recycle, and the budget of three was gone before the drain was.
    // R7: one activation is charged once, its repeats are on the time axis, and the reader gets there.
    let (mesh, address) = mesh();
    mesh.set_latency(MS);
    mesh.set_teardown(50 * MS);
    let draining = mesh.activate(&address).unwrap();
    settle().await;
    mesh.recycle(&address);

    // As hasty as it was then: it joins nothing, and its pace is next to none.
    let began = Instant::now();
    let hasty = Budget::new().activations(3).pace(3 * MS);
    let mut rider = deaf(&mesh, &address).budget(hasty).build().phases();
    let mut charges = Vec::new();
    while began.elapsed() < 11 * MS {
        charges.extend(look(&mut rider));
        advance(MS).await;
        settle().await;
    }
    assert_eq!(entries(&charges), once_and_then_time(&draining, 4));
    assert!(charges.len() > 3, "a budget of three would be gone");

    let (more, item) = ride(&mut rider).await;
    charges.extend(more);
    assert_eq!(value(item), 1);
    let refusals = u32::try_from(charges.len()).unwrap();
    assert_eq!(entries(&charges), once_and_then_time(&draining, refusals));
    assert_ne!(mesh.activation_of(&address), Some(draining));

    // With a teardown to join there is nothing to repeat.
    let (asks, second) = (mesh.asks(&address), mesh.recycle(&address).unwrap());
    let mut joining = mesh.ride_out(&address).phases();
    let (charges, item) = ride(&mut joining).await;
    assert_eq!((value(item), entries(&charges)), (1, once_and_then_time(&second, 1)));
    assert_eq!(mesh.asks(&address), asks + 2);
}

#[tokio::test(start_paused = true)]
async fn three_refusals_in_a_millisecond_and_then_silence() {
    // Three activations refused a reader within 1 ms; then nothing happened for 55 s.
    // It had used up what it had to ask with: after the reactivation it made no attempt at all.
    // R18: the third is joined as the first was, so that the attempts after the reactivation are one.
    let (mesh, address) = mesh();
    mesh.set_watchdog(Duration::MAX);
    mesh.set_teardown(Duration::ZERO);
    let began = Instant::now();
    let mut rider =
        mesh.ride_out_builder(&address).budget(Budget::new().join_limit(MINUTE)).build().phases();
    let mut charges = Vec::new();
    for last in [false, false, true] {
        if last {
            mesh.set_teardown(55 * SECOND);
        }
        recycle_anew(&mesh, &address);
        charges.extend(look(&mut rider));
        if !last {
            settle().await;
        }
    }
    assert!(began.elapsed() <= MS);
    let counts: Vec<_> = entries(&charges).iter().map(|(axis, _, count)| (*axis, *count)).collect();
    assert_eq!(counts, [1, 2, 3].map(|count| (Axis::Activation, count)));
    assert_eq!(mesh.asks(&address), 3);

    let third = mesh.activation_of(&address).unwrap();
    assert!(timeout(54 * SECOND, rider.next()).await.is_err());
    assert_eq!((mesh.asks(&address), mesh.activation_of(&address)), (3, Some(third)));

    let (charges, item) = ride(&mut rider).await;
    assert_eq!((value(item), charges.len()), (1, 0));
    assert!(began.elapsed() < MINUTE, "not by the limit of the join");
    assert_eq!(mesh.asks(&address) - 3, 1, "attempts after the reactivation");
}

#[tokio::test(start_paused = true)]
async fn a_route_that_refuses_is_no_owner_that_recycles() {
    // A router refused all addresses behind it, and readers gave up on "owners recycling in a loop".
    // The owners had not moved; whoever looked for the recycler found none.
    // R4, R7: what a route says is on the route's account, and the give-up says so.
    let heard = Heard::begin();
    let (mesh, address) = mesh();
    let owner = mesh.activate(&address).unwrap();
    type Refuse = fn(&Mesh<u64>, &Address) -> FaultGuard<u64>;
    let routes: [Refuse; 2] = [Mesh::refuse_route, |mesh, _| mesh.refuse_host("host-1")];
    for refuse in routes {
        let fault = refuse(&mesh, &address);
        let (charges, end) = ride(&mut mesh.ride_out(&address).phases()).await;
        let route = (1..=16).map(|count| (Axis::Time, Key::Route, count)).collect::<Vec<_>>();
        assert_eq!(entries(&charges), route);
        let report = gave_up(end);
        assert_eq!((&report.cause, &report.key, report.count), (&Cause::Route, &Key::Route, 17));
        assert!(report.to_string().contains("no owner recycled"), "{report}");
        assert_eq!(mesh.activation_of(&address).as_ref(), Some(&owner), "nor had it");
        drop(fault);
        assert_eq!(value(ride(&mut mesh.ride_out(&address).phases()).await.1), 1);
    }
    let said = heard.all();
    assert_eq!(said.len(), 2);
    assert!(said.iter().all(|said| said.field("key") == "(route)"), "{said:?}");
}

#[tokio::test(start_paused = true)]
async fn an_owner_that_recycles_in_a_loop_is_called_that() {
    // The same line again, and then it was true: something recycled the owner as soon as it was up.
    // It was read as yesterday's false alarm.
    // R8, R23: distinct activations, and only they, are a loop.
    let heard = Heard::begin();
    let (mesh, address) = mesh();
    mesh.set_teardown(Duration::ZERO);
    let mut rider = mesh.ride_out(&address).phases();
    let (mut recycled, mut charges) = (Vec::new(), Vec::new());
    let end = loop {
        assert!(recycled.len() < 100, "it rides for ever");
        recycled.push(recycle_anew(&mesh, &address));
        match rider.next().now_or_never() {
            Some(Some(Ok(Phase::RidingOut(charge)))) => charges.push(charge),
            Some(Some(Err(error))) => break error,
            Some(other) => panic!("{other:?}"),
            None => {}
        }
        settle().await;
    };
    let report = gave_up(Err(end));
    assert_eq!(
        (report.cause, report.axis, report.count),
        (Cause::RecycleLoop, Axis::Activation, 4)
    );
    let distinct = recycled.iter().map(|tag| Key::Activation(tag.clone())).collect::<Vec<_>>();
    let charged: Vec<_> = charges.iter().filter_map(Charge::key).chain([report.key]).collect();
    assert_eq!(charged.len(), 4);
    assert!(charged.iter().all(|key| distinct.contains(key)), "{charged:?}");
    assert!(charges.iter().all(|charge| charge.axis() == Some(Axis::Activation)));
    let [said] = &heard.all()[..] else { panic!("one warning") };
    assert!(said.message().contains("recycling in a loop"), "{}", said.message());

    // R18: where no teardown can be seen, the loop is not ridden at its own speed either.
    mesh.set_latency(MS);
    let asks = mesh.asks(&address);
    let mut deaf = deaf(&mesh, &address).build().phases();
    let mut charges = Vec::new();
    for _ in 0..100 {
        recycle_anew(&mesh, &address);
        charges.extend(look(&mut deaf));
        settle().await;
        advance(MS).await;
    }
    let counts: Vec<_> = entries(&charges).iter().map(|(axis, _, count)| (*axis, *count)).collect();
    assert_eq!(counts, [1, 2].map(|count| (Axis::Activation, count)));
    assert_eq!(mesh.asks(&address) - asks, 2, "the third ask rests");
}

#[tokio::test(start_paused = true)]
async fn a_hundred_and_ten_probes_at_one_corpse() {
    // A route went on pointing at a dead activation, and its readers probed it 110 times.
    // They had joined a teardown that was over, again and again, and so had nothing to wait for.
    // R7, R8, R18: one re-ask at once, one a pace after it, 18 asks in all, and one warning.
    let heard = Heard::begin();
    let (mesh, address) = mesh();
    let corpse = mesh.activate(&address).unwrap();
    let fault = mesh.hold_route(&address).unwrap();
    mesh.recycle(&address);
    torn_down(&mesh, &corpse).await;
    assert!(fault.is_in_force());

    let began = Instant::now();
    let mut rider = mesh.ride_out(&address).phases();
    let mut asked = Vec::new();
    let end = loop {
        match in_time(rider.next()).await {
            Some(Ok(Phase::RidingOut(charge))) => asked.push((began.elapsed(), charge)),
            Some(Err(error)) => break error,
            other => panic!("{other:?}"),
        }
    };
    let paced = [0].into_iter().chain(0..16).map(|rests| 500 * MS * rests);
    assert!(asked.iter().map(|(at, _)| *at).eq(paced), "{asked:?}");
    let charges: Vec<_> = asked.into_iter().map(|(_, charge)| charge).collect();
    assert_eq!(entries(&charges), once_and_then_time(&corpse, 17));
    let report = gave_up(Err(end));
    assert_eq!((report.cause, report.key), (Cause::Wedged, Key::Activation(corpse)));
    assert_eq!((mesh.asks(&address), report.asks), (18, 18));
    assert!(in_time(rider.next()).await.is_none());
    advance(MINUTE).await;
    settle().await;
    assert_eq!((mesh.asks(&address), heard.all().len()), (18, 1));

    drop(fault);
    assert_eq!(value(ride(&mut mesh.ride_out(&address).phases()).await.1), 1);
}
