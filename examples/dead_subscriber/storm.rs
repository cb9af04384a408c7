//! An owner that pushes, and clients that vanish.

use std::{
    collections::{HashMap, HashSet},
    error::Error,
    time::Duration,
};

use futures::{FutureExt, StreamExt};
use rideout::{Address, activation::StreamId};
use rideout_mesh::{Mesh, Subscription};
use tokio::{task::unconstrained, time::sleep};

use super::{args::Size, ear::Ear};

/// Whether the route learns that a client is closed for good, though its owner does not.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Release {
    Unknown,
    Known,
}

/// How far a storm has come: what the clients that vanish cost until then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) refusals: u64,
    pub(crate) log_lines: u64,
    pub(crate) evictions: u64,
}

/// A storm that is over.
#[derive(Debug, Default)]
pub(crate) struct Storm {
    /// At the end of each minute.
    pub(crate) minutes: Vec<Tally>,
    /// The most pushes that were refused to one client that vanished.
    pub(crate) dearest: u64,
    /// How often a client rolled, and how many pushes were refused meanwhile.
    pub(crate) rolls: u64,
    pub(crate) refused_in_roll: u64,
    /// Clients that were evicted while they were there, or in the middle of a roll.
    pub(crate) wrongly_evicted: u64,
    /// Clients that rolled and have the latest value at the end, and those that have not.
    pub(crate) live: usize,
    pub(crate) behind: usize,
}

impl Storm {
    pub(crate) fn total(&self) -> Tally {
        self.minutes.last().copied().unwrap_or_default()
    }
}

/// When in its minute a client is away to roll: so long that pushes meet it gone.
const AWAY: std::ops::Range<u32> = 10..40;

/// A client rolls once in so many minutes.
const BETWEEN: u32 = 5;

/// Pushes for as long as `size` says. Nobody is released as idle: this is about deliveries alone.
pub(crate) async fn storm(
    size: Size,
    release: Release,
    ear: &Ear,
) -> Result<Storm, Box<dyn Error>> {
    let mut crowd = Crowd::subscribe(size, release).await?;
    let mut storm = Storm::default();
    let seconds = size.minutes * 60;
    for second in 0..seconds {
        storm.rolls += crowd.roll(second).await?;
        crowd.vanish(second, seconds);
        for _ in 0..size.updates {
            crowd.push().await?;
            sleep(Duration::from_secs(1) / size.updates).await;
        }
        if second % 60 == 59 {
            crowd.read();
            storm.minutes.push(crowd.tally(ear));
        }
    }
    let rolled = &crowd.rolled;
    for (stream, toll) in ear.tolls() {
        match stream {
            Some(stream) if rolled.contains(&stream) => storm.refused_in_roll += toll.refusals,
            Some(_) => storm.dearest = storm.dearest.max(toll.refusals),
            None => {}
        }
    }
    storm.wrongly_evicted = crowd.wrongly_evicted.len() as u64;
    storm.live = rolled.iter().filter(|it| crowd.last.get(it) == Some(&crowd.latest)).count();
    storm.behind = rolled.len() - storm.live;
    Ok(storm)
}

/// One owner, and all who read from it.
struct Crowd {
    mesh: Mesh<u64>,
    address: Address,
    release: Release,
    there: HashMap<StreamId, Subscription<u64>>,
    // In the order in which they vanish.
    vanishing: Vec<StreamId>,
    // Those that only roll.
    rolled: Vec<StreamId>,
    // How many have vanished.
    vanished: usize,
    latest: u64,
    // The last value that each has read.
    last: HashMap<StreamId, u64>,
    evicted: u64,
    wrongly_evicted: HashSet<StreamId>,
}

