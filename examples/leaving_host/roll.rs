//! The rolling restart.

use std::{collections::BTreeMap, error::Error, fmt::Display, time::Duration};

use futures::future::join_all;
use rideout::{Address, address::InvalidAddress};
use rideout_mesh::Mesh;
use tokio::{
    sync::watch,
    task::{JoinError, JoinHandle},
    time::{Instant, sleep, sleep_until, timeout},
};

use super::{
    args::Size,
    reader::{self, Account, Seen},
};

/// How long a request is on its way, so that some are when a host stops.
const LATENCY: Duration = Duration::from_millis(5);

/// How long a host is away: its process ends, and another one starts.
const RESTART: Duration = Duration::from_secs(3);

/// How long all is well before the next one stops.
const BETWEEN: Duration = Duration::from_secs(2);

/// How long after the last write is looked who has it. A subscription's first beat, which would mend
/// what was missed, comes later.
const REST: Duration = Duration::from_secs(2);

/// How often a writer writes, and how long it waits where it was refused and no end can be waited for.
const PACE: Duration = Duration::from_millis(500);

/// What is at an address when all is over.
pub(crate) struct Place {
    /// The last value written.
    pub(crate) latest: u64,
    /// How often a write was refused, and sent again.
    pub(crate) refused_writes: u64,
    /// How many subscriptions its owner serves.
    pub(crate) registrations: usize,
    /// How many were asked for.
    pub(crate) asks: usize,
    pub(crate) readers: Vec<Seen>,
}

/// Rolls a cluster of that size under its readers and writers; returns what is then at each address.
/// What happens is told as it happens.
pub(crate) async fn roll(
    size: Size,
    tell: &mut dyn FnMut(String),
) -> Result<Vec<Place>, Box<dyn Error>> {
    let cluster = Cluster::start(size)?;
    let mut tell = |what: &dyn Display| {
        tell(format!("{:>6} ms  {what}", cluster.began.elapsed().as_millis()));
    };
    let accounts = cluster.read(size.readers);
    let (stop, stopped) = watch::channel(false);
    let writers = cluster.write(&stopped);
    sleep(BETWEEN).await;

    for host in &cluster.hosts {
        cluster.restart(host, &mut tell).await;
        sleep(BETWEEN).await;
    }
    stop.send_replace(true);
    let written = join_all(writers).await.into_iter().collect::<Result<Vec<_>, JoinError>>()?;
    tell(&"all hosts are back, and the last values are written");
    sleep(REST).await;

    let places = cluster.addresses.iter().zip(accounts).zip(written);
    let place = |((address, accounts), (latest, refused_writes)): ((_, Vec<Account>), _)| Place {
        latest,
        refused_writes,
        registrations: cluster.mesh.subscribers(address),
        asks: cluster.mesh.asks(address),
        readers: accounts.iter().map(Account::seen).collect(),
    };
    Ok(places.map(place).collect())
}

struct Cluster {
    mesh: Mesh<u64>,
    hosts: Vec<String>,
    addresses: Vec<Address>,
    began: Instant,
}

impl Cluster {
    /// Starts a mesh whose addresses are spread over its hosts.
    fn start(size: Size) -> Result<Self, Box<dyn Error>> {
        let mesh = Mesh::new();
        mesh.set_latency(LATENCY);
        let hosts: Vec<_> = (1..=size.hosts).map(|n| format!("host-{n}")).collect();
        let address = |n| format!("prices/{n}").parse();
        let addresses = (1..=size.addresses).map(address);
        let addresses = addresses.collect::<Result<Vec<Address>, InvalidAddress>>()?;

        hosts.iter().for_each(|host| mesh.add_host(host));
        for (n, host) in hosts.iter().enumerate() {
            // A mesh starts an owner on the first host that it can reach.
            let others = hosts.iter().filter(|other| *other != host);
            let _unreachable: Vec<_> = others.map(|other| mesh.refuse_host(other)).collect();
            for address in addresses.iter().skip(n).step_by(hosts.len()) {
                mesh.store(address, 1);
                mesh.activate(address)?;
            }
        }
        Ok(Self { mesh, hosts, addresses, began: Instant::now() })
    }

    /// Starts the readers, in turn one at each address; returns their accounts by address.
    fn read(&self, readers: u32) -> Vec<Vec<Account>> {
        let mut accounts = vec![Vec::new(); self.addresses.len()];
        let places = self.addresses.iter().enumerate().cycle();
        for (_, (at, address)) in (0..readers).zip(places) {
            let account = Account::default();
            tokio::spawn(reader::follow(self.mesh.clone(), address.clone(), account.clone()));
            accounts[at].push(account);
        }
        accounts
    }

    /// Starts a writer at each address.
    fn write(&self, stopped: &watch::Receiver<bool>) -> Vec<JoinHandle<(u64, u64)>> {
        let write = |address: &Address| {
            tokio::spawn(write(self.mesh.clone(), address.clone(), stopped.clone()))
        };
        self.addresses.iter().map(write).collect()
    }

    /// Tells a host to stop, waits for what it has to be elsewhere, and starts it again.
    async fn restart(&self, host: &str, tell: &mut impl FnMut(&dyn Display)) {
        let is_here = |address: &&Address| self.mesh.host_of(address).as_deref() == Some(host);
        let here: Vec<_> = self.addresses.iter().filter(is_here).collect();
        let readers: usize = here.iter().map(|address| self.mesh.subscribers(address)).sum();
        let owners = here.iter().filter_map(|address| self.mesh.activation_of(address));
        let moved = join_all(owners.filter_map(|owner| self.mesh.teardown_of(&owner)));

        let back = Instant::now() + RESTART;
        tell(&format_args!(
            "{host} is told to stop: it has {} addresses, and {readers} readers of them",
            here.len()
        ));
        let away = self.mesh.drain_host(host);
        match timeout(RESTART, moved).await {
            Ok(moved) if moved.is_empty() => tell(&"  it has nothing to hand off"),
            Ok(_) => tell(&format_args!("  it has handed off all of them, {}", self.places(&here))),
            Err(_) => tell(&"  it has nobody to hand off to: they wait until it is back"),
        }
        sleep_until(back).await;
        drop(away);
        tell(&format_args!("{host} is back"));
    }

    /// Says where these addresses are now.
    fn places(&self, addresses: &[&Address]) -> String {
        let mut places = BTreeMap::<String, usize>::new();
        for host in addresses.iter().filter_map(|address| self.mesh.host_of(address)) {
            *places.entry(host).or_default() += 1;
        }
        let places = places.iter().map(|(host, count)| format!("{count} to {host}"));
        places.collect::<Vec<_>>().join(", ")
    }
}

/// Writes one value after the other, each until it is written; returns the last one, and how often one
/// was refused.
async fn write(
    mesh: Mesh<u64>,
    address: Address,
    mut stopped: watch::Receiver<bool>,
) -> (u64, u64) {
    let (mut value, mut refused) = (1, 0);
    loop {
        let is_last = *stopped.borrow();
        value += 1;
        while let Err(refusal) = mesh.write(&address, value).await {
            refused += 1;
            // Until the one that refused is gone, where that can be seen.
            let teardown = refusal.activation.and_then(|owner| mesh.teardown_of(&owner));
            match teardown {
                Some(teardown) => _ = timeout(8 * PACE, teardown).await,
                None => sleep(PACE).await,
            }
        }
        if is_last {
            return (value, refused);
        }
        // The wait ends early where it is to write its last.
        _ = timeout(PACE, stopped.wait_for(|stopped| *stopped)).await;
    }
}
