//! What an owner said, and to whom.

use crate::*;

/// A request on its way: it is sent, and waits.
fn waits<T>(mut request: BoxFuture<'_, T>) -> BoxFuture<'_, T> {
    assert!((&mut request).now_or_never().is_none(), "it is answered already");
    request
}

#[tokio::test(start_paused = true)]
async fn one_teardown_counted_twice() {
    // The announcement of a teardown and the refusals of the same teardown carried different tags.
    // One activation was charged twice, and two recycles spent a budget that is meant for four.
    // R3: the announcement, and each refusal of whatever kind, has the owner's own tag; R7: one charge.
    let (mesh, address) = mesh();
    mesh.set_teardown(5 * SECOND);
    let mut rider = mesh.ride_out(&address).phases();
    assert_eq!(value(ride(&mut rider).await.1), 1);
    let witness = subscribe(&mesh, &address).await;
    let mut news = mesh.news(&address, witness.stream_id());
    let owner = witness.activation().clone();
    let route = mesh.hold_route(&address).unwrap();
    let hold = mesh.hold_store(&address);
    let parked = waits(mesh.write(&address, 2).boxed());
    settle().await;

    assert_eq!(mesh.recycle(&address).as_ref(), Some(&owner));
    let parked = in_time(parked).await.unwrap_err();
    let door = refused(&mesh, &address).await;
    let lingers = mesh.linger_host("host-1");
    let leaving = refused(&mesh, &address).await;
    torn_down(&mesh, &owner).await;
    let corpse = refused(&mesh, &address).await;
    assert_eq!(told(&mut news), [News::Ended(Some(owner.clone()))]);

    let refusals = [parked, door, leaving, corpse];
    let distinct: HashSet<_> = refusals.iter().map(|refusal| &refusal.message).collect();
    assert_eq!(distinct.len(), 4, "each in its own words");
    let mut ledger = Ledger::new(StreamId::mint(), address.clone(), Budget::new().activations(1));
    let mut charges = vec![ledger.charge(Rejection::by_owner(Some(owner.clone()))).unwrap()];
    for refusal in &refusals {
        is_by_owner(refusal, &address, &owner);
        let text = Refusal::from_text(&refusal.message);
        for said in [refusal, &text] {
            charges.push(ledger.charge(said.promise(&address).unwrap()).unwrap());
        }
    }
    assert_eq!(entries(&charges), once_and_then_time(&owner, 9));

    // So it is for a reader who heard of it first, and was then refused.
    let mut charges = look(&mut rider);
    charges.extend(look_for(&mut rider, 3 * SECOND).await);
    let refusals = u32::try_from(charges.len()).unwrap();
    assert!(refusals > 2);
    assert_eq!(entries(&charges), once_and_then_time(&owner, refusals));
    drop((lingers, route, hold));
    assert_eq!(value(ride(&mut rider).await.1), 1);

    // The control: another activation is another charge.
    let successor = mesh.activation_of(&address).unwrap();
    let charge = ledger.charge(Rejection::by_owner(Some(successor)));
    assert_eq!(charge.unwrap_err().cause, Cause::RecycleLoop);
}

#[tokio::test(start_paused = true)]
async fn a_held_re_assert_that_nobody_answered() {
    // A reader asked again for a stream that its owner served, and which had no state yet.
    // The owner held the answer, was recycled, and took the answer with it: the reader waited on.
    // R44: what is held is refused when the stream ends, and its asker rides on.
    let (mesh, address) = mesh();
    let hold = mesh.hold_state(&address);
    let rider = mesh.ride_out(&address);
    let stream = rider.stream_id();
    let mut rider = rider.phases();
    assert_eq!(look(&mut rider), []);
    settle().await;
    assert_eq!(mesh.subscribers(&address), 1, "served, and held");
    let re_assert = waits(mesh.subscribe(&address, stream).boxed());
    settle().await;
    assert_eq!((look(&mut rider), mesh.subscribers(&address)), (vec![], 1));

    let recycled = mesh.recycle(&address).unwrap();
    let refusal = in_time(re_assert).await.unwrap_err();
    is_by_owner(&refusal, &address, &recycled);
    says(&refusal, Seam::Reassert);
    assert!(refusal.is_never_applied(&address));
    assert_eq!(entries(&look(&mut rider)), once_and_then_time(&recycled, 1), "not by the route");

    drop(hold);
    assert_eq!(value(ride(&mut rider).await.1), 1);
    assert_ne!(mesh.activation_of(&address), Some(recycled));
    assert_eq!((mesh.asks(&address), mesh.subscribers(&address)), (3, 1));
}

#[tokio::test(start_paused = true)]
async fn a_tree_torn_down_while_it_held_one() {
    // A parent was disposed of with its child, which had a write parked and an ask held.
    // The child could not send any more, and its parent was going too: both waited for ever.
    // R40, R41, C33: who waits in this process is answered in it, by the child's tag, and asks again.
    for is_disposed in [true, false] {
        let (mesh, child) = mesh();
        let parent = address("prices");
        mesh.store(&parent, 0);
        let above = mesh.activate(&parent).unwrap();
        let hold = mesh.hold_state(&child);
        let owner = mesh.activate(&child).unwrap();
        let mut rider = mesh.ride_out(&child).phases();
        assert_eq!(look(&mut rider), []);
        let write = waits(mesh.write(&child, 2).boxed());
        settle().await;

        if is_disposed {
            assert_eq!(mesh.dispose(&parent).as_ref(), Some(&above));
            let refusal = in_time(write).await.unwrap_err();
            is_by_owner(&refusal, &child, &owner);
            says(&refusal, Seam::Gate);
            assert!(refusal.message.contains("dispose asked for by prices"), "{refusal}");
            assert_eq!(entries(&look(&mut rider)), once_and_then_time(&owner, 1));
            drop(hold);
            assert_eq!(value(ride(&mut rider).await.1), 1, "nothing was written");
            assert_ne!(mesh.activation_of(&child), Some(owner));
        } else {
            drop(hold);
            assert_eq!(in_time(write).await, Ok(2));
            assert_eq!(value(ride(&mut rider).await.1), 1);
            assert_eq!(mesh.activation_of(&child), Some(owner));
        }
        let version = mesh.write(&child, 3).await.expect("it is served");
        assert_eq!(version, if is_disposed { 2 } else { 3 });
    }
}

/// What a refusal at a seam says of the request, and how it ends.
fn says(refusal: &Refusal, seam: Seam) {
    let (what, tail) = match seam {
        Seam::Door | Seam::Leaving => ("cannot process ", "Rejecting now."),
        Seam::Creation => ("cannot create ", "Rejecting now."),
        Seam::Mailbox | Seam::Gate | Seam::Handler | Seam::Reassert => {
            ("cannot finish ", "retry to get the authoritative answer.")
        }
    };
    let message = &refusal.message;
    assert!(message.contains(what) && message.ends_with(tail), "{seam:?}: {message}");
}

/// A request whose handler finds that what it needs is gone.
struct Handled<'a>(&'a mut Option<Refusal>);

