//! The rider: the operators, one attempt, and one subscription.

use std::{
    cell::Cell,
    mem,
    rc::Rc,
    task::{Poll, ready},
};

use futures::{FutureExt, Stream, StreamExt, TryStreamExt, stream};
use rideout::{
    Address, Budget, Carrier, CarrierExt, Classify, Refusal, Rejection, RideError, Ruling,
    carrier::End,
    ledger::{Charge, Wait},
};

// The time is its surroundings' too: tokio's here, and none at all in a model.
use super::{
    owner::{Items, Owner},
    sleep, timeout,
};

/// A rider, in what its parts share.
pub(crate) struct Rider {
    carrier: Carrier,
    // Whether the one re-ask of this ride-out that has nothing to wait for has had its turn.
    turn_taken: Cell<bool>,
    owner: Rc<Owner>,
}

impl Rider {
    pub(crate) fn new(address: Address, owner: Rc<Owner>) -> Rc<Self> {
        let carrier = Carrier::new(address, Budget::default());
        Rc::new(Rider { carrier, turn_taken: Cell::new(false), owner })
    }

    /// The items, over as many subscriptions as it takes.
    pub(crate) fn items(
        self: &Rc<Self>,
    ) -> impl Stream<Item = Result<u32, RideError<Refusal>>> + use<> {
        let [telling, asking, reading] = [(); 3].map(|()| Rc::clone(self));
        let answers = self
            .carrier
            .triggers()
            // Eager: the budget is spent when a rejection arrives, not when somebody gets round to
            // asking again. What arrives while an attempt waits is counted all the same.
            .charge(&self.carrier)
            .inspect_ok(move |charge| telling.owner.tell(charge))
            // Lazy: an attempt looks at the world when its turn has come. When its rejection arrived,
            // it would have seen an owner that had hardly begun to go.
            .defer(move |charge| Rc::clone(&asking).attempt(charge))
            // Serial: side by side, all attempts would meet the one owner that comes back. A promise
            // goes round to `charge`, and comes back as the next attempt.
            .concat_attempts(&self.carrier);

        let (mut answers, mut live, mut answered) = (Box::pin(answers), None, false);
        stream::poll_fn(move |cx| {
            loop {
                // Polled while one is live too, so that a nudge is heard: what it brings takes its place.
                match answers.poll_next_unpin(cx)? {
                    Poll::Ready(Some(items)) => (live, answered) = (Some(items), false),
                    Poll::Ready(None) => return Poll::Ready(None),
                    Poll::Pending => {}
                }
                let Some(items) = &mut live else { return Poll::Pending };
                let said = ready!(items.poll_next_unpin(cx));
                match reading.hear(&mut answered, said) {
                    Some(item) => return Poll::Ready(Some(item)),
                    None => live = None,
                }
            }
        })
    }

    /// Waits as the charge says, then asks.
    async fn attempt(self: Rc<Self>, charge: Charge) -> Result<Items, Refusal> {
        match charge.wait() {
            // The first ask, or one that a nudge asked for.
            Wait::Nothing => {}
            Wait::Join { limit, rest } => {
                let teardown = charge.activation().and_then(|it| self.owner.teardown_of(it));
                // One that is over at the first look is nothing to wait for either.
                match teardown.and_then(|mut it| (&mut it).now_or_never().is_none().then_some(it)) {
                    // A killed process completes nothing: then the limit ends the join.
                    Some(teardown) => _ = timeout(limit, teardown).await,
                    // At once for the first time, since a hand-off answers in milliseconds. Then at a
                    // pace, or four hosts that drain would spend the budget in as many milliseconds.
                    None if self.turn_taken.replace(true) => {
                        self.owner.tell(format_args!("nothing to join again: rests {rest:?}"));
                        sleep(rest).await;
                    }
                    None => self.owner.tell("nothing to join: asks at once"),
                }
            }
            // The route, or the same activation again: there is no event to wait for.
            other => sleep(other.rest()).await,
        }
        // After the wait: a nudge that came during it is satisfied by this ask, and asks for none.
        self.owner.answer(self.carrier.asking()).await
    }

    /// `None` ends this subscription, and the next ask is due. A verdict is for the reader to stop at.
    fn hear(
        &self,
        answered: &mut bool,
        said: Option<Result<u32, Refusal>>,
    ) -> Option<Result<u32, RideError<Refusal>>> {
        let rejection = match said {
            Some(Ok(item)) => {
                // The first item is the answer, not the opened stream: it ends the ride-out.
                if !mem::replace(answered, true) {
                    self.carrier.answered();
                    self.turn_taken.set(false);
                }
                return Some(Ok(item));
            }
            Some(Err(refusal)) => match refusal.classify(self.carrier.address()) {
                Ruling::Promise(rejection) => rejection,
                _ => return Some(Err(End::Verdict(refusal).into())),
            },
            // Completed: here an owner that goes away cleanly.
            None => Rejection::by_owner(None),
        };
        self.carrier.reject(rejection);
        None
    }

    /// The handle by which it is nudged, from any thread.
    pub(crate) fn carrier(&self) -> Carrier {
        self.carrier.clone()
    }
}
