//! What the examples that need no mesh show must be so.

mod own_client;
mod own_rider;
mod owner;
mod told;