impl Message for Handled<'_> {
    fn name(&self) -> &str {
        "HandledRequest"
    }

    fn refuse(self, refusal: Refusal, _: ReplyPath) {
        *self.0 = Some(refusal);
    }
}

/// Has an owner at `address` refuse at `seam`: who refused, and with what.
async fn refusal_at(seam: Seam, mesh: &Mesh<u64>, address: &Address) -> (Activation, Refusal) {
    mesh.store(address, 1);
    match seam {
        Seam::Door => {
            let owner = recycle_anew(mesh, address);
            (owner, mesh.write(address, 2).await.unwrap_err())
        }
        Seam::Creation => {
            let child = format!("{address}/1").parse().unwrap();
            mesh.store(&child, 1);
            let owner = recycle_anew(mesh, address);
            // The route passes on to the child's asker what the parent said of itself.
            (owner, Refusal::from_text(refused(mesh, &child).await.message))
        }
        Seam::Leaving => {
            let owner = mesh.activate(address).unwrap();
            let _lingers = mesh.linger_host("host-1");
            (owner, mesh.read(address).await.unwrap_err())
        }
        Seam::Mailbox => {
            mesh.activate(address).unwrap();
            settle().await;
            let ask = waits(mesh.subscribe(address, StreamId::mint()).boxed());
            (mesh.recycle(address).unwrap(), in_time(ask).await.unwrap_err())
        }
        Seam::Gate => {
            let _hold = mesh.hold_store(address);
            let write = waits(mesh.write(address, 2).boxed());
            settle().await;
            (mesh.recycle(address).unwrap(), in_time(write).await.unwrap_err())
        }
        Seam::Reassert => {
            let _hold = mesh.hold_state(address);
            let ask = waits(mesh.subscribe(address, StreamId::mint()).boxed());
            settle().await;
            (mesh.recycle(address).unwrap(), in_time(ask).await.unwrap_err())
        }
        // No handler of the mesh's says so; one of a user's own owner does.
        Seam::Handler => {
            let (owner, mut said) = (Lifecycle::new(address.clone()), None);
            owner.failed(Handled(&mut said), &Disposing);
            (owner.activation().clone(), said.expect("answered"))
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_drain_sentence_worded_by_hand() {
    // In one drain, 105 deliveries were refused in a sentence that somebody had worded by hand.
    // No reader knew it: each of them took it for a verdict, and went.
    // R2, C18: what every seam says is known for the owner's promise, by its fields and by its text.
    let address = address("prices/eur");
    for by_hand in [
        "prices/eur is draining, please try again",
        "The hub prices/eur is shutting down; it may be back soon",
        "Hub prices/eur is going away. The address may reactivate (recycle / restart).",
        "Hub prices/eur is shutting down; retry later",
    ] {
        let refusal = Refusal::from_text(by_hand);
        assert_eq!(refusal.classify(&address), Ruling::Verdict(Kind::Unknown), "{by_hand}");
        let mut asks = 0;
        let mut rider = RideOut::new(address.clone(), |_| {
            asks += 1;
            ready(Err::<Pending<Result<u64, _>>, _>(refusal.clone()))
        });
        let ended = rider.next().now_or_never().flatten();
        assert!(ended.unwrap().is_err_and(|it| it.verdict().is_some()), "{by_hand}");
        drop(rider);
        assert_eq!(asks, 1, "{by_hand}");
    }

    let mut recognised = HashMap::new();
    for delivery in 0..105 {
        let (mesh, address) = (Mesh::new(), format!("prices/{delivery}").parse().unwrap());
        let seam = Seam::ALL[delivery % Seam::ALL.len()];
        let (owner, refusal) = refusal_at(seam, &mesh, &address).await;
        is_by_owner(&refusal, &address, &owner);
        says(&refusal, seam);
        assert_eq!(refusal.is_never_applied(&address), seam != Seam::Handler);
        *recognised.entry(seam).or_insert(0) += 1;
    }
    assert!(recognised.len() == 7 && recognised.values().all(|known| *known == 15));
}

#[tokio::test(start_paused = true)]
async fn a_leaving_host_that_answered_into_the_void() {
    // A host that was told to stop closed its way out, and then answered by it: nobody heard a word.
    // Its readers waited for answers that had been given.
    // R45, R46: a call is answered on its own way back, whatever else is closed; readers are told.
    let (mesh, address) = mesh();
    let mut rider = mesh.ride_out(&address).phases();
    assert_eq!(value(ride(&mut rider).await.1), 1);
    let mut witness = subscribe(&mesh, &address).await;
    let owner = witness.activation().clone();
    let mut news = mesh.news(&address, witness.stream_id());
    assert!(in_time(witness.next()).await.is_some());
    let hold = mesh.hold_store(&address);
    let accepted = waits(mesh.write(&address, 2).boxed());
    settle().await;

    let lingers = mesh.linger_host("host-1");
    assert!(lingers.is_in_force());
    assert_eq!(told(&mut news), [News::Ended(Some(owner.clone()))], "told before the way closed");
    drop(hold);
    assert_eq!(in_time(accepted).await, Ok(2));
    assert!(witness.next().now_or_never().is_none(), "the way out is closed");
    let refusal = refused(&mesh, &address).await;
    is_by_owner(&refusal, &address, &owner);
    assert!(refusal.message.contains("its host is stopping"), "{refusal}");
    assert_eq!(entries(&look(&mut rider))[..1], once_and_then_time(&owner, 1));

    settle().await;
    let charges = look_for(&mut rider, 3 * SECOND).await;
    assert!(charges.iter().all(|it| it.key() == Some(Key::Activation(owner.clone()))));
    assert_eq!(arrivals(&mut news), 0, "it lingers, and is what there is");
    drop(lingers);
    assert_eq!(value(ride(&mut rider).await.1), 2);
    assert!(timeout(MINUTE, rider.next()).await.is_err());
    assert_eq!((arrivals(&mut news), mesh.subscribers(&address)), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn two_leaving_hosts_and_one_address() {
    // A host handed an address off to another that was leaving too, which handed it back.
    // Each time an activation was started, and readers were refused by one after the other.
    // R45: it stays, and refuses by its one tag, until a host takes it that stays; there it starts once.
    for is_there in [true, false] {
        let (mesh, address) = mesh();
        mesh.add_host("host-2");
        let mut news = mesh.news(&address, StreamId::mint());
        let mut rider = mesh.ride_out(&address).phases();
        assert_eq!(value(ride(&mut rider).await.1), 1);
        let owner = mesh.activation_of(&address).unwrap();
        assert_eq!(arrivals(&mut news), 1, "the first ask's");
        if is_there {
            mesh.add_host("host-3");
        }

        let _leaving = [mesh.drain_host("host-2"), mesh.drain_host("host-1")];
        if !is_there {
            let charges = look_for(&mut rider, 3 * SECOND).await;
            let refusals = u32::try_from(charges.len()).unwrap();
            assert_eq!(entries(&charges), once_and_then_time(&owner, refusals));
            assert_eq!((arrivals(&mut news), mesh.activation_of(&address)), (0, Some(owner)));
            mesh.add_host("host-3");
        }
        assert_eq!(value(ride(&mut rider).await.1), 1);
        assert!(timeout(MINUTE, rider.next()).await.is_err());
        assert_eq!(mesh.host_of(&address).as_deref(), Some("host-3"));
        assert_eq!((arrivals(&mut news), mesh.subscribers(&address)), (1, 1));
    }
}

#[tokio::test(start_paused = true)]
async fn five_activations_in_five_seconds() {
    // An owner was deactivated because nothing was to be done, and sent a last word on its way out.
    // The last word activated it again, five times in five seconds.
    // R43: a plain dispose is silent and starts nothing; the next ask, and no other, starts one.
    let (mesh, address) = mesh();
    let streams = join_all((0..5).map(|_| subscribe(&mesh, &address))).await;
    let mut news: Vec<_> = streams.iter().map(|it| mesh.news(&address, it.stream_id())).collect();
    let disposed = mesh.dispose(&address).unwrap();
    torn_down(&mesh, &disposed).await;
    for _ in 0..60 {
        advance(SECOND).await;
        settle().await;
        assert_eq!(mesh.activation_of(&address), None);
    }
    assert!(news.iter_mut().all(|news| told(news).is_empty()));
    drop(streams);

    // Its readers find it by their beats, once.
    let mut rider = mesh.ride_out(&address).phases();
    assert_eq!(value(ride(&mut rider).await.1), 1);
    assert_eq!(arrivals(&mut news[0]), 1, "the ask's");
    let disposed = mesh.dispose(&address).unwrap();
    let (charges, item) = ride(&mut rider).await;
    assert_eq!((value(item), entries(&charges)), (1, once_and_then_time(&disposed, 1)));
    assert!(timeout(MINUTE, rider.next()).await.is_err());
    assert_eq!(arrivals(&mut news[0]), 1, "the beat's");

    // The control: a recycle is announced.
    let stream = subscribe(&mesh, &address).await;
    let mut heard = mesh.news(&address, stream.stream_id());
    let recycled = mesh.recycle(&address).unwrap();
    torn_down(&mesh, &recycled).await;
    assert_eq!(told(&mut heard), [News::Ended(Some(recycled))]);
}
