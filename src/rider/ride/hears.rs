//! What news does to a subscription.

use std::pin::Pin;

use futures_core::Stream;

use super::Ride;
use crate::{
    activation::Activation,
    refusal::{News, Rejection},
    rider::{ask::Source, attempt::StageProj, join::Join},
    time::Timer,
};

impl<A, J, N, P, T> Ride<A, J, N, P, T>
where
    A: Source<P>,
    J: Join,
    N: Stream<Item = News>,
    P: Clone,
    T: Timer,
{
    /// Hears one piece of news (`R22`).
    pub(super) fn apply_news(&mut self, live: Pin<&mut Option<A::Stream>>, news: News) {
        let asking = matches!(self.stage(), Some(StageProj::Asking { .. }));
        match news {
            News::Arrived(activation) => self.arrived(activation),
            News::Ended(tag) if live.is_some() => {
                let Some(rejection) = self.state.ended(tag) else { return };
                if self.stage().is_some() {
                    // It ends only the old subscription: a refresh is under way (`R25`).
                    self.state.ended_during_refresh = rejection.speaker.activation().cloned();
                    self.close_live(live);
                } else {
                    self.live_has_ended::<()>(live, rejection, None);
                }
            }
            News::Ended(Some(tag))
                if asking
                    && !self.has_refused(&tag)
                    && self.state.ended_during_refresh.as_ref() != Some(&tag) =>
            {
                // It stands for the answer that will not come.
                self.reject(Rejection::by_owner(Some(tag)), None);
            }
            News::NotServing(tag) if live.is_some() => {
                let served_by = self.state.served_by().cloned();
                let moved = tag.filter(|tag| Some(tag) != served_by.as_ref());
                self.live_has_ended::<()>(live, Rejection::by_owner(served_by), None);
                if let Some(moved) = moved {
                    self.arrived(moved);
                }
            }
            // An attempt is coming, or running, anyway.
            News::Ended(_) | News::NotServing(_) => {}
        }
    }

    /// An activation of the address arrives (`R18b`).
    pub(super) fn arrived(&mut self, activation: Activation) {
        if self.state.served_by() == Some(&activation) || self.has_refused(&activation) {
            return;
        }
        let waiting = matches!(self.stage(), Some(StageProj::Waiting { .. }));
        let (now, activations) = (self.timer.now(), self.state.given.budget.activations);
        if self.state.waits.arrived(activation, waiting, now, activations) {
            self.wait_is_over::<()>();
        }
    }

    pub(super) fn has_refused(&self, activation: &Activation) -> bool {
        self.state.carrier.with_ledger(|ledger| ledger.has_refused(activation))
    }
}
