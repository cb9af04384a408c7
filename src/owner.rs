//! What does an owner need so that whoever asks it can ride out its end? Parts, to be taken one at a
//! time.

mod gate;
mod intake;
mod leaving;
mod lifecycle;
mod registry;
mod served;
mod wave;

pub use gate::Gates;
pub use intake::{Disposing, Message, Sort};
pub use leaving::{DrainSet, HostPhase, LeavingHost};
pub use lifecycle::{Ending, Lifecycle, Pending, Reached, RunLevel, TearDown, Voice};
pub use registry::{AlreadyServed, Registry};
pub use served::{Asked, Frame, Released, Served};
pub use wave::{Wave, Waves};
