//! What a subscriber receives: states, patches, gaps, refreshes, and answers that are held (R44, R44b).

use std::{
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    task::Poll,
};

use futures::{Stream, future::BoxFuture};

use crate::*;

const MINUTE: Duration = Duration::from_secs(60);

/// What came so far.
fn items(prices: &mut Subscription<u64>) -> Vec<(u64, u64, u64)> {
    let next = || prices.next().now_or_never().flatten();
    let items = std::iter::from_fn(next).map(Result::unwrap);
    items.map(|update| (update.frame, update.version, update.value)).collect()
}

/// An ask under way, in the mailbox of its owner.
fn ask(
    mesh: &Mesh<u64>,
    address: &Address,
    stream: StreamId,
) -> impl Future<Output = Result<Subscription<u64>, Refusal>> + Unpin + use<> {
    let (mesh, address) = (mesh.clone(), address.clone());
    let ask = async move { mesh.subscribe(&address, stream).await };
    let mut ask = ask.map(|answer| answer.map(|answer| answer.into_stream())).boxed();
    assert!((&mut ask).now_or_never().is_none());
    ask
}

#[tokio::test(start_paused = true)]
async fn a_patch_is_applied_at_the_owner_and_at_each_subscriber() {
    let (mesh, address) = mesh();
    let applied = Arc::new(AtomicUsize::new(0));
    let mut readers = [subscribe(&mesh, &address).await, subscribe(&mesh, &address).await];
    let patch = || {
        let applied = Arc::clone(&applied);
        move |it: &mut u64| {
            applied.fetch_add(1, Ordering::Relaxed);
            *it *= 10;
        }
    };
    assert_eq!(mesh.patch(&address, patch()).await, Ok(2));
    assert_eq!(applied.load(Ordering::Relaxed), 1);
    assert_eq!(mesh.write(&address, 7).await, Ok(3));
    assert_eq!(mesh.patch(&address, patch()).await, Ok(4));
    let mut late = subscribe(&mesh, &address).await;
    for prices in &mut readers {
        assert_eq!(items(prices), [(1, 1, 1), (2, 2, 10), (3, 3, 7), (4, 4, 70)]);
    }
    assert_eq!(items(&mut late), [(1, 4, 70)]);
    assert_eq!(applied.load(Ordering::Relaxed), 2 + 4);
    assert_eq!(mesh.read(&address).await.unwrap().value, 70);
}

/// R44b: what needs what was lost is not guessed at, and the next full state is.
#[tokio::test(start_paused = true)]
async fn a_patch_after_a_gap_shows_the_last_state_that_is_known() {
    let (mesh, address) = mesh();
    let mut prices = subscribe(&mesh, &address).await;
    let fault = mesh.drop_frames(&address);
    assert!(fault.is_in_force());
    mesh.patch(&address, |it| *it += 10).await.unwrap();
    mesh.write(&address, 50).await.unwrap();
    assert_eq!(items(&mut prices), [(1, 1, 1)]);
    drop(fault);
    mesh.patch(&address, |it| *it += 1).await.unwrap();
    mesh.patch(&address, |it| *it += 1).await.unwrap();
    assert_eq!(items(&mut prices), [(4, 1, 1), (5, 1, 1)]);
    mesh.write(&address, 60).await.unwrap();
    mesh.patch(&address, |it| *it += 1).await.unwrap();
    assert_eq!(items(&mut prices), [(6, 6, 60), (7, 7, 61)]);
}

/// R44b: a gap is a trigger for exactly one refresh, and the state is right after it.
#[tokio::test(start_paused = true)]
async fn a_rider_refreshes_once_after_a_gap() {
    for patches in [false, true] {
        let (mesh, address) = mesh();
        let mut prices = mesh.ride_out(&address);
        assert_eq!(in_time(prices.try_next()).await.unwrap().unwrap().value, 1);
        let change = async |by: u64| {
            if patches {
                mesh.patch(&address, move |it| *it += by).await.unwrap();
            } else {
                let now = mesh.read(&address).await.unwrap().value;
                mesh.write(&address, now + by).await.unwrap();
            }
        };
        let fault = mesh.drop_frames(&address);
        change(10).await;
        change(100).await;
        assert!(timeout(SECOND, prices.try_next()).await.is_err());
        assert_eq!(mesh.asks(&address), 1, "what is lost is not seen until a frame comes");
        drop(fault);
        change(1000).await;

        let mut last = 0;
        while let Ok(item) = timeout(4 * SECOND, prices.try_next()).await {
            last = item.unwrap().unwrap().value;
            assert!([1, 1111].contains(&last), "{patches}: {last}");
        }
        assert_eq!(last, 1111, "{patches}");
        assert_eq!((mesh.asks(&address), mesh.subscribers(&address)), (2, 1), "{patches}");
        change(1).await;
        assert_eq!(in_time(prices.try_next()).await.unwrap().unwrap().value, 1112);
    }
}

