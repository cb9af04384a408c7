//! What a panic leaves behind: nothing that would be polled again.
//!
//! A panic in what an attempt or a rider was given reaches the caller of the poll, who may poll again (`R20c`). A
//! future that has panicked, or that is over, may not be: so what is polled is guarded, and what is over
//! is dropped before anything else of the user's runs. Where several pieces of foreign code must all run,
//! [`FirstPanic`] holds the first of their panics back until they have.

use std::{
    any::Any,
    mem,
    panic::{self, AssertUnwindSafe},
    pin::Pin,
    task::{Context, Poll},
};

/// Polls what is in `place`, where there is anything. Where that panics, `place` is empty then.
#[inline]
pub(crate) fn poll_guarded<T, R>(
    place: Pin<&mut Option<T>>,
    poll: impl FnOnce(Pin<&mut T>) -> Poll<R>,
) -> Poll<R> {
    // Never made an `Option` of the answer: a subscription's is large, and on an item's way.
    repaired_on_panic(
        place,
        |mut place| place.set(None),
        |place| match place.as_pin_mut() {
            Some(part) => poll(part),
            None => Poll::Pending,
        },
    )
}

/// Polls the future in `place`, where there is one. `place` is empty when the future is over, by a panic too.
pub(crate) fn poll_and_clear<F: Future>(
    mut place: Pin<&mut Option<F>>,
    cx: &mut Context<'_>,
) -> Poll<F::Output> {
    let polled = poll_guarded(place.as_mut(), |future| future.poll(cx));
    if polled.is_ready() {
        place.set(None);
    }
    polled
}

/// Looks at `part`. Where that panics, `repair` makes it fit to be looked at again.
#[inline]
pub(crate) fn repaired_on_panic<T, R>(
    part: Pin<&mut T>,
    repair: fn(Pin<&mut T>),
    look: impl FnOnce(Pin<&mut T>) -> R,
) -> R {
    let mut guard = RepairOnDrop { part, repair };
    let looked = look(guard.part.as_mut());
    // It has not panicked: nothing is to be repaired.
    mem::forget(guard);
    looked
}

/// Repairs its part when it is dropped, which is on unwind only.
struct RepairOnDrop<'a, T> {
    part: Pin<&'a mut T>,
    repair: fn(Pin<&mut T>),
}

impl<T> Drop for RepairOnDrop<'_, T> {
    fn drop(&mut self) {
        (self.repair)(self.part.as_mut());
    }
}

/// A panic, until it goes on.
type Payload = Box<dyn Any + Send>;

/// The first panic of several pieces of code that must all run, kept until it may go on.
///
/// Later ones are dropped: one panic reaches the caller, and it is the first.
#[derive(Default)]
pub(crate) struct FirstPanic {
    payload: Option<Payload>,
}

impl FirstPanic {
    /// Runs all of `codes`, those after one that panics too; then the first panic goes on.
    pub(crate) fn run_all(codes: impl IntoIterator<Item = impl FnOnce()>) {
        let mut panics = Self::default();
        for code in codes {
            panics.catch(code);
        }
        panics.resume();
    }

    /// Runs `code` and returns its value, or `None` where it panics.
    pub(crate) fn catch<R>(&mut self, code: impl FnOnce() -> R) -> Option<R> {
        match caught(code) {
            Ok(value) => Some(value),
            Err(payload) if self.payload.is_none() => {
                self.payload = Some(payload);
                None
            }
            Err(payload) => {
                drop_payload(payload);
                None
            }
        }
    }

    /// Lets the first panic go on, where there was one.
    pub(crate) fn resume(self) {
        if let Some(payload) = self.payload {
            panic::resume_unwind(payload);
        }
    }
}

/// Runs `code`, whose state nobody looks at after a panic but to end.
pub(crate) fn caught<R>(code: impl FnOnce() -> R) -> Result<R, Payload> {
    panic::catch_unwind(AssertUnwindSafe(code))
}

/// Drops a panic of which nobody hears. Its payload is foreign too: one that panics in turn is left.
fn drop_payload(payload: Payload) {
    if let Err(another) = caught(|| drop(payload)) {
        mem::forget(another);
    }
}
