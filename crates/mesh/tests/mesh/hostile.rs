//! Readers that do harm: a waker that panics is the affair of who waits with it, and of nobody else
//! (`R20c`).

use futures::future::maybe_done;

use super::{leftovers::Panics, *};

/// The waker of a task that panics when it is woken.
fn bomb() -> Waker {
    Waker::from(Arc::new(Panics))
}

/// Waits in a task that panics when it is woken.
fn armed(mut wait: impl Future + Unpin) -> impl Future + Unpin {
    assert!(wait.poll_unpin(&mut Context::from_waker(&bomb())).is_pending());
    wait
}

/// One reader's waker panics at a frame: the owner lives, the others and the writer hear of it.
#[tokio::test(start_paused = true)]
async fn a_reader_whose_waker_panics_harms_no_owner() {
    let (mesh, address) = mesh();
    let mut first = subscribe(&mesh, &address).await;
    let mut second = subscribe(&mesh, &address).await;
    let owner = first.activation().clone();
    let mut changes = mesh.changes(&address);
    assert_eq!((value(&mut first).await, value(&mut second).await), (1, 1));
    assert!(first.poll_next_unpin(&mut Context::from_waker(&bomb())).is_pending());
    assert!(changes.poll_next_unpin(&mut Context::from_waker(&bomb())).is_pending());

    assert_eq!(in_time(mesh.write(&address, 2)).await, Ok(2));
    assert_eq!((value(&mut first).await, value(&mut second).await), (2, 2));
    assert_eq!(changes.next().await, Some(2));
    assert!(first.poll_next_unpin(&mut Context::from_waker(&bomb())).is_pending());
    assert_eq!(in_time(mesh.patch(&address, |it| *it += 1)).await, Ok(3));
    assert_eq!((value(&mut first).await, value(&mut second).await), (3, 3));
    assert_eq!(subscribe(&mesh, &address).await.activation(), &owner);
}

/// A stream is asked for anew while its reader waits with a waker that panics: the owner that takes the
/// place of its sink lives, and answers.
#[tokio::test(start_paused = true)]
async fn a_reader_that_is_replaced_and_whose_waker_panics_harms_no_owner() {
    let (mesh, address) = mesh();
    let mut first = subscribe(&mesh, &address).await;
    let owner = first.activation().clone();
    assert_eq!(value(&mut first).await, 1);
    assert!(first.poll_next_unpin(&mut Context::from_waker(&bomb())).is_pending());

    let again = in_time(mesh.subscribe(&address, first.stream_id())).await.unwrap();
    assert_eq!(again.activation(), Some(&owner));
    assert_eq!(in_time(mesh.write(&address, 2)).await, Ok(2));
    let mut again = again.into_stream();
    assert_eq!((value(&mut again).await, value(&mut again).await), (1, 2));
}

/// One asker's waker panics at its answer: the others that were held are answered, by the owner.
#[tokio::test(start_paused = true)]
async fn an_asker_whose_waker_panics_costs_no_other_its_answer() {
    for recycled in [false, true] {
        let (mesh, address) = mesh();
        let fault = mesh.hold_state(&address);
        let stream = StreamId::mint();
        let asks =
            [stream, stream, StreamId::mint()].map(|it| Box::pin(mesh.subscribe(&address, it)));
        let reads = [(); 2].map(|()| Box::pin(mesh.read(&address)));
        let [bomb, mut same, mut other] = asks;
        let [read, mut other_read] = reads;
        let (_bomb, _read) = (armed(bomb), armed(read));
        assert!((&mut same).now_or_never().is_none() && (&mut other).now_or_never().is_none());
        assert!((&mut other_read).now_or_never().is_none());
        settle().await;
        let owner = mesh.activation_of(&address).unwrap();
        if recycled {
            mesh.recycle(&address);
            let (same, other) = (in_time(same).await, in_time(other).await);
            is_by_owner(&same.unwrap_err(), &address, &owner);
            is_by_owner(&other.unwrap_err(), &address, &owner);
            is_by_owner(&in_time(other_read).await.unwrap_err(), &address, &owner);
        } else {
            drop(fault);
            assert_eq!(in_time(same).await.unwrap().activation(), Some(&owner));
            assert_eq!(in_time(other).await.unwrap().activation(), Some(&owner));
            assert_eq!(in_time(other_read).await.unwrap().value, 1);
        }
    }
}

/// Whoever waits for the teardown, or hears of the end, with a waker that panics keeps it from nobody.
#[tokio::test(start_paused = true)]
async fn a_waker_that_panics_at_the_end_keeps_it_from_nobody() {
    let (mesh, address) = mesh();
    let (one, other) = (StreamId::mint(), StreamId::mint());
    let [mut told_one, mut told_other] = [one, other].map(|stream| mesh.news(&address, stream));
    let _prices = [
        mesh.subscribe(&address, one).await.unwrap().into_stream(),
        mesh.subscribe(&address, other).await.unwrap().into_stream(),
    ];
    told(&mut told_one);
    told(&mut told_other);
    let owner = mesh.recycle(&address).unwrap();
    let _wait = armed(mesh.teardown_of(&owner).unwrap());
    assert!(told_one.poll_next_unpin(&mut Context::from_waker(&bomb())).is_pending());

    torn_down(&mesh, &owner).await;
    settle().await;
    let ended = News::Ended(Some(owner));
    for news in [&mut told_other, &mut told_one] {
        assert_eq!(told(news), std::slice::from_ref(&ended));
    }
}

