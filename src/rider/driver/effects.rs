//! What news, and the end of the live subscription, does to a rider.

use futures_core::Stream;

use super::Driver;
use crate::{
    activation::Activation,
    refusal::{News, Rejection},
    rider::{
        ask::Source,
        attempt::StageProj,
        hears::{Attempting, Effect, LiveOn, Situation, hears},
        join::Join,
    },
    time::{Timer, later},
};

impl<A, J, N, P, T> Driver<A, J, N, P, T>
where
    A: Source<P>,
    J: Join,
    N: Stream<Item = News>,
    P: Clone,
    T: Timer,
{
    /// Hears one piece of news (`R22`).
    pub(super) fn hear(&mut self, news: News) {
        let attempt = match self.stage() {
            None => Attempting::Nothing,
            Some(StageProj::Asking { .. }) => Attempting::Asking,
            Some(_) => Attempting::Waiting,
        };
        let Driver { live, carrier, ended_during_refresh, .. } = &*self;
        let live = (**live).as_ref().map(|live| LiveOn {
            by: live.by.as_ref(),
            refused_before: &live.refused_before,
            proven: live.proven,
        });
        let ended_during_refresh = ended_during_refresh.as_ref();
        let has_refused = |tag: &_| carrier.with_ledger(|ledger| ledger.has_refused(tag));
        let effect = hears(Situation { live, attempt, ended_during_refresh }, news, has_refused);
        if effect.ends_the_live() && self.take_what_was_received() {
            // It has ended by itself, with a refusal, which counts instead.
            return;
        }
        match effect {
            Effect::Nothing => {}
            Effect::Lost(rejection) => self.live_has_ended(rejection, None),
            Effect::LostDuringRefresh(rejection) => {
                self.ended_during_refresh = rejection.speaker.activation().cloned();
                self.close_live();
            }
            Effect::Superseded(rejection, successor) => {
                self.live_has_ended(rejection, None);
                self.hear(News::Arrived(successor));
            }
            Effect::AskLost(rejection) => self.reject(rejection, None),
            Effect::Arrived(activation) => self.arrived(activation),
        }
    }

    /// An activation arrives that may end a wait (`R18b`).
    pub(super) fn arrived(&mut self, activation: Activation) {
        let waiting = matches!(self.stage(), Some(StageProj::Waiting { .. }));
        let (now, activations) = (self.timer.now(), self.given.budget.activations);
        if self.ride_out.arrived(activation, waiting, now, activations) {
            self.wait_is_over();
        }
    }

    /// The live subscription is over, by `rejection`.
    pub(super) fn live_has_ended(&mut self, rejection: Rejection, error: Option<A::Error>) {
        self.close_live();
        if self.stage().is_none() {
            self.reject(rejection, error);
        } else {
            // A refresh is under way, and goes on. What it is refused with comes behind this, and
            // what it is answered with makes this stale.
            self.chain().remember(error);
            self.carrier.reject(rejection);
            self.bound_by_the_clock();
        }
    }

    /// The live subscription is over: judges it, and has a short life held against the next re-ask
    /// (`R9`, `R11`).
    pub(super) fn close_live(&mut self) {
        let life = (*self.live).as_ref().map(|live| (live.opened_at, live.proven));
        // First of all: what is foreign in the rest may panic, and it is not polled again.
        self.drop_live();
        self.stop_beats();
        let now = self.timer.now();
        let Some((opened_at, proven)) = life else { return };
        let lived = now.duration_since(opened_at);
        if !proven && self.is_answer_after(lived) {
            self.count_as_answer();
        }
        if lived < self.given.budget.pace {
            self.ride_out.hold(later(now, self.given.budget.pace));
        }
    }

    /// Has a rejection charged, with the next look at the chain.
    pub(super) fn reject(&mut self, rejection: Rejection, error: Option<A::Error>) {
        self.bell.look_next();
        self.chain().reject(rejection, error);
    }
}
