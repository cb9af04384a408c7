//! What do the refusals of one ride-out say about the owner, and which of them is worth a line?
//!
//! Pure sentences and summaries, for warnings and errors.

mod refusal_log;
mod shape;

pub use refusal_log::{Line, RefusalLog};
pub use shape::Shape;
