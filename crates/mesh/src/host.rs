//! The hosts of a mesh, and which of them serve.

use rideout::owner::{DrainSet, Ending, HostPhase, LeavingHost};

/// The hosts of a mesh, in the order in which they were added, and which of them leave.
#[derive(Debug, Default)]
pub(crate) struct Hosts {
    hosts: Vec<Host>,
    leaving: DrainSet,
}

/// A host, in its present life.
#[derive(Debug)]
struct Host {
    side: LeavingHost,
    is_down: bool,
}

impl Hosts {
    /// Adds a host; one that is there already stays as it is.
    pub(crate) fn add(&mut self, name: &str) {
        if self.get(name).is_none() {
            let side = LeavingHost::new(name, &self.leaving);
            self.hosts.push(Host { side, is_down: false });
        }
    }

    /// Returns the host of this name, in its present life.
    pub(crate) fn get(&self, name: &str) -> Option<&LeavingHost> {
        self.hosts.iter().map(|host| &host.side).find(|side| side.name() == name)
    }

    /// Returns whether the host's process is gone.
    pub(crate) fn is_down(&self, name: &str) -> bool {
        self.hosts.iter().any(|host| host.is_down && host.side.name() == name)
    }

    /// Notes that the host's process is gone.
    pub(crate) fn lose(&mut self, name: &str) {
        for host in self.hosts.iter_mut().filter(|host| host.side.name() == name) {
            host.is_down = true;
        }
    }

    /// Starts a host anew, where there is one of this name: another process, which has nothing.
    pub(crate) fn restart(&mut self, name: &str) {
        for host in self.hosts.iter_mut().filter(|host| host.side.name() == name) {
            self.leaving.rejoin(name);
            *host = Host { side: LeavingHost::new(name, &self.leaving), is_down: false };
        }
    }

    /// Returns the hosts whose process is there.
    pub(crate) fn up(&self) -> impl Iterator<Item = &LeavingHost> {
        self.hosts.iter().filter(|host| !host.is_down).map(|host| &host.side)
    }

    /// Returns the hosts that are up and serve.
    pub(crate) fn active(&self) -> impl Iterator<Item = &LeavingHost> {
        self.up().filter(|side| side.phase() == HostPhase::Active)
    }
}

/// Returns the end of what a host that stops has.
pub(crate) fn stops(host: &LeavingHost) -> Ending {
    Ending::dispose().asked_by(host.name()).reason("the host is stopped")
}
