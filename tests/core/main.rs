//! The reader's side: the operators, the riders, the contracts of every stream and future, and the rules once
//! more as models.

mod carrier;
mod contracts;
mod models;
mod rider;
mod support;
