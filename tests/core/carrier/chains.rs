//! One chain after another, or beside it, on one carrier (R9, R16): the newest takes over, never two
//! attempts are out, and what one had not finished is there for the next.

use std::{cell::Cell, pin::Pin, rc::Rc, task::Poll};

use crate::support::{
    by_hand::{Task, kept},
    chain::{
        self, Owner, absent, activation, answer, by_owner, carrier, chain, draining, error, look,
        poll_next, saying, within,
    },
};
use futures::{FutureExt, StreamExt};
use rideout::{Budget, Carrier, CarrierExt, Rejection, carrier::Trigger, ledger::Charge};

/// The newest triggers are the only ones: the old chain ends, its waiter woken for it.
#[test]
fn a_new_chain_takes_over() {
    let (carrier, owner, (task, waker)) = (carrier(), Owner::default(), Task::new());
    let mut old = chain(&carrier, &owner);
    assert!(poll_next(&mut old, &waker).is_pending());
    owner.says(Ok(7));
    assert!(poll_next(&mut old, &waker).is_ready());
    assert!(poll_next(&mut old, &waker).is_pending());
    let wakes = task.wakes();
    let mut new = chain(&carrier, &owner);
    assert_eq!((task.wakes(), kept(&task)), (wakes + 1, 0));
    carrier.nudge();
    assert!(matches!(look(&mut old), Poll::Ready(None)));
    assert!(look(&mut new).is_pending());
    assert_eq!(owner.asks(), 2);
}

/// What the old triggers had handed out, and nobody has begun, the new ones hand out again.
#[test]
fn what_an_old_chain_was_offered_is_offered_to_the_new_one() {
    let carrier = carrier();
    let mut old = Box::pin(carrier.triggers());
    assert_eq!(look(&mut old), Poll::Ready(Some(Trigger::Ask)));
    assert!(look(&mut old).is_pending());
    let mut new = Box::pin(carrier.triggers());
    assert_eq!(look(&mut new), Poll::Ready(Some(Trigger::Ask)));
    assert_eq!(look(&mut old), Poll::Ready(None));
    assert!(look(&mut new).is_pending());
}

/// Two chains: the new one waits for the place, is woken for it, and has it.
#[test]
fn the_new_chain_has_its_turn_when_the_old_ones_attempt_is_over() {
    let (carrier, owner, (task, waker)) = (carrier(), Owner::default(), Task::new());
    let mut old = chain(&carrier, &owner);
    assert!(look(&mut old).is_pending());
    let mut new = chain(&carrier, &owner);
    carrier.reject(by_owner("0A"));
    assert!(poll_next(&mut new, &waker).is_pending());
    assert_eq!((owner.asks(), owner.outstanding()), (1, 1));

    owner.says(draining(Rejection::by_route()));
    let wakes = task.wakes();
    assert!(matches!(look(&mut old), Poll::Ready(None)), "taken over, and its attempt is over");
    assert!(task.wakes() > wakes);
    assert!(poll_next(&mut new, &waker).is_pending());
    assert_eq!((owner.counts(), owner.outstanding()), (vec![0, 1], 1));
}

/// A debt that stands when the old chain's attempt is over is the new one's, whatever the old one
/// does next.
#[test]
fn a_nudge_during_an_old_chains_ask_wakes_the_new_one() {
    let (carrier, owner, (task, waker)) = (carrier(), Owner::default(), Task::new());
    let mut old = chain(&carrier, &owner);
    assert!(look(&mut old).is_pending());
    let mut new = chain(&carrier, &owner);
    carrier.nudge();
    assert!(poll_next(&mut new, &waker).is_pending());
    owner.says(Ok(7));
    assert_eq!((answer(&mut old), task.wakes()), (7, 1));
    assert!(poll_next(&mut new, &waker).is_pending());
    assert_eq!((owner.counts(), owner.outstanding()), (vec![0, 0], 1));
}

