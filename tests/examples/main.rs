//! What the examples that need no mesh show must be so.

mod own;
mod owner;
