//! What do client programs hold while an owner goes away and comes back?
//!
//! A rider: it asks, and rides out the promises. [`RideOut`] is a subscription, on the public
//! operators of [`carrier`](crate::carrier); what they leave to a rider is here, one thing a file.

mod ask;
mod attempt;
mod frames;
mod join;
mod keep_alive;
mod news;
mod nudger;
mod phases;
mod read;
mod ride;
mod state;
mod subscription;
mod waits;

pub use self::{
    ask::{Answer, Ask, IntoAnswer, Source},
    join::{Join, NoJoin},
    keep_alive::Beat,
    news::NoNews,
    nudger::Nudger,
    phases::{Phase, Phases},
    read::{PointRead, PointReadError, Recycling},
    subscription::RideOut,
};

/// How much of the last refusal's text a warning shows, in characters (`R23`): enough for the recycler
/// that it names.
const REFUSAL_SHOWN: usize = 300;

/// The text of a refusal, cut for a warning.
fn shown(refusal: &impl std::fmt::Display) -> String {
    refusal.to_string().chars().take(REFUSAL_SHOWN).collect()
}
