//! What is left when an owner, its runtime or the mesh is gone.

use crate::*;

/// A subscription outlives its owner in silence, and its mesh with a word.
async fn is_gone_with_its_mesh(mut prices: Subscription<u64>, mut news: NewsStream) {
    let asked = prices.address().clone();
    let refusal = loop {
        match in_time(prices.next()).await {
            Some(Ok(_)) => {}
            Some(Err(refusal)) => break refusal,
            None => panic!("completed without a word"),
        }
    };
    is_by_route(&refusal, &asked, "Mesh");
    assert_eq!(in_time(prices.next()).await, None);
    assert!(prices.is_terminated());
    while in_time(news.next()).await.is_some() {}
    settle().await;
    assert_eq!(Handle::current().metrics().num_alive_tasks(), 0);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_left_when_the_mesh_is_dropped() {
    type Act = fn(&Mesh<u64>, &Address);
    let acts: [Act; 5] = [
        |_, _| {},
        |mesh, address| drop(mesh.recycle(address)),
        |mesh, address| drop(mesh.kill(address)),
        |mesh, address| {
            mesh.recycle(address);
            mesh.kill(address);
        },
        |mesh, address| {
            mesh.set_teardown(Duration::ZERO);
            mesh.recycle(address);
        },
    ];
    for act in acts {
        for settled in [false, true] {
            let (mesh, address) = mesh();
            let prices = subscribe(&mesh, &address).await;
            let news = mesh.news(&address, StreamId::mint());
            let fault = mesh.hold_route(&address).unwrap();
            act(&mesh, &address);
            if settled {
                settle().await;
            }

            let clone = mesh.clone();
            drop(mesh);
            assert_eq!(clone.asks(&address), 1);
            drop(clone);
            is_gone_with_its_mesh(prices, news).await;
            assert!(!fault.is_in_force());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_dropped_mesh_wakes_a_subscription_that_had_fallen_silent() {
    let (mesh, address) = mesh();
    let mut prices = subscribe(&mesh, &address).await;
    let news = mesh.news(&address, StreamId::mint());
    assert_eq!(value(&mut prices).await, 1);
    let activation = mesh.dispose(&address).unwrap();
    torn_down(&mesh, &activation).await;

    let waiting = tokio::spawn(async move {
        let item = in_time(prices.next()).await;
        (item, prices)
    });
    settle().await;
    assert!(!waiting.is_finished());
    drop(mesh);
    let (item, prices) = waiting.await.unwrap();
    assert!(matches!(item, Some(Err(_))), "{item:?}");
    drop((prices, news));
}

#[tokio::test(start_paused = true)]
async fn teardowns_that_are_over_since_long_are_forgotten() {
    let (mesh, address) = mesh();
    mesh.set_teardown(Duration::ZERO);
    let mut over = Vec::new();
    for _ in 0..1030 {
        let activation = mesh.activate(&address).unwrap();
        mesh.recycle(&address);
        torn_down(&mesh, &activation).await;
        over.push(activation);
    }
    settle().await;
    let known: Vec<_> = over.iter().map(|over| mesh.teardown_of(over).is_some()).collect();
    assert!(known[..6].iter().all(|known| !known) && known[6..].iter().all(|known| *known));
    assert!(mesh.teardown_of(&Activation::mint()).is_none());
}

/// An owner whose runtime went away was lost like a killed one, though nobody killed it.
#[test]
fn an_owner_goes_with_its_runtime() {
    let runtime = || {
        tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap()
    };
    fn on<F: Future>(runtime: &tokio::runtime::Runtime, future: F) -> F::Output {
        runtime.block_on(future)
    }

    let (mesh, address) = mesh();
    mesh.set_lease(Duration::ZERO);
    let first = runtime();
    let mut prices = on(&first, subscribe(&mesh, &address));
    drop(first);
    assert_eq!(mesh.subscribers(&address), 0);

    let second = runtime();
    let next = on(&second, subscribe(&mesh, &address));
    assert_ne!(next.activation(), prices.activation());
    assert_eq!(on(&second, value(&mut prices)), 1);
    assert!(is_silent(&mut prices));
}

/// Whatever threads do: each ask is answered or promised to, each teardown completes, and writes are
/// neither lost nor doubled.
#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn many_threads_find_one_owner_at_a_time() {
    let (mesh, address) = mesh();
    mesh.set_teardown(Duration::ZERO);
    let writers = (0..4).map(|_| {
        let (mesh, address) = (mesh.clone(), address.clone());
        tokio::spawn(async move {
            let mut written = 0;
            while written < 100 {
                let prices = mesh.subscribe(&address, StreamId::mint()).await;
                let refusal = match mesh.write(&address, written).await {
                    Ok(_) => {
                        written += 1;
                        if written % 10 == 0 {
                            let recycled = mesh.recycle(&address);
                            let join = recycled.and_then(|recycled| mesh.teardown_of(&recycled));
                            // Another writer's recycle may have come first.
                            if let Some(join) = join {
                                in_time(join).await;
                            }
                        }
                        prices.err()
                    }
                    Err(refusal) => Some(refusal),
                };
                let closing = Closing::new(address.clone()).refuse(Seam::Door, "");
                if let Some(refusal) = refusal {
                    assert_eq!(refusal.kind, closing.kind, "{refusal}");
                    assert!(refusal.is_never_applied(&address), "{refusal}");
                    yield_now().await;
                }
            }
        })
    });
    for writer in join_all(writers).await {
        writer.unwrap();
    }
    let last = mesh.store(&address, 0);
    assert_eq!(last, 1 + 4 * 100 + 1);
}

/// R43: whoever comes between an owner's death and its last words does not swallow them.
#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn every_recycle_is_announced_whoever_asks_meanwhile() {
    let (mesh, address) = mesh();
    mesh.set_teardown(Duration::ZERO);
    let askers: Vec<_> = (0..2)
        .map(|_| {
            let (mesh, address) = (mesh.clone(), address.clone());
            tokio::spawn(async move {
                loop {
                    let _ = mesh.activate(&address);
                    yield_now().await;
                }
            })
        })
        .collect();
    for _ in 0..200 {
        let stream = StreamId::mint();
        let mut news = mesh.news(&address, stream);
        let Ok(prices) = mesh.subscribe(&address, stream).await else { continue };
        let prices = prices.into_stream();
        if mesh.recycle(&address).as_ref() == Some(prices.activation()) {
            let ended = News::Ended(Some(prices.activation().clone()));
            while in_time(news.next()).await.expect("the mesh is there") != ended {}
        }
    }
    for asker in askers {
        asker.abort();
        assert!(asker.await.unwrap_err().is_cancelled());
    }
}
