//! What does a host that is told to stop still let through? Nothing that comes in, and of what goes out
//! its announcements, until they are sent.
//!
//! A [`LeavingHost`] is one host's side of it: what its doors say, and to whom an address may be handed
//! off. The [`DrainSet`] is the cluster's.
//!
//! # Invariants
//!
//! 1. **The phase never falls**: active, draining, closed (`R46`).
//! 2. **A host that refuses is in the drain set**: it enters the set before its first refusal, and looks
//!    for another host only after that. So of two that leave at once one at least finds the other in
//!    the set, and no address goes to and fro between them (`R45`).
//! 3. **Whoever asks a door after [`stop`](LeavingHost::stop) or [`close`](LeavingHost::close) has
//!    returned is refused**, on whatever thread, whoever of several did it: phase and door are one lock.
//! 4. **Every refusal for an address carries one tag**: the activation's where there is one, else the
//!    same for all the host's life.

use std::{
    fmt,
    hash::{BuildHasher, RandomState},
};

use super::{DrainSet, Lifecycle};
use crate::{
    activation::Activation,
    address::Address,
    refusal::{Closing, Refusal, Seam},
    sync::{Arc, Mutex, lock},
};

/// How far a host is between serving and silence, in this order.
///
/// # Examples
///
/// See [`LeavingHost`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HostPhase {
    /// It serves.
    #[default]
    Active,
    /// It was told to stop. Its owners refuse what comes in, and its announcements alone go out.
    Draining,
    /// Nothing goes out any more.
    Closed,
}

/// One host, from serving to silence: what its doors refuse once it is told to stop (`R45`, `R46`).
///
/// The order on stop is that of the calls:
///
/// 1. [`stop`](Self::stop): the host is in the drain set, what comes in is refused, and so is what goes
///    out, announcements excepted. Tell the activations it hosts to [`leave`](Lifecycle::leave) then: a
///    request that was let in before finds its owner refusing.
/// 2. Announce to each subscriber that the stream has ended, each through the door for
///    [announcements](Self::announcement). The silence of a plain dispose has this exception.
/// 3. [`close`](Self::close): nothing goes out.
///
/// After that each address is [handed off](Self::hand_off) once its owner is idle: handed off before, an
/// owner ends with streams whose readers nobody has told.
///
/// A refusal is the answer of the call it refuses and goes back the way that came; no door is asked
/// for it. A host that comes back is a new `LeavingHost`, under the old name if need be, which
/// [rejoins](DrainSet::rejoin) first.
///
/// # Clone
///
/// A handle: clones are one host.
///
/// # Examples
///
/// ```
/// use rideout::{Address, owner::{DrainSet, HostPhase, LeavingHost, Lifecycle}, refusal::Speaker};
///
/// let address: Address = "prices/eur".parse()?;
/// let owner = Lifecycle::new(address.clone());
/// let leaving = DrainSet::new();
/// let host = LeavingHost::new("host-1", &leaving);
/// assert!(host.inbound(&address, Some(&owner), "Subscribe").is_ok());
///
/// host.stop();
/// let refusal = host.inbound(&address, Some(&owner), "Subscribe").unwrap_err();
/// assert_eq!(refusal.speaker(&address), Speaker::Owner(Some(owner.activation().clone())));
///
/// let usd: Address = "prices/usd".parse()?;
/// assert_eq!(host.outbound(&usd).unwrap_err().speaker(&usd), Speaker::Route);
/// assert!(host.announcement(&usd).is_ok());
/// host.close();
/// assert!(host.announcement(&usd).is_err());
/// assert_eq!(host.phase(), HostPhase::Closed);
///
/// leaving.enter("host-2");
/// assert_eq!(host.hand_off(&owner, ["host-1", "host-2", "host-3"]), Some("host-3"));
/// # Ok::<_, rideout::address::InvalidAddress>(())
/// ```
#[derive(Clone)]
pub struct LeavingHost {
    shared: Arc<Shared>,
}

struct Shared {
    name: String,
    leaving: DrainSet,
    phase: Mutex<HostPhase>,
    unhosted: Unhosted,
}

impl LeavingHost {
    /// Returns a host that serves, named `name` in the cluster whose leaving hosts `leaving` holds.
    pub fn new(name: impl Into<String>, leaving: &DrainSet) -> Self {
        Self {
            shared: Arc::new(Shared {
                name: name.into(),
                leaving: leaving.clone(),
                phase: Mutex::new(HostPhase::Active),
                unhosted: Unhosted::mint(),
            }),
        }
    }

    /// Returns the host's name.
    pub fn name(&self) -> &str {
        &self.shared.name
    }

    /// Returns how far it is.
    pub fn phase(&self) -> HostPhase {
        *lock(&self.shared.phase)
    }

    /// Tells the host to stop; returns true for the one call that did so. Each who asks a door after
    /// any such call has returned is refused.
    pub fn stop(&self) -> bool {
        // Invariant 2: before the phase, whoever sets it.
        self.shared.leaving.enter(&self.shared.name);
        self.rise(HostPhase::Draining)
    }

