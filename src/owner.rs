//! What does an owner need so that whoever asks it can ride out its end? Parts, to be taken one at a
//! time.

mod gate;
mod intake;
mod leaving;
mod lifecycle;
mod registry;
mod served;
mod wave;

pub use lifecycle::{Ending, Lifecycle, RunLevel, Voice};
pub use served::{Asked, Frame, Released, Served};
