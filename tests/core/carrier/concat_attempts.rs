//! `concat_attempts` (R14, R20b): one attempt at a time, in order of arrival, every poll bounded.

use std::{cell::Cell, error::Error, rc::Rc, task::Poll};

use crate::support::{
    by_hand::Task,
    chain::{
        self, No, Owner, absent, answer, by_owner, carrier, chain, draining, error, look,
        poll_next, saying, within,
    },
    ruled::Ruled,
};
use futures::{FutureExt, StreamExt, future::ready, stream};
use rideout::{
    Budget, Carrier, CarrierExt, Kind, Rejection, RideError,
    carrier::{End, Trigger},
    ledger::Cause,
};

#[test]
fn attempts_run_one_at_a_time_in_the_order_of_arrival() {
    let (carrier, owner) = (carrier(), Owner::default());
    let mut chain = chain(&carrier, &owner);
    for tag in ["0A", "0B", "0C"] {
        carrier.reject(by_owner(tag));
    }
    for asks in 1..=3 {
        assert!(look(&mut chain).is_pending());
        assert_eq!((owner.asks(), owner.outstanding()), (asks, 1));
        owner.says(draining(Rejection::by_route()));
    }
    assert!(look(&mut chain).is_pending());
    let tags: Vec<_> = (0..3).map(|ask| owner.charge(ask).activation().cloned()).collect();
    assert_eq!(tags, ["0A", "0B", "0C"].map(|tag| Some(chain::activation(tag))));
    assert_eq!(owner.charge(3).rejection(), Some(&Rejection::by_route()), "refused again: last");
}

#[test]
fn an_answer_is_yielded_and_the_stream_goes_on() {
    let (carrier, owner) = (carrier(), Owner::default());
    let mut chain = chain(&carrier, &owner);
    assert!(look(&mut chain).is_pending());
    owner.says(Ok(7));
    assert_eq!(answer(&mut chain), 7);
    assert!(look(&mut chain).is_pending(), "nothing is owed");
    carrier.reject(by_owner("0A"));
    assert!(look(&mut chain).is_pending());
    owner.says(Ok(8));
    assert_eq!((answer(&mut chain), owner.counts()), (8, vec![0, 1]));
}

/// R9: what was charged before the subscription opened is stale; what comes after it is attempted.
#[test]
fn an_answer_makes_what_was_charged_before_it_stale() {
    let (carrier, owner) = (carrier(), Owner::default());
    let mut chain = chain(&carrier, &owner);
    assert!(look(&mut chain).is_pending());
    for tag in ["0A", "0B"] {
        carrier.reject(by_owner(tag));
    }
    assert!(look(&mut chain).is_pending(), "charged, and queued");
    owner.says(Ok(7));
    assert_eq!(answer(&mut chain), 7);
    assert!(look(&mut chain).is_pending());
    assert_eq!(owner.asks(), 1);

    carrier.reject(by_owner("0C"));
    assert!(look(&mut chain).is_pending());
    assert_eq!(owner.counts(), [0, 3], "stale, but counted: no answer has cleared them");
}

/// C14: the verdict comes in that poll, and leaves nothing running.
#[test]
fn a_verdict_ends_the_stream_in_that_poll() {
    let (carrier, owner) = (carrier(), Owner::default());
    let mut chain = chain(&carrier, &owner);
    carrier.reject(by_owner("0A"));
    carrier.reject(by_owner("0B"));
    assert!(look(&mut chain).is_pending());
    owner.says(absent());
    assert_eq!(
        *error(&mut chain).verdict().expect("not a give-up"),
        Ruled::verdict(No("absent"), Kind::NotFound)
    );
    assert!(matches!(look(&mut chain), Poll::Ready(None)));
    assert_eq!((owner.asks(), owner.outstanding()), (1, 0), "what was queued is dropped");
}

