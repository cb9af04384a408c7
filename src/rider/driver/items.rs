//! The live stream's turn: items, and its end.

use std::{
    mem,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use futures_core::Stream;

use super::{Driver, Looked, PhaseOf, PolledItem, Turn};
use crate::{
    carrier::End,
    classify::Ruling,
    refusal::{News, Rejection},
    rider::{ask::Source, ending::Ending, join::Join, phase::Phase},
    time::Timer,
    unwind::repaired_on_panic,
};

/// How much of a subscription that news has ended is told yet, in items (`R21b`).
const MOST_RECEIVED: usize = 1_024;

impl<A: Source<P>, J: Join, N, P, T: Timer> Driver<A, J, N, P, T> {
    /// Polls the live stream with its task's own waker. Where that panics, it is live no more.
    #[inline]
    pub(in crate::rider) fn poll_live(&mut self, cx: &mut Context<'_>) -> PolledItem<A, P> {
        repaired_on_panic(
            Pin::new(self),
            |driver| driver.get_mut().drop_live(),
            |driver| match driver.get_mut().live.as_mut().as_pin_mut() {
                Some(live) => match live.project().stream.as_pin_mut() {
                    Some(stream) => stream.poll_next(cx),
                    // Completed, which has not taken effect: something panicked meanwhile.
                    None => Poll::Ready(None),
                },
                None => Poll::Pending,
            },
        )
    }

    /// Drops the live subscription. Where that is all, since something panicked, the next look finds that
    /// nothing is asked for.
    #[cold]
    pub(super) fn drop_live(&mut self) {
        self.bell.set_open(false);
        self.bell.look_next();
        self.live.set(None);
    }

    /// Takes what is to be known of an item; `None` where it is not newer than the last one and not
    /// the first of its answer (`R24`).
    #[inline]
    pub(in crate::rider) fn read_item(&mut self, item: A::Item, first: bool) -> Option<A::Item> {
        let whole = self.given.frame_number.is_none_or(|number| self.frame_passes(number(&item)));
        if let Some(version) = self.given.version {
            let version = version(&item);
            if !first && self.newest.is_some_and(|newest| version <= newest) {
                return None;
            }
            self.newest = Some(version);
        }
        // Behind a gap there is no place to resume: what is missing would be missing for good (`R44b`).
        if let Some(at) = self.given.at
            && whole
        {
            self.resume = Some(at(&item));
        }
        Some(item)
    }

    /// A numbered frame passes; returns whether none before it is missing. A gap is looked at next.
    #[inline(never)]
    fn frame_passes(&mut self, number: u64) -> bool {
        let Some(live) = self.live.as_mut().as_pin_mut() else { return true };
        let frames = live.project().frames;
        let had_gap = frames.has_gap();
        let whole = frames.pass(number);
        if !whole && !had_gap {
            self.bell.look_next();
        }
        whole
    }

    /// Whether a subscription has lived long enough to count as an answer (`R9`).
    pub(super) fn is_answer_after(&self, lived: Duration) -> bool {
        lived >= self.given.budget.proven_after.unwrap_or(self.given.budget.pace)
    }

    /// The subscription that is live, or was, counts as an answer from here on.
    pub(super) fn count_as_answer(&mut self) {
        if let Some(live) = self.live.as_mut().as_pin_mut() {
            *live.project().proven = true;
        }
        self.carrier.answered();
        self.ride_out.answered();
    }

    /// An item passes that is seen; `None` where it is dropped.
    pub(super) fn item_passes(&mut self, item: A::Item) -> Option<A::Item> {
        let live = self.live.as_mut().as_pin_mut();
        let first = live.is_some_and(|live| !mem::replace(live.project().spoke, true));
        if first {
            let proven = (*self.live).as_ref().is_some_and(|live| live.proven);
            if !proven && self.given.budget.proven_after.is_none() {
                self.count_as_answer();
            }
            self.bell.set_open(true);
        }
        self.read_item(item, first)
    }
}

impl<A, J, N, P, T> Driver<A, J, N, P, T>
where
    A: Source<P>,
    J: Join,
    N: Stream<Item = News>,
    P: Clone,
    T: Timer,
{
    /// What the live stream said takes effect; where it said nothing, the timers have their turn.
    pub(super) fn stream_has_its_turn(
        &mut self,
        polled: PolledItem<A, P>,
        looked: Looked,
        share: &mut u32,
    ) -> Turn<Option<PhaseOf<A, P>>> {
        match polled {
            Poll::Ready(Some(Ok(item))) => {
                self.timers_wait |= looked == Looked::ButAtTimers;
                match self.item_passes(item) {
                    Some(item) => Turn::Yield(Some(Ok(Phase::Live(item)))),
                    None => Turn::Again,
                }
            }
            Poll::Ready(Some(Err(error))) => self.refused_while_live(error),
            Poll::Ready(None) => self.completed(share),
            Poll::Pending if looked == Looked::ButAtTimers => self.look_at_timers(),
            Poll::Pending => Turn::Idle,
        }
    }

    /// The live stream says no.
    pub(super) fn refused_while_live(&mut self, error: A::Error) -> Turn<Option<PhaseOf<A, P>>> {
        // It is over, whatever the ruling says, or panics instead.
        let ruling = repaired_on_panic(
            Pin::new(&mut *self),
            |driver| driver.get_mut().drop_live(),
            |driver| (driver.classify)(&error, &driver.given.address),
        );
        match ruling {
            Ruling::Verdict(_) => Turn::Yield(Some(Err(End::Verdict(error).into()))),
            Ruling::Promise(rejection) => {
                self.live_has_ended(rejection, Some(error));
                Turn::Again
            }
        }
    }

    /// News ends the live subscription: takes out what that has at hand, so much at most, to be told first.
    /// Returns whether it has ended by itself meanwhile, with a refusal.
    pub(super) fn take_what_was_received(&mut self) -> bool {
        let waker = self.bell.waker().clone();
        let mut cx = Context::from_waker(&waker);
        for _ in 0..MOST_RECEIVED {
            match self.poll_live(&mut cx) {
                Poll::Ready(Some(Ok(item))) => {
                    let passed = self.item_passes(item);
                    self.received.extend(passed);
                }
                Poll::Ready(Some(Err(error))) => {
                    if let Turn::Yield(Some(Err(error))) = self.refused_while_live(error) {
                        self.drop_live();
                        self.ending = Ending::Failing { error, warned: false };
                    }
                    return true;
                }
                Poll::Ready(None) | Poll::Pending => break,
            }
        }
        false
    }

    /// The live stream is complete: news that is at hand has ended it, or it ended by itself (bell,
    /// invariant 4).
    pub(super) fn completed(&mut self, share: &mut u32) -> Turn<Option<PhaseOf<A, P>>> {
        if let Some(live) = self.live.as_mut().as_pin_mut() {
            live.project().stream.set(None);
        }
        let waker = self.bell.waker().clone();
        let mut cx = Context::from_waker(&waker);
        while *share > 0 && self.look_at_news(&mut cx) {
            *share -= 1;
            if !self.is_live() {
                return Turn::Again;
            }
        }
        let served_by = (*self.live).as_ref().and_then(|live| live.by.clone());
        if self.given.re_ask_on_completion {
            self.live_has_ended(Rejection::by_owner(served_by), None);
            return Turn::Again;
        }
        if self.stage().is_some() {
            // A refresh is under way, and what it brings goes on where this one completed.
            self.ended_during_refresh = served_by;
            self.close_live();
            return Turn::Again;
        }
        Turn::Yield(None)
    }
}
