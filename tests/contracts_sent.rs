//! What may be sent to another thread, shared with one, and moved once it was polled: every stream and
//! future of the crate, as far as what it was given may, and the exceptions.

mod chain;
mod contract;

use std::{
    cell::Cell,
    future::{Pending, Ready, ready},
    marker::PhantomPinned,
};

use chain::{Asking, Chain, Probe, carrier};
use contract::hand_clock::{Clock, address};
use futures::stream::{self, Empty, Iter};
use rideout::{
    Activation, Carrier, CarrierExt, Charge, Claim, Completed, Judged, News, Permit, PointRead,
    Refusal, RideError, RideOut, Slot, Teardown,
    carrier::{Attempt, Charges, ConcatAttempts, Defer, Trigger, Triggers},
    owner::{Reached, TearingDown, Wave},
    rider::{Ask, NoNews, Phases},
    time::TokioSleep,
};

fn is<T: Send + Sync + Unpin + 'static>() {}
fn is_sent<T: Send>(_: &T) {}
fn is_shared<T: Sync>(_: &T) {}
fn is_unpin<T: Unpin>(_: &T) {}

/// Does not compile where the type is.
macro_rules! is_not {
    ($trait:ident: $type:ty) => {
        const _: fn() = || {
            trait OneOfTwo<A> {
                fn which() {}
            }
            struct Is;
            impl<T: ?Sized> OneOfTwo<()> for T {}
            impl<T: ?Sized + $trait> OneOfTwo<Is> for T {}
            let _ = <$type as OneOfTwo<_>>::which;
        };
    };
}

type Closure = fn(Charge) -> Ready<Result<(), Judged<()>>>;
type Out = Ready<Result<(), Judged<()>>>;
type Served = Iter<std::vec::IntoIter<Result<u64, Refusal>>>;
type Asks = fn(Ask) -> Ready<Result<Served, Refusal>>;
type Joins = fn(Activation) -> Option<Pending<()>>;
type Reads = Ready<Result<u64, Refusal>>;

#[test]
fn whatever_is_sent_and_shared_may_be() {
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

    is::<PointRead<fn(Ask) -> Reads, Reads, Refusal, Empty<News>, Clock>>();
    is::<NoNews>();

    is::<Reached>();
    is::<Wave>();
}

/// A rider asks of its beats that they may be sent, and no more; a driver keeps what a panic carries until
/// its owner is dead, and that may be sent alone. Each is polled by one task.
#[test]
fn riders_and_drivers_are_sent_and_not_shared() {
    fn is_sent_and_unpin<T: Send + Unpin + 'static>() {}
    is_sent_and_unpin::<RideOut<Asks, Joins, Empty<News>, (), Clock>>();
    is_sent_and_unpin::<Phases<Asks, Joins, Empty<News>, (), Clock>>();
    is_sent_and_unpin::<TearingDown<Ready<()>, Clock>>();
}

is_not!(Sync: RideOut<Asks, Joins, Empty<News>, (), Clock>);
is_not!(Sync: Phases<Asks, Joins, Empty<News>, (), Clock>);
is_not!(Sync: TearingDown<Ready<()>, Clock>);

/// A closure that is only `Send`, as most are that own something, is sent with its chain.
#[test]
fn a_closure_that_is_not_shared_is_sent() {
    let (carrier, calls) = (carrier(), Cell::new(0));
    let probe = move |_| {
        calls.set(calls.get() + 1);
        ready(Ok::<_, Judged<()>>(calls.get()))
    };
    let chain = carrier.triggers().charge(&carrier).defer(probe).concat_attempts(&carrier);
    is_sent(&chain);
    is_shared(&chain);
}

/// What is pinned in place is the user's future, or his stream, and tokio's sleep.
#[test]
fn nothing_but_the_future_and_the_stream_is_pinned() {
    is_unpin_type::<ConcatAttempts<Triggers, PhantomPinned, Out, PhantomPinned>>();
    is_unpin_type::<Chain>();
    is_unpin_type::<Attempt<Probe, Asking>>();
}

fn is_unpin_type<T: Unpin>() {}

is_not!(Unpin: Charges<PhantomPinned>);
is_not!(Unpin: Defer<PhantomPinned, Closure>);
is_not!(Unpin: Attempt<Closure, PhantomPinned>);
is_not!(Unpin: ConcatAttempts<PhantomPinned, Closure, Out, ()>);
is_not!(Unpin: ConcatAttempts<Triggers, Closure, PhantomPinned, ()>);
is_not!(Unpin: PointRead<fn(Ask) -> Reads, PhantomPinned, Refusal, Empty<News>, Clock>);
is_not!(Unpin: TearingDown<PhantomPinned, Clock>);
is_not!(Unpin: TokioSleep);

/// Neither of a rider's parts need be `Unpin`: they are boxed as themselves.
#[test]
fn a_rider_is_unpin_whatever_it_was_given() {
    let rider =
        RideOut::new(address(), |_| async { Ok::<_, Refusal>(stream::once(async { Ok(1) })) })
            .join(|_| Some(async {}))
            .news(stream::once(async { News::Ended(None) }))
            .frame_number(|item: &u64| *item)
            .keep_alive(|_| {})
            .timer(Clock::new());
    is_sent(&rider);
    is_unpin(&rider);
    is_sent(&rider.nudger());
    let phases = rider.phases();
    is_sent(&phases);
    is_unpin(&phases);
    is_sent(&phases.into_inner());
    is_sent(&PointRead::new(address(), |_| async { Ok::<_, Refusal>(1) }).timer(Clock::new()));
}

#[test]
fn sleeps_are_sent_and_shared() {
    fn is_sent_and_shared<T: Send + Sync>() {}
    is_sent_and_shared::<TokioSleep>();
}