#[test]
fn a_give_up_reports_the_last_error_that_was_ridden_out() {
    let carrier = within(Budget::default().re_asks(2));
    let (owner, texts) = (Owner::default(), ["one", "two", "three"]);
    let mut chain = chain(&carrier, &owner);
    for text in texts {
        assert!(look(&mut chain).is_pending());
        owner.says(Err(Ruled::promise(No(text), Rejection::by_route())));
    }
    let error = error(&mut chain);
    assert_eq!(error.source().expect("an error was ridden out").to_string(), "three");
    let report = error.gave_up().expect("not a verdict");
    assert_eq!(
        (report.cause, report.asks, report.address == *carrier.address()),
        (Cause::Route, 3, true)
    );
    assert_eq!(error.to_string(), report.to_string());
}

#[test]
fn an_error_before_an_answer_is_not_the_last_one_after_it() {
    let (carrier, owner) = (within(Budget::default().re_asks(1)), Owner::default());
    let mut chain = chain(&carrier, &owner);
    assert!(look(&mut chain).is_pending());
    owner.says(draining(Rejection::by_route()));
    assert!(look(&mut chain).is_pending());
    owner.says(Ok(7));
    assert_eq!(answer(&mut chain), 7);
    carrier.reject(Rejection::by_route());
    assert!(error(&mut chain).source().is_none(), "an announcement has no error");
}

/// A verdict displays as the error itself, so its source is what comes next.
#[test]
fn a_verdicts_source_is_its_errors_source() {
    let verdict = RideError::from(End::Verdict(std::io::Error::other(No("deeper"))));
    assert_eq!(verdict.to_string(), "deeper");
    assert!(verdict.source().is_none());
}

/// R16: the attempt that runs covers the trigger; a trigger's own is not run beside it.
#[test]
fn a_charged_attempt_covers_the_trigger_that_came_before_it() {
    let (carrier, owner) = (carrier(), Owner::default());
    let mut chain = chain(&carrier, &owner);
    carrier.nudge();
    carrier.reject(by_owner("0A"));
    assert!(look(&mut chain).is_pending());
    owner.says(Ok(7));
    assert_eq!(answer(&mut chain), 7);
    assert!(look(&mut chain).is_pending());
    assert_eq!(owner.counts(), [1]);
}

#[test]
fn a_running_attempt_that_is_rejected_is_dropped_and_the_next_is_charged() {
    let carrier = within(Budget::default().re_asks(1));
    let owner = Owner::default();
    let mut chain = chain(&carrier, &owner);
    assert!(look(&mut chain).is_pending());
    chain.as_mut().reject(by_owner("0A"), None);
    assert_eq!((owner.outstanding(), chain.as_mut().attempt().is_none()), (0, true));
    assert!(look(&mut chain).is_pending());
    assert_eq!((owner.counts(), owner.outstanding()), (vec![0, 1], 1));

    let limit = || Ruled::promise(No("no answer in a minute"), Rejection::by_route());
    for _ in 0..2 {
        chain.as_mut().reject(Rejection::by_route(), Some(limit()));
        let _ = look(&mut chain).map(|end| {
            let Some(Err(error)) = end else { panic!("an answer from nobody") };
            assert_eq!(error.source().unwrap().to_string(), "no answer in a minute");
        });
    }
    assert_eq!((owner.counts(), owner.outstanding()), (vec![0, 1, 1], 0));
    assert!(matches!(look(&mut chain), Poll::Ready(None)));
}

/// What had arrived before, and was not charged yet, comes first.
#[test]
fn a_running_attempt_that_is_rejected_queues_behind_what_has_arrived() {
    let (carrier, owner) = (carrier(), Owner::default());
    let mut chain = chain(&carrier, &owner);
    assert!(look(&mut chain).is_pending());
    carrier.reject(by_owner("0A"));
    chain.as_mut().reject(by_owner("0B"), None);
    assert!(look(&mut chain).is_pending());
    assert_eq!(owner.charge(1).activation(), Some(&chain::activation("0A")));
}

