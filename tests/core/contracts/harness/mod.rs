//! What every stream and every future of the crate keeps, as a harness: bring a [`Case`] of yours, and
//! it is run whole, dropped, moved and woken in every state, and survives what panics.
//!
//! `case`, `once`, `keeps` and `panics` are the mesh's harness too.

mod case;
mod feed;
mod keeps;
mod once;
mod own;
mod panics;
mod strict;
mod turns;

pub(crate) use self::{
    case::Case,
    feed::Feed,
    keeps::{keeps, keeps_as_a_future},
    own::{After, keeps_as_a_future_then, outlives_panics_as_a_future},
    panics::outlives_panics,
    strict::{Strict, pausing},
    turns::{Turns, is_bounded, is_bounded_as_a_future},
};
