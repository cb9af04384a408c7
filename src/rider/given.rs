//! What the user gave a subscription. Fixed once it is built.

use std::time::Duration;

use super::{
    ask::Source,
    keep_alive::{self, SendBeat},
};
use crate::{activation::StreamId, address::Address, budget::Budget};

/// What the user gave a subscription, beside its join, its news and its timer.
pub(super) struct Given<A: Source<P>, P> {
    pub(super) stream: StreamId,
    pub(super) address: Address,
    pub(super) source: A,
    /// Takes the resume point of an item.
    pub(super) at: Option<fn(&A::Item) -> P>,
    pub(super) resume_from: Option<P>,
    pub(super) version: Option<fn(&A::Item) -> u64>,
    pub(super) frame_number: Option<fn(&A::Item) -> u64>,
    pub(super) re_ask_on_completion: bool,
    pub(super) beat: Option<SendBeat>,
    pub(super) keep_alive_interval: Duration,
    pub(super) budget: Budget,
}

impl<A: Source<P>, P> Given<A, P> {
    pub(super) fn new(address: Address, source: A, at: Option<fn(&A::Item) -> P>) -> Self {
        Given {
            stream: StreamId::mint(),
            address,
            source,
            at,
            resume_from: None,
            version: None,
            frame_number: None,
            re_ask_on_completion: false,
            beat: None,
            keep_alive_interval: keep_alive::INTERVAL,
            budget: Budget::default(),
        }
    }

    /// Whether each item is looked at.
    pub(super) fn reads_items(&self) -> bool {
        self.at.is_some() || self.version.is_some() || self.frame_number.is_some()
    }
}
