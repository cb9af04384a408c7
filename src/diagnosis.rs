//! What do the refusals of one ride-out say about the owner?
//!
//! Pure sentences and summaries, for warnings and errors.

mod shape;

pub use shape::Shape;
