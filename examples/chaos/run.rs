//! One seed: faults, then calm, then what must be so.

use std::time::Duration;

use fastrand::Rng;
use futures::FutureExt;
use rideout::{Activation, Address};
use rideout_mesh::Mesh;
use tokio::{
    runtime::{Builder, Handle},
    sync::watch,
    task::{JoinHandle, yield_now},
    time::{Instant, sleep, timeout},
};

use super::{
    args::Size,
    fault::Faults,
    outcome::{Counts, Outcome},
    reader::Reader,
    writer::{HELD, Writer, Wrong},
};

const SECOND: Duration = Duration::from_secs(1);

/// A teardown in all, at most (`R39`), by the longest watchdog that is set here.
const TEARDOWN: Duration = Duration::from_secs(32);
/// The longest lease that is set here.
const LEASE: Duration = Duration::from_secs(10);
/// Between two beats (`R26`).
const BEAT: Duration = Duration::from_secs(45);
/// A writer's last request: held behind a gate, then a teardown or a lease, and some rests.
const WRITES: Duration =
    Duration::from_secs(HELD.as_secs() + TEARDOWN.as_secs() + LEASE.as_secs() + 10);
/// A reader that nobody told: a beat that meets a lease or a teardown, the next one, then a ride.
const FOUND: Duration =
    Duration::from_secs(2 * BEAT.as_secs() + TEARDOWN.as_secs() + LEASE.as_secs() + 10);
/// A registration whose goodbye was lost (`R44b`).
const IDLE: Duration = Duration::from_secs(10 * 60 + 60);

/// Runs one seed, on a runtime and in a time of its own.
pub(crate) fn run(size: Size, seed: u64) -> Outcome {
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.expect("a runtime of one thread");
    runtime.block_on(Run::new(size, seed).run())
}

pub(crate) struct Run {
    pub(crate) mesh: Mesh<u64>,
    pub(crate) hosts: Vec<String>,
    pub(crate) addresses: Vec<Address>,
    pub(crate) readers: Vec<Reader>,
    pub(crate) writers: Vec<Writer>,
    pub(crate) outcome: Outcome,
    rng: Rng,
    size: Size,
}

impl Run {
    fn new(size: Size, seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed);
        let mesh = Mesh::new();
        mesh.set_latency(Duration::from_millis(if rng.bool() { 0 } else { rng.u64(1..50) }));
        // In one of four a teardown is wedged, in another one it may be forced.
        let wedged = rng.u8(..4) == 0;
        mesh.set_teardown(Duration::from_millis(if wedged { 200_000 } else { rng.u64(..4_000) }));
        mesh.set_watchdog(SECOND * if rng.u8(..4) == 0 { 2 } else { 8 });
        mesh.set_lease(Duration::from_secs(rng.u64(..=LEASE.as_secs())));

