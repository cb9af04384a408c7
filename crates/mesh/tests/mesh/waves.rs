//! Landings, deletions, and ends that are forced (R39, R52, R58).

use tracing::Level;

use crate::{heard::Heard, *};

/// A mesh with an owner each at `prices/eur` and `rates/usd`.
fn two() -> (Mesh<u64>, [Address; 2], [Activation; 2]) {
    let (mesh, first) = mesh();
    let second = address("rates/usd");
    mesh.store(&second, 1);
    let owners = [&first, &second].map(|address| mesh.activate(address).unwrap());
    (mesh, [first, second], owners)
}

#[tokio::test(start_paused = true)]
async fn a_landing_recycles_each_once_and_no_successor() {
    let (mesh, [first, second], owners) = two();
    let nowhere = address("rates/chf");
    let prices = [subscribe(&mesh, &first).await, subscribe(&mesh, &second).await];
    let mut news = mesh.news(&first, prices[0].stream_id());
    mesh.set_teardown(7 * SECOND);
    assert_eq!(mesh.recycle(&second).as_ref(), Some(&owners[1])); // slow, and in the wave
    mesh.set_teardown(SECOND);
    let wave = mesh.land(&[first.clone(), nowhere, second.clone(), first.clone()]);
    let refusal = refused(&mesh, &first).await;
    is_by_owner(&refusal, &first, &owners[0]);
    assert!(refusal.message.contains("recycle: a landing"), "{refusal}");

    torn_down(&mesh, &owners[0]).await;
    settle().await;
    assert_eq!(told(&mut news), [News::Ended(Some(owners[0].clone()))]);
    let successor = mesh.activate(&first).unwrap();
    for _ in 0..3 {
        // A consequence of the landing: it joins the wave, and tells nobody born in it.
        assert_eq!(mesh.recycle(&first), None);
        assert!(mesh.subscribe(&first, StreamId::mint()).await.is_ok());
    }
    let began = Instant::now();
    assert!(!wave.is_over());
    in_time(wave).await;
    assert_eq!(began.elapsed(), 6 * SECOND, "it waits for all of its members");
    assert_eq!(mesh.activation_of(&first).as_ref(), Some(&successor));

    // Over for good; and what was left alone has its whole time from when it is told.
    advance(60 * SECOND).await;
    let began = Instant::now();
    mesh.recycle(&first);
    is_by_owner(&refused(&mesh, &first).await, &first, &successor);
    torn_down(&mesh, &successor).await;
    assert_eq!(began.elapsed(), SECOND);
}

/// R52: one born before the wave that it does not name joins it.
#[tokio::test(start_paused = true)]
async fn a_recycle_of_one_born_before_joins_the_wave() {
    let (mesh, [first, second], owners) = two();
    let wave = mesh.land(std::slice::from_ref(&first));
    advance(SECOND / 2).await;
    mesh.recycle(&second);
    is_by_owner(&refused(&mesh, &second).await, &second, &owners[1]);
    torn_down(&mesh, &owners[0]).await;
    assert!(!wave.is_over());
    let successor = mesh.activate(&first).unwrap();
    mesh.recycle(&first);
    assert!(mesh.subscribe(&first, StreamId::mint()).await.is_ok());
    in_time(wave).await;
    assert!(mesh.teardown_of(&owners[1]).unwrap().now_or_never().is_some());
    mesh.recycle(&first);
    is_by_owner(&refused(&mesh, &first).await, &first, &successor);
}

#[tokio::test(start_paused = true)]
async fn a_wave_that_is_dropped_holds_nobody_back() {
    let (mesh, [first, _], owners) = two();
    drop(mesh.land(std::slice::from_ref(&first)));
    torn_down(&mesh, &owners[0]).await;
    let successor = mesh.activate(&first).unwrap();
    mesh.recycle(&first);
    is_by_owner(&refused(&mesh, &first).await, &first, &successor);
    in_time(mesh.land(&[])).await;
}

/// A landing on a tree: each is announced to its own readers, since each was named.
#[tokio::test(start_paused = true)]
async fn a_landing_on_a_tree_recycles_whom_it_names() {
    let mesh = Mesh::<u64>::new();
    let addresses = ["prices", "prices/eur", "prices/usd"].map(address);
    for address in &addresses {
        mesh.store(address, 1);
        mesh.activate(address).unwrap();
    }
    let readers = join_all(addresses.iter().map(|address| subscribe(&mesh, address))).await;
    let mut news: Vec<_> =
        readers.iter().map(|prices| mesh.news(prices.address(), prices.stream_id())).collect();
    let wave = mesh.land(&addresses[..2]);
    in_time(wave).await;
    advance(10 * SECOND).await;
    settle().await;
    let ended: Vec<_> = news.iter_mut().map(|news| told(news).len()).collect();
    assert_eq!(ended, [1, 1, 0], "the third goes with its parent, in silence");
}

