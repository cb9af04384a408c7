//! What a live subscription needs beside its items: a beat from time to time, and another subscription
//! in its place where a frame is missing.

use std::{pin::Pin, task::Context};

use futures_core::Stream;

use super::{HEAR_AFTER, Ride};
use crate::{
    refusal::News,
    rider::{ask::Source, join::Join, keep_alive::Beat},
    time::Timer,
    unwind::poll_and_clear,
};

impl<A, J, N, P, T> Ride<A, J, N, P, T>
where
    A: Source<P>,
    J: Join,
    N: Stream<Item = News>,
    P: Clone,
    T: Timer,
{
    /// Whether there can be anything to look at.
    pub(super) fn has_upkeep(&self) -> bool {
        self.keep_alive.is_some() || self.state.given.frame_number.is_some()
    }

    /// Looks at both once; returns whether anything came of it.
    pub(super) fn look_at_upkeep(&mut self, cx: &mut Context<'_>) -> bool {
        let beaten = self.beat(cx);
        self.refresh(cx) || beaten
    }

    /// Sends the beat that is due (`R26`).
    fn beat(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(opened) = &self.state.opened else { return false };
        let Some(keep_alive) = &mut self.keep_alive else { return false };
        if keep_alive.poll_due(&self.timer, self.state.given.keep_alive_interval, cx).is_pending() {
            return false;
        }
        // The next one is under way already: a panic costs one beat at most.
        let (stream, activation) = (self.state.carrier.stream_id(), opened.by.clone());
        keep_alive.send(Beat { stream, activation });
        true
    }

    /// Asks for the refresh that a gap is owed, no sooner than a pace after the last one (`R44b`).
    ///
    /// While an attempt is under way, what it brings is another subscription, whatever this one lacks; so
    /// one refresh is asked for, however many gaps there are.
    fn refresh(&mut self, cx: &mut Context<'_>) -> bool {
        let _ = poll_and_clear(Pin::new(&mut self.rest), cx);
        let has_gap = self.state.opened.as_ref().is_some_and(|it| it.frames.has_gap());
        if !has_gap || self.rest.is_some() || self.stage().is_some() {
            return false;
        }
        self.rest = Some(Box::pin(self.timer.sleep(self.state.given.budget.pace)));
        self.state.unheard = HEAR_AFTER;
        self.state.carrier.nudge();
        true
    }
}
