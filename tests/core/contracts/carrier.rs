//! What every public stream and future of carrier, slot and teardown keeps: fused, honest in
//! `size_hint`, strict with what it polls, and gone without a trace.

use std::{
    cell::{Cell, RefCell},
    fmt::{self, Debug},
    future::{pending, ready},
    rc::Rc,
};

use crate::contracts::harness::{
    After, Case, Strict, is_bounded, is_bounded_as_a_future, keeps, keeps_as_a_future_then,
    outlives_panics, outlives_panics_as_a_future, pausing,
};
use crate::support::{
    chain::{No, Outcome, Owner, absent, by_owner, chain, draining, look, within},
    mine::Mine,
    ruled::Ruled,
};
use futures::{FutureExt, Stream, StreamExt, future, stream};
use rideout::{
    Address, Budget, Carrier, CarrierExt, Classify, Rejection, Ruling,
    carrier::{Attempt, Trigger},
    ledger::Charge,
    slot::Slot,
    teardown::Teardown,
};

fn carrier() -> Carrier {
    within(Budget::default().re_asks(2))
}

fn endless() -> Carrier {
    within(Budget::default().activations(u32::MAX).re_asks(u32::MAX))
}

/// What shows that a chain is gone: nobody has the place.
fn free(carrier: &Carrier) -> impl Fn() + use<> {
    let carrier = carrier.clone();
    move || assert!(!format!("{carrier:?}").contains("taken: true"), "{carrier:?}")
}

/// So many rejections by the route, and then the end; strict about it.
fn rejections(many: usize) -> Strict<impl Stream<Item = Rejection> + Unpin + Debug> {
    Strict::new(stream::iter((0..many).map(|_| Rejection::by_route())))
}

#[test]
fn triggers_keep_what_streams_keep() {
    keeps(|| {
        let (carrier, other) = (carrier(), Cell::new(None));
        carrier.reject(by_owner("0A"));
        let mut asked = 0;
        let case = Case::new(carrier.triggers()).gone(free(&carrier));
        case.stimulus(move || {
            asked += 1;
            match asked {
                ..=3 => carrier.nudge(),
                4 => carrier.reject(by_owner("0B")),
                _ => other.set(Some(carrier.triggers())),
            }
        })
    });
}

#[test]
fn charges_keep_what_streams_keep() {
    // Fewer than the budget, exactly as many, and more, with the give-up in between.
    for many in [0, 1, 2, 3, 10] {
        keeps(|| Case::new(rejections(many).charge(&carrier())));
        keeps(|| Case::new(pausing(rejections(many)).charge(&carrier())));
    }
}

/// A trigger of the user's own.
#[derive(Debug)]
struct Mined(Mine);

impl From<Mined> for Trigger {
    fn from(Mined(mine): Mined) -> Self {
        mine.step("trigger");
        Trigger::Rejected(Rejection::by_route())
    }
}

#[test]
fn charges_outlive_panics() {
    outlives_panics(&["stream", "trigger"], |mine| {
        let triggers = [(); 2].map(|()| Mined(mine.clone()));
        let triggers = Strict::new(stream::iter(triggers)).mined("stream", mine);
        Case::new(triggers.charge(&carrier()))
    });
}

#[test]
fn charges_take_one_at_a_time() {
    is_bounded(1, |turns| turns.of(stream::repeat(Rejection::by_route())).charge(&endless()));
}

#[test]
fn deferred_attempts_keep_what_streams_keep() {
    for many in [0, 1, 2, 3, 10] {
        keeps(|| Case::new(rejections(many).charge(&carrier()).defer(|_| pending::<()>())));
        let charges = || Strict::new(rejections(many).charge(&carrier()));
        keeps(|| Case::new(pausing(charges()).defer(|_| ready(()))));
    }
}

#[test]
fn deferred_attempts_outlive_panics() {
    outlives_panics(&["stream"], |mine| {
        let charges = Strict::new(rejections(2).charge(&carrier())).mined("stream", mine);
        Case::new(charges.defer(|_| ready(())))
    });
}

#[test]
fn deferred_attempts_are_made_one_at_a_time() {
    is_bounded(1, |turns| {
        let charges = stream::repeat(Rejection::by_route()).charge(&endless());
        turns.of(charges).defer(|_| ready(()))
    });
}

