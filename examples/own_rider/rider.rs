//! The rider: the operators, one attempt, and one subscription.

use std::{cell::Cell, future::ready, mem, rc::Rc};

use futures::{FutureExt, Stream, StreamExt, TryStreamExt, stream};
use rideout::{
    Address, Budget, Carrier, CarrierExt, Charge, Refusal, Refused, Rejection, RideError, Ruling,
    Wait,
};
use tokio::{
    sync::Notify,
    time::{sleep, timeout},
};

use super::owner::{Items, Owner};

/// A rider, in what its parts share.
pub(crate) struct Rider {
    carrier: Carrier,
    // Whether the one re-ask of this ride-out that has nothing to wait for has had its turn.
    turn_taken: Cell<bool>,
    // Ends the live subscription, so that a nudge is heard.
    refresh: Notify,
    owner: Rc<Owner>,
}

impl Rider {
    pub(crate) fn new(address: Address, owner: Rc<Owner>) -> Rc<Self> {
        let carrier = Carrier::new(address, Budget::default());
        Rc::new(Rider { carrier, turn_taken: Cell::new(false), refresh: Notify::new(), owner })
    }

    /// The items, over as many subscriptions as it takes.
    pub(crate) fn items(
        self: &Rc<Self>,
    ) -> impl Stream<Item = Result<u32, RideError<Refusal>>> + use<> {
        let [telling, asking, reading] = [(); 3].map(|()| Rc::clone(self));
        self.carrier
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
            .concat_attempts(&self.carrier)
            .map_ok(move |items| Rc::clone(&reading).read(items))
            // One subscription to its end, then the next ask: while one is live, nothing above is polled.
            .try_flatten()
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
                    Some(teardown) => drop(timeout(limit, teardown).await),
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
            Wait::Rest(rest) => sleep(rest).await,
        }
        // After the wait: a nudge that came during it is satisfied by this ask, and asks for none.
        self.owner.answer(self.carrier.asking())
    }

    /// Reads one subscription, until it is refused or complete, or a nudge asks for another one.
    fn read(self: Rc<Self>, items: Items) -> impl Stream<Item = Result<u32, RideError<Refusal>>> {
        let nudged = Rc::clone(&self);
        let completion = stream::once(ready(None));
        items
            .map(Some)
            .chain(completion)
            .take_until(async move { nudged.refresh.notified().await })
            .scan(false, move |answered, said| ready(self.hear(answered, said)))
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
            Some(Err(refusal)) => match refusal.ruling(self.carrier.address()) {
                Ruling::Promise(rejection) => rejection,
                Ruling::Verdict(_) => return Some(Err(RideError::Verdict(refusal))),
            },
            // Completed: here an owner that goes away cleanly.
            None => Rejection::by_owner(None),
        };
        self.carrier.reject(rejection);
        None
    }

    /// Asks for a re-ask, from elsewhere. First the debt, then the end of what is live.
    pub(crate) fn nudge(&self) {
        self.carrier.nudge();
        self.refresh.notify_waiters();
    }
}
