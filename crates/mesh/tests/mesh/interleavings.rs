//! Who rolls, who closes and who comes back, in any order: nobody is evicted but who is closed (R49, R50).
//!
//! A model beside the mesh says, of each push, how many refusals it meets, whom it evicts, and who has the
//! value then.

use std::collections::BTreeMap;

use futures::future::LocalBoxFuture;
use rideout::rider::Answer;
use rideout_mesh::Mesh;
use tokio::task::{JoinHandle, unconstrained};

use crate::*;

const SEEDS: u64 = 2_000;
const STEPS: usize = 50;
const READERS: usize = 4;
const TOMBSTONE: Duration = Duration::from_secs(600);

/// How a subscription is dropped.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Drop {
    /// With its process, which is rolled: nobody hears of it.
    Roll,
    /// Closed, and its owner does not hear of it.
    Unheard,
    /// Closed, and its owner hears of it as soon as the route leads there.
    Heard,
}

/// A registration at the owner, and since when its reader is gone; closed, or for a roll.
struct Entry {
    registration: u64,
    gone: Option<(Drop, Instant)>,
}

/// A write that waits, with what holds it, and its value.
type Parked = (FaultGuard<u64>, JoinHandle<Result<u64, Refusal>>, u64);

#[derive(Debug, Default)]
struct Happened {
    pushes: u64,
    promises: u64,
    evicted: u64,
    back_from_a_roll: u64,
    late: u64,
    owed: u64,
    given_up: u64,
    held: u64,
    refused_asks: u64,
    parked: u64,
    forgotten: u64,
    live: u64,
}

struct Model<'a> {
    rng: fastrand::Rng,
    happened: &'a mut Happened,
    mesh: Mesh<u64>,
    address: Address,
    streams: Vec<StreamId>,
    // What each reader holds, with the number of the registration that it is of.
    readers: Vec<Option<(Subscription<u64>, u64)>>,
    // What was replaced, and is dropped later.
    late: Vec<(usize, Subscription<u64>, u64)>,
    served: BTreeMap<usize, Entry>,
    owed: Vec<(usize, u64)>,
    routes: Vec<FaultGuard<u64>>,
    parked: Option<Parked>,
    registrations: u64,
    latest: u64,
    // Of the current owner: promises, and evictions.
    counts: (u64, u64),
}

impl<'a> Model<'a> {
    fn new(seed: u64, happened: &'a mut Happened) -> Self {
        let (mesh, address) = mesh();
        mesh.set_idle_release(Duration::MAX);
        Self {
            rng: fastrand::Rng::with_seed(seed),
            happened,
            mesh,
            address,
            streams: (0..READERS).map(|_| StreamId::mint()).collect(),
            readers: (0..READERS).map(|_| None).collect(),
            late: Vec::new(),
            served: BTreeMap::new(),
            owed: Vec::new(),
            routes: Vec::new(),
            parked: None,
            registrations: 0,
            latest: 1,
            counts: (0, 0),
        }
    }

    async fn step(&mut self) {
        let reader = self.rng.usize(..READERS);
        match self.rng.u32(..22) {
            0..5 => self.ask(reader).await,
            5 => self.ask_and_give_up(reader).await,
            6 => self.hold().await,
            7..10 => {
                let how = [Drop::Roll, Drop::Unheard, Drop::Heard][self.rng.usize(..3)];
                self.close(reader, how);
            }
            10 => self.drop_late(),
            11 if self.rng.bool() => self.restart().await,
            11 => {}
            // Open more often than not.
            12 if !self.routes.is_empty() || self.rng.bool() => self.turn_route(),
            12 => {}
            13 | 14 => self.park().await,
            15 => {
                let time = [SECOND / 100, SECOND, 7 * SECOND, 7 * SECOND, 250 * SECOND, TOMBSTONE];
                advance(time[self.rng.usize(..6)]).await;
                settle().await;
            }
            _ => self.push().await,
        }
        // What was said is heard.
        settle().await;
        let mut served = self.mesh.streams(&self.address);
        let mut expected: Vec<_> = self.served.keys().map(|it| self.streams[*it]).collect();
        served.sort();
        expected.sort();
        assert_eq!(served, expected);
    }

    /// A reader asks, by the stream that it always asks by.
    async fn ask(&mut self, reader: usize) {
        let answer = in_time(self.mesh.subscribe(&self.address, self.streams[reader])).await;
        self.answered(reader, answer);
    }

