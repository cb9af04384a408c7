//! Who writes, and what must have come of it?
//!
//! One writer an address asks plainly, and asks again after a promise. A value only grows: a patch adds
//! one, a write stores one more than there can be. So the writer can say between which bounds the value
//! is, and whatever it reads must be within.

use std::time::Duration;

use fastrand::Rng;
use rideout::{Address, Kind, Refusal};
use rideout_mesh::Mesh;
use tokio::{
    sync::watch,
    time::{Instant, sleep, timeout},
};

/// How long the rules let an owner hold a request, and then it is answered by a verdict (`R41`).
pub(crate) const HELD: Duration = Duration::from_secs(30);

const PACE: Duration = Duration::from_millis(500);

/// What is known of an address' value by its only writer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Known {
    /// What was acknowledged.
    pub(crate) low: u64,
    /// And what may have been applied besides: of a killed owner nobody knows.
    pub(crate) high: u64,
    /// How many requests were answered.
    pub(crate) answered: usize,
}

/// What went wrong with a writer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// It was not answered, or by what no rule allows.
    Stuck(String),
    /// What it had stored is not there.
    Lost(String),
    /// More is there than it asked for.
    Doubled(String),
}

#[derive(Debug, Clone, Copy)]
enum Request {
    Read,
    Patch,
    Write,
}

#[derive(Debug)]
pub(crate) struct Writer {
    pub(crate) mesh: Mesh<u64>,
    pub(crate) address: Address,
    pub(crate) known: Known,
}

impl Writer {
    pub(crate) fn new(mesh: &Mesh<u64>, address: &Address, value: u64) -> Self {
        let known = Known { low: value, high: value, answered: 0 };
        Self { mesh: mesh.clone(), address: address.clone(), known }
    }

    /// Writes and reads until it is calm; the last request is answered.
    pub(crate) async fn run(
        mut self,
        mut calm: watch::Receiver<bool>,
        mut rng: Rng,
    ) -> Result<Self, Wrong> {
        while !*calm.borrow_and_update() {
            let request = match rng.u8(..5) {
                0 => Request::Read,
                1 | 2 => Request::Write,
                _ => Request::Patch,
            };
            self.ask(request).await?;
            sleep(Duration::from_millis(rng.u64(..3_000))).await;
        }
        Ok(self)
    }

    /// Adds one, and returns the value that is there then.
    pub(crate) async fn last(&mut self) -> Result<u64, Wrong> {
        self.ask(Request::Patch).await?;
        self.ask(Request::Read).await?;
        Ok(self.known.low)
    }

    /// Asks until there is an answer. It is the same request as long as it was never applied.
    async fn ask(&mut self, mut request: Request) -> Result<(), Wrong> {
        loop {
            let asked = Instant::now();
            let answer = timeout(HELD + 5 * PACE, self.ask_once(request)).await;
            let Ok(answer) = answer else {
                return Err(self.stuck(request, "has no answer and no refusal"));
            };
            let refusal = match answer {
                Ok(read) => return self.answered(request, read),
                Err(refusal) => refusal,
            };
            let is_promise = refusal.promise(&self.address).is_some();
            let was_held = refusal.kind == Some(Kind::Failed) && asked.elapsed() >= HELD;
            if !is_promise && !was_held {
                return Err(self.stuck(request, &refusal.to_string()));
            }
            if is_promise && !refusal.is_never_applied(&self.address) {
                // Killed meanwhile. What has become of it is read.
                self.known.high += u64::from(!matches!(request, Request::Read));
                request = Request::Read;
            }
            sleep(PACE).await;
        }
    }

    /// The value that was read, where one was.
    async fn ask_once(&self, request: Request) -> Result<Option<u64>, Refusal> {
        let Self { mesh, address, known } = self;
        match request {
            Request::Read => mesh.read(address).await.map(|state| Some(state.value)),
            Request::Patch => mesh.patch(address, |value| *value += 1).await.map(|_| None),
            Request::Write => mesh.write(address, known.high + 1).await.map(|_| None),
        }
    }

    fn answered(&mut self, request: Request, read: Option<u64>) -> Result<(), Wrong> {
        let Self { address, known, .. } = self;
        known.answered += 1;
        match (request, read) {
            (_, Some(read)) if read < known.low => {
                return Err(Wrong::Lost(format!("{address}: {read} was read, of {}", known.low)));
            }
            (_, Some(read)) if read > known.high => {
                return Err(Wrong::Doubled(format!(
                    "{address}: {read} was read, of {}",
                    known.high
                )));
            }
            (_, Some(read)) => (known.low, known.high) = (read, read),
            (Request::Write, _) => (known.low, known.high) = (known.high + 1, known.high + 1),
            _ => (known.low, known.high) = (known.low + 1, known.high + 1),
        }
        Ok(())
    }

    fn stuck(&self, request: Request, why: &str) -> Wrong {
        Wrong::Stuck(format!("{}: {request:?} {why}", self.address))
    }
}
