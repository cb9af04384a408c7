//! What every public stream and future of carrier, slot and teardown keeps: fused, honest in
//! `size_hint`, strict with what it polls, and gone without a trace.

mod chain;
mod contract;

use std::{
    cell::{Cell, RefCell},
    fmt::Debug,
    future::{Pending, Ready, pending, ready},
    rc::Rc,
};

use chain::{Asking, Chain, Owner, Probe, absent, by_owner, draining, within};
use contract::{Case, Strict, keeps, keeps_as_a_future};
use futures::{FutureExt, Stream, StreamExt, stream};
use rideout::{
    Budget, Carrier, CarrierExt, Charge, Claim, Completed, Judged, Permit, Rejection, RideError,
    Slot, Teardown,
    carrier::{Attempt, Charges, ConcatAttempts, Defer, Trigger, Triggers},
};

fn carrier() -> Carrier {
    within(Budget::default().re_asks(2))
}

/// What shows that a chain is gone: nobody has the place.
fn free(carrier: &Carrier) -> impl FnOnce() + use<> {
    let carrier = carrier.clone();
    move || assert!(!format!("{carrier:?}").contains("taken: true"), "{carrier:?}")
}

/// So many rejections by the route, and then the end; pending before each, and strict about it.
fn rejections(many: usize) -> impl Stream<Item = Rejection> + Unpin + Debug {
    Strict::new(stream::iter((0..many).map(|_| Rejection::by_route())))
}

/// A stream that is pending before each item, as one that waits for something.
fn stuttering<St: Stream + Unpin>(mut stream: St) -> impl Stream<Item = St::Item> + Unpin {
    let mut stutters = false;
    Strict::new(stream::poll_fn(move |cx| {
        stutters = !stutters;
        if stutters { std::task::Poll::Pending } else { stream.poll_next_unpin(cx) }
    }))
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
        keeps(|| Case::new(stuttering(rejections(many)).charge(&carrier())));
    }
}

#[test]
fn deferred_attempts_keep_what_streams_keep() {
    for many in [0, 1, 2, 3, 10] {
        keeps(|| Case::new(rejections(many).charge(&carrier()).defer(|_| pending::<()>())));
        let charges = || Strict::new(rejections(many).charge(&carrier()));
        keeps(|| Case::new(stuttering(charges()).defer(|_| ready(()))));
    }
}

#[test]
fn an_attempt_keeps_what_futures_keep() {
    keeps_as_a_future(|| {
        let (teardown, mut attempts) = (Teardown::new(), rejections(1).charge(&carrier()));
        let charge = attempts.next().now_or_never().flatten().expect("at hand");
        let joins = teardown.clone();
        let mut attempts = stream::iter([charge]).defer(move |_| joins.completed());
        let attempt = attempts.next().now_or_never().flatten().expect("at hand");
        let left = teardown.clone();
        Case::new(attempt.expect("within the budget"))
            .stimulus(move || assert!(teardown.complete()))
            .gone(move || assert_eq!(left.waiters(), 0))
    });
}

/// A chain over all its states: it waits, its attempt is out, is refused and answered, something is
/// queued, and it ends as `ends` says.
fn chains(ends: impl Fn(&Carrier, &Owner) + Clone + 'static) {
    keeps(|| {
        let (carrier, owner) = (carrier(), Owner::default());
        let (asks, ends, mut steps) = (owner.clone(), ends.clone(), 0);
        let chain = stuttering(carrier.triggers())
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
                (4, 1) => owner.says(draining(Rejection::by_route())),
                (8, 1) => owner.says(Ok(7)),
                (10 | 12, _) => carrier.reject(by_owner("0A")),
                (13, _) => carrier.nudge(),
                (20.., _) => ends(&carrier, &owner),
                _ => {}
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
        taken.borrow_mut().push(carrier.triggers());
        if owner.outstanding() == 1 {
            owner.says(Ok(8));
        }
    });
}

