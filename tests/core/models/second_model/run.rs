//! What can be seen of a run, and when.

use std::fmt;

use rideout::{
    Activation, Kind,
    ledger::{Axis, Cause, GaveUp, Key},
    refusal::Speaker,
};

/// Everything that can be seen of one run. Times are milliseconds.
#[derive(Default)]
pub(crate) struct Run {
    pub(crate) asks: Vec<(u64, Asked)>,
    pub(crate) seen: Vec<(u64, Seen)>,
    pub(crate) warnings: usize,
}

/// What an ask is told (`R24`), and what is alive beside it (`R20c`).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Asked {
    pub(crate) attempt: u32,
    pub(crate) charge: Option<Counted>,
    pub(crate) resume: Option<u64>,
    /// An old subscription goes on delivering.
    pub(crate) beside: bool,
}

/// What a reader of the phases sees (`R27`).
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Seen {
    Charged(Counted),
    Answered(Option<Activation>),
    Item(u64),
    Verdict(Kind),
    GaveUp { counted: Counted, cause: Cause, asks: u32 },
    Completed,
}

/// What was counted for one rejection, and by whom that was (`R15`).
#[derive(Clone, PartialEq)]
pub(crate) struct Counted {
    pub(crate) speaker: Speaker,
    pub(crate) axis: Axis,
    pub(crate) key: Key,
    pub(crate) count: u32,
    pub(crate) budget: u32,
}

impl From<&GaveUp> for Counted {
    fn from(report: &GaveUp) -> Self {
        let GaveUp { axis, key, count, budget, rejection, .. } = report;
        let speaker = rejection.speaker.clone();
        Counted { speaker, axis: *axis, key: key.clone(), count: *count, budget: *budget }
    }
}

impl Run {
    /// What one sees who reads the items alone, and not the phases.
    pub(crate) fn without_phases(mut self) -> Self {
        self.seen.retain(|(_, it)| !matches!(it, Seen::Charged(_) | Seen::Answered(_)));
        self
    }
}

/// A line for each, by time. At one instant the asks are first.
impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut seen = self.seen.iter().peekable();
        for (at, asked) in &self.asks {
            while let Some((at, seen)) = seen.next_if(|(seen, _)| seen < at) {
                writeln!(f, "{at} {seen:?}")?;
            }
            writeln!(f, "{at} {asked:?}")?;
        }
        seen.try_for_each(|(at, seen)| writeln!(f, "{at} {seen:?}"))?;
        write!(f, "{} warnings", self.warnings)
    }
}

impl fmt::Debug for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counted { axis, key, count, budget, .. } = self;
        write!(f, "{axis} {key} {count}/{budget}")
    }
}
