//! Who reads, and what does each of them see?

use std::{
    sync::{Arc, Mutex},
    task::Poll,
    time::Duration,
};

use fastrand::Rng;
use futures::{Stream, StreamExt, stream};
use rideout::{Address, Budget, Refusal, RideError, rider::Phase};
use rideout_mesh::{Mesh, Update};
use tokio::{
    select,
    sync::watch,
    task::JoinHandle,
    time::{Instant, sleep},
};

/// What kind of a reader it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Its budget outlasts every fault: a give-up ends it, and it is lost.
    Patient,
    /// As patient; each change that the feed mentions is a nudge.
    Fed,
    /// Has the default budget, and opens again after a give-up.
    Reopening,
    /// Patient; goes away now and then, in whatever state its rider is, and opens again.
    Restless,
}

impl Kind {
    const ALL: [Self; 4] = [Self::Patient, Self::Fed, Self::Reopening, Self::Restless];

    fn budget(self) -> Budget {
        match self {
            Self::Reopening => Budget::default(),
            _ => Budget::default().activations(u32::MAX).re_asks(u32::MAX),
        }
    }

    /// Whether it needs the mesh for longer than to open once.
    pub(crate) fn opens_again(self) -> bool {
        matches!(self, Self::Reopening | Self::Restless)
    }
}

/// What a reader has seen.
#[derive(Debug, Default, Clone)]
pub(crate) struct Seen {
    pub(crate) value: u64,
    /// When it was told nothing new, but that its owner is coming back.
    pub(crate) riding: bool,
    /// What must not have happened to it.
    pub(crate) wrong: Option<String>,
    /// All that it saw and when, in one number.
    pub(crate) trace: u64,
}

impl Seen {
    fn note(&mut self, began: Instant, what: u64) {
        let millis = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        for word in [millis, what] {
            self.trace = (self.trace ^ word).wrapping_mul(0x0100_0000_01B3).rotate_left(23);
        }
    }

    fn live(&mut self, value: u64) {
        if value < self.value {
            let gone = self.value;
            self.wrong.get_or_insert_with(|| format!("saw {value} after {gone}"));
        }
        (self.value, self.riding) = (value, false);
    }
}

#[derive(Debug)]
pub(crate) struct Reader {
    pub(crate) kind: Kind,
    /// Which of the addresses it reads.
    pub(crate) at: usize,
    seen: Arc<Mutex<Seen>>,
    task: JoinHandle<()>,
}

impl Reader {
    pub(crate) fn spawn(
        number: usize,
        mesh: &Mesh<u64>,
        addresses: &[Address],
        calm: watch::Receiver<bool>,
        rng: Rng,
    ) -> Self {
        let at = number % addresses.len();
        // Every address has each kind, where there are readers enough.
        let kind = Kind::ALL[(number / addresses.len()) % Kind::ALL.len()];
        let (seen, address) = (Arc::default(), addresses[at].clone());
        let task = if kind.opens_again() {
            tokio::spawn(again(mesh.clone(), address, kind, Arc::clone(&seen), calm, rng))
        } else {
            tokio::spawn(once(open(mesh, &address, kind), Arc::clone(&seen)))
        };
        Self { kind, at, seen, task }
    }

    pub(crate) fn seen(&self) -> Seen {
        self.seen.lock().expect("no reader panics").clone()
    }

    pub(crate) fn is_over(&self) -> bool {
        self.task.is_finished()
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.task.abort();
    }
}

type Step = Result<Phase<Update<u64>>, RideError<Refusal>>;

fn open(
    mesh: &Mesh<u64>,
    address: &Address,
    kind: Kind,
) -> impl Stream<Item = Step> + Unpin + Send + use<> {
    let rider = mesh.ride_out_builder(address).budget(kind.budget()).build();
    let nudger = rider.nudger();
    let mut changes = (kind == Kind::Fed).then(|| mesh.changes(address));
    let mut phases = rider.phases();
    stream::poll_fn(move |cx| {
        while let Some(changes) = &mut changes
            && let Poll::Ready(Some(_)) = changes.poll_next_unpin(cx)
        {
            nudger.nudge();
        }
        phases.poll_next_unpin(cx)
    })
}

/// Reads until the end, and says what it was.
async fn watch(
    mut rider: impl Stream<Item = Step> + Unpin,
    seen: &Mutex<Seen>,
) -> Option<RideError<Refusal>> {
    let began = Instant::now();
    while let Some(step) = rider.next().await {
        let mut seen = seen.lock().expect("no reader panics");
        match step {
            Ok(Phase::Live(update)) => {
                seen.note(began, update.value);
                seen.live(update.value);
            }
            Ok(Phase::RidingOut(_)) => {
                seen.note(began, u64::MAX);
                seen.riding = true;
            }
            Ok(_) => seen.note(began, u64::MAX - 1),
            Err(end) => return Some(end),
        }
    }
    None
}

async fn once(rider: impl Stream<Item = Step> + Unpin, seen: Arc<Mutex<Seen>>) {
    let end = watch(rider, &seen).await;
    ended(&seen, end);
}

fn ended(seen: &Mutex<Seen>, end: Option<RideError<Refusal>>) {
    let end = end.map_or("completed".to_owned(), |end| format!("ended: {end}"));
    seen.lock().expect("no reader panics").wrong.get_or_insert(end);
}

async fn again(
    mesh: Mesh<u64>,
    address: Address,
    kind: Kind,
    seen: Arc<Mutex<Seen>>,
    mut calm: watch::Receiver<bool>,
    mut rng: Rng,
) {
    loop {
        let staying = Duration::from_millis(rng.u64(..40_000));
        let goes = async {
            sleep(staying).await;
            if kind != Kind::Restless || *calm.borrow_and_update() {
                std::future::pending().await
            }
        };
        select! {
            biased;
            end = watch(open(&mesh, &address, kind), &seen) => match end {
                Some(error) if kind == Kind::Reopening && error.gave_up().is_some() => {
                    sleep(REST).await;
                }
                end => return ended(&seen, end),
            },
            () = goes => {}
        }
    }
}

/// How long a reader is away after a give-up.
const REST: Duration = Duration::from_secs(1);
