//! The rules once more: worked examples, a second model, and what holds for any script of an owner.

mod any_budget;
mod properties;
mod rider_properties;
#[cfg(feature = "serde")]
mod second_model;
#[cfg(feature = "serde")]
mod world_format;
#[cfg(feature = "serde")]
mod worlds;

#[cfg(feature = "serde")]
#[path = "../../../examples/simulate/run.rs"]
mod run;
#[cfg(feature = "serde")]
#[path = "../../../examples/simulate/world.rs"]
mod world;
