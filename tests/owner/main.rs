//! The side that refuses, part by part, and each seam at which an owner does.

mod delivery_targets;
mod driver;
mod eviction;
mod gate;
mod intake;
mod leaves_nothing;
mod leaving;
mod lifecycle;
mod orders;
mod panics;
mod registry;
mod release;
mod seams;
mod subscribers;
mod support;
mod watchdog;
mod wave;
