//! Where a subscription is: what it was given, and what has come of it.

use std::{
    mem,
    task::Poll,
    time::{Duration, Instant},
};

use super::{ask::Source, frames::Frames, given::Given, waits::Waits};
use crate::{
    activation::Activation,
    address::Address,
    carrier::{Carrier, RideError},
    classify::Ruling,
    refusal::Rejection,
    time::later,
};

/// News and timers are looked at after so many items (`R21`), and one poll takes so many turns (`R20b`).
pub(super) const LOOK_AFTER: u32 = 32;

/// One item of a subscription, as its source delivers it.
pub(super) type ItemOf<A, P> = Result<<A as Source<P>>::Item, <A as Source<P>>::Error>;

/// What a look at a subscription comes to.
pub(super) type PolledItem<A, P> = Poll<Option<ItemOf<A, P>>>;

/// Where a subscription is.
pub(super) struct State<A: Source<P>, P> {
    pub(super) given: Given<A, P>,
    pub(super) classify: fn(&A::Error, &Address) -> Ruling,
    pub(super) carrier: Carrier,
    pub(super) waits: Waits,
    // `Some` while live.
    pub(super) opened: Option<Opened>,
    // Who refused in the ride-out that led to it (`R22`). Kept, so that it is made once.
    refused_before: Vec<Activation>,
    // Whose subscription has ended, uncharged, while its refresh was under way (`R25`).
    pub(super) ended_during_refresh: Option<Activation>,
    // What an item's way met and does not handle.
    pub(super) handed_over: Option<PolledItem<A, P>>,
    // How many items have passed since news was looked at, and how many more may without a look.
    pub(super) passed: u32,
    pub(super) granted: u32,
    // How many items have passed since the chain was looked at.
    pub(super) unheard: u32,
    // How many items and turns there were since the timers were looked at.
    pub(super) untimed: u32,
    pub(super) resume: Option<P>,
    pub(super) newest: Option<u64>,
    // When the first rejection since the last answer was charged.
    pub(super) began: Option<Instant>,
    // When the running attempt's sleep is over, and what the bound by the clock has cut off it.
    pub(super) sleeps_until: Option<Instant>,
    pub(super) left_after_bound: Option<Duration>,
    // How it ends, until that is told, and whether its warning is out.
    pub(super) failure: Option<RideError<A::Error>>,
    pub(super) warned: bool,
    pub(super) over: bool,
}

/// What is known of the live subscription.
pub(super) struct Opened {
    pub(super) at: Instant,
    pub(super) by: Option<Activation>,
    /// Whether its first item has passed.
    pub(super) spoke: bool,
    /// Whether it counts as an answer (`R9`).
    pub(super) proven: bool,
    /// Its frames, where they are numbered.
    pub(super) frames: Frames,
}

impl<A: Source<P>, P> State<A, P> {
    pub(super) fn new(mut given: Given<A, P>, classify: fn(&A::Error, &Address) -> Ruling) -> Self {
        let resume = given.resume_from.take();
        let carrier = Carrier::for_stream(given.stream, given.address.clone(), given.budget);
        State {
            given,
            classify,
            carrier,
            waits: Waits::default(),
            opened: None,
            refused_before: Vec::new(),
            ended_during_refresh: None,
            handed_over: None,
            passed: 0,
            granted: 0,
            unheard: 0,
            untimed: 0,
            resume,
            newest: None,
            began: None,
            sleeps_until: None,
            left_after_bound: None,
            failure: None,
            warned: false,
            over: false,
        }
    }

    /// How many items may pass before anything else is looked at.
    pub(super) fn grant(&mut self) -> u32 {
        let spoke = self.opened.as_ref().is_some_and(|opened| opened.spoke);
        let looks = spoke && self.handed_over.is_none();
        self.granted = if looks { LOOK_AFTER.saturating_sub(self.passed) } else { 0 };
        self.granted
    }

    /// Takes back what is left of the grant, and what the last look at the stream came to where that
    /// was no item.
    #[inline]
    pub(super) fn take_back_grant(&mut self, left: u32, polled: Option<PolledItem<A, P>>) {
        let passed = mem::take(&mut self.granted) - left;
        self.passed += passed;
        self.unheard += passed;
        self.untimed += passed;
        // One that no look came to yet is kept: that stream may be over. But whom a stream wakes is
        // the last who polled it.
        let kept = self.handed_over.take().filter(Poll::is_ready);
        self.handed_over = polled.or(kept);
    }

    pub(super) fn is_over(&self) -> bool {
        self.over
    }

    /// Counts an answer where the subscription has lived long enough for one (`R9`).
    pub(super) fn count_as_answer_after(&mut self, lived: Duration) {
        let enough = self.given.budget.proven_after.unwrap_or(self.given.budget.pace);
        if lived >= enough {
            self.answered();
        }
    }

    pub(super) fn answered(&mut self) {
        if let Some(opened) = &mut self.opened
            && !opened.proven
        {
            opened.proven = true;
            self.carrier.answered();
            self.waits.answered();
            self.began = None;
        }
    }

    /// An item passes that is no part of a grant; `None` where it is dropped.
    pub(super) fn item_passes(&mut self, item: A::Item) -> Option<A::Item> {
        self.passed += 1;
        self.unheard += 1;
        let spoke = self.opened.as_mut().map(|opened| mem::replace(&mut opened.spoke, true));
        let first = spoke == Some(false);
        if first && self.given.budget.proven_after.is_none() {
            self.answered();
        }
        self.read_item(item, first)
    }

    /// Takes what is to be known of an item; `None` where it is not newer than the last one and not
    /// the first of its answer (`R24`).
    #[inline]
    pub(super) fn read_item(&mut self, item: A::Item, first: bool) -> Option<A::Item> {
        let whole = self.given.frame_number.is_none_or(|number| self.frame(number(&item)));
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

    /// A numbered frame passes; returns whether none before it is missing.
    #[inline(never)]
    fn frame(&mut self, number: u64) -> bool {
        self.opened.as_mut().is_none_or(|opened| opened.frames.pass(number))
    }

    /// Who serves the live subscription, where that is known.
    pub(super) fn served_by(&self) -> Option<&Activation> {
        self.opened.as_ref()?.by.as_ref()
    }

    /// When the ride-out must be over, where it is bounded by the clock.
    pub(super) fn deadline(&self) -> Option<Instant> {
        Some(later(self.began?, self.given.budget.longest?))
    }

    /// Whether an end that is announced with `tag` is that of the live subscription, and who is
    /// charged with it (`R22`).
    pub(super) fn ended(&self, tag: Option<Activation>) -> Option<Rejection> {
        let opened = self.opened.as_ref()?;
        match (&opened.by, &tag) {
            (Some(by), Some(tag)) if by != tag => None,
            (None, Some(tag)) if self.has_refused_before(opened, tag) => None,
            (by, _) => Some(Rejection::by_owner(by.clone().or(tag))),
        }
    }

    /// Whether `tag` refused in the ride-out that led to the live subscription. One that its refresh
    /// is ridden out by is another, unless this one has not been an answer yet.
    fn has_refused_before(&self, opened: &Opened, tag: &Activation) -> bool {
        let goes_on = || self.carrier.with_ledger(|ledger| ledger.has_refused(tag));
        self.refused_before.contains(tag) || (!opened.proven && goes_on())
    }

    /// A subscription opens.
    pub(super) fn remember_who_refused_before(&mut self) {
        let State { refused_before, carrier, .. } = self;
        refused_before.clear();
        carrier.with_ledger(|ledger| refused_before.extend(ledger.who_led_here().cloned()));
    }
}
