//! One more poll.

use std::{future::poll_fn, task::Poll};

/// Has the task polled once more before it goes on.
pub(crate) async fn yields() {
    let mut yielded = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