#[test]
fn a_rejection_between_attempts_is_charged_and_attempted() {
    let (carrier, owner) = (carrier(), Owner::default());
    let mut chain = chain(&carrier, &owner);
    assert!(look(&mut chain).is_pending());
    owner.says(Ok(7));
    assert_eq!(answer(&mut chain), 7);
    let (task, waker) = Task::new();
    assert!(poll_next(&mut chain, &waker).is_pending());
    chain.as_mut().reject(by_owner("0A"), None);
    assert_eq!(task.wakes(), 1);
    assert!(poll_next(&mut chain, &waker).is_pending());
    assert_eq!(owner.counts(), [0, 1]);
}

#[test]
fn the_running_attempt_is_within_reach() {
    let (carrier, owner) = (carrier(), Owner::default());
    let mut chain = chain(&carrier, &owner);
    assert!(chain.as_mut().attempt().is_none());
    carrier.reject(by_owner("0A"));
    assert!(look(&mut chain).is_pending());
    let attempt = chain.as_mut().attempt().expect("running");
    assert_eq!(attempt.charge().count(), 1);
    assert!(attempt.future().is_some());
    owner.says(Ok(7));
    assert_eq!(answer(&mut chain), 7);
    assert!(chain.as_mut().attempt().is_none());
}

/// Nothing more arrives: what is queued still runs, in order, and then it is over.
#[test]
fn a_stream_that_ends_is_run_to_its_end() {
    let (carrier, owner) = (carrier(), Owner::default());
    let asks = owner.clone();
    let rejections = stream::iter(["0A", "0B"].map(by_owner));
    let mut chain = Box::pin(
        rejections.charge(&carrier).defer(move |charge| asks.ask(charge)).concat_attempts(&carrier),
    );
    for asks in 1..=2 {
        assert!(look(&mut chain).is_pending());
        assert_eq!(owner.asks(), asks);
        owner.says(draining(by_owner("0C")));
    }
    // What is refused goes back to the carrier, which this stream does not read.
    assert!(matches!(look(&mut chain), Poll::Ready(None)));
    assert_eq!(owner.counts(), [1, 2]);
    let mut rest = chain::chain(&carrier, &owner);
    assert!(look(&mut rest).is_pending());
    assert_eq!(owner.counts(), [1, 2, 3], "and is there for the next one");
}

/// R14: a bounded number of arrivals at each poll, and the next one is asked for by itself.
#[test]
fn draining_is_bounded_in_each_poll() {
    let carrier = within(Budget::default().re_asks(u32::MAX));
    let (owner, pulled) = (Owner::default(), Rc::new(Cell::new(0)));
    let (asks, counter) = (owner.clone(), Rc::clone(&pulled));
    let mut chain = Box::pin(
        stream::repeat(Rejection::by_route())
            .inspect(move |_| counter.set(counter.get() + 1))
            .charge(&carrier)
            .defer(move |charge| asks.ask(charge))
            .concat_attempts(&carrier),
    );
    let (task, waker) = Task::new();
    let mut before = 0;
    for poll in 1..=100 {
        assert!(poll_next(&mut chain, &waker).is_pending());
        assert!(pulled.get() > before, "it stopped draining");
        assert!(pulled.get() - before <= 2 * 32, "{} in one poll", pulled.get() - before);
        assert!(task.wakes() >= poll, "it does not come back");
        before = pulled.get();
    }
    assert_eq!((owner.asks(), owner.outstanding()), (1, 1));
}