/// A verdict ends the old chain. What the new one had charged waits for nothing but the place.
#[test]
fn the_new_chain_has_its_turn_when_the_old_one_ends_in_a_verdict() {
    let (carrier, owner, (task, waker)) = (carrier(), Owner::default(), Task::new());
    let mut old = chain(&carrier, &owner);
    assert!(look(&mut old).is_pending());
    let mut new = chain(&carrier, &owner);
    carrier.reject(by_owner("0A"));
    assert!(poll_next(&mut new, &waker).is_pending());
    let wakes = task.wakes();
    owner.says(absent());
    assert!(error(&mut old).verdict().is_some());
    assert!(task.wakes() > wakes);
    assert!(poll_next(&mut new, &waker).is_pending());
    assert_eq!((owner.counts(), owner.outstanding()), (vec![0, 1], 1));

    let wakes = task.wakes();
    drop(old);
    assert_eq!(task.wakes(), wakes, "an ended chain has nothing to give back");
}

/// Never two outstanding: an attempt is gone before its place is free, however it ends.
#[test]
fn an_attempt_is_dropped_before_its_place_is_free() {
    struct Held(Carrier, Rc<Cell<bool>>);

    impl Drop for Held {
        fn drop(&mut self) {
            self.1.set(format!("{:?}", self.0).contains("taken: true"));
        }
    }

    type End = fn(&Carrier, &Owner, Pin<Box<chain::Chain>>);
    let ends: [(&str, End); 5] = [
        ("dropped", |_, _, chain| drop(chain)),
        ("rejected", |_, _, mut chain| chain.as_mut().reject(by_owner("0A"), None)),
        ("refused", |_, owner, mut chain| {
            owner.says(draining(by_owner("0A")));
            assert!(look(&mut chain).is_pending());
        }),
        ("answered", |_, owner, mut chain| {
            owner.says(Ok(7));
            assert_eq!(answer(&mut chain), 7);
        }),
        ("given up", |carrier, _, mut chain| {
            carrier.reject(Rejection::by_route());
            assert!(error(&mut chain).gave_up().is_some());
        }),
    ];
    for (name, end) in ends {
        let (carrier, owner) = (within(Budget::default().re_asks(0)), Owner::default());
        let (handle, asks, held_place) =
            (carrier.clone(), owner.clone(), Rc::new(Cell::new(false)));
        let seen = Rc::clone(&held_place);
        let mut once = Some(Held(handle, seen));
        let mut chain = chain::probing(&carrier, move |charge| {
            let (held, ask) = (once.take(), asks.ask(charge));
            async move {
                let _held = held;
                ask.await
            }
            .boxed_local()
        });
        assert!(look(&mut chain).is_pending());
        end(&carrier, &owner, chain);
        assert!(held_place.get(), "{name}: its place was free already");
    }
}

/// The rejection of an old chain's attempt is the new one's to charge, at once, whatever the old one
/// does next.
#[test]
fn what_an_old_chain_is_refused_wakes_the_new_one() {
    let (carrier, owner, (task, waker)) = (carrier(), Owner::default(), Task::new());
    let mut old = chain(&carrier, &owner);
    assert!(look(&mut old).is_pending());
    let mut new = chain(&carrier, &owner);
    assert!(poll_next(&mut new, &waker).is_pending());
    old.as_mut().reject(by_owner("0A"), None);
    assert_eq!(task.wakes(), 1);
    assert!(poll_next(&mut new, &waker).is_pending());
    assert_eq!((owner.counts(), owner.outstanding()), (vec![0, 1], 1));
}

