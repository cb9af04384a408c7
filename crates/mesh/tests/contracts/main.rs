//! What the streams and the requests of the embedded mesh keep: in virtual time, each beside a mesh that
//! lives on.

mod harness;
mod list;
mod sent;
mod support;

use std::{
    cell::RefCell,
    pin::Pin,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    task::{Context, Poll},
    time::Duration,
};

use futures::{Stream, StreamExt, stream::FusedStream};
use harness::{Case, keeps, keeps_as_a_future, outlives_panics};
use rideout::activation::StreamId;
use rideout_mesh::{Mesh, Subscription};
use support::{address, mine::Mine, ms};
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
    fn case<S>(self, subject: S, steps: Vec<fn(&Site)>) -> Case<S> {
        let (left, mut steps) = (self.clone(), steps.into_iter());
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

/// Says something, and is gone before that is heard.
fn writes_and_goes(site: &Site) {
    writes(site);
    drop(site.mesh.take());
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
            let steps: Vec<fn(&Site)> =
                vec![writes, patches, loses_a_frame, patches, writes, recycles, writes];
            site.case(prices, steps)
        });
        // An owner that lives to the end of its mesh.
        keeps(|| {
            let site = Site::new(runtime);
            let prices = site.subscribe();
            site.case(prices, vec![loses_a_frame, patches, writes_and_goes])
        });
    });
}

/// A value whose clone steps on a mine, and so does its patch: at the subscriber alone, not at the owner.
#[derive(Debug)]
struct Mined {
    value: u64,
    mine: Armed,
}

#[derive(Debug, Clone)]
struct Armed(Mine, Arc<AtomicBool>);

impl Armed {
    fn step(&self, who: &'static str) {
        if self.1.load(Relaxed) {
            self.0.step(who);
        }
    }
}

impl Clone for Mined {
    fn clone(&self) -> Self {
        self.mine.step("clone");
        Mined { value: self.value, mine: self.mine.clone() }
    }
}

/// Arms the mine while it is polled.
struct Arming<St>(St, Armed);

impl<St: Stream + Unpin> Stream for Arming<St> {
    type Item = St::Item;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<St::Item>> {
        self.1.1.store(true, Relaxed);
        self.0.poll_next_unpin(cx)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<St: FusedStream + Unpin> FusedStream for Arming<St> {
    fn is_terminated(&self) -> bool {
        self.0.is_terminated()
    }
}

/// What panics costs its own frame.
#[test]
fn a_subscription_outlives_panics() {
    within(|runtime| {
        outlives_panics(&["clone", "patch"], |mine| {
            let (armed, mesh) = (Armed(mine.clone(), Arc::default()), Mesh::new());
            let make = |value| Mined { value, mine: armed.clone() };
            mesh.store(&address(), make(1));
            let prices = runtime.block_on(async {
                let prices = mesh.subscribe(&address(), StreamId::mint()).await.expect("served");
                let patch = |it: &mut Mined| {
                    it.mine.step("patch");
                    it.value += 1;
                };
                for value in [10, 20] {
                    mesh.patch(&address(), patch).await.expect("patched");
                    mesh.write(&address(), make(value)).await.expect("written");
                }
                prices.into_stream()
            });
            let (mut items, mut last) = (0, 0);
            let prices = prices.inspect(move |update| {
                let Ok(update) = update else {
                    return assert!(items >= 4, "more than one of five is lost: {items} came");
                };
                assert!(update.value.value >= last, "{update:?}");
                (items, last) = (items + 1, update.value.value);
            });
            let (mut mesh, runtime) = (Some(mesh), Rc::clone(runtime));
            Case::new(Arming(prices, armed)).stimulus(move || {
                mesh.take();
                passes(&runtime, ms(0));
            })
        });
    });
}

/// Live, through a recycle, and then by the route until it gives up.
#[test]
fn a_rider_of_the_mesh_keeps_what_streams_keep() {
    within(|runtime| {
        keeps(|| {
            let site = Site::new(runtime);
            let (prices, going) = (site.mesh().ride_out(&address()), site.clone());
            let mut steps = [writes, patches, loses_a_frame, patches, recycles, writes].into_iter();
            let case = site.case(prices, vec![]).sound_wakers();
            case.stimulus(move || match steps.next() {
                Some(step) => step(&going),
                None => {
                    drop(going.mesh.take());
                    going.passes(ms(500));
                }
            })
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
            let steps: Vec<fn(&Site)> = vec![
                |site| drop(site.mesh().activate(&address()).expect("it is placed")),
                recycles,
                |site| {
                    drop(site.mesh().activate(&address()).expect("it is placed"));
                    drop(site.mesh.take());
                },
            ];
            site.case(news, steps)
        });
    });
}

#[test]
fn changes_keep_what_streams_keep() {
    within(|runtime| {
        keeps(|| {
            let site = Site::new(runtime);
            let changes = site.mesh().changes(&address());
            site.case(changes, vec![writes, patches, recycles, writes_and_goes])
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
            site.case(request(mesh), vec![]).stimulus(move || {
                steps += 1;
                if steps == 3 {
                    held.take();
                }
                going.passes(ms(10));
            })
        };
        keeps_as_a_future(|| case(ms(0)));
        keeps_as_a_future(|| case(ms(10)).sound_wakers());
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
