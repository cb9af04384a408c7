//! When each ask of a ride-out is due.

use std::{ops::RangeInclusive, time::Duration};

use proptest::prelude::*;
use rideout::ledger::Wait;

use super::Says;
use crate::support::{
    hand_clock::ms,
    script::{Asked, who::Who},
};

/// A ride-out, as who sees all of it knows it.
pub(super) struct Ridden<'a> {
    arrivals: &'a [(u64, Who)],
    teardowns: &'a [u64],
    activations: u32,
    pace: u64,
    // Who refused, and when.
    refused: Vec<(u64, Who)>,
    // Whether a join had nothing to wait for.
    at_once: bool,
    // How many waits an arrival ended, in all and since a subscription opened, which forgets arrivals.
    ended: u32,
    early: usize,
    opened: u64,
    holds: Vec<RangeInclusive<u64>>,
}

impl<'a> Ridden<'a> {
    pub(super) fn new(
        arrivals: &'a [(u64, Who)],
        teardowns: &'a [u64],
        activations: u32,
        pace: u64,
    ) -> Self {
        Ridden {
            arrivals,
            teardowns,
            activations,
            pace,
            refused: Vec::new(),
            at_once: false,
            ended: 0,
            early: 0,
            opened: 0,
            holds: Vec::new(),
        }
    }

    /// What was asked is rejected as `said`; returns for how long the next ask is held back.
    fn rejected(&mut self, said: &Says, asked: &Asked) -> u64 {
        let mut held = 0;
        if let Says::Dies { lives, item, .. } = said {
            (self.opened, self.early) = (asked.at, 0);
            if *item || *lives >= self.pace {
                (self.refused, self.at_once, self.ended) = (Vec::new(), false, 0);
            }
            held = if *lives < self.pace { self.pace } else { 0 };
        }
        self.refused.push((asked.at + said.rejects_after(), said.who()));
        held
    }

    /// How long is waited, and whether that is the one turn at once.
    fn due(&self, wait: Wait, rejected: u64, who: Who) -> Result<(Duration, bool), TestCaseError> {
        match (wait, who) {
            (Wait::Rest(rest), _) => Ok((rest, false)),
            (Wait::Join { limit, rest }, Who::Owner(number)) => {
                let left = self.teardowns[usize::from(number)].saturating_sub(rejected);
                Ok(if left > 0 { (ms(left).min(limit), false) } else { (rest, !self.at_once) })
            }
            (wait, who) => Err(TestCaseError::fail(format!("{wait:?} by {who:?}"))),
        }
    }

    /// It asked, was rejected as `said`, and asks again.
    pub(super) fn asks_again(
        &mut self,
        said: &Says,
        asked: &Asked,
        next: &Asked,
    ) -> Result<(), TestCaseError> {
        let rejected = asked.at + said.rejects_after();
        let held = self.rejected(said, asked);
        let (due, turn) = self.due(next.charge.wait(), rejected, said.who())?;
        let waited = next.at - rejected;
        prop_assert!(waited >= held, "R11: {} of {} ms", waited, held);
        prop_assert!(ms(waited) <= due.max(ms(held)), "late: {} of {:?}", waited, due);
        if held > 0 {
            self.holds.push(rejected + 1..=rejected + held);
        }
        // They are in time for this wait, and not used up by R11.
        let mut arrived = self.arrivals.to_vec();
        arrived.retain(|(at, _)| {
            (self.opened..=next.at).contains(at) && !self.holds.iter().any(|it| it.contains(at))
        });
        if turn && waited == held {
            self.at_once = true;
        } else if ms(waited) < due {
            (self.early, self.ended) = (self.early + 1, self.ended + 1);
            prop_assert!(
                self.ended <= self.activations,
                "{} waits of {}",
                self.ended,
                self.activations
            );
            let refused = |who| self.refused.iter().any(|(_, it)| *it == who);
            prop_assert!(arrived.iter().any(|(_, who)| !refused(*who)), "early for nobody");
        }
        // Each ends one wait, unless it had refused before it came.
        arrived.retain(|(at, who)| !self.refused.iter().any(|(then, it)| then < at && it == who));
        prop_assert!(self.early <= arrived.len(), "early for one twice");
        Ok(())
    }
}
