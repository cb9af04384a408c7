//! What came of a run?

use std::fmt;

use super::{fault::Fault, writer::Wrong};

/// What was found, each a sentence.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// What was injected, in order.
    pub(crate) faults: Vec<Fault>,
    /// Readers that are not live on the latest value, or have no registration; stored values gone.
    pub(crate) lost: Vec<String>,
    /// Registrations beyond one a reader; values applied twice.
    pub(crate) doubled: Vec<String>,
    /// Who got nowhere within the time that the rules give.
    pub(crate) stuck: Vec<String>,
    /// Tasks that are left.
    pub(crate) leaked: Vec<String>,
    /// All that the readers saw and when, in one number: two runs of a seed have the same.
    pub(crate) trace: u64,
    /// Requests of the writers that were answered while faults were in force.
    pub(crate) answered: usize,
}

impl Outcome {
    pub(crate) fn wrong(&mut self, wrong: Wrong) {
        match wrong {
            Wrong::Stuck(what) => self.stuck.push(what),
            Wrong::Lost(what) => self.lost.push(what),
            Wrong::Doubled(what) => self.doubled.push(what),
        }
    }

    pub(crate) fn counts(&self) -> Counts {
        Counts {
            seeds: 1,
            faults: self.faults.len(),
            lost: self.lost.len(),
            doubled: self.doubled.len(),
            stuck: self.stuck.len(),
            leaked: self.leaked.len(),
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for fault in &self.faults {
            writeln!(f, "{fault}")?;
        }
        for (what, found) in [
            ("lost", &self.lost),
            ("doubled", &self.doubled),
            ("stuck", &self.stuck),
            ("leaked", &self.leaked),
        ] {
            for found in found {
                writeln!(f, "{what}: {found}")?;
            }
        }
        write!(f, "{} requests answered, trace {:016X}", self.answered, self.trace)
    }
}

/// The sums of one run or of many.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Counts {
    pub(crate) seeds: usize,
    pub(crate) faults: usize,
    pub(crate) lost: usize,
    pub(crate) doubled: usize,
    pub(crate) stuck: usize,
    /// Tasks, and bytes.
    pub(crate) leaked: usize,
}

impl Counts {
    pub(crate) fn is_clean(&self) -> bool {
        [self.lost, self.doubled, self.stuck, self.leaked] == [0; 4]
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.seeds += other.seeds;
        self.faults += other.faults;
        self.lost += other.lost;
        self.doubled += other.doubled;
        self.stuck += other.stuck;
        self.leaked += other.leaked;
    }
}