/// An attempt whose probe returns `future`.
fn attempt<Fut: Future>(mut probe: impl FnMut() -> Fut) -> Attempt<impl FnMut(Charge) -> Fut, Fut> {
    let mut attempts = rejections(1).charge(&carrier()).defer(move |charge| {
        assert_eq!(charge.count(), 1, "each time under the charge that it had");
        probe()
    });
    let attempt = attempts.next().now_or_never().flatten().expect("at hand");
    attempt.expect("within the budget")
}

#[test]
fn an_attempt_keeps_what_futures_keep() {
    keeps_as_a_future_then(After::Ready, || {
        let teardown = Teardown::new();
        let (joins, left) = (teardown.clone(), teardown.clone());
        Case::new(attempt(move || Strict::new(joins.completed())))
            .stimulus(move || _ = teardown.complete())
            .gone(move || assert_eq!(left.waiters(), 0))
    });
}

#[test]
fn an_attempt_outlives_panics() {
    outlives_panics_as_a_future(&["probe", "ask, polled"], |mine| {
        let mine = mine.clone();
        Case::new(attempt(move || {
            mine.step("probe");
            Strict::new(ready(())).mined("ask, polled", &mine)
        }))
    });
}

#[test]
fn an_attempt_polls_its_ask_once_a_poll() {
    is_bounded_as_a_future(1, |turns| {
        let turns = turns.clone();
        attempt(move || {
            let turns = turns.clone();
            future::poll_fn(move |cx| {
                turns.take();
                cx.waker().wake_by_ref();
                std::task::Poll::<()>::Pending
            })
        })
    });
}

/// A chain over all its states: it waits, its attempt is out, is refused and answered, something is
/// queued, and it ends as `ends` says.
fn chains(ends: impl Fn(&Carrier, &Owner) + Clone + 'static) {
    keeps(|| {
        let (carrier, owner) = (carrier(), Owner::default());
        let (asks, ends, mut steps) = (owner.clone(), ends.clone(), 0);
        let chain = pausing(carrier.triggers())
            .charge(&carrier)
            .defer(move |charge| asks.ask(charge))
            .concat_attempts(&carrier);
        let (free, left) = (free(&carrier), owner.clone());
        let case = Case::new(chain).gone(move || {
            free();
            assert_eq!(left.outstanding(), 0, "an ask is left");
        });
        case.stimulus(move || {
            steps += 1;
            match (steps, owner.outstanding()) {
                (1, 1) => owner.says(draining(Rejection::by_route())),
                (2 | 4 | 6, _) => carrier.reject(by_owner("0A")),
                (3 | 5, 1) => owner.says(Ok(7)),
                (7, _) => carrier.nudge(),
                _ => ends(&carrier, &owner),
            }
        })
    });
}

#[test]
fn chains_keep_what_streams_keep_to_a_verdict() {
    chains(|carrier, owner| match owner.outstanding() {
        0 => carrier.nudge(),
        _ => owner.says(absent()),
    });
}

#[test]
fn chains_keep_what_streams_keep_to_a_give_up() {
    chains(|carrier, _| carrier.reject(Rejection::by_route()));
}

#[test]
fn chains_keep_what_streams_keep_to_a_take_over() {
    let taken = Rc::new(RefCell::new(Vec::new()));
    chains(move |carrier, owner| {
        let newer = carrier.triggers();
        taken.borrow_mut().push(newer);
        if owner.outstanding() == 1 {
            owner.says(Ok(8));
        }
    });
}

/// One that waits for its place: the attempt of the chain that it took over from is out.
#[test]
fn chains_keep_what_streams_keep_while_another_has_the_place() {
    for asks_again in [Carrier::nudge, |carrier: &Carrier| carrier.reject(by_owner("0A"))] {
        keeps(|| {
            let (carrier, owner) = (carrier(), Owner::default());
            let mut old = Some(chain(&carrier, &owner));
            assert!(old.as_mut().is_some_and(|old| look(old).is_pending()));
            asks_again(&carrier);
            let case = Case::new(chain(&carrier, &owner)).gone(free(&carrier));
            case.stimulus(move || match (old.take(), owner.outstanding()) {
                (None, 1) => owner.says(absent()),
                (None, _) => carrier.nudge(),
                // What it asked for is owed again.
                (Some(old), _) => drop(old),
            })
        });
    }
}

