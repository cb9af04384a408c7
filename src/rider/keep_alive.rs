//! How does an owner know that a reader is still there, and the reader that its owner still is?
//!
//! By a beat: the rider names its stream from time to time, and an owner that does not serve that stream
//! says so (`R22`, `R26`). Nothing is awaited, and nothing is kept of a beat that was sent.

use std::{
    pin::Pin,
    sync::PoisonError,
    task::{Context, Poll},
    time::Duration,
};

use crate::{
    activation::{Activation, StreamId},
    sync::Mutex,
    time::Timer,
    unwind::poll_and_clear,
};

/// The first beat comes no later than this after an answer.
const FIRST: Duration = Duration::from_secs(5);

/// The time between two beats, where none is set.
pub(super) const INTERVAL: Duration = Duration::from_secs(45);

/// An interval below this counts as this (`R20b`).
pub(super) const LEAST_INTERVAL: Duration = Duration::from_millis(1);

/// What a beat says: which stream is still read, and on whom its rider is live (`R26`).
///
/// The owner needs the stream alone. The activation is for the one who sends the beat. Compare
/// activations: if an answer belongs to a beat with another activation than the one you would send now,
/// it is late: do not pass it on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Beat {
    /// The identity of the stream, the same in each ask.
    pub stream: StreamId,
    /// The activation that serves it, where that is known.
    pub activation: Option<Activation>,
}

/// What sends a beat: the user's closure.
///
/// The lock is never taken, only looked into: with it a rider whose other parts are `Sync` is `Sync`,
/// though a closure need only be `Send`.
pub(super) struct SendBeat(Mutex<Box<dyn FnMut(Beat) + Send>>);

impl SendBeat {
    pub(super) fn new(f: impl FnMut(Beat) + Send + 'static) -> Self {
        SendBeat(Mutex::new(Box::new(f)))
    }

    fn send(&mut self, beat: Beat) {
        let f = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        f(beat);
    }
}

/// The beats of a rider, and the one timer they have.
pub(super) struct KeepAlive<Sl> {
    send_beat: SendBeat,
    // Until the next beat. `None` where that is due, or where there is no subscription.
    sleep: Pin<Box<Option<Sl>>>,
}

impl<Sl> KeepAlive<Sl> {
    pub(super) fn new(send_beat: SendBeat) -> Self {
        KeepAlive { send_beat, sleep: Box::pin(None) }
    }

    /// A subscription opens: the beats begin anew.
    pub(super) fn begin(&mut self, timer: &impl Timer<Sleep = Sl>, interval: Duration) {
        self.sleep.set(Some(timer.sleep(interval.min(FIRST))));
    }

    /// The subscription is over.
    pub(super) fn stop(&mut self) {
        self.sleep.set(None);
    }
}

impl<Sl: Future<Output = ()>> KeepAlive<Sl> {
    /// Is ready where a beat is due, and has the next one follow an interval later, however late this
    /// one is.
    pub(super) fn poll_due(
        &mut self,
        timer: &impl Timer<Sleep = Sl>,
        interval: Duration,
        cx: &mut Context<'_>,
    ) -> Poll<()> {
        if self.sleep.is_some() && poll_and_clear(self.sleep.as_mut(), cx).is_pending() {
            return Poll::Pending;
        }
        self.sleep.set(Some(timer.sleep(interval)));
        Poll::Ready(())
    }

    pub(super) fn send(&mut self, beat: Beat) {
        self.send_beat.send(beat);
    }
}
