//! The rules once more: worked examples, a second model, and what holds for any script of an owner.

mod any_budget;
mod properties;
mod rider_properties;
#[cfg(all(feature = "serde", feature = "tokio"))]
mod second_model;
#[cfg(all(feature = "serde", feature = "tokio"))]
mod world_format;
#[cfg(all(feature = "serde", feature = "tokio"))]
mod worlds;

#[cfg(all(feature = "serde", feature = "tokio"))]
#[path = "../../../examples/simulate/run.rs"]
mod run;
#[cfg(all(feature = "serde", feature = "tokio"))]
#[path = "../../../examples/simulate/world.rs"]
mod world;