/// A finite stream of attempts, run to its end.
#[test]
fn chains_keep_what_streams_keep_to_the_end_of_their_stream() {
    for many in [0, 1, 2, 3] {
        keeps(|| {
            let (carrier, owner) = (carrier(), Owner::default());
            let asks = owner.clone();
            let attempts =
                pausing(rejections(many)).charge(&carrier).defer(move |charge| asks.ask(charge));
            let chain = Strict::new(attempts).concat_attempts(&carrier);
            let case = Case::new(chain).gone(free(&carrier));
            case.stimulus(move || {
                if owner.outstanding() == 1 {
                    owner.says(Ok(7));
                }
            })
        });
    }
}

/// An error whose ruling steps on the mine.
#[derive(Debug)]
struct Mean(Ruled<No>, Mine);

impl fmt::Display for Mean {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl Classify for Mean {
    fn classify(&self, asked: &Address) -> Ruling {
        self.1.step("ruling");
        self.0.classify(asked)
    }
}

/// Neither place nor charge is lost: polled again the chain goes on with them, and dropped it leaves them to
/// the next.
#[test]
fn chains_outlive_panics() {
    outlives_panics(&["ask, polled", "probe", "ruling", "stream"], |mine| {
        let (carrier, answered) = (carrier(), Rc::new(Cell::new(false)));
        carrier.reject(by_owner("0A"));
        let probes = mine.clone();
        let probe = move |charge: Charge| {
            probes.step("probe");
            let reply: Outcome = match charge.key().map(|key| key.to_string()).as_deref() {
                Some("0A") => draining(Rejection::by_route()),
                Some(_) => Ok(charge.count()),
                None => absent(),
            };
            let reply = reply.map_err(|error| Mean(error, probes.clone()));
            Strict::new(ready(reply)).mined("ask, polled", &probes)
        };
        let triggers = Strict::new(carrier.triggers()).mined("stream", mine);
        let chain = triggers.charge(&carrier).defer(probe).concat_attempts(&carrier);
        let answers = Rc::clone(&answered);
        let chain = chain.inspect(move |answer| match answer {
            Ok(count) => assert_eq!((*count, answers.replace(true)), (1, false), "charged once"),
            Err(_) => assert!(answers.get(), "a charge is lost"),
        });

        let (nudged, left, free) = (carrier.clone(), carrier.clone(), free(&carrier));
        Case::new(chain).stimulus(move || nudged.nudge()).gone(move || {
            free();
            left.nudge();
            let asks =
                left.triggers().charge(&left).defer(|charge| ready(Outcome::Ok(charge.count())));
            let mut next = Box::pin(asks.concat_attempts(&left));
            let owed = next.next().now_or_never().flatten().expect("the place is free");
            let owed = owed.expect("within the budget");
            assert_eq!(
                owed,
                u32::from(!answered.get()),
                "what is owed is charged already, and once"
            );
        })
    });
}

/// However much arrives: 32 turns, of 32 arrivals each.
#[test]
fn chains_take_so_many_turns_in_a_poll() {
    is_bounded(32 * 32, |turns| {
        let carrier = endless();
        let arrivals = turns.of(stream::repeat(Rejection::by_route()));
        arrivals
            .charge(&carrier)
            .defer(|_| ready(draining(Rejection::by_route())))
            .concat_attempts(&carrier)
    });
}

/// However often it is refused: 32 asks.
#[test]
fn chains_take_so_many_refusals_in_a_poll() {
    is_bounded(32, |turns| {
        let (carrier, turns) = (endless(), turns.clone());
        let refused = move |_| {
            turns.take();
            ready(draining(Rejection::by_route()))
        };
        carrier.triggers().charge(&carrier).defer(refused).concat_attempts(&carrier)
    });
}

#[test]
fn a_claim_keeps_what_futures_keep() {
    for is_taken in [false, true] {
        keeps_as_a_future_then(After::Pending, || {
            let slot = Slot::new();
            let permit = Cell::new(is_taken.then(|| {
                slot.owe();
                slot.try_claim().expect("it is owed")
            }));
            let (feed, left) = (slot.clone(), slot.clone());
            Case::new(slot.claim())
                .stimulus(move || permit.take().map_or_else(|| feed.owe(), drop))
                .gone(move || assert!(format!("{left:?}").ends_with("taken: false, waiters: 0 }")))
        });
    }
}

#[test]
fn a_completion_keeps_what_futures_keep() {
    keeps_as_a_future_then(After::Ready, || {
        let teardown = Teardown::new();
        let left = teardown.clone();
        Case::new(teardown.completed())
            .stimulus(move || _ = teardown.complete())
            .gone(move || assert_eq!(left.waiters(), 0))
    });
}
