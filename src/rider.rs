//! Riders: what client programs hold while an owner goes away and comes back.
//!
//! A rider asks, and rides out the promises. [`RideOut`] is a subscription and [`PointRead`] one value
//! within a deadline. They are built on the public operators of [`carrier`](crate::carrier); what the
//! operators leave to a rider is here, one thing a file.

mod ask;
mod attempt;
mod bell;
mod boxed;
mod builder;
mod driver;
mod ending;
mod frames;
mod given;
mod hears;
mod join;
mod keep_alive;
mod live;
mod news;
mod nudger;
mod phase;
mod phases;
mod read;
mod ride_out;
mod shown;
mod subscription;

pub use self::{
    ask::{Answer, Ask, IntoAnswer, Source},
    boxed::BoxRide,
    builder::RideOutBuilder,
    join::{Join, NoJoin},
    keep_alive::Beat,
    news::NoNews,
    nudger::Nudger,
    phase::Phase,
    phases::Phases,
    read::{PointRead, PointReadBuilder, PointReadEnd, PointReadError, Recycling},
    subscription::RideOut,
};
