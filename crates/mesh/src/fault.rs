//! The faults in force: states that guards hold, never moments.

use std::sync::Arc;

use rideout::Address;

use crate::hub::Hub;

/// What a guard keeps in force.
pub(crate) enum Fault<T> {
    /// Asks for the owner's address go to it, whatever became of it.
    HeldRoute(Arc<Hub<T>>),
    /// This is out of order for an address.
    Address(Address, Part),
    /// This is out of order for a host.
    Host(String, Away),
}

/// What of an address is out of order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// The route refuses.
    Route,
    /// The owner's door refuses.
    Door,
    /// An owner that starts gets no state.
    State,
    /// Writes wait.
    Store,
    /// Frames are lost.
    Frames,
    /// Goodbyes are lost.
    Goodbyes,
    /// The route does not keep them either.
    Releases,
    /// The change feed is silent.
    Feed,
}

/// How a host is away.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Away {
    /// The route to it refuses.
    Refused,
    /// It was told to stop, and goes on being routed to.
    Lingers,
    /// It was told to stop, and hands off.
    Drains,
    /// Its process is gone.
    Killed,
}

/// The faults in force, each under the number of its guard.
pub(crate) struct Faults<T> {
    faults: Vec<(u64, Fault<T>)>,
    minted: u64,
}

impl<T> Faults<T> {
    pub(crate) fn new() -> Self {
        Self { faults: Vec::new(), minted: 0 }
    }

    pub(crate) fn begin(&mut self, fault: Fault<T>) -> u64 {
        self.minted += 1;
        self.faults.push((self.minted, fault));
        self.minted
    }

    pub(crate) fn get(&self, number: u64) -> Option<&Fault<T>> {
        self.faults.iter().find(|(own, _)| *own == number).map(|(_, fault)| fault)
    }

    /// Ends a fault, and returns it for the caller to drop.
    pub(crate) fn end(&mut self, number: u64) -> Option<Fault<T>> {
        let at = self.faults.iter().position(|(own, _)| *own == number)?;
        Some(self.faults.remove(at).1)
    }

    /// Returns the activation at which the route to `path` is held; the first guard decides.
    pub(crate) fn held_route(&self, path: &str) -> Option<Arc<Hub<T>>> {
        self.faults.iter().find_map(|(_, fault)| match fault {
            Fault::HeldRoute(hub) if hub.lifecycle().address().path() == path => {
                Some(Arc::clone(hub))
            }
            _ => None,
        })
    }

    /// Returns whether `part` of what is at `path` is out of order.
    pub(crate) fn has(&self, path: &str, part: Part) -> bool {
        self.faults.iter().any(|(_, fault)| {
            matches!(fault, Fault::Address(address, it) if *it == part && address.path() == path)
        })
    }

    /// Returns whether the host is away so.
    pub(crate) fn is_away(&self, host: &str, away: Away) -> bool {
        self.faults
            .iter()
            .any(|(_, fault)| matches!(fault, Fault::Host(name, it) if *it == away && name == host))
    }

    /// Returns whether the host has no process that serves.
    pub(crate) fn is_stopped(&self, host: &str) -> bool {
        [Away::Lingers, Away::Drains, Away::Killed].iter().any(|away| self.is_away(host, *away))
    }
}
