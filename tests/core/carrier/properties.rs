//! The carrier under whatever is done to it in whatever order (R9, R16).

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    rc::Rc,
    task::Poll,
    time::Duration,
};

use crate::support::chain::{Owner, by_owner, draining, look, saying, within};
use futures::TryStreamExt;
use proptest::prelude::*;
use rideout::{
    Budget, CarrierExt, Rejection,
    ledger::{Charge, Key},
};

#[derive(Clone, Debug)]
enum Op {
    Nudge,
    Reject,
    Poll,
    Answer,
    Refuse,
    /// Another chain takes over, and then the old one is dropped.
    TakeOver,
    /// The chain is dropped, and then another is built.
    Rebuild,
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        2 => Just(Op::Nudge),
        2 => Just(Op::Reject),
        6 => Just(Op::Poll),
        2 => Just(Op::Answer),
        2 => Just(Op::Refuse),
        1 => Just(Op::TakeOver),
        1 => Just(Op::Rebuild),
    ];
    prop::collection::vec(op, 0..100)
}

proptest! {
    /// Whatever is done in whatever order: one outstanding, an ask after every trigger, and none
    /// without one.
    #[test]
    fn one_outstanding_none_lost_none_doubled(ops in ops()) {
        let (carrier, owner) = (within(Budget::default().re_asks(u32::MAX)), Owner::default());
        let mut chain = Some(saying(&carrier, &owner));
        // How many things asked for an ask, how many of them were charged, and how many asks there
        // had been when the last one came that no answer makes stale.
        let (mut reasons, mut charged, mut last) = (1, 0, 0);
        // Whether the owner has said something that the chain has not been polled for.
        let mut said = false;
        for op in ops {
            let out = owner.outstanding() == 1;
            match op {
                Op::Nudge => {
                    carrier.nudge();
                    (reasons, last) = (reasons + 1, owner.asks());
                }
                Op::Reject => {
                    carrier.reject(Rejection::by_route());
                    (reasons, charged) = (reasons + 1, charged + 1);
                }
                Op::Answer if out => {
                    owner.says(Ok(7));
                    said = true;
                }
                Op::Refuse if out => {
                    owner.says(draining(Rejection::by_route()));
                    (reasons, charged, said) = (reasons + 1, charged + 1, true);
                }
                Op::TakeOver | Op::Rebuild => {
                    if let Op::Rebuild = op {
                        drop(chain.take());
                    }
                    chain = Some(saying(&carrier, &owner));
                    if out || said {
                        (reasons, last, said) = (reasons + 1, owner.asks(), false);
                    }
                }
                Op::Poll => {
                    let chain = chain.as_mut().expect("one is always built");
                    while look(chain).is_ready() {}
                    said = false;
                }
                Op::Answer | Op::Refuse => {}
            }
            prop_assert!(owner.outstanding() <= 1, "two outstanding");
        }
        let chain = chain.as_mut().expect("one is always built");
        loop {
            while look(chain).is_ready() {}
            if owner.outstanding() == 0 {
                break;
            }
            owner.says(Ok(7));
        }
        prop_assert!(owner.asks() > last, "lost: {} asks, one is due after {last}", owner.asks());
        prop_assert!(owner.asks() <= reasons, "{} asks for {reasons} reasons", owner.asks());
        let most = owner.counts().into_iter().max().unwrap_or(0);
        prop_assert!(most <= charged, "charged twice: {most} of {charged}");
        prop_assert!(format!("{carrier:?}").contains("owed: false, taken: false"), "{carrier:?}");
    }

    /// Every rejection is attempted once where nothing is answered in between, in the order in which
    /// it came, however often the chain is built anew.
    #[test]
    fn every_rejection_is_attempted_in_order(ops in ops()) {
        let (carrier, owner) = (within(Budget::default().re_asks(u32::MAX)), Owner::default());
        let (mut chain, mut rejected) = (saying(&carrier, &owner), 0);
        // A refusal, of an activation that refused before, keeps the counts of the route apart.
        let refuse = || owner.says(draining(by_owner("0A")));
        for op in ops {
            match op {
                Op::Nudge => carrier.nudge(),
                Op::Reject => {
                    carrier.reject(Rejection::by_route());
                    rejected += 1;
                }
                Op::TakeOver => chain = saying(&carrier, &owner),
                Op::Refuse if owner.outstanding() == 1 => refuse(),
                _ => assert!(look(&mut chain).is_pending()),
            }
        }
        let by_route = |ask: &usize| owner.charge(*ask).key() == Some(Key::Route);
        for _ in 0..200 {
            assert!(look(&mut chain).is_pending());
            let attempted = (0..owner.asks()).filter(by_route).map(|it| owner.charge(it).count());
            if attempted.max().unwrap_or(0) == rejected {
                break;
            }
            refuse();
        }
        // Once each, or once more for each time it was dropped unanswered.
        let mut attempted: Vec<_> =
            (0..owner.asks()).filter(by_route).map(|it| owner.charge(it).count()).collect();
        prop_assert!(attempted.is_sorted(), "out of order: {attempted:?}");
        attempted.dedup();
        prop_assert_eq!(attempted, (1..=rejected).collect::<Vec<_>>());
    }

    /// R9: no attempt runs under a charge that was made before the last answer.
    #[test]
    fn what_an_answer_made_stale_never_runs(ops in ops()) {
        let (carrier, owner) = (within(Budget::default().re_asks(u32::MAX)), Owner::default());
        // Each rejection has a hint of its own, by which its charge is known again.
        let mut rejected = 0;
        let mut rejection = || {
            rejected += 1;
            let not_before = Some(Duration::from_millis(rejected));
            Rejection { not_before, ..Rejection::by_route() }
        };
        let known = |charge: &Charge| charge.rejection().and_then(|it| it.not_before);
        // How many answers there were when each rejection was charged.
        let (answers, charged) = (Rc::new(Cell::new(0)), Rc::new(RefCell::new(HashMap::new())));
        let build = || {
            let (then, made, owner) = (Rc::clone(&answers), Rc::clone(&charged), owner.clone());
            let (now, looked) = (Rc::clone(&answers), Rc::clone(&charged));
            // One that was given back comes by again, and is no new one.
            let charges = carrier.triggers().charge(&carrier).inspect_ok(move |charge| {
                made.borrow_mut().entry(known(charge)).or_insert(then.get());
            });
            let attempts = charges.defer(move |charge| {
                let made = looked.borrow()[&known(&charge)];
                assert!(charge.is_uncharged() || made == now.get(), "a stale attempt ran");
                owner.ask(charge)
            });
            Box::pin(attempts.concat_attempts(&carrier))
        };
        let mut chain = build();
        for op in ops {
            let out = owner.outstanding() == 1;
            match op {
                Op::Nudge => carrier.nudge(),
                Op::Reject => carrier.reject(rejection()),
                Op::Answer if out => owner.says(Ok(7)),
                Op::Refuse if out => owner.says(draining(rejection())),
                Op::TakeOver => chain = build(),
                Op::Rebuild => {
                    drop(chain);
                    chain = build();
                }
                Op::Poll => {
                    while let Poll::Ready(answer) = look(&mut chain) {
                        prop_assert!(matches!(answer, Some(Ok(7))));
                        answers.set(answers.get() + 1);
                    }
                }
                Op::Answer | Op::Refuse => {}
            }
        }
    }
}
