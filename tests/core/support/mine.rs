//! What panics once, to see what is left then.

use std::{
    panic::resume_unwind,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Panics once, at one of the steps on it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Mine(Arc<Mutex<Buried>>);

#[derive(Debug, Default)]
struct Buried {
    // How many steps it still bears; `None` for all there are.
    bears: Option<u32>,
    went_off: Option<&'static str>,
}

impl Mine {
    /// One that bears so many steps, and not the one after them.
    pub(crate) fn bears(steps: u32) -> Self {
        Mine(Arc::new(Mutex::new(Buried { bears: Some(steps), ..Buried::default() })))
    }

    fn buried(&self) -> MutexGuard<'_, Buried> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A step of what is named so.
    pub(crate) fn step(&self, who: &'static str) {
        let mut buried = self.buried();
        match buried.bears {
            Some(0) => {
                (buried.bears, buried.went_off) = (None, Some(who));
                drop(buried);
                // Without the hook's report: the tests go off a thousand times.
                resume_unwind(Box::new(format!("{who} panics")));
            }
            Some(more) => buried.bears = Some(more - 1),
            None => {}
        }
    }

    /// Whose step it was that set it off.
    pub(crate) fn went_off(&self) -> Option<&'static str> {
        self.buried().went_off
    }
}
