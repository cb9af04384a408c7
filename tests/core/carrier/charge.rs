//! `charge` (R12, R15): a rejection is charged when it arrives, and the charge carries the verdict.

use std::{cell::RefCell, rc::Rc, task::Poll};

use crate::support::chain::{self, Owner, by_owner, carrier, chain, error, look, within};
use futures::{FutureExt, Stream, StreamExt, channel::mpsc, stream};
use rideout::{
    Budget, Carrier, CarrierExt, Rejection,
    carrier::{End, Trigger},
    ledger::{Axis, Cause, Charge, Key, Wait},
};

fn all(
    carrier: &Carrier,
    triggers: impl IntoIterator<Item = impl Into<Trigger>>,
) -> Vec<Result<Charge, Cause>> {
    let charges = stream::iter(triggers).charge(carrier);
    let charges = charges.map(|charge| charge.map_err(|gave_up| gave_up.cause));
    charges.collect().now_or_never().expect("all at hand")
}

fn counts(charges: &[Result<Charge, Cause>]) -> Vec<u32> {
    charges.iter().flatten().map(Charge::count).collect()
}

#[test]
fn a_charge_says_who_refused_what_it_cost_and_what_it_waits_for() {
    let rejections =
        [by_owner("A1"), by_owner("A1"), Rejection::by_owner(None), Rejection::by_route()];
    let charges = all(&carrier(), rejections);
    let said: Vec<_> = charges.iter().flatten().map(Charge::to_string).collect();
    assert_eq!(
        said,
        [
            "refused by activation A1, charged to the activation axis (1 of 3), joins its teardown, if it \
             can be seen, for 8s at most",
            "refused by activation A1, charged to the time axis (1 of 16), rests 500ms",
            "refused by the owner, charged to the activation axis (2 of 3), rests 500ms",
            "refused by the route, charged to the time axis (1 of 16), rests 500ms",
        ]
    );
    let uncharged = all(&carrier(), [Trigger::Ask]);
    assert_eq!(
        uncharged.iter().flatten().map(Charge::to_string).collect::<Vec<_>>(),
        ["uncharged"]
    );
}

/// R12: three rejections arrive while one attempt is stuck. They are three, and none was attempted.
#[test]
fn what_arrives_while_an_attempt_runs_is_charged_then() {
    let (carrier, owner, seen) = (carrier(), Owner::default(), Rc::new(RefCell::new(Vec::new())));
    let asks = owner.clone();
    let mut chain = Box::pin(
        carrier
            .triggers()
            .charge(&carrier)
            .inspect(|charge| seen.borrow_mut().push(charge.as_ref().map_or(0, Charge::count)))
            .defer(move |charge| asks.ask(charge))
            .concat_attempts(&carrier),
    );
    assert!(look(&mut chain).is_pending());
    for _ in 0..3 {
        carrier.reject(Rejection::by_route());
    }
    assert!(look(&mut chain).is_pending());
    assert_eq!((&*seen.borrow(), owner.asks()), (&vec![0, 1, 2, 3], 1));
}

/// R12, R14: a give-up while an attempt runs drops it, and ends the stream in that poll.
#[test]
fn a_give_up_while_an_attempt_runs_drops_it_and_ends_at_once() {
    let (carrier, owner) = (within(Budget::default().re_asks(2)), Owner::default());
    let mut chain = chain(&carrier, &owner);
    assert!(look(&mut chain).is_pending());
    assert_eq!(owner.outstanding(), 1);
    for _ in 0..3 {
        carrier.reject(Rejection::by_route());
    }
    let End::GaveUp { report, last } = error(&mut chain).into_end() else {
        panic!("the budget is spent");
    };
    assert_eq!((report.cause, report.count, report.budget), (Cause::Route, 3, 2));
    assert_eq!((report.asks, last.is_none(), owner.outstanding()), (0, true, 0));
    assert!(matches!(look(&mut chain), Poll::Ready(None)));
}

