//! What a panic leaves behind: nothing that would be polled again.
//!
//! A panic in what an attempt or a rider was given reaches the caller of the poll, who may poll again (`R20c`). A
//! future that has panicked, or that is over, may not be: so what is polled is guarded, and what is over
//! is put away before anything else of the user's runs.

use std::{
    any::Any,
    mem,
    panic::{self, AssertUnwindSafe},
    pin::Pin,
    task::{Context, Poll},
};

/// Polls what is in `place`, where there is anything. Where that panics, `place` is empty then.
#[inline]
pub(crate) fn guarded<T, R>(
    place: Pin<&mut Option<T>>,
    poll: impl FnOnce(Pin<&mut T>) -> Poll<R>,
) -> Poll<R> {
    // Never made an `Option` of the answer: a subscription's is large, and on an item's way.
    mended(
        place,
        |mut place| place.set(None),
        |place| match place.as_pin_mut() {
            Some(part) => poll(part),
            None => Poll::Pending,
        },
    )
}

/// Polls the future in `place`, where there is one, and puts it away when it is over, by a panic too.
pub(crate) fn poll_away<F: Future>(
    mut place: Pin<&mut Option<F>>,
    cx: &mut Context<'_>,
) -> Poll<F::Output> {
    let polled = guarded(place.as_mut(), |future| future.poll(cx));
    if polled.is_ready() {
        place.set(None);
    }
    polled
}

/// Looks at `part`. Where that panics, `mend` makes it fit to be looked at again.
#[inline]
pub(crate) fn mended<T, R>(
    part: Pin<&mut T>,
    mend: fn(Pin<&mut T>),
    look: impl FnOnce(Pin<&mut T>) -> R,
) -> R {
    let mut unwinding = Unwinding { part, mend };
    let looked = look(unwinding.part.as_mut());
    // It has not: nothing is to be mended, and nothing in it is to be dropped.
    mem::forget(unwinding);
    looked
}

/// Mends when it is dropped, which is on unwind only.
struct Unwinding<'a, T> {
    part: Pin<&'a mut T>,
    mend: fn(Pin<&mut T>),
}

impl<T> Drop for Unwinding<'_, T> {
    fn drop(&mut self) {
        (self.mend)(self.part.as_mut());
    }
}

/// A panic, until it goes on.
pub(crate) type Panicked = Box<dyn Any + Send>;

/// Runs `code`, whose state nobody looks at after a panic but to end.
pub(crate) fn caught<R>(code: impl FnOnce() -> R) -> Result<R, Panicked> {
    panic::catch_unwind(AssertUnwindSafe(code))
}

/// Runs all of `codes`, those after one that panics too; then the first panic goes on.
pub(crate) fn all(codes: impl IntoIterator<Item = impl FnOnce()>) {
    let mut first = None;
    for code in codes {
        if let Err(payload) = caught(code) {
            keep_first(&mut first, payload);
        }
    }
    resume(first);
}

/// Keeps a panic where none is kept yet, and puts it away otherwise.
pub(crate) fn keep_first(first: &mut Option<Panicked>, payload: Panicked) {
    if first.is_none() {
        *first = Some(payload);
    } else {
        put_away(payload);
    }
}

/// Lets a panic go on, where there was one.
pub(crate) fn resume(panicked: Option<Panicked>) {
    if let Some(payload) = panicked {
        panic::resume_unwind(payload);
    }
}

/// Lets the first panic go on, where there was one.
pub(crate) fn resume_first<const N: usize>(ran: [Result<(), Panicked>; N]) {
    let mut first = None;
    for payload in ran.into_iter().filter_map(Result::err) {
        keep_first(&mut first, payload);
    }
    resume(first);
}

/// Drops a panic of which nobody hears. Its payload is foreign too: one that panics in turn is left.
fn put_away(payload: Panicked) {
    if let Err(another) = caught(|| drop(payload)) {
        mem::forget(another);
    }
}
