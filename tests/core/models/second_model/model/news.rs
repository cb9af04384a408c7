//! News of the address, each cell of its table (`R18b`, `R22`).

use rideout::{Activation, Rejection};

use super::{Attempt, Model, Rank};

impl Model<'_> {
    pub(super) fn ended(&mut self, tag: Option<Activation>) {
        if self.is_live() {
            if self.is_stale(&tag) {
                return;
            }
            match self.attempt {
                None => self.lost(tag, None),
                // R25: it ends the old one alone.
                Some(_) => {
                    self.life_is_over();
                    let life = self.life.as_mut().expect("it lived");
                    life.by = life.by.take().or(tag);
                }
            }
        } else if let (Some(Attempt::Asking), Some(tag)) = (&self.attempt, tag)
            && !self.has_refused(&tag)
        {
            // Whether it is of the old one, whose end was not charged, is left open.
            self.undecided |= self.life.as_ref().is_some_and(|life| life.by.as_ref() == Some(&tag));
            self.the_ask_is_over();
            self.rejected(Rejection::by_owner(Some(tag)));
        }
    }

    pub(super) fn is_stale(&mut self, tag: &Option<Activation>) -> bool {
        let life = self.life.as_ref().expect("it lives");
        match (&life.by, tag) {
            (_, None) => false,
            (Some(by), Some(tag)) => by != tag,
            (None, Some(tag)) => {
                life.led_here.contains(tag) || (!life.answered && self.has_refused(tag))
            }
        }
    }

    pub(super) fn not_serving(&mut self, tag: Option<Activation>) {
        if self.is_live() {
            let by = self.life.as_ref().and_then(|life| life.by.clone());
            self.lost(None, tag.filter(|tag| by.as_ref() != Some(tag)));
        }
    }

    /// R18b.
    pub(super) fn arrived(&mut self, tag: Activation) {
        let lives = self.life.as_ref().filter(|life| life.ended.is_none());
        let is_here = lives.is_some_and(|life| life.by.as_ref() == Some(&tag));
        if is_here || self.has_refused(&tag) {
            return;
        }
        // R11: used up, and nothing is shorter for it.
        if self.hold != 0 && self.now <= self.hold {
            return;
        }
        let may = self.may_cut();
        match &mut self.attempt {
            Some(Attempt::Waiting { over, rank, .. }) if may => {
                self.accounts.cut += 1;
                (*over, *rank) = (self.now, Rank::News);
                self.wait_on();
            }
            _ => self.arrival = Some(tag),
        }
    }

    /// Whether a wait of this ride-out may yet end by an arrival. It is open like `has_refused`.
    pub(super) fn may_cut(&mut self) -> bool {
        let may = self.accounts.cut < self.script.limits.activations;
        self.undecided |= self.has_lived();
        may
    }

    /// R18b: whether an arrival that found no wait ends this one.
    pub(super) fn uses_the_arrival(&mut self) -> bool {
        // One that has refused since is none.
        let accounts = &self.accounts;
        self.arrival = self.arrival.take().filter(|tag| !accounts.has_refused(tag));
        let uses = self.may_cut() && self.arrival.take().is_some();
        self.accounts.cut += u32::from(uses);
        uses
    }
}
