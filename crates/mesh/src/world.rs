//! The state of a mesh: hosts, a directory, a store, the faults, and who reads and listens.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rideout::{
    Address, News,
    activation::StreamId,
    owner::{DeliveryTargets, HostPhase, LeavingHost, Lifecycle, Waves},
    teardown::Teardown,
};

use crate::{
    directory::Directory,
    farewell::Farewell,
    fault::{Away, Faults, Part},
    host::{Hosts, stops},
    hub::{Deadline, Hub},
    news::{FeedListeners, NewsListeners},
    store::Store,
};

/// What there is. Locks nest in one way only: the store's inside the state's.
pub(crate) struct World<T> {
    pub(crate) store: Arc<Store<T>>,
    // Complete when the mesh is gone.
    pub(crate) gone: Teardown,
    pub(crate) waves: Waves,
    state: Mutex<State<T>>,
}

pub(crate) struct State<T> {
    pub(crate) settings: Settings,
    pub(crate) hosts: Hosts,
    pub(crate) directory: Directory<T>,
    pub(crate) faults: Faults<T>,
    // The addresses whose owner left with its host, and that have none yet.
    pub(crate) displaced: Vec<Address>,
    // The readers' ends of the streams, by the owner that serves them: one identity may be asked for at
    // two addresses. And what they could not say yet.
    pub(crate) targets: DeliveryTargets<(Address, StreamId), u32>,
    pub(crate) goodbyes: Vec<Farewell<T>>,
    pub(crate) news: NewsListeners,
    pub(crate) feed: FeedListeners,
    // How many subscriptions were asked for, by path, and the number of the last ask.
    pub(crate) asks: HashMap<String, usize>,
    pub(crate) attempts: u32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) latency: Duration,
    pub(crate) teardown: Duration,
    pub(crate) watchdog: Duration,
    pub(crate) idle_release: Duration,
    pub(crate) lease: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            latency: Duration::ZERO,
            teardown: Duration::from_secs(1),
            watchdog: Duration::from_secs(8),
            idle_release: Duration::from_secs(10 * 60),
            lease: Duration::from_secs(5),
        }
    }
}

impl<T> World<T> {
    /// Creates one with no host.
    pub(crate) fn new() -> Self {
        let state = State {
            settings: Settings::default(),
            hosts: Hosts::default(),
            directory: Directory::new(),
            faults: Faults::new(),
            displaced: Vec::new(),
            targets: DeliveryTargets::new(),
            goodbyes: Vec::new(),
            news: NewsListeners::default(),
            feed: FeedListeners::default(),
            asks: HashMap::new(),
            attempts: 0,
        };
        let (store, gone) = (Arc::new(Store::new()), Teardown::new());
        Self { store, gone, waves: Waves::new(), state: Mutex::new(state) }
    }

    /// Locks, poisoned or not: nobody's code runs under it.
    pub(crate) fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the owner that the directory has at `address`.
    pub(crate) fn find(&self, address: &Address) -> Option<Arc<Hub<T>>> {
        self.state().find(address)
    }

    pub(crate) fn settings(&self) -> Settings {
        self.state().settings
    }

    /// Tells the reader of `stream`.
    pub(crate) fn tell(&self, path: &str, stream: StreamId, news: News) {
        let said = self.state().news.to(path, &stream, news);
        said.tell();
    }

    /// Says to the change feed that a version was written.
    pub(crate) fn changed(&self, path: &str, version: u64) {
        let said = {
            let state = self.state();
            let is_silent = state.faults.has(path, Part::Feed);
            (!is_silent).then(|| state.feed.to_all(path, version))
        };
        if let Some(said) = said {
            said.tell();
        }
    }

    /// Has an owner that leaves move, where it is idle and somebody takes it (`R45`), and not before those
    /// that it serves are told (`R46`): its streams go with it.
    pub(crate) fn hand_off(&self, lifecycle: &Lifecycle, host: &LeavingHost, deadline: &Deadline) {
        let teardown = {
            let state = self.state();
            let takers = state.takers().map(LeavingHost::name);
            let lingers = state.faults.is_away(host.name(), Away::Lingers);
            let is_told = host.phase() == HostPhase::Closed;
            if lingers || !is_told || host.hand_off(lifecycle, takers).is_none() {
                return;
            }
            state.settings.teardown
        };
        lifecycle.dispose(stops(host));
        deadline.decide(|| teardown);
    }
}

impl<T> State<T> {
    /// Returns the owner that the directory has at `address`.
    pub(crate) fn find(&mut self, address: &Address) -> Option<Arc<Hub<T>>> {
        self.directory.find(address, self.settings.lease)
    }

    /// Returns the hosts on which an owner may start: they serve, and can be reached.
    pub(crate) fn takers(&self) -> impl Iterator<Item = &LeavingHost> {
        let is_refused = |host: &&LeavingHost| self.faults.is_away(host.name(), Away::Refused);
        self.hosts.active().filter(move |host| !is_refused(host))
    }
}

impl<T> Drop for World<T> {
    /// Tells the subscriptions. The owners' tasks end by themselves: their mailboxes have no sender
    /// left.
    fn drop(&mut self) {
        self.gone.complete();
    }
}
