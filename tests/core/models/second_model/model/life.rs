//! The life of a subscription: what it says, whether it was an answer, and its end (`R9`, `R11`, `R21`,
//! `R24`).

use std::mem::replace;

use rideout::{Activation, Rejection};

use super::super::{run::Seen, script::Part, speaker::ruling};
use super::{Happens, Life, Model, Rank};

impl Model<'_> {
    /// R9: a subscription opens. An old one is replaced (`R25`).
    pub(super) fn opens(&mut self, by: Option<Activation>, parts: Vec<(u64, Part)>) {
        // The old one had its life.
        self.judge();
        self.no_longer(|due| matches!(due, Happens::Says(_)));
        self.queue.clear();
        self.arrival = None;
        self.hold = 0;
        let led_here = self.accounts.last_ride_out();
        let (opened, ended, answered, spoke) = (self.now, None, false, false);
        self.life = Some(Life { by: by.clone(), opened, ended, answered, spoke, led_here });
        self.see(Seen::Answered(by));
        for (after, part) in parts {
            let rank = match part {
                Part::Item(_) => Rank::Item,
                Part::Fails(_) => Rank::End,
                Part::Completes => Rank::Completion,
            };
            self.later(self.now.saturating_add(after), rank, Happens::Says(part));
        }
        // Whether a refresh that is owed comes before what else is to happen now is open.
        self.undecided |= self.owed && self.is_more_now();
        self.refresh();
    }

    pub(super) fn is_live(&self) -> bool {
        self.life.as_ref().is_some_and(|life| life.ended.is_none())
    }

    pub(super) fn says(&mut self, part: Part) {
        match part {
            Part::Item(item) => self.item(item),
            Part::Completes if self.script.re_ask => self.lost(None, None),
            Part::Completes => {
                self.life_is_over();
                // A refresh goes on without the old one (R25).
                if self.attempt.is_none() {
                    self.ends(Seen::Completed);
                }
            }
            Part::Fails(refusal) => match ruling(&refusal, self.script.address.path()) {
                Err(kind) => self.ends(Seen::Verdict(kind)),
                Ok(speaker) => {
                    let not_before = refusal.retry_after;
                    self.life_is_over();
                    self.rejected(Rejection { speaker, not_before });
                }
            },
        }
    }

    /// R9: the first item is the answer, unless a longer life is asked for. R24: the version guard.
    pub(super) fn item(&mut self, item: u64) {
        let life = self.life.as_mut().expect("it speaks");
        let first = !replace(&mut life.spoke, true);
        if !life.answered && self.script.limits.proven_after.is_none() {
            life.answered = true;
            self.clear();
        }
        if first || !self.script.versioned || self.last_item.is_none_or(|last| item > last) {
            self.last_item = Some(item);
            self.see(Seen::Item(item));
        }
    }

    /// R11: a short life is held back from its end, whether that is charged or not.
    pub(super) fn life_is_over(&mut self) {
        self.no_longer(|due| matches!(due, Happens::Says(_)));
        let life = self.life.as_mut().expect("it lives");
        life.ended = Some(self.now);
        if self.now - life.opened < self.script.limits.pace() {
            self.hold = self.now.saturating_add(self.script.limits.pace());
            // A wait that runs lasts as long.
            self.wait_on();
        }
    }

    /// The owner ended the stream: charged with whom it was live on, or else with `announced`.
    pub(super) fn lost(&mut self, announced: Option<Activation>, arrives: Option<Activation>) {
        let by = self.life.as_ref().and_then(|life| life.by.clone());
        self.life_is_over();
        self.charge(Rejection::by_owner(by.or(announced)));
        if self.end.is_none() {
            arrives.into_iter().for_each(|tag| self.arrived(tag));
            self.begin_the_next();
        }
    }

    /// R9: judges whether the last ask was answered, when a rejection comes.
    pub(super) fn judge(&mut self) {
        if self.has_lived()
            && let Some(life) = &mut self.life
        {
            life.answered = true;
            self.clear();
        }
    }

    /// R9: it has lived, and is not judged yet.
    pub(super) fn has_lived(&self) -> bool {
        let least = self.script.limits.proven_after.unwrap_or(self.script.limits.pace());
        self.life.as_ref().is_some_and(|life| {
            !life.answered && life.ended.unwrap_or(self.now) - life.opened >= least
        })
    }

    /// Whether `tag` has refused in this ride-out. It is open where the answer that ended the ride-out
    /// is not judged yet.
    pub(super) fn has_refused(&mut self, tag: &Activation) -> bool {
        let refused = self.accounts.has_refused(tag);
        self.undecided |= refused && self.has_lived();
        refused
    }

    pub(super) fn clear(&mut self) {
        self.accounts.clear();
        self.no_longer(|due| matches!(due, Happens::Outlasted));
    }
}