/// R9, over two chains: what the new one charged before the old one opened is stale.
#[test]
fn what_was_charged_before_another_chain_opened_is_stale() {
    let (carrier, owner) = (carrier(), Owner::default());
    let mut old = chain(&carrier, &owner);
    assert!(look(&mut old).is_pending());
    let mut new = chain(&carrier, &owner);
    carrier.reject(by_owner("0A"));
    assert!(look(&mut new).is_pending(), "charged, and waits for the place");
    owner.says(Ok(7));
    assert_eq!(answer(&mut old), 7);
    assert!(look(&mut new).is_pending());
    assert_eq!(owner.asks(), 1, "a stale attempt ran");

    carrier.reject(by_owner("0B"));
    assert!(look(&mut new).is_pending());
    assert_eq!(owner.counts(), [0, 2]);
}

/// So it is when that chain was dropped in between, before or after.
#[test]
fn what_was_given_back_before_another_chain_opened_is_stale() {
    for dropped_first in [false, true] {
        let (carrier, owner) = (carrier(), Owner::default());
        let mut old = chain(&carrier, &owner);
        assert!(look(&mut old).is_pending());
        let mut between = Some(chain(&carrier, &owner));
        carrier.reject(by_owner("0A"));
        assert!(between.as_mut().is_some_and(|it| look(it).is_pending()));
        if dropped_first {
            between = None;
        }
        owner.says(Ok(7));
        assert_eq!(answer(&mut old), 7);
        drop(between);
        assert!(format!("{carrier:?}").contains("inbox: 0"), "{carrier:?}");
        let mut new = chain(&carrier, &owner);
        assert!(look(&mut new).is_pending());
        assert_eq!(owner.asks(), 1);
    }
}

/// R16: a chain that is dropped gives back the attempt that ran and what was queued, in order, and
/// nothing is charged a second time.
#[test]
fn a_dropped_chain_gives_back_what_it_had_not_finished_in_order() {
    let (carrier, owner) = (carrier(), Owner::default());
    let mut old = saying(&carrier, &owner);
    for tag in ["0A", "0B", "0C"] {
        carrier.reject(by_owner(tag));
    }
    assert!(look(&mut old).is_pending());
    // Not charged when the chain is dropped: it comes after them all.
    carrier.reject(by_owner("0A"));
    drop(old);
    assert_eq!(owner.outstanding(), 0);

    let mut new = saying(&carrier, &owner);
    for asks in 2..=5 {
        assert!(look(&mut new).is_pending());
        assert_eq!((owner.asks(), owner.outstanding()), (asks, 1));
        owner.says(draining(Rejection::by_route()));
    }
    let charges: Vec<_> = (0..5).map(|ask| owner.charge(ask)).collect();
    let tags: Vec<_> = charges.iter().map(Charge::activation).collect();
    let expected = ["0A", "0A", "0B", "0C", "0A"].map(activation);
    assert_eq!(tags, expected.iter().map(Some).collect::<Vec<_>>());
    assert_eq!(owner.counts(), [1, 1, 2, 3, 1]);
    assert_eq!(charges[0], charges[1], "the charge that it had, its wait with it");
}

#[test]
fn a_dropped_chain_gives_back_the_first_ask() {
    let (carrier, owner) = (carrier(), Owner::default());
    for asks in 1..=3 {
        let mut chain = saying(&carrier, &owner);
        assert!(look(&mut chain).is_pending());
        assert_eq!(owner.asks(), asks);
    }
    let mut triggers = Box::pin(carrier.triggers());
    assert_eq!(look(&mut triggers), Poll::Ready(Some(Trigger::Ask)));
    assert!(look(&mut triggers).is_pending(), "a debt, and not an entry");
}

#[test]
fn a_dropped_chain_gives_back_the_debt_of_an_uncharged_ask() {
    let (carrier, owner, (task, waker)) = (carrier(), Owner::default(), Task::new());
    let mut old = saying(&carrier, &owner);
    assert!(look(&mut old).is_pending());
    carrier.nudge(); // after its ask: it folds with what is given back
    let mut new = saying(&carrier, &owner);
    assert!(poll_next(&mut new, &waker).is_pending());
    let wakes = task.wakes();
    drop(old);
    assert_eq!(task.wakes(), wakes + 1);
    assert!(poll_next(&mut new, &waker).is_pending());
    assert_eq!((owner.counts(), owner.outstanding()), (vec![0, 0], 1));
    owner.says(Ok(7));
    assert_eq!(answer(&mut new), 7);
    assert!(look(&mut new).is_pending());
    assert_eq!(owner.asks(), 2);
}

