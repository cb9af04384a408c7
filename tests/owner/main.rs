//! The side that refuses, part by part, and each seam at which an owner does.

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
mod served;
mod support;
mod tear_down;
mod tombstone;
mod watchdog;
mod wave;
