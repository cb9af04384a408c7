//! C40, in a chain: code of the user's that panics is the caller's to see, and loses neither place nor
//! charge.

mod chain;

use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    task::Poll,
};

use chain::{Owner, answer, by_owner, carrier, chain, look, probing};
use futures::FutureExt;
use rideout::{Address, CarrierExt, Refused, Ruling};

/// C40: a probe that panics in a chain loses neither place nor charge.
#[test]
fn a_probe_that_panics_in_a_chain_is_called_again() {
    let (carrier, owner) = (carrier(), Owner::default());
    let (asks, mut calls) = (owner.clone(), 0);
    let mut chain = probing(&carrier, move |charge| {
        calls += 1;
        assert_ne!(calls, 1, "a probe that panics");
        asks.ask(charge)
    });
    carrier.reject(by_owner("0A"));
    assert!(catch_unwind(AssertUnwindSafe(|| look(&mut chain))).is_err());
    assert!(look(&mut chain).is_pending());
    assert_eq!((owner.counts(), owner.outstanding()), (vec![1], 1));
    owner.says(Ok(7));
    assert_eq!(answer(&mut chain), 7);
}

/// C40: so does an attempt that panics, polled again or dropped.
#[test]
fn an_attempt_that_panics_in_a_chain_begins_anew() {
    for dropped in [false, true] {
        let (carrier, owner) = (carrier(), Owner::default());
        let (asks, mut calls) = (owner.clone(), 0);
        let mut old = probing(&carrier, move |charge| {
            calls += 1;
            if calls == 1 {
                async { panic!("an ask that panics") }.boxed_local()
            } else {
                asks.ask(charge)
            }
        });
        carrier.reject(by_owner("0A"));
        assert!(catch_unwind(AssertUnwindSafe(|| look(&mut old))).is_err());
        let mut chain = if dropped {
            drop(old);
            chain(&carrier, &owner)
        } else {
            old
        };
        assert!(look(&mut chain).is_pending());
        assert_eq!((owner.counts(), owner.outstanding()), (vec![1], 1));
    }
}

/// C40: a ruling is the user's code too. Where it panics the error is lost, the attempt is not.
#[test]
fn an_attempt_whose_ruling_panics_begins_anew() {
    #[derive(Debug)]
    struct Unruly;

    impl fmt::Display for Unruly {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("unruly")
        }
    }

    impl Refused for Unruly {
        fn ruling(&self, _: &Address) -> Ruling {
            panic!("a ruling that panics")
        }
    }

    let (carrier, mut calls) = (carrier(), 0);
    let mut chain = Box::pin(
        carrier
            .triggers()
            .charge(&carrier)
            .defer(move |_| {
                calls += 1;
                let call = calls;
                async move { if call == 1 { Err(Unruly) } else { Ok(call) } }
            })
            .concat_attempts(&carrier),
    );
    assert!(catch_unwind(AssertUnwindSafe(|| look(&mut chain))).is_err());
    assert!(matches!(look(&mut chain), Poll::Ready(Some(Ok(2)))));
}
