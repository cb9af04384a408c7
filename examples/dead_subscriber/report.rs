//! What the storms cost, in a table and in figures.

use std::fmt;

use serde::Serialize;

use super::storm::{Storm, Tally};

/// The last line of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Figures {
    pub(crate) without: Cost,
    pub(crate) with: Cost,
    /// Clients that were evicted though they were there or in the middle of a roll, in both storms.
    pub(crate) wrongly_evicted: u64,
}

/// What the clients that vanished cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Cost {
    /// Pushes that were refused.
    pub(crate) refusals: u64,
    /// Lines at `WARN`. Each refusal is a line at `DEBUG` too: as many would there be without a log that
    /// sums up.
    pub(crate) log_lines: u64,
    /// Registrations that the owner dropped.
    pub(crate) evictions: u64,
}

impl From<Tally> for Cost {
    fn from(Tally { refusals, log_lines, evictions }: Tally) -> Self {
        Self { refusals, log_lines, evictions }
    }
}

impl Figures {
    pub(crate) fn of(without: &Storm, with: &Storm) -> Self {
        Self {
            without: without.total().into(),
            with: with.total().into(),
            wrongly_evicted: without.wrongly_evicted + with.wrongly_evicted,
        }
    }
}

/// Returns whether nobody was evicted wrongly, who rolled is live, and the rule has done its work: each
/// client that vanished cost one push at most, and is served no more.
pub(crate) fn is_well(without: &Storm, with: &Storm, clients: u32) -> bool {
    let is_right = |storm: &Storm| storm.wrongly_evicted == 0 && storm.behind == 0;
    is_right(without)
        && is_right(with)
        && with.dearest <= 1
        && with.total().evictions == u64::from(clients)
}

/// A line a minute: what was added in it.
pub(crate) struct Table<'a> {
    pub(crate) without: &'a Storm,
    pub(crate) with: &'a Storm,
}

impl fmt::Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "        {:>32}  {:>32}", "release unknown", "release known")?;
        let heads = format!("{:>11} {:>9} {:>10}", "refusals", "lines", "evictions");
        writeln!(f, "minute  {heads}  {heads}")?;
        let mut before = [Tally::default(); 2];
        for (minute, now) in self.without.minutes.iter().zip(&self.with.minutes).enumerate() {
            write!(f, "{:>6}", minute + 1)?;
            for (now, before) in [now.0, now.1].into_iter().zip(&mut before) {
                let [refusals, lines, evictions] = [
                    now.refusals - before.refusals,
                    now.log_lines - before.log_lines,
                    now.evictions - before.evictions,
                ];
                write!(f, "  {refusals:>11} {lines:>9} {evictions:>10}")?;
                *before = *now;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