/// R44b: at most one refresh a pace, however many gaps there are.
#[tokio::test(start_paused = true)]
async fn gaps_refresh_at_most_once_a_pace() {
    let (mesh, address) = mesh();
    let mut prices = mesh.ride_out(&address);
    assert_eq!(in_time(prices.try_next()).await.unwrap().unwrap().value, 1);
    let (began, mut last) = (Instant::now(), 0);
    for at in 0..100 {
        let fault = mesh.drop_frames(&address);
        mesh.write(&address, 10 + at).await.unwrap();
        drop(fault);
        mesh.write(&address, 1000 + at).await.unwrap();
        while let Ok(item) = timeout(SECOND / 20, prices.try_next()).await {
            last = item.unwrap().unwrap().value;
        }
    }
    while let Ok(item) = timeout(SECOND, prices.try_next()).await {
        last = item.unwrap().unwrap().value;
    }
    assert_eq!(last, 1099);
    let paces = began.elapsed().as_millis() as usize / 500;
    assert!((2..=1 + paces).contains(&mesh.asks(&address)), "{} in {paces}", mesh.asks(&address));
}

/// R44b: who said goodbye unheard is released after 10 min without a sign.
#[tokio::test(start_paused = true)]
async fn a_subscriber_without_a_sign_of_life_is_released() {
    let (mesh, address) = mesh();
    let (gone, silent) = (subscribe(&mesh, &address).await, subscribe(&mesh, &address).await);
    let beating = subscribe(&mesh, &address).await;
    let fault = mesh.drop_goodbyes(&address);
    let forgetful = mesh.forget_releases(&address);
    assert!(fault.is_in_force() && forgetful.is_in_force());
    drop(gone);
    assert_eq!(mesh.subscribers(&address), 3);
    for _ in 0..9 {
        advance(MINUTE).await;
        mesh.beat(&address, beating.stream_id());
        mesh.write(&address, 2).await.unwrap(); // frames are no sign
        assert_eq!(mesh.subscribers(&address), 3);
    }
    advance(MINUTE).await;
    settle().await;
    assert_eq!(mesh.subscribers(&address), 1);

    // R26: the one that is there all the same finds out by its next beat.
    let mut news =
        [mesh.news(&address, silent.stream_id()), mesh.news(&address, beating.stream_id())];
    mesh.beat(&address, silent.stream_id());
    mesh.beat(&address, beating.stream_id());
    settle().await;
    let owner = mesh.activation_of(&address);
    assert_eq!(told(&mut news[0]), [News::NotServing(owner)]);
    assert_eq!(told(&mut news[1]), []);
    drop(fault);
    drop(beating);
    settle().await;
    assert_eq!(mesh.subscribers(&address), 0);
}

/// R44: a late goodbye of the one before names an ask that is served no more.
#[tokio::test(start_paused = true)]
async fn a_late_goodbye_of_a_refreshed_predecessor_hits_no_successor() {
    let (mesh, address) = mesh();
    let stream = StreamId::mint();
    let first = mesh.subscribe(&address, stream).await.unwrap().into_stream();
    let mut second = mesh.subscribe(&address, stream).await.unwrap().into_stream();
    drop(first);
    mesh.write(&address, 2).await.unwrap();
    assert_eq!(items(&mut second), [(1, 1, 1), (2, 2, 2)]);
    assert_eq!(mesh.subscribers(&address), 1);

    // Nor one on the next activation.
    let owner = mesh.recycle(&address).unwrap();
    torn_down(&mesh, &owner).await;
    let mut third = mesh.subscribe(&address, stream).await.unwrap().into_stream();
    drop(second);
    mesh.write(&address, 3).await.unwrap();
    assert_eq!(items(&mut third), [(1, 2, 2), (2, 3, 3)]);
    drop(third);
    settle().await;
    assert_eq!(mesh.subscribers(&address), 0);
}