#[test]
fn a_give_up_ends_the_stream() {
    for budget in [0, 1, 5] {
        let carrier = within(Budget::default().re_asks(budget));
        let charges = all(&carrier, (0..100).map(|_| Rejection::by_route()));
        assert_eq!(counts(&charges), (1..=budget).collect::<Vec<_>>());
        assert_eq!(charges.last(), Some(&Err(Cause::Route)), "C8: 0 is not unlimited");
    }
}

/// What is queued behind the rejection that spends the budget is not even looked at.
#[test]
fn nothing_is_taken_after_a_give_up() {
    let carrier = within(Budget::default().activations(1));
    let mut rejections = stream::iter(["0A", "0B", "0C"].map(by_owner));
    let charges = rejections.by_ref().charge(&carrier).collect::<Vec<_>>();
    assert_eq!(charges.now_or_never().expect("all at hand").len(), 2);
    assert_eq!(rejections.next().now_or_never(), Some(Some(by_owner("0C"))));
}

/// R15: the verdict is the charge's own, and stays what it was while the counters move on.
#[test]
fn a_charge_carries_its_verdict() {
    let carrier = carrier();
    let charges = all(&carrier, [by_owner("0A"), by_owner("0A"), Rejection::by_route()]);
    carrier.answered();
    let again = all(&carrier, [by_owner("0A")]);
    let told: Vec<_> = charges
        .into_iter()
        .chain(again)
        .flatten()
        .map(|it| (it.axis().unwrap(), it.key().unwrap(), it.count(), it.budget()))
        .collect();
    let key = || Key::Activation(chain::activation("0A"));
    assert_eq!(
        told,
        [
            (Axis::Activation, key(), 1, 3),
            (Axis::Time, key(), 1, 16),
            (Axis::Time, Key::Route, 1, 16),
            (Axis::Activation, key(), 1, 3), // after an answer
        ]
    );
}

#[test]
fn a_trigger_is_uncharged_and_an_owed_charge_is_not_made_twice() {
    let carrier = carrier();
    let [Ok(charged)] = &*all(&carrier, [Rejection::by_route()]) else { panic!("one charge") };
    let charges = all(
        &carrier,
        [Trigger::Ask, Trigger::Owed(charged.clone()), Trigger::Rejected(Rejection::by_route())],
    );
    assert_eq!(counts(&charges), [0, 1, 2]);
    let ask = charges[0].as_ref().unwrap();
    assert!(ask.is_uncharged() && ask.rejection().is_none() && ask.wait() == Wait::Nothing);
}

/// An announcement of one's own is one `map` away, and is charged by the same ledger.
#[test]
fn announcements_merge_with_the_carriers_triggers() {
    let (carrier, (announce, announced)) = (carrier(), mpsc::unbounded());
    let announced = announced.map(|tag: &str| Trigger::from(by_owner(tag)));
    let mut charges = Box::pin(stream::select(carrier.triggers(), announced).charge(&carrier));
    let mut next = || match look(&mut charges) {
        Poll::Ready(Some(Ok(charge))) => Some((charge.axis(), charge.count())),
        _ => None,
    };
    assert_eq!(next(), Some((None, 0)), "the first ask");
    carrier.reject(by_owner("0A"));
    announce.unbounded_send("0B").unwrap();
    let both = [next(), next()];
    assert_eq!(both, [Some((Some(Axis::Activation), 1)), Some((Some(Axis::Activation), 2))]);
    assert_eq!(next(), None);
}

/// The stream underneath is within reach, for what a rider of one's own needs of it.
#[test]
fn the_stream_underneath_is_within_reach() {
    let carrier = carrier();
    let mut charges = stream::iter(vec![Rejection::by_route()]).charge(&carrier);
    assert_eq!(charges.get_ref().size_hint(), (1, Some(1)));
    *charges.get_mut() = stream::iter(vec![]);
    assert!(charges.next().now_or_never().flatten().is_none());
}
