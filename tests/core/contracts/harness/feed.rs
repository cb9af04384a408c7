//! A stream that a case feeds by hand. Dropped, it keeps nobody's waker: a channel does, as long as it
//! has a sender.

use std::{
    collections::VecDeque,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use futures::Stream;

/// Both ends of it.
#[derive(Clone)]
pub(crate) struct Feed<T>(Arc<Mutex<Fed<T>>>);

struct Fed<T> {
    // `None` is the end.
    items: VecDeque<Option<T>>,
    waker: Option<Waker>,
}

impl<T> Feed<T> {
    pub(crate) fn new() -> Self {
        Feed(Arc::new(Mutex::new(Fed { items: VecDeque::new(), waker: None })))
    }

    fn fed(&self) -> MutexGuard<'_, Fed<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn send(&self, item: T) {
        self.push(Some(item));
    }

    pub(crate) fn end(&self) {
        self.push(None);
    }

    fn push(&self, item: Option<T>) {
        let waker = {
            let mut fed = self.fed();
            fed.items.push_back(item);
            fed.waker.take()
        };
        waker.into_iter().for_each(Waker::wake);
    }

    pub(crate) fn stream(&self) -> Feeding<T> {
        Feeding(Feed(Arc::clone(&self.0)))
    }
}

/// The end that is polled.
pub(crate) struct Feeding<T>(Feed<T>);

impl<T> Stream for Feeding<T> {
    type Item = T;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let mut fed = self.0.fed();
        let Some(item) = fed.items.pop_front() else {
            fed.waker = Some(cx.waker().clone());
            return Poll::Pending;
        };
        Poll::Ready(item)
    }
}

impl<T> Drop for Feeding<T> {
    fn drop(&mut self) {
        self.0.fed().waker = None;
    }
}
