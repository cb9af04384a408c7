//! Panics of foreign code: the others are still called, and the first panic goes on.
//!
//! Wakers, patches and what is dropped with a stream belong to whoever uses the mesh.

use std::{
    any::Any,
    mem,
    panic::{self, AssertUnwindSafe},
};

/// A panic, until it goes on.
pub(crate) type Panicked = Box<dyn Any + Send>;

/// Runs `code`, and returns its panic where it panics.
pub(crate) fn caught<R>(code: impl FnOnce() -> R) -> Result<R, Panicked> {
    panic::catch_unwind(AssertUnwindSafe(code))
}

/// Runs `code`, where nobody could be told of its panic: that ends here.
pub(crate) fn contained(code: impl FnOnce()) {
    if let Err(payload) = caught(code) {
        put_away(payload);
    }
}

/// Runs all of `codes`, those after one that panics too; then the first panic goes on.
pub(crate) fn all(codes: impl IntoIterator<Item = impl FnOnce()>) {
    let mut first = None;
    for code in codes {
        match caught(code) {
            Err(payload) if first.is_none() => first = Some(payload),
            Err(payload) => put_away(payload),
            Ok(()) => {}
        }
    }
    if let Some(payload) = first {
        panic::resume_unwind(payload);
    }
}

/// Drops a panic of which nobody hears. Its payload is foreign too: one that panics in turn is left.
fn put_away(payload: Panicked) {
    if let Err(another) = caught(|| drop(payload)) {
        mem::forget(another);
    }
}
