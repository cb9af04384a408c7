//! What the streams and the requests of the embedded mesh keep: in virtual time, each beside a mesh that
//! lives on.

mod contract;

use std::{
    cell::RefCell,
    pin::Pin,
    rc::Rc,
    sync::Arc,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    task::{Context, Poll},
    time::Duration,
};

use contract::{
    After, Case,
    hand_clock::{Mine, address, ms},
    keeps, keeps_as_a_future, outlives_panics,
};
use futures::{Stream, stream::FusedStream};
use rideout::{
    StreamId,
    mesh::{Mesh, Subscription},
};
use tokio::{
    runtime::{self, Runtime},
    task::yield_now,
    time::advance,
};

/// A mesh with a value at `prices/eur`, on a runtime of its own.
#[derive(Clone)]
struct Site {
    runtime: Rc<Runtime>,
    // `None` once it is dropped.
    mesh: Rc<RefCell<Option<Mesh<u64>>>>,
}

impl Site {
    fn new(runtime: &Rc<Runtime>) -> Self {
        let mesh = Mesh::new();
        mesh.store(&address(), 1);
        Site { runtime: Rc::clone(runtime), mesh: Rc::new(RefCell::new(Some(mesh))) }
    }

    fn mesh(&self) -> Mesh<u64> {
        self.mesh.borrow().clone().expect("it is there")
    }

    fn passes(&self, time: Duration) {
        passes(&self.runtime, time);
    }

    fn subscribe(&self) -> Subscription<u64> {
        let mesh = self.mesh();
        let answer = self.runtime.block_on(mesh.subscribe(&address(), StreamId::mint()));
        answer.expect("it is served").into_stream()
    }

    /// The case of `subject`: `steps` are made in turn, and then the mesh is dropped.
    fn case<S>(self, subject: S, steps: &[fn(&Site)]) -> Case<S> {
        let (left, mut steps) = (self.clone(), steps.to_vec().into_iter());
        Case::new(subject)
            .stimulus(move || {
                match steps.next() {
                    Some(step) => step(&self),
                    None => drop(self.mesh.take()),
                }
                self.passes(ms(0));
            })
            .gone(move || {
                left.passes(ms(100));
                if let Some(mesh) = left.mesh.take() {
                    assert_eq!(mesh.subscribers(&address()), 0, "it is served still");
                }
                left.passes(ms(0));
                assert_eq!(left.runtime.metrics().num_alive_tasks(), 0, "a task is left");
            })
    }
}

fn passes(runtime: &Runtime, time: Duration) {
    runtime.block_on(async {
        advance(time).await;
        for _ in 0..8 {
            yield_now().await;
        }
    });
}

/// Runs `test` in a runtime whose time stands still.
fn within(test: impl FnOnce(&Rc<Runtime>)) {
    let runtime = runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = Rc::new(runtime.expect("a runtime"));
    let _entered = runtime.enter();
    test(&runtime);
}

fn writes(site: &Site) {
    let mesh = site.mesh();
    site.runtime.block_on(mesh.write(&address(), 7)).expect("it is written");
}

fn patches(site: &Site) {
    let mesh = site.mesh();
    site.runtime.block_on(mesh.patch(&address(), |it| *it += 1)).expect("it is written");
}

fn loses_a_frame(site: &Site) {
    let fault = site.mesh().drop_frames(&address());
    writes(site);
    drop(fault);
}

fn recycles(site: &Site) {
    assert!(site.mesh().recycle(&address()).is_some());
    site.passes(ms(10_000));
}

#[test]
fn a_subscription_keeps_what_streams_keep() {
    within(|runtime| {
        keeps(|| {
            let site = Site::new(runtime);
            let prices = site.subscribe();
            site.case(prices, &[writes, patches, loses_a_frame, patches, writes, recycles, writes])
        });
    });
}

#[test]
fn news_keep_what_streams_keep() {
    within(|runtime| {
        keeps(|| {
            let site = Site::new(runtime);
            let stream = StreamId::mint();
            let news = site.mesh().news(&address(), stream);
            let steps: [fn(&Site); 3] = [
                |site| drop(site.mesh().activate(&address()).expect("it is placed")),
                recycles,
                |site| drop(site.mesh().activate(&address()).expect("it is placed")),
            ];
            site.case(news, &steps)
        });
    });
}

#[test]
fn changes_keep_what_streams_keep() {
    within(|runtime| {
        keeps(|| {
            let site = Site::new(runtime);
            let changes = site.mesh().changes(&address());
            site.case(changes, &[writes, patches, recycles, writes])
        });
    });
}

/// A request that is some time on its way, and waits for its owner's store.
fn requests<Fut: Future>(request: impl Fn(Mesh<u64>) -> Fut) {
    within(|runtime| {
        let case = |latency| {
            let site = Site::new(runtime);
            let mesh = site.mesh();
            mesh.set_latency(latency);
            let held = (mesh.hold_store(&address()), mesh.hold_state(&address()));
            let (held, going) = (RefCell::new(Some(held)), site.clone());
            let mut steps = 0;
            site.case(request(mesh), &[]).stimulus(move || {
                steps += 1;
                if steps == 3 {
                    held.take();
                }
                going.passes(ms(10));
            })
        };
        keeps_as_a_future(After::Unsaid, || case(ms(0)));
        keeps_as_a_future(After::Unsaid, || case(ms(10)).sound_wakers());
    });
}

#[test]
fn a_subscribe_keeps_what_futures_keep() {
    requests(|mesh| async move { mesh.subscribe(&address(), StreamId::mint()).await });
}

#[test]
fn a_write_keeps_what_futures_keep() {
    requests(|mesh| async move { mesh.write(&address(), 2).await });
}

#[test]
fn a_patch_keeps_what_futures_keep() {
    requests(|mesh| async move { mesh.patch(&address(), |it| *it += 1).await });
}

#[test]
fn a_read_keeps_what_futures_keep() {
    requests(|mesh| async move { mesh.read(&address()).await });
}
