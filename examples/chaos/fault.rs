//! Which fault comes next, whom does it meet, and for how long?

use std::{collections::BTreeMap, fmt, time::Duration};

use fastrand::Rng;
use rideout::{Activation, Address, owner::Wave};
use rideout_mesh::{FaultGuard, Mesh};
use tokio::time::{Instant, sleep_until};

/// What can be done to a mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    Kill,
    Recycle,
    Dispose,
    Land,
    /// The route is held at the owner, who then ends, or is killed, or lives on.
    HoldRoute,
    RefuseRoute,
    RefuseDoor,
    /// The state is held back, and the owner recycled, so that one starts without.
    HoldState,
    HoldStore,
    DropFrames,
    DropGoodbyes,
    SilenceFeed,
    RefuseHost,
    KillHost,
    LingerHost,
    DrainHost,
}

impl What {
    const ALL: [Self; 16] = [
        Self::Kill,
        Self::Recycle,
        Self::Dispose,
        Self::Land,
        Self::HoldRoute,
        Self::RefuseRoute,
        Self::RefuseDoor,
        Self::HoldState,
        Self::HoldStore,
        Self::DropFrames,
        Self::DropGoodbyes,
        Self::SilenceFeed,
        Self::RefuseHost,
        Self::KillHost,
        Self::LingerHost,
        Self::DrainHost,
    ];

    fn is_of_host(self) -> bool {
        matches!(self, Self::RefuseHost | Self::KillHost | Self::LingerHost | Self::DrainHost)
    }

    fn lasts(self) -> bool {
        !matches!(self, Self::Kill | Self::Recycle | Self::Dispose)
    }
}

/// A fault that was injected.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    pub(crate) after: Duration,
    pub(crate) what: What,
    pub(crate) whom: String,
    pub(crate) lasting: Duration,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>9.3} s  {:?} {}", self.after.as_secs_f64(), self.what, self.whom)?;
        if self.what.lasts() {
            write!(f, " for {} s", self.lasting.as_secs_f64())?;
        }
        Ok(())
    }
}

/// What makes a fault last.
#[derive(Debug)]
pub(crate) enum Held {
    Guard { _guard: FaultGuard<u64> },
    Host { away: String, _guard: FaultGuard<u64> },
    Wave { _wave: Wave },
    Nothing,
}

/// Injects faults, one after the other and many at a time.
pub(crate) struct Faults<'a> {
    mesh: &'a Mesh<u64>,
    hosts: &'a [String],
    addresses: &'a [Address],
    rng: Rng,
    began: Instant,
    // By when they end, and then by when they began.
    held: BTreeMap<(Instant, usize), Held>,
    // Who lived at each address at the last look.
    living: Vec<Option<Activation>>,
    /// Those that were told to end.
    pub(crate) told: Vec<(Address, Activation)>,
    /// Owners that started where none may.
    pub(crate) misplaced: Vec<String>,
    pub(crate) injected: Vec<Fault>,
}

impl<'a> Faults<'a> {
    pub(crate) fn new(
        mesh: &'a Mesh<u64>,
        hosts: &'a [String],
        addresses: &'a [Address],
        rng: Rng,
    ) -> Self {
        Self {
            mesh,
            hosts,
            addresses,
            rng,
            began: Instant::now(),
            held: BTreeMap::new(),
            living: vec![None; addresses.len()],
            told: Vec::new(),
            misplaced: Vec::new(),
            injected: Vec::new(),
        }
    }

    /// Injects so many more. What lasts longer than that is still in force then.
    pub(crate) async fn inject(&mut self, count: usize) {
        let until = self.injected.len() + count;
        let mut next = Instant::now();
        while self.injected.len() < until {
            match self.held.first_entry() {
                Some(first) if first.key().0 <= next => {
                    let ends = first.key().0;
                    sleep_until(ends).await;
                    self.look();
                    self.held.pop_first();
                }
                _ => {
                    sleep_until(next).await;
                    self.look();
                    self.inject_one();
                    next += self.gap();
                }
            }
        }
    }

    /// Looks for owners that have started where none may (`R58`). What is in force has been so since the
    /// last look: each change comes right after one.
    fn look(&mut self) {
        for (address, living) in self.addresses.iter().zip(&mut self.living) {
            let now = self.mesh.activation_of(address);
            if now != *living
                && let Some(host) = self.mesh.host_of(address)
                && self
                    .held
                    .values()
                    .any(|held| matches!(held, Held::Host { away, .. } if *away == host))
            {
                let after = self.began.elapsed().as_secs_f64();
                let told = format!("{address}: started on {host}, which is away, after {after} s");
                self.misplaced.push(told);
            }
            *living = now;
        }
    }