/// A poll that finds nothing to do does not ask for another one.
#[test]
fn a_chain_that_waits_sleeps() {
    let (carrier, owner, (task, waker)) = (carrier(), Owner::default(), Task::new());
    let mut chain = chain(&carrier, &owner);
    assert!(poll_next(&mut chain, &waker).is_pending());
    assert_eq!(task.wakes(), 0, "an attempt is out");
    owner.says(Ok(7));
    assert_eq!(task.wakes(), 1);
    assert!(poll_next(&mut chain, &waker).is_ready());
    let wakes = task.wakes();
    for _ in 0..3 {
        assert!(poll_next(&mut chain, &waker).is_pending());
    }
    assert_eq!(task.wakes(), wakes, "nothing is owed");
}

/// C28, C36: a million refusals, each at once: constant stack, and a bounded number in each poll.
#[test]
fn a_million_synchronous_refusals_are_ridden_on_a_small_stack() {
    const REFUSALS: u32 = 1_000_000;
    let rider = std::thread::Builder::new().stack_size(128 << 10).spawn(|| {
        let carrier = within(Budget::default().re_asks(u32::MAX));
        let asks = Rc::new(Cell::new(0));
        let counter = Rc::clone(&asks);
        let mut chain = Box::pin(
            carrier
                .triggers()
                .charge(&carrier)
                .defer(move |_| {
                    counter.set(counter.get() + 1);
                    ready(if counter.get() > REFUSALS {
                        Ok(7)
                    } else {
                        draining(Rejection::by_route())
                    })
                })
                .concat_attempts(&carrier),
        );
        let (task, waker) = Task::new();
        let (mut before, mut wakes) = (0, 0);
        let answer = loop {
            if let Poll::Ready(answer) = poll_next(&mut chain, &waker) {
                break answer;
            }
            assert!(task.wakes() > wakes, "it does not come back");
            assert!(asks.get() - before <= 32, "{} asks in one poll", asks.get() - before);
            (before, wakes) = (asks.get(), task.wakes());
        };
        assert!(matches!(answer, Some(Ok(7))));
        assert_eq!(asks.get(), REFUSALS + 1);
    });
    rider.unwrap().join().unwrap();
}

/// Any combinator fits between the operators, and after them.
#[test]
fn combinators_fit_between_the_operators() {
    let carrier = carrier();
    let announced = stream::iter(["0A", "0B"].map(by_owner)).map(Trigger::from);
    let triggers = tokio_stream::StreamExt::merge(carrier.triggers(), announced);
    let seen = Rc::new(Cell::new(0));
    let counter = Rc::clone(&seen);
    let answers = Box::pin(
        triggers
            .filter(|trigger| ready(*trigger != Trigger::Rejected(by_owner("0A"))))
            .charge(&carrier)
            .inspect(move |_| counter.set(counter.get() + 1))
            .defer(|charge| async move {
                if charge.is_uncharged() {
                    draining(Rejection::by_route())
                } else {
                    Ok(charge.count())
                }
            })
            .map(|attempt| attempt)
            .concat_attempts(&carrier),
    );
    let answers = answers.map(|answer| answer.map_err(|error| error.to_string())).take(1);
    let answers: Vec<_> = answers.collect().now_or_never().expect("all at hand");
    assert_eq!((answers, seen.get()), (vec![Ok(1)], 2), "the first ask, and 0B's, which covers it");
}

/// The numbers of asks are told to the ledger, said or not.
#[test]
fn asks_are_counted_whether_they_are_said_or_not() {
    type Makes = fn(&Carrier, &Owner) -> std::pin::Pin<Box<chain::Chain>>;
    for makes in [chain as Makes, saying as Makes] {
        let (carrier, owner) = (within(Budget::default().re_asks(4)), Owner::default());
        let mut chain = makes(&carrier, &owner);
        for _ in 0..5 {
            assert!(look(&mut chain).is_pending());
            owner.says(draining(Rejection::by_route()));
        }
        let error = error(&mut chain);
        let report = error.gave_up().expect("not a verdict");
        assert_eq!((report.asks, owner.asks()), (5, 5));
        assert_eq!(carrier.asking(), 6);
    }
}
