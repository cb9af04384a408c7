//! What a rider is put through: its settings, what each ask is answered, and what is heard when.

use std::{collections::BTreeMap, fmt, time::Duration};

use rideout::{Activation, Address, News, Refusal};

/// Never, as a time.
pub(crate) const NEVER: u64 = u64::MAX;

/// Everything that can come upon one rider. All times are milliseconds.
#[derive(Clone)]
pub(crate) struct Script {
    pub(crate) address: Address,
    pub(crate) limits: Limits,
    /// A completed stream is asked for again (`R21`).
    pub(crate) re_ask: bool,
    /// Items that are not newer are dropped (`R24`).
    pub(crate) versioned: bool,
    pub(crate) answers: Answers,
    /// When the teardowns that can be observed complete.
    pub(crate) teardowns: BTreeMap<String, u64>,
    /// By their times.
    pub(crate) news: Vec<(u64, News)>,
    pub(crate) nudges: Vec<u64>,
    /// Nothing that would happen now or later is seen.
    pub(crate) until: u64,
}

/// A budget, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) activations: u32,
    pub(crate) re_asks: u32,
    pub(crate) pace: u64,
    pub(crate) join_limit: u64,
    pub(crate) ask_limit: u64,
    pub(crate) hint_limit: u64,
    pub(crate) proven_after: Option<u64>,
    pub(crate) longest: Option<u64>,
}

/// What the address answers.
#[derive(Clone, Debug)]
pub(crate) enum Answers {
    /// To one ask after the other, and from the first again.
    InTurn(Vec<Answer>),
    /// By the moment at which an ask arrives, `latency` after it was sent.
    ByTime { latency: u64, says: Vec<(u64, Says)> },
}

/// What one ask is answered, and how long after it.
#[derive(Clone)]
pub(crate) struct Answer {
    pub(crate) late: u64,
    pub(crate) says: Says,
}

#[derive(Clone)]
pub(crate) enum Says {
    Refuses(Refusal),
    Silent,
    Serves { by: Option<Activation>, parts: Vec<(u64, Part)> },
}

/// What a stream says, so long after it opened.
#[derive(Clone)]
pub(crate) enum Part {
    Item(u64),
    Fails(Refusal),
    Completes,
}

/// The defaults, as the rules give them.
impl Default for Limits {
    fn default() -> Self {
        Limits {
            activations: 3,
            re_asks: 16,
            pace: 500,
            join_limit: 8_000,
            ask_limit: 60_000,
            hint_limit: 8_000,
            proven_after: None,
            longest: None,
        }
    }
}

impl Limits {
    /// R20b.
    pub(crate) fn pace(&self) -> u64 {
        self.pace.max(1)
    }

    /// R7b: one rest.
    pub(crate) fn rest(&self, not_before: Option<Duration>) -> u64 {
        let hint = not_before.map_or(0, |hint| u64::try_from(hint.as_millis()).unwrap_or(NEVER));
        self.pace().max(hint.min(self.hint_limit))
    }
}

impl Script {
    /// What ask `number`, sent at `at`, is answered.
    pub(crate) fn answer(&self, number: u32, at: u64) -> Answer {
        match &self.answers {
            Answers::InTurn(all) => all[(number as usize - 1) % all.len()].clone(),
            Answers::ByTime { latency, says } => {
                let arrives = at.saturating_add(*latency);
                let (_, says) = says.iter().rfind(|(from, _)| *from <= arrives).expect("one at 0");
                Answer { late: *latency, says: says.clone() }
            }
        }
    }
}

// A script that fails is read by people: a line each, and who refuses instead of with which words.

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:?}", self.limits)?;
        match &self.answers {
            Answers::InTurn(all) => all.iter().try_for_each(|it| writeln!(f, "  {it:?}"))?,
            Answers::ByTime { latency, says } => writeln!(f, "  {latency} late {says:?}")?,
        }
        writeln!(f, "re_ask {}, versioned {}", self.re_ask, self.versioned)?;
        writeln!(f, "teardowns {:?}", self.teardowns)?;
        writeln!(f, "news {:?}", self.news)?;
        write!(f, "nudges {:?}, until {}", self.nudges, self.until)
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "after {}: {:?}", self.late, self.says)
    }
}

impl fmt::Debug for Says {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Says::Refuses(refusal) => refuses(refusal, f),
            Says::Silent => f.write_str("silent"),
            Says::Serves { by, parts } => write!(f, "serves by {by:?} {parts:?}"),
        }
    }
}

impl fmt::Debug for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part::Item(item) => write!(f, "item {item}"),
            Part::Fails(refusal) => refuses(refusal, f),
            Part::Completes => f.write_str("completes"),
        }
    }
}

fn refuses(refusal: &Refusal, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let Refusal { kind, speaker, activation, message, retry_after, .. } = refusal;
    write!(f, "refuses {kind:?} {speaker:?} {activation:?} {message:?}")?;
    retry_after.map_or(Ok(()), |hint| write!(f, " not before {hint:?}"))
}