    /// Ends all that is in force: each when its time is up, or all now.
    pub(crate) async fn release(&mut self) {
        let at_once = self.rng.bool();
        while let Some(((ends, _), held)) = self.held.pop_first() {
            if !at_once {
                sleep_until(ends).await;
            }
            self.look();
            drop(held);
        }
    }

    /// All that is in force, which stays so until it is dropped.
    pub(crate) fn held(self) -> Vec<Held> {
        self.held.into_values().collect()
    }

    fn inject_one(&mut self) {
        loop {
            let what = self.rng.choice(What::ALL).expect("there are some");
            let lasting = self.lasting();
            let (whom, held) = if what.is_of_host() {
                let host = &self.hosts[self.rng.usize(..self.hosts.len())];
                (
                    host.clone(),
                    Some(Held::Host { away: host.clone(), _guard: self.meet_host(what, host) }),
                )
            } else {
                let address = &self.addresses[self.rng.usize(..self.addresses.len())];
                (address.to_string(), self.meet_address(what, address))
            };
            // Where nobody is met there is no fault.
            if let Some(held) = held {
                let after = self.began.elapsed();
                if what.lasts() {
                    self.held.insert((Instant::now() + lasting, self.injected.len()), held);
                }
                return self.injected.push(Fault { after, what, whom, lasting });
            }
        }
    }

    fn meet_host(&self, what: What, host: &str) -> FaultGuard<u64> {
        match what {
            What::RefuseHost => self.mesh.refuse_host(host),
            What::KillHost => self.mesh.kill_host(host),
            What::LingerHost => self.mesh.linger_host(host),
            _ => self.mesh.drain_host(host),
        }
    }

    fn meet_address(&mut self, what: What, address: &Address) -> Option<Held> {
        let mesh = self.mesh;
        let guard = match what {
            What::Kill => return mesh.kill(address).map(|_| Held::Nothing),
            What::Recycle => return self.told(address, mesh.recycle(address)),
            What::Dispose => return self.told(address, mesh.dispose(address)),
            What::Land => return Some(Held::Wave { _wave: self.land(address) }),
            What::HoldRoute => {
                let guard = mesh.hold_route(address)?;
                match self.rng.u8(..4) {
                    0 => _ = mesh.recycle(address),
                    1 => _ = mesh.dispose(address),
                    2 => _ = mesh.kill(address),
                    _ => {}
                }
                guard
            }
            What::HoldState => {
                let guard = mesh.hold_state(address);
                mesh.recycle(address);
                guard
            }
            What::RefuseRoute => mesh.refuse_route(address),
            What::RefuseDoor => mesh.refuse_door(address),
            What::HoldStore => mesh.hold_store(address),
            What::DropFrames => mesh.drop_frames(address),
            What::DropGoodbyes => mesh.drop_goodbyes(address),
            _ => mesh.silence_feed(address),
        };
        Some(Held::Guard { _guard: guard })
    }

    fn told(&mut self, address: &Address, ends: Option<Activation>) -> Option<Held> {
        self.told.push((address.clone(), ends?));
        Some(Held::Nothing)
    }

    /// One address and some others, recycled as one wave.
    fn land(&mut self, address: &Address) -> Wave {
        let others = self.addresses.iter().filter(|_| self.rng.u8(..4) == 0);
        let landed: Vec<_> = others.chain([address]).cloned().collect();
        let living = |address| Some((Address::clone(address), self.mesh.activation_of(address)?));
        self.told.extend(landed.iter().filter_map(living));
        self.mesh.land(&landed)
    }

    /// Most faults are short, some outlast every budget.
    fn lasting(&mut self) -> Duration {
        let millis = match self.rng.u8(..8) {
            0..=3 => 0..1_000,
            4..=6 => 1_000..10_000,
            _ => 10_000..90_000,
        };
        Duration::from_millis(self.rng.u64(millis))
    }

    /// One in four comes at the same instant as the one before.
    fn gap(&mut self) -> Duration {
        let millis = if self.rng.u8(..4) == 0 { 0 } else { self.rng.u64(..2_500) };
        Duration::from_millis(millis)
    }
}