/// C25: dropped between refusal and ask, nothing was asked, and nothing is charged twice.
#[test]
fn a_chain_that_is_dropped_before_its_first_poll_leaves_everything() {
    let (carrier, owner) = (carrier(), Owner::default());
    carrier.reject(by_owner("0A"));
    for _ in 0..3 {
        drop(chain(&carrier, &owner));
    }
    assert_eq!(owner.asks(), 0);
    let mut chain = chain(&carrier, &owner);
    assert!(look(&mut chain).is_pending());
    assert_eq!(owner.counts(), [1]);
}

/// A verdict ends the chain, not the carrier: what came while it was out is owed to the next one.
#[test]
fn a_nudge_while_an_ask_is_out_that_ends_in_a_verdict_is_owed_to_the_next_chain() {
    let (carrier, owner) = (carrier(), Owner::default());
    let mut old = saying(&carrier, &owner);
    assert!(look(&mut old).is_pending());
    owner.says(absent());
    assert!(error(&mut old).verdict().is_some());
    let mut new = saying(&carrier, &owner);
    assert!(look(&mut new).is_pending());
    assert_eq!(owner.asks(), 1, "nothing was owed");

    carrier.nudge();
    assert!(look(&mut new).is_pending());
    carrier.nudge();
    owner.says(absent());
    assert!(error(&mut new).verdict().is_some());
    drop((old, new));
    let mut third = saying(&carrier, &owner);
    assert!(look(&mut third).is_pending());
    assert_eq!((owner.asks(), owner.outstanding()), (3, 1));
}

/// One and the same triggers under two chains, one after the other: what the first was offered and
/// had no time to begin is offered again.
#[test]
fn what_an_ended_chain_was_offered_is_offered_again() {
    let (carrier, owner) = (within(Budget::default().re_asks(0)), Owner::default());
    let mut triggers = carrier.triggers();
    let late = Box::pin(futures::stream::iter([Trigger::from(Rejection::by_route())]));
    let asks = owner.clone();
    let first = triggers.by_ref().take(1).chain(late).charge(&carrier);
    let mut first = Box::pin(first.defer(move |charge| asks.ask(charge)).concat_attempts(&carrier));
    let end = first.next().now_or_never().flatten().and_then(Result::err);
    assert!(end.is_some_and(|error| error.gave_up().is_some()));
    drop(first);
    assert_eq!(triggers.next().now_or_never(), Some(Some(Trigger::Ask)));
}

/// C39: dropped in every state, nobody waits on the carrier any more.
#[test]
fn a_dropped_chain_leaves_no_waiter() {
    let (carrier, owner, (task, waker)) = (carrier(), Owner::default(), Task::new());
    let mut idle = chain(&carrier, &owner);
    assert!(poll_next(&mut idle, &waker).is_pending());
    owner.says(Ok(7));
    assert!(poll_next(&mut idle, &waker).is_ready());
    assert!(poll_next(&mut idle, &waker).is_pending());
    assert_eq!(kept(&task), 1);
    drop(idle);
    assert_eq!(kept(&task), 0);

    // One that is at work, and one that waits for its place.
    let mut old = chain(&carrier, &owner);
    carrier.nudge();
    assert!(poll_next(&mut old, &waker).is_pending());
    let mut new = chain(&carrier, &owner);
    carrier.reject(by_owner("0A"));
    assert!(poll_next(&mut new, &waker).is_pending());
    assert!(kept(&task) >= 2);
    drop(new);
    drop(old);
    assert_eq!((kept(&task), owner.outstanding()), (0, 0));
}
