//! What do client programs hold while an owner goes away and comes back?
//!
//! A rider: it asks, and rides out the promises. [`RideOut`] is a subscription, on the public
//! operators of [`carrier`](crate::carrier); what they leave to a rider is here, one thing a file.

mod ask;
mod attempt;
mod join;
mod news;
mod phases;
mod ride;
mod subscription;
mod waits;

pub use self::{
    ask::{Answer, Ask, IntoAnswer, Source},
    join::{Join, NoJoin},
    news::NoNews,
    phases::{Phase, Phases},
    subscription::{Nudger, RideOut},
};
