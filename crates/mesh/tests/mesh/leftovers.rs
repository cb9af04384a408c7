//! Nothing outlives its mesh, in whatever state that is dropped; and nothing of the user's runs under a
//! lock of the mesh's.

use std::{
    pin::Pin,
    sync::{Mutex, Weak},
};

use cooked_waker::IntoWaker;

use crate::*;

type Kept = Box<dyn std::any::Any>;

/// What is done to a mesh before it is dropped, and what is kept beyond it.
type State = fn(&Mesh<u64>, &Address) -> Vec<Kept>;

fn kept<T: 'static>(it: T) -> Vec<Kept> {
    vec![Box::new(it)]
}

fn states() -> Vec<(&'static str, State)> {
    vec![
        ("served", |_, _| vec![]),
        ("hold route", |mesh, address| kept(mesh.hold_route(address))),
        ("refuse route", |mesh, address| kept(mesh.refuse_route(address))),
        ("refuse door", |mesh, address| kept(mesh.refuse_door(address))),
        ("hold store", |mesh, address| kept(mesh.hold_store(address))),
        ("drop frames", |mesh, address| kept(mesh.drop_frames(address))),
        ("drop goodbyes", |mesh, address| kept(mesh.drop_goodbyes(address))),
        ("silence feed", |mesh, address| kept((mesh.silence_feed(address), mesh.changes(address)))),
        ("refuse host", |mesh, _| kept(mesh.refuse_host("host-1"))),
        ("linger host", |mesh, _| kept(mesh.linger_host("host-1"))),
        ("drain host", |mesh, _| kept(mesh.drain_host("host-1"))),
        ("drain to another", |mesh, _| {
            mesh.add_host("host-2");
            kept(mesh.drain_host("host-1"))
        }),
        ("kill host", |mesh, _| kept(mesh.kill_host("host-1"))),
        ("host back", |mesh, _| {
            drop(mesh.linger_host("host-1"));
            vec![]
        }),
        ("kill", |mesh, address| kept(mesh.kill(address))),
        ("recycle", |mesh, address| kept(mesh.recycle(address))),
        ("dispose", |mesh, address| kept(mesh.dispose(address))),
        ("delete", |mesh, address| kept(mesh.delete(address))),
        ("land", |mesh, address| kept(mesh.land(std::slice::from_ref(address)))),
        ("recycle the parent", |mesh, _| kept(mesh.recycle(&address("prices")))),
        ("wedged", |mesh, address| {
            mesh.set_watchdog(Duration::MAX);
            mesh.set_teardown(Duration::MAX);
            kept(mesh.recycle(address))
        }),
        ("next one without a state", |mesh, address| {
            let fault = mesh.hold_state(address);
            mesh.kill(address);
            mesh.set_lease(Duration::ZERO);
            kept(fault)
        }),
        ("slow way", |mesh, address| {
            mesh.set_latency(Duration::MAX);
            mesh.beat(address, StreamId::mint());
            vec![]
        }),
    ]
}

fn family() -> (Mesh<u64>, Address) {
    let (mesh, child) = mesh();
    mesh.store(&address("prices"), 1);
    mesh.activate(&address("prices")).unwrap();
    mesh.activate(&child).unwrap();
    (mesh, child)
}

#[tokio::test(start_paused = true)]
async fn no_task_outlives_its_mesh_whatever_was_done_to_it() {
    for (name, state) in states() {
        for settled in [false, true] {
            let (mesh, address) = family();
            let prices = subscribe(&mesh, &address).await;
            let news = mesh.news(&address, prices.stream_id());
            settle().await;
            assert!(Handle::current().metrics().num_alive_tasks() >= 2);
            let kept = state(&mesh, &address);
            if settled {
                let ask = mesh.subscribe(&address, StreamId::mint());
                drop(timeout(SECOND / 10, ask).await);
                advance(SECOND / 2).await;
                settle().await;
            }
            drop(mesh);
            settle().await;
            let left = Handle::current().metrics().num_alive_tasks();
            assert_eq!(left, 0, "{name}, settled: {settled}");
            drop((kept, prices, news));
        }
    }
}

/// A rider holds the mesh weakly in every state, also while it asks.
#[tokio::test(start_paused = true)]
async fn no_task_outlives_its_mesh_for_the_sake_of_a_rider() {
    for (name, state) in states() {
        for is_live in [false, true] {
            let (mesh, address) = family();
            let mut prices = mesh.ride_out(&address);
            if is_live {
                assert!(in_time(prices.try_next()).await.unwrap().is_some());
            }
            let kept = state(&mesh, &address);
            if name == "next one without a state" {
                // Nobody tells a live rider of a kill but its beat.
                drop(timeout(6 * SECOND, prices.try_next()).await);
                advance(5 * SECOND).await;
            }
            for _ in 0..20 {
                drop(prices.next().now_or_never());
                settle().await;
            }
            drop(mesh);
            settle().await;
            let left = Handle::current().metrics().num_alive_tasks();
            assert_eq!(left, 0, "{name}, live: {is_live}");

            if name == "delete" || name == "slow way" {
                continue; // a verdict, and a way that takes for ever
            }
            // And then the route refuses, until the rider gives up on it.
            let end = loop {
                match in_time(prices.try_next()).await {
                    Ok(Some(_)) => {}
                    end => break end,
                }
            };
            let error = end.expect_err("it gives up");
            assert_eq!(
                error.gave_up().expect("no verdict").key,
                Key::Route,
                "{name}, live: {is_live}"
            );
            drop(kept);
        }
    }
}