    fn answered(&mut self, reader: usize, answer: Result<Answer<Subscription<u64>>, Refusal>) {
        let Ok(answer) = answer else {
            self.happened.refused_asks += 1;
            return;
        };
        self.registrations += 1;
        let entry = Entry { registration: self.registrations, gone: None };
        let before = self.served.insert(reader, entry);
        let rolled = before.is_some_and(|it| matches!(it.gone, Some((Drop::Roll, _))));
        self.happened.back_from_a_roll += u64::from(rolled);
        let newest = (answer.into_stream(), self.registrations);
        if let Some((subscription, registration)) = self.readers[reader].replace(newest) {
            self.late.push((reader, subscription, registration));
        }
    }

    /// It is served, for a moment; whatever it held before is replaced by that.
    async fn ask_and_give_up(&mut self, reader: usize) {
        let ask = self.mesh.subscribe(&self.address, self.streams[reader]);
        if ask.now_or_never().is_none() {
            settle().await;
            self.served.remove(&reader);
            self.happened.given_up += 1;
        }
    }

    /// An owner that starts has no state for a while: answers are held, and some are given up.
    async fn hold(&mut self) {
        if self.mesh.activation_of(&self.address).is_some() {
            return;
        }
        let hold = self.mesh.hold_state(&self.address);
        let mut asks: Vec<(usize, LocalBoxFuture<'static, _>)> = Vec::new();
        for reader in 0..READERS {
            let (mesh, address, stream) =
                (self.mesh.clone(), self.address.clone(), self.streams[reader]);
            let mut ask = async move { mesh.subscribe(&address, stream).await }.boxed_local();
            if (&mut ask).now_or_never().is_none() && self.rng.u32(..4) > 0 {
                asks.push((reader, ask));
            }
            if self.rng.bool() {
                settle().await;
            }
        }
        settle().await;
        if self.rng.u32(..4) == 0 {
            self.restart().await;
        }
        drop(hold);
        for (reader, ask) in asks {
            let answer = in_time(ask).await;
            self.happened.held += u64::from(answer.is_ok());
            self.answered(reader, answer);
        }
        settle().await;
    }

    fn close(&mut self, reader: usize, how: Drop) {
        if let Some((subscription, registration)) = self.readers[reader].take() {
            self.drop_it(reader, subscription, registration, how);
        }
    }

    /// What was replaced is dropped late: nobody is hit.
    fn drop_late(&mut self) {
        if self.late.is_empty() {
            return;
        }
        let at = self.rng.usize(..self.late.len());
        let (reader, subscription, registration) = self.late.swap_remove(at);
        let how = [Drop::Roll, Drop::Unheard, Drop::Heard][self.rng.usize(..3)];
        self.happened.late += 1;
        self.drop_it(reader, subscription, registration, how);
    }

    fn drop_it(
        &mut self,
        reader: usize,
        subscription: Subscription<u64>,
        registration: u64,
        how: Drop,
    ) {
        let unheard = (how != Drop::Heard).then(|| self.mesh.drop_goodbyes(&self.address));
        let unknown = (how == Drop::Roll).then(|| self.mesh.forget_releases(&self.address));
        drop(subscription);
        drop((unheard, unknown));

        let newest = self.served.get_mut(&reader).filter(|it| it.registration == registration);
        let Some(entry) = newest else { return };
        if how == Drop::Heard && self.routes.is_empty() {
            self.served.remove(&reader);
            return;
        }
        entry.gone = Some((how, Instant::now()));
        if how == Drop::Heard {
            self.owed.push((reader, registration));
            self.happened.owed += 1;
        }
    }

    /// The owner ends; none comes before some time is over.
    async fn restart(&mut self) {
        let ended = match self.rng.bool() {
            true => self.mesh.recycle(&self.address),
            false => self.mesh.kill(&self.address),
        };
        settle().await;
        // It waits so long for what it has accepted, and serves.
        advance(2 * SECOND).await;
        settle().await;
        if ended.is_some() {
            self.served.clear();
            self.counts = (0, 0);
        }
    }

    /// The route begins to refuse, or refuses no more: then what is owed is said.
    fn turn_route(&mut self) {
        if self.routes.is_empty() {
            self.routes.push(self.mesh.refuse_route(&self.address));
            if self.rng.bool() {
                self.routes.push(self.mesh.refuse_host("host-1"));
            }
            return;
        }
        let at = self.rng.usize(..self.routes.len());
        drop(self.routes.swap_remove(at));
        if self.routes.is_empty() {
            for (reader, registration) in std::mem::take(&mut self.owed) {
                if self.served.get(&reader).is_some_and(|it| it.registration == registration) {
                    self.served.remove(&reader);
                }
            }
        }
    }

    /// A write waits at the owner, or goes on: so the owner pushes while the route refuses.
    async fn park(&mut self) {
        if let Some((hold, write, value)) = self.parked.take() {
            drop(hold);
            settle().await;
            if in_time(write).await.unwrap().is_ok() {
                self.happened.parked += 1;
                self.pushed(value);
            }
        } else {
            let hold = self.mesh.hold_store(&self.address);
            let (mesh, address, value) =
                (self.mesh.clone(), self.address.clone(), self.rng.u64(..));
            let write = tokio::spawn(async move { mesh.write(&address, value).await });
            settle().await;
            self.parked = Some((hold, write, value));
        }
    }

    async fn push(&mut self) {
        if self.parked.is_some() {
            return self.park().await;
        }
        let value = self.rng.u64(..);
        if in_time(self.mesh.write(&self.address, value)).await.is_ok() {
            self.pushed(value);
        }
    }

    /// The owner has pushed a value to all that it serves.
    fn pushed(&mut self, value: u64) {
        self.latest = value;
        self.happened.pushes += 1;
        let (mut promises, mut evicted) = (0, 0);
        self.served.retain(|_, entry| match entry.gone {
            None => true,
            Some((Drop::Unheard | Drop::Heard, at)) if at.elapsed() < TOMBSTONE => {
                evicted += 1;
                false
            }
            Some((how, _)) => {
                promises += 1;
                self.happened.forgotten += u64::from(how != Drop::Roll);
                true
            }
        });
        self.happened.promises += promises;
        self.happened.evicted += evicted;
        self.counts = (self.counts.0 + promises, self.counts.1 + evicted);
        let counts = self.mesh.evictions(&self.address);
        assert_eq!((counts.promises, counts.evicted, counts.verdicts), {
            let (promises, evicted) = self.counts;
            (promises, evicted, evicted)
        });
        for (reader, held) in self.readers.iter_mut().enumerate() {
            let Some((prices, registration)) = held else { continue };
            if self.served.get(&reader).is_some_and(|it| it.registration == *registration) {
                let mut last = None;
                while let Some(Some(Ok(price))) = unconstrained(prices.next()).now_or_never() {
                    last = Some(price.value);
                }
                assert_eq!(last, Some(value), "reader {reader} is live");
                self.happened.live += 1;
            }
        }
    }

    /// All are back, and have the latest value.
    async fn settles(&mut self) {
        while !self.routes.is_empty() {
            self.turn_route();
        }
        if self.parked.is_some() {
            self.park().await;
        }
        advance(10 * SECOND).await;
        settle().await;
        for reader in 0..READERS {
            self.ask(reader).await;
        }
        self.push().await;
        assert_eq!(self.served.len(), READERS);
        assert_eq!(self.mesh.read(&self.address).await.unwrap().value, self.latest);
    }
}

#[tokio::test(start_paused = true)]
async fn nobody_is_evicted_but_who_is_closed() {
    let mut happened = Happened::default();
    for seed in 0..SEEDS {
        let mut model = Model::new(seed, &mut happened);
        let run = std::panic::AssertUnwindSafe(async {
            for _ in 0..STEPS {
                model.step().await;
            }
            model.settles().await;
        });
        if let Err(panic) = run.catch_unwind().await {
            eprintln!("seed {seed}");
            std::panic::resume_unwind(panic);
        }
    }
    let Happened { pushes, promises, evicted, back_from_a_roll, late, owed, .. } = happened;
    let Happened { given_up, held, refused_asks, parked, forgotten, live, .. } = happened;
    let mut counts = [
        pushes,
        promises,
        evicted,
        back_from_a_roll,
        late,
        owed,
        given_up,
        held,
        refused_asks,
        parked,
        forgotten,
        live,
    ]
    .into_iter();
    assert!(counts.all(|it| it > SEEDS / 100), "{happened:?}");
}
