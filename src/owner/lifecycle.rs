//! A sketch: signatures that the other parts are written against.

use crate::{activation::Activation, address::Address, refusal::{Closing, Refusal}, teardown::Teardown, sync::{Mutex, lock}};

/// How far an owner is between its start and its death, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RunLevel { Starting, Started, Quiescing, DisposeHosted, HostedDisposed, ShutDown, Dead }

/// By whose means a refusal is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Voice { Owner, Parent, InProcess }

/// How an activation ends, and who asked for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending { announced: bool, asked_by: Option<String>, reason: Option<String> }
impl Ending {
    pub fn recycle() -> Self { Self { announced: true, asked_by: None, reason: None } }
    pub fn deletion() -> Self { Self::recycle() }
    pub fn dispose() -> Self { Self { announced: false, ..Self::recycle() } }
    pub fn asked_by(mut self, who: impl Into<String>) -> Self { self.asked_by = Some(who.into()); self }
    pub fn reason(mut self, why: impl Into<String>) -> Self { self.reason = Some(why.into()); self }
    pub fn is_announced(&self) -> bool { self.announced }
}

/// One lifetime of an owner at its address.
#[derive(Clone, Debug)]
pub struct Lifecycle { s: std::sync::Arc<Sketch> }
#[derive(Debug)]
struct Sketch { address: Address, activation: Activation, born: u64, teardown: Teardown, level: Mutex<(RunLevel, Option<Ending>, bool)> }
impl Lifecycle {
    pub fn new(address: Address) -> Self {
        static BORN: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
        let born = BORN.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Self { s: std::sync::Arc::new(Sketch { address, activation: Activation::mint(), born, teardown: Teardown::new(), level: Mutex::new((RunLevel::Starting, None, false)) }) }
    }
    pub fn address(&self) -> &Address { &self.s.address }
    pub fn activation(&self) -> &Activation { &self.s.activation }
    pub fn teardown(&self) -> &Teardown { &self.s.teardown }
    pub fn born(&self) -> u64 { self.s.born }
    pub fn level(&self) -> RunLevel { lock(&self.s.level).0 }
    pub fn started(&self) { lock(&self.s.level).0 = RunLevel::Started; }
    pub fn ending(&self) -> Option<Ending> { lock(&self.s.level).1.clone() }
    pub fn leave(&self) { lock(&self.s.level).2 = true; }
    pub fn is_refusing(&self) -> bool { let it = lock(&self.s.level); it.0 >= RunLevel::DisposeHosted || it.2 }
    pub fn dispose(&self, ending: Ending) -> bool {
        let mut it = lock(&self.s.level);
        if it.1.is_some() { return false; }
        *it = (RunLevel::DisposeHosted, Some(ending), it.2);
        true
    }
    /// The sketch's way to die: everything at once.
    pub fn force(&self) { lock(&self.s.level).0 = RunLevel::Dead; self.s.teardown.complete(); }
    pub fn voice(&self) -> Voice { if self.level() < RunLevel::ShutDown { Voice::Owner } else { Voice::InProcess } }
    pub fn closing(&self) -> Closing {
        Closing::new(self.s.address.clone()).activation(self.s.activation.clone()).detail(format!("RunLevel={:?}", self.level()))
    }
    pub fn child(&self, address: Address) -> Result<Self, Refusal> { Ok(Self::new(address)) }
}