#[tokio::test(start_paused = true)]
async fn a_deletion_is_announced_and_then_nothing_is_there() {
    let (mesh, address) = mesh();
    let mut prices = subscribe(&mesh, &address).await;
    assert_eq!(value(&mut prices).await, 1);
    let mut news = mesh.news(&address, prices.stream_id());
    let owner = mesh.delete(&address).unwrap();
    let refusal = refused(&mesh, &address).await;
    is_by_owner(&refusal, &address, &owner);
    assert!(refusal.message.contains("RunLevel=DisposeHosted, deletion"), "{refusal}");
    torn_down(&mesh, &owner).await;
    settle().await;
    assert_eq!(told(&mut news), [News::Ended(Some(owner))]);
    assert_eq!(refused(&mesh, &address).await.kind, Some(Kind::NotFound));
    assert_eq!((mesh.delete(&address), mesh.activation_of(&address)), (None, None));

    // C32: a create that comes after it is served, by its first version.
    assert_eq!(mesh.store(&address, 9), 1);
    assert_eq!(value(&mut subscribe(&mesh, &address).await).await, 9);
    drop(prices);

    // Without an owner there is nobody to tell.
    let second = mesh.dispose(&address).unwrap();
    torn_down(&mesh, &second).await;
    assert_eq!(mesh.delete(&address), None);
    assert_eq!(refused(&mesh, &address).await.kind, Some(Kind::NotFound));
}

/// C14: a rider of what is deleted gets the verdict, and nothing after it.
#[tokio::test(start_paused = true)]
async fn a_rider_of_what_is_deleted_ends_with_not_found() {
    let (mesh, address) = mesh();
    let mut prices = mesh.ride_out(&address);
    assert_eq!(in_time(prices.try_next()).await.unwrap().unwrap().value, 1);
    mesh.delete(&address);
    let end = in_time(prices.try_next()).await.unwrap_err();
    assert_eq!(end.verdict().expect("no give-up").kind, Some(Kind::NotFound));
    assert!(prices.next().await.is_none());
    let asks = mesh.asks(&address);
    advance(600 * SECOND).await;
    settle().await;
    assert_eq!(mesh.asks(&address), asks);
}

/// What is deleted under an owner that has no state yet ends that owner.
#[tokio::test(start_paused = true)]
async fn an_owner_that_finds_nothing_ends() {
    let (mesh, address) = mesh();
    let fault = mesh.hold_state(&address);
    let owner = mesh.activate(&address).unwrap();
    let mut read = mesh.read(&address).boxed();
    assert!((&mut read).now_or_never().is_none());
    settle().await;
    mesh.delete(&address);
    drop(fault);
    is_by_owner(&in_time(read).await.unwrap_err(), &address, &owner);
    torn_down(&mesh, &owner).await;
    assert_eq!(refused(&mesh, &address).await.kind, Some(Kind::NotFound));
}

/// R39: once, at `ERROR`, and everybody who waits is let go.
#[tokio::test(start_paused = true)]
async fn a_teardown_without_progress_is_forced() {
    for (watchdog, after) in [(None, 8 * SECOND), (Some(3 * SECOND), 3 * SECOND)] {
        let heard = Heard::begin();
        let (mesh, address) = mesh();
        if let Some(watchdog) = watchdog {
            mesh.set_watchdog(watchdog);
        }
        mesh.set_teardown(Duration::MAX);
        let prices = subscribe(&mesh, &address).await;
        let mut news = mesh.news(&address, prices.stream_id());
        let owner = mesh.recycle(&address).unwrap();
        let began = Instant::now();
        torn_down(&mesh, &owner).await;
        assert_eq!(began.elapsed(), after);
        settle().await;
        assert_eq!(told(&mut news), [News::Ended(Some(owner.clone()))]);
        assert_eq!(heard.all().iter().filter(|said| said.level == Level::ERROR).count(), 1);
        assert_ne!(subscribe(&mesh, &address).await.activation(), &owner);
    }
}

/// R39: forced while it still waits for its replies, it answers and announces all the same.
#[tokio::test(start_paused = true)]
async fn an_owner_that_is_forced_while_it_quiesces_leaves_nobody_without_a_word() {
    let mesh = Mesh::<u64>::new();
    let address = self::address("prices/eur");
    mesh.store(&address, 1);
    mesh.set_watchdog(SECOND);
    let prices = subscribe(&mesh, &address).await;
    let mut news = mesh.news(&address, prices.stream_id());
    let _fault = mesh.hold_store(&address);
    let mut write = mesh.write(&address, 2).boxed();
    assert!((&mut write).now_or_never().is_none());
    settle().await;
    let owner = mesh.recycle(&address).unwrap();
    let mut ask = mesh.subscribe(&address, StreamId::mint()).boxed();
    assert!((&mut ask).now_or_never().is_none(), "it still serves");
    let began = Instant::now();
    let refusal = in_time(write).await.unwrap_err();
    is_by_owner(&refusal, &address, &owner);
    assert_eq!(began.elapsed(), SECOND);
    assert!(ask.await.is_ok());
    settle().await;
    assert_eq!(told(&mut news), [News::Ended(Some(owner))]);
}

/// R39: a teardown that is done in time leaves no timer of the watchdog's, and no word.
#[tokio::test(start_paused = true)]
async fn a_teardown_that_is_done_is_not_forced() {
    let heard = Heard::begin();
    let (mesh, address) = mesh();
    mesh.set_teardown(7 * SECOND);
    let owner = mesh.activate(&address).unwrap();
    mesh.recycle(&address);
    torn_down(&mesh, &owner).await;
    settle().await;
    assert_eq!(Handle::current().metrics().num_alive_tasks(), 0);
    advance(60 * SECOND).await;
    settle().await;
    assert!(heard.all().is_empty());
}