impl Crowd {
    async fn subscribe(size: Size, release: Release) -> Result<Self, Box<dyn Error>> {
        let (mesh, address) = (Mesh::new(), "prices/eur".parse::<Address>()?);
        mesh.set_idle_release(Duration::MAX);
        mesh.store(&address, 0);
        let mint = |count: u32| (0..count).map(|_| StreamId::mint()).collect::<Vec<_>>();
        let (vanishing, rolled) = (mint(size.clients), mint(size.clients.div_ceil(10)));
        let mut there = HashMap::new();
        for &stream in vanishing.iter().chain(&rolled) {
            there.insert(stream, mesh.subscribe(&address, stream).await?.into_stream());
        }
        Ok(Self {
            mesh,
            address,
            release,
            there,
            vanishing,
            rolled,
            vanished: 0,
            latest: 0,
            last: HashMap::new(),
            evicted: 0,
            wrongly_evicted: HashSet::new(),
        })
    }

    /// Has those roll whose turn it is, and those come back that did; returns how many go.
    async fn roll(&mut self, second: u32) -> Result<u64, Box<dyn Error>> {
        let (minute, second) = (second / 60, second % 60);
        let turn = (0..).map(|nth: u32| nth.wrapping_add(minute) % BETWEEN == 0);
        let turn: Vec<_> =
            self.rolled.iter().zip(turn).filter_map(|(it, turn)| turn.then_some(*it)).collect();
        if second == AWAY.start {
            // A process that is rolled says goodbye to nobody, and is not closed.
            let faults =
                (self.mesh.drop_goodbyes(&self.address), self.mesh.forget_releases(&self.address));
            turn.iter().for_each(|stream| drop(self.there.remove(stream)));
            drop(faults);
            return Ok(turn.len() as u64);
        }
        if second == AWAY.end {
            for stream in turn {
                let back = self.mesh.subscribe(&self.address, stream).await?.into_stream();
                self.there.insert(stream, back);
            }
        }
        Ok(0)
    }

    /// Has those vanish whose time has come: one after the other in the first half.
    fn vanish(&mut self, second: u32, seconds: u32) {
        let clients = self.vanishing.len() as u64;
        let due =
            (u64::from(second) * clients * 2).div_ceil(u64::from(seconds)).min(clients) as usize;
        let _unheard = self.mesh.drop_goodbyes(&self.address);
        let _unknown =
            (self.release == Release::Unknown).then(|| self.mesh.forget_releases(&self.address));
        for stream in &self.vanishing[self.vanished..due] {
            self.there.remove(stream);
        }
        self.vanished = due;
    }

    /// Pushes an update to all, and looks at who was evicted for it.
    async fn push(&mut self) -> Result<(), Box<dyn Error>> {
        self.latest += 1;
        self.mesh.write(&self.address, self.latest).await?;
        let evicted = self.mesh.evictions(&self.address).evicted;
        if evicted != self.evicted {
            self.evicted = evicted;
            let served: HashSet<_> = self.mesh.streams(&self.address).into_iter().collect();
            let stays = self.vanishing[self.vanished..].iter().chain(&self.rolled);
            self.wrongly_evicted.extend(stays.filter(|stream| !served.contains(stream)));
        }
        Ok(())
    }

    /// Has those that are there read what came.
    fn read(&mut self) {
        for (stream, prices) in &mut self.there {
            // All of it at once, however much it is.
            while let Some(Some(Ok(price))) = unconstrained(prices.next()).now_or_never() {
                self.last.insert(*stream, price.value);
            }
        }
    }

    /// Sums up what those that vanish cost so far.
    fn tally(&self, ear: &Ear) -> Tally {
        let rolled: HashSet<_> = self.rolled.iter().copied().map(Some).collect();
        let tolls = ear.tolls().into_iter().filter(|(stream, _)| !rolled.contains(stream));
        tolls.fold(Tally { evictions: self.evicted, ..Tally::default() }, |sum, (_, toll)| Tally {
            refusals: sum.refusals + toll.refusals,
            log_lines: sum.log_lines + toll.log_lines,
            ..sum
        })
    }
}