        let hosts: Vec<_> = (1..=size.hosts).map(|number| format!("host-{number}")).collect();
        hosts.iter().for_each(|host| mesh.add_host(host));
        let addresses: Vec<_> = (0..size.addresses).map(address).collect();
        for address in &addresses {
            mesh.store(address, 1);
        }
        let (readers, writers, outcome) = (Vec::new(), Vec::new(), Outcome::default());
        Self { mesh, hosts, addresses, readers, writers, outcome, rng, size }
    }

    async fn run(mut self) -> Outcome {
        let (calm, is_calm) = watch::channel(false);
        for number in 0..self.size.readers {
            let (calm, rng) = (is_calm.clone(), self.rng.fork());
            let reader = Reader::spawn(number, &self.mesh, &self.addresses, calm, rng);
            self.readers.push(reader);
        }
        let writing = self.addresses.iter().map(|address| {
            let writer = Writer::new(&self.mesh, address, 1);
            tokio::spawn(writer.run(is_calm.clone(), self.rng.fork()))
        });
        let writing: Vec<_> = writing.collect();
        drop(is_calm);

        let mut faults = Faults::new(&self.mesh, &self.hosts, &self.addresses, self.rng.fork());
        faults.inject(self.size.faults).await;
        faults.release().await;
        let Faults { injected, misplaced, told, .. } = faults;
        (self.outcome.faults, self.outcome.stuck) = (injected, misplaced);
        _ = calm.send(true);

        self.put_away_pens(writing).await;
        self.settle("after the last release").await;
        self.ended(&told);
        self.count().await;
        self.probe().await;
        self.drop_all().await;
        self.outcome
    }

    /// Each writer finishes what it is at.
    async fn put_away_pens(&mut self, writing: Vec<JoinHandle<Result<Writer, Wrong>>>) {
        let until = Instant::now() + WRITES;
        for (mut writing, address) in writing.into_iter().zip(&self.addresses) {
            match timeout(until - Instant::now(), &mut writing).await {
                Ok(Ok(Ok(writer))) => {
                    self.outcome.answered += writer.known.answered;
                    self.writers.push(writer);
                }
                Ok(Ok(Err(wrong))) => self.outcome.wrong(wrong),
                Ok(Err(error)) => self.outcome.stuck.push(format!("{address}: {error}")),
                Err(_) => {
                    writing.abort();
                    self.outcome.stuck.push(format!("{address}: its writer finds no end"));
                }
            }
        }
    }

    /// One last write to each address, and every reader is to see it.
    pub(crate) async fn settle(&mut self, when: &str) {
        for at in 0..self.writers.len() {
            self.write(at, when).await;
        }
        let until = Instant::now() + FOUND;
        while self.late().next().is_some() && Instant::now() < until {
            sleep(SECOND).await;
        }
        self.look(when);
    }

    pub(crate) async fn write(&mut self, at: usize, when: &str) {
        let writer = &mut self.writers[at];
        match timeout(WRITES, writer.last()).await {
            Ok(Ok(_)) => {}
            Ok(Err(wrong)) => self.outcome.wrong(wrong),
            Err(_) => {
                let stuck = format!("{}: no owner takes a write, {when}", writer.address);
                self.outcome.stuck.push(stuck);
            }
        }
    }

    /// The readers that are not on the latest value.
    fn late(&self) -> impl Iterator<Item = &Reader> {
        self.readers.iter().filter(|reader| {
            let latest = self.latest(reader.at);
            latest.is_some_and(|latest| reader.seen().value != latest)
        })
    }

    fn latest(&self, at: usize) -> Option<u64> {
        let writer = self.writers.iter().find(|writer| writer.address == self.addresses[at])?;
        Some(writer.known.low)
    }

    /// Says who is late.
    pub(crate) fn look(&mut self, when: &str) {
        let told = |reader: &Reader| {
            let (kind, value, at) = (reader.kind, reader.seen().value, &self.addresses[reader.at]);
            let latest = self.latest(reader.at).unwrap_or_default();
            format!("{at}: a {kind:?} reader is at {value} of {latest}, {when}")
        };
        let mut lost: Vec<_> = self.late().map(told).collect();
        self.outcome.lost.append(&mut lost);
    }

    /// Exactly one registration a reader, when those whose goodbye was lost are released, and each of
    /// them is live.
    async fn count(&mut self) {
        sleep(IDLE).await;
        for at in 0..self.addresses.len() {
            let (found, readers) =
                (self.mesh.subscribers(&self.addresses[at]), self.readers_of(at));
            let told =
                format!("{}: {found} registrations of {readers} readers", self.addresses[at]);
            for _ in readers..found {
                self.outcome.doubled.push(told.clone());
            }
            for _ in found..readers {
                self.outcome.lost.push(told.clone());
            }
        }
        for at in 0..self.writers.len() {
            self.write(at, "when all is calm").await;
        }
        sleep(SECOND).await;
        self.look("when all is calm");
    }

    /// Who was told to end is dead; of one that was killed nobody knows.
    pub(crate) fn ended(&mut self, told: &[(Address, Activation)]) {
        for (address, activation) in told {
            let end = self.mesh.teardown_of(activation);
            if end.is_some_and(|end| end.now_or_never().is_none()) {
                self.outcome.stuck.push(format!(
                    "{address}: an owner that was told to end does not {activation} now {:?}",
                    self.mesh.activation_of(address)
                ));
            }
        }
    }

    pub(crate) fn readers_of(&self, at: usize) -> usize {
        self.readers.iter().filter(|reader| reader.at == at).count()
    }

    /// Readers and mesh go, in either order, and leave nothing.
    async fn drop_all(&mut self) {
        for reader in &self.readers {
            let seen = reader.seen();
            self.outcome.trace = (self.outcome.trace ^ seen.trace).rotate_left(7);
            if let Some(wrong) = seen.wrong {
                let (at, kind) = (&self.addresses[reader.at], reader.kind);
                self.outcome.lost.push(format!("{at}: a {kind:?} reader {wrong}"));
            } else if reader.is_over() {
                self.outcome.lost.push(format!("{}: a reader is gone", self.addresses[reader.at]));
            }
        }
        // In the midst of it: with faults in force, and rides and teardowns under way.
        let mesh = std::mem::take(&mut self.mesh);
        let mut faults = Faults::new(&mesh, &self.hosts, &self.addresses, self.rng.fork());
        faults.inject(20).await;
        let held = faults.held();
        self.writers.clear();
        if self.rng.bool() {
            self.readers.retain(|reader| !reader.kind.opens_again());
            drop(mesh);
            sleep(SECOND).await;
            self.readers.clear();
        } else {
            self.readers.clear();
            drop(mesh);
        }
        drop(held);

        // What was aborted ends when it is polled once more; a beat may be on its way.
        sleep(SECOND).await;
        yield_now().await;
        let left = Handle::current().metrics().num_alive_tasks();
        if left > 0 {
            self.outcome.leaked.push(format!("{left} tasks are left"));
        }
    }
}

/// Runs a seed, and counts what it leaves behind.
pub(crate) fn measured(size: Size, seed: u64) -> Counts {
    let mut counts = Counts::default();
    let held = allocation_counter::measure(|| counts = run(size, seed).counts());
    counts.leaked += usize::try_from(held.bytes_current).unwrap_or(0);
    counts
}

/// Parents, their children, and a child's child.
fn address(number: usize) -> Address {
    let family = number / 4;
    let path = match number % 4 {
        0 => format!("prices-{family}"),
        1 => format!("prices-{family}/eur"),
        2 => format!("prices-{family}/usd"),
        _ => format!("prices-{family}/usd/spot"),
    };
    path.parse().expect("a path")
}