/// A finite stream of attempts, run to its end.
#[test]
fn chains_keep_what_streams_keep_to_the_end_of_their_stream() {
    for many in [0, 1, 2, 3] {
        keeps(|| {
            let (carrier, owner) = (carrier(), Owner::default());
            let asks = owner.clone();
            let attempts =
                stuttering(rejections(many)).charge(&carrier).defer(move |charge| asks.ask(charge));
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

#[test]
fn a_claim_keeps_what_futures_keep() {
    keeps_as_a_future(|| {
        let slot = Slot::new();
        let (feed, left) = (slot.clone(), slot.clone());
        Case::new(slot.claim())
            .stimulus(move || feed.owe())
            .gone(move || assert!(format!("{left:?}").ends_with("taken: false, waiters: 0 }")))
    });
}

#[test]
fn a_completion_keeps_what_futures_keep() {
    keeps_as_a_future(|| {
        let teardown = Teardown::new();
        let left = teardown.clone();
        Case::new(teardown.completed())
            .stimulus(move || assert!(teardown.complete()))
            .gone(move || assert_eq!(left.waiters(), 0))
    });
}

/// Is nothing at all: no bound is asked of what a user supplies but what is used of it.
struct Opaque;

type Closure = fn(Charge) -> Ready<Result<(), Judged<()>>>;
type Out = Ready<Result<(), Judged<()>>>;

#[test]
fn whatever_is_sent_and_shared_may_be() {
    fn is<T: Send + Sync + Unpin + 'static>() {}
    is::<Carrier>();
    is::<Trigger>();
    is::<Triggers>();
    is::<Charges<Triggers>>();
    is::<Defer<Charges<Triggers>, Closure>>();
    is::<Attempt<Closure, Out>>();
    is::<ConcatAttempts<Defer<Charges<Triggers>, Closure>, Closure, Out, Judged<()>>>();
    is::<RideError<Judged<()>>>();
    is::<Slot>();
    is::<Permit>();
    is::<Claim>();
    is::<Teardown>();
    is::<Completed>();
}

/// A closure that is only `Send`, as most are that own something, is sent with its chain.
#[test]
fn a_closure_that_is_not_shared_is_sent() {
    fn is_sent<T: Send>(_: &T) {}
    fn is_shared<T: Sync>(_: &T) {}
    let (carrier, calls) = (carrier(), Cell::new(0));
    let probe = move |_| {
        calls.set(calls.get() + 1);
        ready(Ok::<_, Judged<()>>(calls.get()))
    };
    let chain = carrier.triggers().charge(&carrier).defer(probe).concat_attempts(&carrier);
    is_sent(&chain);
    is_shared(&chain);
}

#[test]
fn nothing_but_the_future_and_the_stream_is_pinned() {
    fn is_unpin<T: Unpin>() {}
    is_unpin::<ConcatAttempts<Triggers, std::marker::PhantomPinned, Out, std::marker::PhantomPinned>>(
    );
    is_unpin::<Chain>();
    is_unpin::<Attempt<Probe, Asking>>();
}

/// `Debug` asks nothing of closures, futures and errors, says what matters, and locks nothing for
/// longer than it looks.
#[test]
fn debug_asks_nothing_of_closures() {
    fn is_debug<T: Debug>() {}
    is_debug::<Defer<Triggers, Opaque>>();
    is_debug::<Attempt<Opaque, Opaque>>();
    is_debug::<ConcatAttempts<Triggers, Opaque, Opaque, Opaque>>();

    let carrier = carrier();
    let opaque = |_| {
        let _ = Opaque;
        pending::<Result<(), Judged<()>>>()
    };
    let attempts = carrier.triggers().charge(&carrier).defer(opaque);
    let mut chain = Box::pin(attempts.concat_attempts(&carrier));
    carrier.reject(by_owner("0A"));
    carrier.reject(by_owner("0B"));
    assert!(chain.next().now_or_never().is_none());
    let debug = format!("{chain:?}");
    for told in ["ConcatAttempts { stream: Defer { stream: Charges { stream: Triggers", "queued: 1"]
    {
        assert!(debug.contains(told), "{told} is missing in {debug}");
    }
    let attempt: &Attempt<_, Pending<_>> = &chain.as_mut().attempt().expect("running");
    assert!(format!("{attempt:?}").starts_with("Attempt { charge: Charge"));
}

/// The harness itself: each fault is found.
mod the_harness_finds {
    use std::{
        pin::Pin,
        task::{Context, Poll, Waker},
    };

    use futures::stream::FusedStream;

    use super::*;

    /// Yields twice, and does one thing wrong.
    #[derive(Default)]
    struct Faulty {
        polls: usize,
        least: usize,
        most: Option<usize>,
        goes_on: bool,
        says_it_is_over: bool,
        leaves: Option<Rc<RefCell<Option<Waker>>>>,
    }

    impl Stream for Faulty {
        type Item = ();

        fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<()>> {
            self.polls += 1;
            if let Some(place) = &self.leaves {
                *place.borrow_mut() = Some(cx.waker().clone());
            }
            let over = self.polls == 3 || self.polls > 3 && !self.goes_on;
            Poll::Ready((!over).then_some(()))
        }

        fn size_hint(&self) -> (usize, Option<usize>) {
            if self.polls > 2 { (0, Some(0)) } else { (self.least, self.most) }
        }
    }

    impl FusedStream for Faulty {
        fn is_terminated(&self) -> bool {
            self.polls > 2 || self.says_it_is_over
        }
    }

    fn finds(make: impl Fn() -> Faulty) -> bool {
        let found = std::panic::AssertUnwindSafe(|| keeps(|| Case::new(make())));
        std::panic::catch_unwind(found).is_err()
    }

    #[test]
    fn every_fault() {
        assert!(!finds(Faulty::default), "there is none");
        assert!(finds(|| Faulty { least: 1, ..Faulty::default() }), "one item at the end");
        assert!(finds(|| Faulty { most: Some(1), ..Faulty::default() }), "two items at the start");
        assert!(finds(|| Faulty { goes_on: true, ..Faulty::default() }), "not fused");
        assert!(finds(|| Faulty { says_it_is_over: true, ..Faulty::default() }));
        let place = Rc::new(RefCell::new(None));
        assert!(finds(move || Faulty { leaves: Some(Rc::clone(&place)), ..Faulty::default() }));
    }

    #[test]
    #[should_panic(expected = "polled after its end")]
    fn who_polls_after_the_end() {
        let mut strict = Strict::new(stream::iter([(); 0]));
        assert_eq!(strict.next().now_or_never(), Some(None));
        let _ = strict.next().now_or_never();
    }
}