/// A listener whose waker panics at the arrival of one owner keeps no other from moving.
#[tokio::test(start_paused = true)]
async fn a_waker_that_panics_at_an_arrival_keeps_nobody_from_moving() {
    let mesh = Mesh::new();
    let addresses = ["a", "b", "c"].map(address);
    for address in &addresses {
        mesh.store(address, 1);
        mesh.activate(address).unwrap();
    }
    let _drained = mesh.drain_host("host-1");
    // Two are gone before there is anywhere to go; the third moves, and takes them along.
    for address in &addresses[..2] {
        let owner = mesh.dispose(address).unwrap();
        torn_down(&mesh, &owner).await;
    }
    let third = mesh.activation_of(&addresses[2]).unwrap();
    let mut news = mesh.news(&addresses[0], StreamId::mint());
    assert!(news.poll_next_unpin(&mut Context::from_waker(&bomb())).is_pending());

    mesh.add_host("host-2");
    torn_down(&mesh, &third).await;
    for address in &addresses {
        assert_eq!(mesh.host_of(address).as_deref(), Some("host-2"), "{address}");
    }
}
/// R46: whoever is served by an owner as its host stops is told, also one that asks at that moment.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_is_served_as_the_host_stops_is_told() {
    for turn in 0..400 {
        let (mesh, address) = mesh();
        mesh.add_host("host-2");
        let owner = mesh.activate(&address).unwrap();
        let mut asks: Vec<_> = (0..100)
            .map(|_| {
                let stream = StreamId::mint();
                let news = mesh.news(&address, stream);
                let (mesh, address) = (mesh.clone(), address.clone());
                let ask = async move { mesh.subscribe(&address, stream).await };
                (Box::pin(maybe_done(ask)), news)
            })
            .collect();
        for (ask, _) in &mut asks {
            _ = ask.now_or_never(); // it is under way
        }
        for _ in 0..turn * 10 {
            std::hint::spin_loop();
        }
        let guard = mesh.drain_host("host-1");
        for (mut ask, mut news) in asks {
            ask.as_mut().await;
            let Some(Ok(answer)) = ask.as_mut().take_output() else { continue };
            let prices = answer.into_stream();
            if prices.activation() != &owner {
                continue;
            }
            let ended = News::Ended(Some(owner.clone()));
            let heard = async { while news.next().await.expect("the mesh is there") != ended {} };
            timeout(3 * SECOND, heard).await.expect("it is told");
        }
        drop(guard);
    }
}

/// The same by steps: one whose answer is held as the host stops, and who does not heed the announcement
/// since that owner has refused it before (`R22`), is turned away when the state comes.
#[tokio::test(start_paused = true)]
async fn an_answer_that_was_held_opens_no_stream_on_a_host_that_stops() {
    let (mesh, address) = mesh();
    mesh.add_host("host-2");
    let loading = mesh.hold_state(&address);
    let owner = mesh.activate(&address).unwrap();
    let door = mesh.refuse_door(&address);
    let mut prices = mesh.ride_out(&address);
    assert!(prices.next().now_or_never().is_none(), "it joins the one that refused");
    drop(door);
    assert!(timeout(9 * SECOND, prices.next()).await.is_err(), "its answer is held");
    assert_eq!((mesh.asks(&address), mesh.subscribers(&address)), (2, 1));

    let _drains = mesh.drain_host("host-1");
    drop(loading);
    let served = timeout(3 * SECOND, prices.next()).await.expect("before any beat");
    assert_eq!(served.unwrap().unwrap().value, 1);
    assert_ne!(mesh.activation_of(&address), Some(owner));
    assert_eq!(mesh.subscribers(&address), 1);
}

/// R46: a listener whose waker panics keeps the announcement from nobody.
#[tokio::test(start_paused = true)]
async fn a_waker_that_panics_as_the_host_stops_keeps_it_from_nobody() {
    let mesh = Mesh::new();
    mesh.add_host("host-2");
    let mut readers = Vec::new();
    for path in ["a", "a", "b", "b"] {
        let (address, stream) = (address(path), StreamId::mint());
        mesh.store(&address, 1);
        let news = mesh.news(&address, stream);
        readers.push((mesh.subscribe(&address, stream).await.unwrap().into_stream(), news));
    }
    for (_, news) in &mut readers {
        told(news);
    }
    for (_, news) in readers.iter_mut().step_by(2) {
        assert!(news.poll_next_unpin(&mut Context::from_waker(&bomb())).is_pending());
    }
    let drains = std::panic::AssertUnwindSafe(|| mesh.drain_host("host-1"));
    assert!(std::panic::catch_unwind(drains).is_err());
    for (prices, news) in &mut readers {
        assert_eq!(told(news), [News::Ended(Some(prices.activation().clone()))]);
    }
}

/// R59: a host that is killed has nothing left, also where a child starts while its parent is being killed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_starts_on_a_host_that_is_killed() {
    for _ in 0..20 {
        let mesh = Mesh::new();
        mesh.set_lease(Duration::ZERO);
        mesh.add_host("host-2");
        // The parent is the last that is killed.
        let owners = (0..200).map(|nth| address(&format!("a/{nth}"))).chain([address("z")]);
        for owner in owners {
            mesh.store(&owner, 1);
            mesh.activate(&owner).unwrap();
        }
        let children: Vec<_> = (0..500).map(|nth| address(&format!("z/{nth}"))).collect();
        children.iter().for_each(|child| _ = mesh.store(child, 1));
        let starts = tokio::spawn({
            let (mesh, children) = (mesh.clone(), children.clone());
            async move { children.iter().for_each(|child| _ = mesh.activate(child).unwrap()) }
        });
        while mesh.activation_of(&children[50]).is_none() {
            std::hint::spin_loop();
        }
        let killed = mesh.kill_host("host-1");
        starts.await.unwrap();
        for child in &children {
            let host = mesh.host_of(child);
            assert_ne!(host.as_deref(), Some("host-1"), "{child} lives on");
        }
        drop(killed);
    }
}
