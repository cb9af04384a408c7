//! What the examples that need no mesh show must be so.

mod own_client;
mod own_owner;
mod own_rider;
mod told;