    /// Says that the announcements are sent: nothing goes out from here on. Returns true for the one
    /// call that closed the host.
    ///
    /// One that was not told to stop is told so now.
    pub fn close(&self) -> bool {
        self.stop();
        self.rise(HostPhase::Closed)
    }

    // Invariant 1.
    fn rise(&self, to: HostPhase) -> bool {
        let mut phase = lock(&self.shared.phase);
        let rises = to > *phase;
        if rises {
            *phase = to;
        }
        rises
    }

    /// Asks the door for what comes in: `request`, for the activation `owner` of `address`, or for an
    /// address that has none here.
    ///
    /// Ask for requests alone. A reply that an owner here waits for is none, nor is whatever else is never
    /// answered with a refusal.
    ///
    /// # Errors
    ///
    /// The owner's promise, without exception, once the host was told to stop. Its tag is the
    /// activation's; without one it is a tag of this address and this host, the same each time. So go on
    /// giving the lifetime of an owner that was handed off, as long as routes still lead here: another
    /// tag is another activation to whoever counts them.
    pub fn inbound(
        &self,
        address: &Address,
        owner: Option<&Lifecycle>,
        request: &str,
    ) -> Result<(), Refusal> {
        if self.phase() < HostPhase::Draining {
            return Ok(());
        }
        let closing = match owner {
            Some(owner) => owner.closing(),
            None => self.shared.unhosted.closing(address),
        };
        Err(closing.refuse(Seam::Leaving, request))
    }

    /// Asks the door for what goes out to `address`.
    ///
    /// # Errors
    ///
    /// The route's promise, once the host was told to stop.
    pub fn outbound(&self, address: &Address) -> Result<(), Refusal> {
        self.check_route(address, HostPhase::Active)
    }

    /// Asks the door for an announcement to the subscriber at `address`.
    ///
    /// # Errors
    ///
    /// The route's promise, once the host is closed.
    pub fn announcement(&self, address: &Address) -> Result<(), Refusal> {
        self.check_route(address, HostPhase::Draining)
    }

    fn check_route(&self, address: &Address, until: HostPhase) -> Result<(), Refusal> {
        if self.phase() <= until { Ok(()) } else { Err(Refusal::host_cannot_route(address)) }
    }

    /// Returns the host to which the address of `owner` moves now: the first of `candidates`, the active
    /// hosts, that is neither this one nor in the drain set.
    ///
    /// Then directory entry and activation move together, by whoever holds the directory. None is
    /// returned while the host serves; while a reply of the owner's is pending, which is to be given
    /// first; and where no candidate is left. The address is kept then, refused as the owner's, and
    /// asked about again when a reply is out or a host has come; at the last, when the host is gone, the
    /// route refuses for it.
    ///
    /// # Examples
    ///
    /// ```
    /// use rideout::owner::{DrainSet, LeavingHost, Lifecycle};
    ///
    /// let owner = Lifecycle::new("prices/eur".parse()?);
    /// let host = LeavingHost::new("host-1", &DrainSet::new());
    /// assert_eq!(host.hand_off(&owner, ["host-2"]), None); // it serves
    ///
    /// host.stop();
    /// let reply = owner.pending();
    /// assert_eq!(host.hand_off(&owner, ["host-2"]), None); // its owner is not idle
    ///
    /// drop(reply);
    /// assert_eq!(host.hand_off(&owner, ["host-1"]), None); // there is nobody else
    /// assert_eq!(host.hand_off(&owner, ["host-1", "host-2"]), Some("host-2"));
    /// # Ok::<_, rideout::address::InvalidAddress>(())
    /// ```
    pub fn hand_off<H: AsRef<str>>(
        &self,
        owner: &Lifecycle,
        candidates: impl IntoIterator<Item = H>,
    ) -> Option<H> {
        if self.phase() < HostPhase::Draining || !owner.is_idle() {
            return None;
        }
        candidates.into_iter().find(|candidate| {
            let host = candidate.as_ref();
            host != self.shared.name && !self.shared.leaving.contains(host)
        })
    }
}

impl fmt::Debug for LeavingHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LeavingHost")
            .field("name", &self.shared.name)
            .field("phase", &self.phase())
            .finish_non_exhaustive()
    }
}

/// The tags of the addresses that have no activation here (invariant 4).
///
/// A reader counts another tag as another activation, so a tag may never be forgotten and minted
/// again; and whoever asks decides how many addresses there are. So none is remembered: a tag is one
/// mint of the host's, which sets it apart from all others, and a hash of the path. Two paths that meet
/// in it share a tag, which tells nothing false to readers of either.
struct Unhosted {
    mint: Activation,
    hash: RandomState,
}

impl Unhosted {
    fn mint() -> Self {
        Self { mint: Activation::mint(), hash: RandomState::new() }
    }

    fn closing(&self, address: &Address) -> Closing {
        let tag = format!("{}{:016X}", self.mint, self.hash.hash_one(address.path()));
        Closing::new(address.clone()).activation(tag.parse().expect("32 hex digits"))
    }
}