/// A value of the user's, whose clone and drop call back into the mesh.
struct Calls {
    mesh: Weak<Mutex<Option<Mesh<Calls>>>>,
    value: u64,
}

impl Calls {
    fn back(&self) {
        let Some(shared) = self.mesh.upgrade() else { return };
        // Not while the test itself holds it: then nothing of the mesh is running.
        let Some(mesh) = shared.try_lock().ok().and_then(|it| it.clone()) else { return };
        call(&mesh);
    }
}

/// Calls all that can be called without waiting.
fn call<T: Send + Sync + 'static>(mesh: &Mesh<T>) {
    let address = address("prices/eur");
    drop(mesh.activation_of(&address));
    mesh.asks(&address);
    mesh.subscribers(&address);
    drop((mesh.changes(&address), mesh.news(&address, StreamId::mint())));
    drop((mesh.hold_store(&address), mesh.refuse_route(&address)));
    mesh.delete(&self::address("rates/chf")); // nothing is there
    mesh.add_host("host-1");
    drop(format!("{mesh:?}"));
    if Handle::try_current().is_ok() {
        mesh.beat(&address, StreamId::mint());
    }
}

impl Clone for Calls {
    fn clone(&self) -> Self {
        self.back();
        Calls { mesh: Weak::clone(&self.mesh), value: self.value }
    }
}

impl Drop for Calls {
    fn drop(&mut self) {
        self.back();
    }
}

#[tokio::test(start_paused = true)]
async fn a_value_may_call_back_in_its_clone_and_in_its_drop() {
    let shared = Arc::new(Mutex::new(Some(Mesh::new())));
    let mesh: Mesh<Calls> = shared.lock().unwrap().clone().unwrap();
    let address = address("prices/eur");
    let make = |value| Calls { mesh: Arc::downgrade(&shared), value };
    for value in 1..3 {
        mesh.store(&address, make(value));
    }
    let mut prices = mesh.subscribe(&address, StreamId::mint()).await.unwrap().into_stream();
    mesh.write(&address, make(3)).await.unwrap_or_else(|it| panic!("{it}"));
    mesh.patch(&address, |it| it.value += 1).await.unwrap_or_else(|it| panic!("{it}"));
    assert_eq!(mesh.read(&address).await.unwrap_or_else(|it| panic!("{it}")).value.value, 4);
    for expected in [2, 3, 4] {
        assert_eq!(in_time(prices.next()).await.unwrap().unwrap().value.value, expected);
    }
    // One that nobody but the store holds is replaced.
    mesh.store(&address, make(4));
    mesh.write(&address, make(4)).await.unwrap_or_else(|it| panic!("{it}"));
    // What waits holds values too: refused at the door, parked, in the mailbox, killed with its owner.
    let fault = mesh.hold_store(&address);
    let mut parked = mesh.write(&address, make(5)).boxed();
    assert!((&mut parked).now_or_never().is_none());
    settle().await;
    let mut queued = mesh.write(&address, make(6)).boxed();
    assert!((&mut queued).now_or_never().is_none());
    mesh.recycle(&address);
    assert!(parked.await.is_err() && queued.await.is_err());
    assert!(mesh.write(&address, make(7)).await.is_err());
    drop(fault);
    mesh.store(&address, make(8));
    advance(2 * SECOND).await;
    settle().await;
    let fault = mesh.hold_store(&address);
    let mut killed = mesh.write(&address, make(9)).boxed();
    assert!((&mut killed).now_or_never().is_none());
    settle().await;
    mesh.kill(&address);
    assert!(killed.await.is_err());
    mesh.delete(&address);
    assert!(mesh.write(&address, make(10)).await.is_err());
    drop((fault, prices));
    // The last handle but the shared one, whose values go with it.
    drop(mesh);
    let last = shared.lock().unwrap().take();
    drop(last);
    settle().await;
    assert_eq!(Handle::current().metrics().num_alive_tasks(), 0);
}

/// A waker of the user's, whose clone, wake and drop call back into the mesh.
struct Comes(Mesh<u64>);

impl Clone for Comes {
    fn clone(&self) -> Self {
        call(&self.0);
        Comes(self.0.clone())
    }
}

impl Drop for Comes {
    fn drop(&mut self) {
        call(&self.0);
    }
}

impl cooked_waker::WakeRef for Comes {
    fn wake_by_ref(&self) {
        call(&self.0);
    }
}

impl cooked_waker::Wake for Comes {}

