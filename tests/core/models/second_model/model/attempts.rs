//! An attempt: its turn, its wait, its ask, and the arms of that (`R12`–`R14`, `R16`, `R18`, `R20`).

use rideout::{Activation, Rejection};

use super::super::{
    accounts::Charge,
    run::{Asked, Counted, Seen},
    script::Says,
    speaker::ruling,
};
use super::{Attempt, Happens, Model, Rank};

impl Model<'_> {
    pub(super) fn begin_the_next(&mut self) {
        if self.attempt.is_none()
            && let Some(charge) = self.queue.pop_front()
        {
            self.wait(charge);
        }
    }

    /// R7, R11, R13, R18, R18b: what stands before the re-ask.
    pub(super) fn wait(&mut self, charge: Charge) {
        self.see(Seen::Charged(charge.counted.clone()));
        if self.has_outlasted() {
            return self.cut_short();
        }
        let rest = (self.now.saturating_add(charge.rest), Rank::Timer);
        let (mut over, rank) = match &charge.join {
            None => rest,
            Some(tag) => self.join(tag).unwrap_or(rest),
        };
        // One that is over at its first look uses none up.
        if over > self.now && self.uses_the_arrival() {
            over = self.now;
        }
        self.attempt = Some(Attempt::Waiting { charge, over, rank });
        self.wait_on();
    }

    /// R18: when the join is over; none where a rest takes its place.
    pub(super) fn join(&mut self, tag: &Activation) -> Option<(u64, Rank)> {
        match self.script.teardowns.get(tag.as_str()) {
            Some(&at) if at > self.now => {
                // R20b: a limit below 1 ms counts as 1 ms.
                let limit = self.now.saturating_add(self.script.limits.join_limit.max(1));
                Some(if at <= limit { (at, Rank::World) } else { (limit, Rank::Timer) })
            }
            _ if self.accounts.turn_taken => None,
            _ => {
                self.accounts.turn_taken = true;
                Some((self.now, Rank::Timer))
            }
        }
    }

    /// Asks where wait and hold are over, and otherwise when they will be.
    pub(super) fn wait_on(&mut self) {
        let Some(Attempt::Waiting { over, rank, .. }) = &self.attempt else { return };
        let (over, rank) =
            if self.hold > *over { (self.hold, Rank::Timer) } else { (*over, *rank) };
        self.no_longer(|due| matches!(due, Happens::WaitIsOver));
        match over <= self.now {
            true => self.wait_is_over(),
            false => self.later(over, rank, Happens::WaitIsOver),
        }
    }

    pub(super) fn wait_is_over(&mut self) {
        if let Some(Attempt::Waiting { charge, .. }) = self.attempt.take() {
            self.ask(Some(charge.counted));
        }
    }

    /// R16, R20, R24.
    pub(super) fn ask(&mut self, charge: Option<Counted>) {
        if self.has_outlasted() {
            return self.cut_short();
        }
        self.asks += 1;
        self.owed = false;
        self.attempt = Some(Attempt::Asking);
        let (attempt, resume, beside) = (self.asks, self.last_item, self.is_live());
        self.run.asks.push((self.now, Asked { attempt, charge, resume, beside }));
        let answer = self.script.answer(attempt, self.now);
        if !matches!(answer.says, Says::Silent) {
            let at = self.now.saturating_add(answer.late);
            self.later(at, Rank::Answer, Happens::Answer(answer.says));
        }
        let limit = self.now.saturating_add(self.script.limits.ask_limit);
        self.later(limit, Rank::Timer, Happens::AskLimit);
    }

    pub(super) fn the_ask_is_over(&mut self) {
        self.attempt = None;
        self.no_longer(|due| matches!(due, Happens::Answer(_) | Happens::AskLimit));
    }

    /// R16: a trigger.
    pub(super) fn nudge(&mut self) {
        self.owed = true;
        self.refresh();
    }

    pub(super) fn refresh(&mut self) {
        if self.owed && self.is_live() && self.attempt.is_none() {
            self.ask(None);
        }
    }

    pub(super) fn answered(&mut self, says: Says) {
        self.the_ask_is_over();
        match says {
            Says::Refuses(refusal) => match ruling(&refusal, self.script.address.path()) {
                Err(kind) => self.ends(Seen::Verdict(kind)),
                Ok(speaker) => {
                    self.rejected(Rejection { speaker, not_before: refusal.retry_after });
                }
            },
            Says::Silent => unreachable!("never an answer"),
            Says::Serves { by, parts } => self.opens(by, parts),
        }
    }

    pub(super) fn ask_limit(&mut self) {
        self.the_ask_is_over();
        self.rejected(Rejection::by_route());
    }
}
