//! What may be sent to another thread, shared with one, and moved once it was polled: every stream and
//! future of the crate, as far as what it was given may, and the exceptions.

use std::{
    cell::Cell,
    future::{Pending, Ready, ready},
    marker::PhantomPinned,
};

use crate::support::{
    chain::{Asking, Chain, Probe, carrier},
    hand_clock::{Clock, address},
};
use futures::{
    future::LocalBoxFuture,
    stream::{self, Empty, Iter},
};
#[cfg(feature = "tokio")]
use rideout::time::TokioSleep;
use rideout::{
    Activation, Carrier, CarrierExt, News, PointRead, Refusal, RideError, RideOut,
    carrier::{Attempt, Charges, ConcatAttempts, Defer, Trigger, Triggers},
    ledger::Charge,
    owner::{Driver, Reached, Wave},
    rider::{Ask, BoxRide, NoNews, Phases},
    slot::{Claim, Permit, Slot},
    teardown::{Completed, Teardown},
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

type Closure = fn(Charge) -> Ready<Result<(), Refusal>>;
type Out = Ready<Result<(), Refusal>>;
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
    is::<ConcatAttempts<Defer<Charges<Triggers>, Closure>, Closure, Out, Refusal>>();
    is::<RideError<Refusal>>();

    is::<Slot>();
    is::<Permit>();
    is::<Claim>();
    is::<Teardown>();
    is::<Completed>();

    is::<RideOut<Asks, Joins, Empty<News>, (), Clock>>();
    is::<Phases<RideOut<Asks, Joins, Empty<News>, (), Clock>>>();
    is::<PointRead<fn(Ask) -> Reads, Reads, Refusal, Empty<News>, Clock>>();
    is::<NoNews>();

    is::<Reached>();
    is::<Wave>();
}

/// A box asks of its rider that it may be sent, and no more; a driver keeps what a panic carries until
/// its owner is dead, and that may be sent alone. Each is polled by one task.
#[test]
fn boxes_and_drivers_are_sent_and_not_shared() {
    fn is_sent_and_unpin<T: Send + Unpin + 'static>() {}
    is_sent_and_unpin::<BoxRide<u64, Refusal>>();
    is_sent_and_unpin::<Phases<BoxRide<u64, Refusal>>>();
    is_sent_and_unpin::<Driver<Ready<()>, Clock>>();
}

is_not!(Sync: BoxRide<u64, Refusal>);
type LocalJoins = fn(Activation) -> Option<LocalBoxFuture<'static, ()>>;
is_not!(Sync: RideOut<Asks, LocalJoins, Empty<News>, (), Clock>);
is_not!(Sync: Driver<Ready<()>, Clock>);

/// A closure that is only `Send`, as most are that own something, is sent with its chain.
#[test]
fn a_closure_that_is_not_shared_is_sent() {
    let (carrier, calls) = (carrier(), Cell::new(0));
    let probe = move |_| {
        calls.set(calls.get() + 1);
        ready(Ok::<_, Refusal>(calls.get()))
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
is_not!(Unpin: Driver<PhantomPinned, Clock>);
#[cfg(feature = "tokio")]
is_not!(Unpin: TokioSleep);

/// Neither of a rider's parts need be `Unpin`: they are boxed as themselves.
#[test]
fn a_rider_is_unpin_whatever_it_was_given() {
    let rider =
        RideOut::builder(address(), |_| async { Ok::<_, Refusal>(stream::once(async { Ok(1) })) })
            .join(|_| Some(async {}))
            .news(stream::once(async { News::Ended(None) }))
            .frame_number(|item: &u64| *item)
            .keep_alive(|_| {})
            .timer(Clock::new())
            .build();
    is_sent(&rider);
    is_unpin(&rider);
    is_sent(&rider.nudger());
    let phases = rider.phases();
    is_sent(&phases);
    is_unpin(&phases);
    is_sent(&phases.into_inner());
    is_sent(
        &PointRead::builder(address(), |_| async { Ok::<_, Refusal>(1) })
            .timer(Clock::new())
            .build(),
    );
}

#[cfg(feature = "tokio")]
#[test]
fn sleeps_are_sent_and_shared() {
    fn is_sent_and_shared<T: Send + Sync>() {}
    is_sent_and_shared::<TokioSleep>();
}
