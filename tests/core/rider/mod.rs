//! Riders: the subscription, the read and the phases, in virtual time or on a clock that is moved by hand.

mod bell;
mod face;
mod gaps;
mod keep_alive;
mod leaves_nothing;
mod longest;
mod news;
mod own_timer;
mod phases;
mod polling;
mod read;
mod refresh;
mod subscription;
mod waits;
mod warnings;
