//! What is said of the sources, read against them.

mod architecture;