#[tokio::test(start_paused = true)]
async fn a_waker_may_call_back() {
    let acts: [fn(&Mesh<u64>, &Address); 9] = [
        |mesh, address| drop(mesh.recycle(address)),
        |mesh, address| drop(mesh.dispose(address)),
        |mesh, address| drop(mesh.delete(address)),
        |mesh, address| drop(mesh.kill(address)),
        |mesh, address| drop(mesh.land(std::slice::from_ref(address))),
        |mesh, _| drop(mesh.linger_host("host-1")),
        |mesh, _| {
            mesh.add_host("host-2");
            drop(mesh.drain_host("host-1"));
        },
        |mesh, _| drop(mesh.kill_host("host-1")),
        |mesh, address| {
            mesh.set_lease(Duration::ZERO);
            mesh.kill(address);
            drop(mesh.activate(address));
        },
    ];
    for act in acts {
        let (mesh, address) = mesh();
        let waker = Box::new(Comes(mesh.clone())).into_waker();
        let cx = &mut Context::from_waker(&waker);
        let mut prices = subscribe(&mesh, &address).await;
        assert_eq!(value(&mut prices).await, 1);
        let mut news = mesh.news(&address, prices.stream_id());
        let mut changes = mesh.changes(&address);
        let mut join = mesh.teardown_of(prices.activation()).unwrap();
        let mut wave = mesh.land(&[self::address("rates/chf")]);
        let hold = mesh.hold_store(&address);
        let mut parked = mesh.write(&address, 2).boxed();
        assert!(prices.poll_next_unpin(cx).is_pending());
        assert!(news.poll_next_unpin(cx).is_pending());
        assert!(changes.poll_next_unpin(cx).is_pending());
        assert!(join.poll_unpin(cx).is_pending());
        assert!(Pin::new(&mut wave).poll(cx).is_ready());
        assert!(parked.poll_unpin(cx).is_pending());
        settle().await;

        act(&mesh, &address);
        settle().await;
        drop(hold);
        advance(3 * SECOND).await;
        settle().await;
        // The write goes through its owner's wake, or its end.
        let _ = parked.poll_unpin(cx);
        // A listener that is gone is forgotten when the next one comes.
        drop((news, changes, prices, join));
        drop((mesh.news(&address, StreamId::mint()), mesh.changes(&address)));
        drop(in_time(mesh.write(&address, 3)).await);
    }
}

/// An owner lives on the runtime of the ask that started it, and is spoken to from any other.
#[test]
fn owners_on_two_runtimes_are_one_mesh() {
    let runtime = || {
        tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap()
    };
    let (one, other) = (runtime(), runtime());
    let (mesh, child) = mesh();
    let parent = address("prices");
    mesh.store(&parent, 1);
    mesh.set_lease(Duration::ZERO);
    mesh.set_teardown(Duration::ZERO);
    one.block_on(async { drop(subscribe(&mesh, &parent).await) });
    let mut prices = other.block_on(subscribe(&mesh, &child));
    assert_eq!(other.block_on(value(&mut prices)), 1);

    // The parent's runtime goes: the child lives, and starts the next parent on its own.
    drop(one);
    assert_eq!(other.block_on(mesh.write(&child, 2)), Ok(2));
    let next = other.block_on(subscribe(&mesh, &parent));
    let lost = mesh.teardown_of(next.activation()).is_some();
    assert!(lost, "the one that lives can be observed");
    other.block_on(async {
        mesh.recycle(&parent);
        torn_down(&mesh, next.activation()).await;
        assert_eq!(mesh.activation_of(&child).as_ref(), Some(prices.activation()));
        mesh.recycle(&child);
        torn_down(&mesh, prices.activation()).await;
        assert!(mesh.subscribe(&child, StreamId::mint()).await.is_ok());
    });

    // Guards may come and go where there is no runtime at all.
    drop((mesh.hold_state(&child), mesh.hold_store(&child), mesh.linger_host("host-1")));
    other.block_on(async {
        advance(60 * SECOND).await;
        settle().await;
        assert!(mesh.subscribe(&child, StreamId::mint()).await.is_ok());
    });
    drop(mesh);
    other.block_on(settle());
    assert_eq!(other.metrics().num_alive_tasks(), 0);
}

pub(super) struct Panics;

impl Wake for Panics {
    fn wake(self: Arc<Self>) {
        panic!("a waker that panics");
    }
}

/// The panic reaches who speaks, after all others have heard.
#[tokio::test(start_paused = true)]
async fn a_waker_that_panics_keeps_no_news_from_others() {
    let (mesh, address) = mesh();
    let waker = Waker::from(Arc::new(Panics));
    let [mut first, mut second] = [(); 2].map(|()| mesh.news(&address, StreamId::mint()));
    assert!(first.poll_next_unpin(&mut Context::from_waker(&waker)).is_pending());
    assert_eq!(told(&mut second), []);
    let activate = std::panic::AssertUnwindSafe(|| mesh.activate(&address));
    assert!(std::panic::catch_unwind(activate).is_err());
    let owner = mesh.activation_of(&address).expect("it was started");
    assert_eq!(told(&mut second), [News::Arrived(owner.clone())]);
    assert_eq!(told(&mut first), [News::Arrived(owner.clone())]);
    assert_eq!(subscribe(&mesh, &address).await.activation(), &owner);
}
