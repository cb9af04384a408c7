//! What outlives an activation: the last value written at each address, and its version.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::frame::Versioned;

/// The states of all addresses, by path: an owner is the same wherever it is hosted.
///
/// Values are shared and never touched under the lock, where a user's `Clone` or `Drop` could call
/// back.
pub(crate) struct Store<T> {
    states: Mutex<HashMap<String, Arc<Versioned<T>>>>,
}

impl<T> Store<T> {
    pub(crate) fn new() -> Self {
        Self { states: Mutex::default() }
    }

    /// Locks, poisoned or not: nobody panics under it.
    fn states(&self) -> MutexGuard<'_, HashMap<String, Arc<Versioned<T>>>> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the state of `path`, if anything was ever written there.
    pub(crate) fn read(&self, path: &str) -> Option<Arc<Versioned<T>>> {
        self.states().get(path).cloned()
    }

    /// Returns whether there is one.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.states().contains_key(path)
    }

    /// Writes the next version of `path`. Versions start at 1 and go on over every activation.
    pub(crate) fn write(&self, path: &str, value: T) -> Arc<Versioned<T>> {
        let mut states = self.states();
        let version = states.get(path).map_or(0, |state| state.version) + 1;
        let written = Arc::new(Versioned { version, value });
        let replaced = states.insert(path.to_owned(), Arc::clone(&written));

        drop(states);
        drop(replaced);
        written
    }

    /// Writes the next version of `path`, where it was not deleted; otherwise gives `value` back.
    pub(crate) fn rewrite(&self, path: &str, value: T) -> Result<Arc<Versioned<T>>, T> {
        let mut states = self.states();
        let Some(state) = states.get_mut(path) else { return Err(value) };
        let written = Arc::new(Versioned { version: state.version + 1, value });
        let replaced = std::mem::replace(state, Arc::clone(&written));

        drop(states);
        drop(replaced);
        Ok(written)
    }

    /// Deletes what is stored at `path`, and returns it. Versions begin anew.
    pub(crate) fn delete(&self, path: &str) -> Option<Arc<Versioned<T>>> {
        self.states().remove(path)
    }
}