/// R44: several asks of one stream are held, one is registered, and the state comes before each answer.
#[tokio::test(start_paused = true)]
async fn answers_are_held_until_there_is_a_state() {
    let (mesh, address) = mesh();
    let fault = mesh.hold_state(&address);
    assert!(fault.is_in_force());
    let stream = StreamId::mint();
    let (mut first, mut second) = (ask(&mesh, &address, stream), ask(&mesh, &address, stream));
    let mut other = ask(&mesh, &address, StreamId::mint());
    let dropped = ask(&mesh, &address, StreamId::mint());
    advance(9 * MINUTE).await;
    settle().await;
    for held in [&mut first, &mut second, &mut other] {
        assert!(held.now_or_never().is_none());
    }
    assert_eq!(mesh.subscribers(&address), 3);
    drop(dropped);
    mesh.store(&address, 5);
    drop(fault);

    let (mut first, mut second) = (in_time(first).await.unwrap(), in_time(second).await.unwrap());
    assert_eq!(second.size_hint().0, 1, "the state came first");
    let mut other = in_time(other).await.unwrap();
    assert_eq!(items(&mut second), [(1, 2, 5)]);
    assert_eq!(items(&mut other), [(1, 2, 5)]);
    assert!(is_silent(&mut first) && items(&mut first).is_empty());
    assert_eq!(mesh.subscribers(&address), 2);
    drop(first);
    mesh.write(&address, 6).await.unwrap();
    assert_eq!(items(&mut second), [(2, 3, 6)]);
    assert_eq!(mesh.subscribers(&address), 2);
}

/// The first frame is part of the answer: what loses frames does not lose it, held or not.
#[tokio::test(start_paused = true)]
async fn the_first_frame_is_not_lost() {
    let (mesh, address) = mesh();
    let lossy = mesh.drop_frames(&address);
    let fault = mesh.hold_state(&address);
    let held = ask(&mesh, &address, StreamId::mint());
    settle().await;
    drop(fault);
    let mut held = in_time(held).await.unwrap();
    let mut late = subscribe(&mesh, &address).await;
    mesh.write(&address, 2).await.unwrap();
    assert_eq!((items(&mut held), items(&mut late)), (vec![(1, 1, 1)], vec![(1, 1, 1)]));
    drop(lossy);
    mesh.write(&address, 3).await.unwrap();
    assert_eq!((items(&mut held), items(&mut late)), (vec![(3, 3, 3)], vec![(3, 3, 3)]));
}

/// R44: the held answer of a stream that ends first is a refusal, by the owner.
#[tokio::test(start_paused = true)]
async fn a_held_ask_of_an_owner_that_ends_is_refused() {
    type End = fn(&Mesh<u64>, &Address) -> Option<Activation>;
    let ends: [(End, &str); 3] = [
        (|mesh, address| mesh.recycle(address), "recycle,"),
        (|mesh, address| mesh.dispose(address), "dispose,"),
        (|mesh, address| mesh.delete(address), "deletion,"),
    ];
    for (end, detail) in ends {
        let (mesh, address) = mesh();
        let _fault = mesh.hold_state(&address);
        let stream = StreamId::mint();
        let mut news = mesh.news(&address, stream);
        let asks = [ask(&mesh, &address, stream), ask(&mesh, &address, stream)];
        settle().await;
        let began = Instant::now();
        let owner = end(&mesh, &address).unwrap();
        for refusal in join_all(asks).await.into_iter().map(Result::unwrap_err) {
            is_by_owner(&refusal, &address, &owner);
            assert!(refusal.message.contains("cannot finish SubscribeRequest. The"), "{refusal}");
            assert!(refusal.message.contains(detail), "{refusal}");
            assert!(
                !refusal.message.contains("RunLevel=Dead"),
                "refused while it lived: {refusal}"
            );
        }
        assert_eq!(began.elapsed(), 2 * SECOND); // R38: it waited for its replies
        assert_eq!(mesh.subscribers(&address), 0);
        torn_down(&mesh, &owner).await;
        settle().await;
        let ended = News::Ended(Some(owner));
        let told = told(&mut news);
        assert_eq!(told.contains(&ended), detail != "dispose,", "{told:?}");
    }
}

/// R32, R44: who was killed answers nothing; the route does for it, at once.
#[tokio::test(start_paused = true)]
async fn a_held_ask_of_a_killed_owner_is_refused_by_the_route() {
    let (mesh, address) = mesh();
    let _fault = mesh.hold_state(&address);
    let held = ask(&mesh, &address, StreamId::mint());
    settle().await;
    mesh.kill(&address);
    let began = Instant::now();
    let refusal = in_time(held).await.unwrap_err();
    is_by_route(&refusal, &address, "Host");
    assert_eq!((refusal.never_applied, began.elapsed()), (Some(false), Duration::ZERO));
}

