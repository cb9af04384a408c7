//! The rules once more: worked examples, a second model, and what holds for any script of an owner.

mod any_budget;
mod properties;
mod rider_properties;
mod second_model;
mod world_format;
mod worlds;

#[path = "../../../examples/simulate/run.rs"]
mod run;
#[path = "../../../examples/simulate/world.rs"]
mod world;
