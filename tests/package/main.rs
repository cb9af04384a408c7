//! What is said of the sources and of the crates, read against them.

mod architecture;
mod circles;
mod crates;
mod imports;
mod sizes;
mod sources;