#[tokio::test(start_paused = true)]
async fn a_held_ask_without_a_sign_of_life_is_refused() {
    let (mesh, address) = mesh();
    let _fault = mesh.hold_state(&address);
    let held = ask(&mesh, &address, StreamId::mint());
    let began = Instant::now();
    let refusal = timeout(11 * MINUTE, held).await.expect("released").unwrap_err();
    is_by_owner(&refusal, &address, &mesh.activation_of(&address).unwrap());
    assert_eq!(began.elapsed(), 10 * MINUTE);
}

/// More asks of one stream than an owner holds: the oldest is refused, and no goodbye of it ends it.
#[tokio::test(start_paused = true)]
async fn an_owner_holds_sixteen_answers_of_a_stream() {
    let (mesh, address) = mesh();
    let fault = mesh.hold_state(&address);
    let stream = StreamId::mint();
    let mut asks: Vec<_> = (0..18).map(|_| ask(&mesh, &address, stream)).collect();
    settle().await;
    for refused in asks.drain(..2) {
        assert!(refused.now_or_never().expect("refused").is_err());
    }
    assert_eq!(mesh.subscribers(&address), 1);
    drop(fault);
    let answers = join_all(asks).await;
    assert!(answers.iter().all(Result::is_ok));
    assert_eq!(mesh.subscribers(&address), 1);
}

/// Takes the answer in the very wake-up that tells of it.
struct Takes {
    ask: Mutex<BoxFuture<'static, Result<Subscription<u64>, Refusal>>>,
    found: Mutex<Option<usize>>,
}

impl Wake for Takes {
    fn wake(self: Arc<Self>) {
        let cx = &mut Context::from_waker(Waker::noop());
        if let Poll::Ready(Ok(prices)) = self.ask.lock().unwrap().poll_unpin(cx) {
            *self.found.lock().unwrap() = Some(prices.size_hint().0);
        }
    }
}

/// R44: whoever hears the acknowledgement has the state, however fast it is.
#[tokio::test(start_paused = true)]
async fn the_state_is_there_before_the_acknowledgement() {
    for is_held in [false, true] {
        let (mesh, address) = mesh();
        let hold = is_held.then(|| mesh.hold_state(&address));
        let asking = ask(&mesh, &address, StreamId::mint()).boxed();
        let takes = Arc::new(Takes { ask: Mutex::new(asking), found: Mutex::default() });
        let waker = Waker::from(Arc::clone(&takes));
        let cx = &mut Context::from_waker(&waker);
        assert!(takes.ask.lock().unwrap().poll_unpin(cx).is_pending());
        settle().await;
        assert_eq!(takes.found.lock().unwrap().is_none(), is_held);
        drop(hold);
        settle().await;
        assert_eq!(*takes.found.lock().unwrap(), Some(1));
    }
}

/// R43: what an owner ends while it lives, it announces itself, so that a reader without beats, who listens all
/// the same, is not left behind.
#[tokio::test(start_paused = true)]
async fn a_release_for_idleness_is_announced_to_whom_it_releases() {
    let (mesh, address) = mesh();
    let silent = subscribe(&mesh, &address).await;
    let beating = subscribe(&mesh, &address).await;
    let mut news = [&silent, &beating].map(|prices| mesh.news(&address, prices.stream_id()));
    for _ in 0..9 {
        advance(MINUTE).await;
        mesh.beat(&address, beating.stream_id());
        settle().await;
    }
    assert_eq!((told(&mut news[0]), mesh.subscribers(&address)), (vec![], 2));
    advance(MINUTE).await;
    settle().await;
    let owner = mesh.activation_of(&address);
    assert_eq!((told(&mut news[0]), mesh.subscribers(&address)), (vec![News::Ended(owner)], 1));
    assert_eq!(told(&mut news[1]), []);
}

/// However much it is: tokio lets a task take no more than its share of a channel at once.
#[tokio::test(start_paused = true)]
async fn what_was_sent_before_the_end_of_the_mesh_comes_before_it() {
    let (mesh, address) = mesh();
    let mut prices = subscribe(&mesh, &address).await;
    for value in 2..=1_000 {
        mesh.write(&address, value).await.unwrap();
    }
    drop(mesh);
    for expected in 1..=1_000 {
        assert_eq!(value(&mut prices).await, expected);
    }
    assert!(in_time(prices.next()).await.unwrap().is_err());
    assert!(in_time(prices.next()).await.is_none());
}
