//! What one ride-out has come to (`R7`–`R9`).

use std::collections::HashMap;

use rideout::{
    Activation, Rejection,
    ledger::{Axis, Cause, Key},
    refusal::Speaker,
};

use super::{run::Counted, script::Limits};

/// A rejection with what it was counted as, and what is done before its re-ask.
#[derive(Clone, Debug)]
pub(super) struct Charge {
    pub(super) counted: Counted,
    /// The activation whose teardown is joined; none where there is a rest.
    pub(super) join: Option<Activation>,
    pub(super) rest: u64,
}

/// The counts since the last answer.
#[derive(Debug)]
pub(super) struct Accounts {
    limits: Limits,
    /// The activations that refused.
    refused: Vec<Activation>,
    untagged: u32,
    repeats: HashMap<Key, u32>,
    /// Those that refused in the ride-out before this one.
    before: Vec<Activation>,
    pub(super) last: Option<Counted>,
    /// When the first rejection came.
    pub(super) began: Option<u64>,
    /// The one re-ask without a wait went out (`R18`).
    pub(super) turn_taken: bool,
    /// How many waits ended by an arrival (`R18b`).
    pub(super) cut: u32,
}

impl Accounts {
    pub(super) fn new(limits: Limits) -> Self {
        Accounts {
            limits,
            refused: Vec::new(),
            untagged: 0,
            repeats: HashMap::new(),
            before: Vec::new(),
            last: None,
            began: None,
            turn_taken: false,
            cut: 0,
        }
    }

    /// R7, R7b, R8: one row after the other.
    pub(super) fn charge(
        &mut self,
        rejection: &Rejection,
        now: u64,
    ) -> Result<Charge, (Counted, Cause)> {
        self.began.get_or_insert(now);
        let rest = self.limits.rest(rejection.not_before);
        let (counted, join) = match &rejection.speaker {
            Speaker::Route => (self.repeat(rejection, Key::Route), None),
            Speaker::Owner(Some(tag)) if self.has_refused(tag) => {
                (self.repeat(rejection, Key::Activation(tag.clone())), None)
            }
            Speaker::Owner(Some(tag)) => {
                self.refused.push(tag.clone());
                (self.one_more(rejection, Key::Activation(tag.clone())), Some(tag.clone()))
            }
            Speaker::Owner(None) => {
                self.untagged += 1;
                (self.one_more(rejection, Key::Untagged), None)
            }
        };
        self.last = Some(counted.clone());
        match counted.count > counted.budget {
            true => Err((counted.clone(), self.cause(&counted))),
            false => Ok(Charge { counted, join, rest }),
        }
    }

    fn repeat(&mut self, rejection: &Rejection, key: Key) -> Counted {
        let count = self.repeats.entry(key.clone()).or_default();
        *count += 1;
        let (speaker, budget) = (rejection.speaker.clone(), self.limits.re_asks);
        Counted { speaker, axis: Axis::Time, key, count: *count, budget }
    }

    fn one_more(&self, rejection: &Rejection, key: Key) -> Counted {
        let count = u32::try_from(self.refused.len()).expect("few") + self.untagged;
        let (speaker, budget) = (rejection.speaker.clone(), self.limits.activations);
        Counted { speaker, axis: Axis::Activation, key, count, budget }
    }

    /// R23.
    fn cause(&self, spent: &Counted) -> Cause {
        match (spent.axis, &spent.key) {
            (Axis::Time, Key::Route) => Cause::Route,
            (Axis::Time, _) => Cause::Wedged,
            // One name among untagged ones may be all of them; two are a loop for certain.
            _ if self.untagged > 0 && self.refused.len() < 2 => Cause::Untagged,
            _ => Cause::RecycleLoop,
        }
    }

    pub(super) fn has_refused(&self, tag: &Activation) -> bool {
        self.refused.contains(tag)
    }

    /// Those that refused in the last ride-out, this one if one goes on.
    pub(super) fn last_ride_out(&self) -> Vec<Activation> {
        if self.began.is_some() { self.refused.clone() } else { self.before.clone() }
    }

    /// R9.
    pub(super) fn clear(&mut self) {
        let before = self.last_ride_out();
        *self = Accounts { before, ..Accounts::new(self.limits) };
    }
}
