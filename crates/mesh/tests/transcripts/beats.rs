//! What was found out, or was not, with nobody to tell.

use crate::*;

#[tokio::test(start_paused = true)]
async fn a_subscriber_that_a_bare_recycle_stranded() {
    // An owner was recycled, and the word of it was lost on the way to an established subscriber.
    // It sat at a stream that nobody wrote to any more, for hours.
    // R26, C19: its beat finds the successor, which serves it once; without a beat it stays stranded.
    type End = fn(&Mesh<u64>, &Address) -> Option<Activation>;
    for end in [Mesh::recycle as End, Mesh::dispose] {
        for beats in [true, false] {
            let (mesh, address) = mesh();
            let rider = deaf(&mesh, &address);
            let only_beats = |news: &News| ready(matches!(news, News::NotServing(_)));
            let news = mesh.news(&address, rider.stream_id()).filter(only_beats);
            let mut rider = rider.news(news);
            if beats {
                let (mesh, address) = (mesh.clone(), address.clone());
                rider = rider.keep_alive(move |beat| mesh.beat(&address, beat.stream));
            }
            let mut rider = rider.build().phases();
            assert_eq!(value(ride(&mut rider).await.1), 1);
            let stranded = end(&mesh, &address).unwrap();
            torn_down(&mesh, &stranded).await;
            mesh.activate(&address).unwrap();
            assert_eq!(mesh.write(&address, 2).await, Ok(2));
            assert_eq!(mesh.subscribers(&address), 0);

            if beats {
                let (charges, item) = ride(&mut rider).await;
                assert_eq!(value(item), 2);
                assert_eq!(entries(&charges), once_and_then_time(&stranded, 1));
                assert_eq!((mesh.asks(&address), mesh.subscribers(&address)), (2, 1));
                assert_eq!(mesh.write(&address, 3).await, Ok(3));
                assert_eq!(value(ride(&mut rider).await.1), 3, "live on the successor");
            } else {
                assert!(timeout(10 * MINUTE, rider.next()).await.is_err());
                assert_eq!((mesh.asks(&address), mesh.subscribers(&address)), (1, 0));
            }
        }
    }
}

#[test]
fn a_hundred_thousand_beats_to_an_owner_that_is_gone() {
    // A reader's owner was killed, and its beats went where nobody answered.
    // Each was kept until its answer came, and the table of them grew for as long as the reader lived.
    // C22, R26: nothing is awaited and nothing is kept, and the verdict on one of them ends them all.
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).build().unwrap();
    let (mesh, address) = mesh();
    mesh.set_latency(MS);
    mesh.set_lease(Duration::MAX);
    let sent = Arc::new(AtomicU32::new(0));
    let (counted, beating, beaten) = (Arc::clone(&sent), mesh.clone(), address.clone());
    let rider = deaf(&mesh, &address);
    let news = mesh.news(&address, rider.stream_id());
    let mut heard = mesh.news(&address, rider.stream_id());
    let rider = rider.news(news).keep_alive_interval(10 * MS).keep_alive(move |beat| {
        counted.fetch_add(1, Relaxed);
        beating.beat(&beaten, beat.stream);
    });
    let mut rider = rider.build().phases();
    let beats = |rider: &mut _, most: u32| {
        let until = sent.load(Relaxed) + most;
        runtime.block_on(async {
            while sent.load(Relaxed) < until {
                assert!(look(rider).is_empty());
                advance(10 * MS).await;
            }
        });
    };
    runtime.block_on(async {
        assert_eq!(value(ride(&mut rider).await.1), 1);
        mesh.kill(&address).expect("an owner");
        told(&mut heard);
    });
    beats(&mut rider, 100);
    let held = allocation_counter::measure(|| beats(&mut rider, 100_000));
    assert!(held.bytes_current.abs() < 4_096, "{} bytes are held", held.bytes_current);
    assert_eq!((mesh.asks(&address), told(&mut heard)), (1, vec![]));

    runtime.block_on(async {
        settle().await;
        advance(MS).await;
        settle().await;
        assert_eq!(Handle::current().metrics().num_alive_tasks(), 0, "none is under way");

        mesh.delete(&address);
        mesh.set_lease(Duration::ZERO);
        let (charges, end) = ride(&mut rider).await;
        assert_eq!(charges.len(), 1, "what no owner serves is a rejection");
        let error = end.expect_err("it ends");
        let refusal = error.verdict().expect("no give-up");
        assert_eq!(refusal.kind, Some(Kind::NotFound));
        let last = sent.load(Relaxed);
        assert!(in_time(rider.next()).await.is_none());
        advance(MINUTE).await;
        settle().await;
        assert_eq!((sent.load(Relaxed), mesh.asks(&address)), (last, 2));
    });
}
