//! Which primitives hold the state that threads share: std's, or loom's in the models.
//!
//! The only file that names loom. Nothing else may name `std::sync::{Arc, Mutex}` for state that
//! the models look at.

#[cfg(rideout_loom)]
pub(crate) use loom::sync::{
    Arc, Mutex, MutexGuard,
    atomic::{AtomicU8, Ordering},
};
#[cfg(not(rideout_loom))]
pub(crate) use std::sync::{
    Arc, Mutex, MutexGuard,
    atomic::{AtomicU8, Ordering},
};

use std::sync::PoisonError;

/// Locks, poisoned or not: no user code runs while one of our locks is held, so what a panic
/// elsewhere left behind is whole.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
