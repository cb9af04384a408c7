//! How a rider of one's own is put under loom: the example `own_rider`, as it is, under every interleaving.
//!
//! What our models prove of the operators holds in your rider too. What you build on them, you model
//! yourself, against the same code: a package `loom-tests` in this repository compiles the crate on loom's
//! primitives, whatever flags you build with. Beside your crate, in the same workspace, make a package
//! `my-loom-tests` that compiles your crate a second time against that one. Its `Cargo.toml`:
//!
//! ```toml
//! [package]
//! name = "my-loom-tests"
//! version = "0.0.0"
//! edition = "2024"
//! publish = false
//!
//! [lib]
//! name = "my_rider_under_loom" # not your crate's own name: the two would share a file name
//! path = "../src/lib.rs"
//! test = false
//! doctest = false
//! doc = false
//!
//! [dependencies]
//! # The name in front is the one that your sources use; the tag is that of the version that you use.
//! rideout = { package = "loom-tests", git = "<this repository>", tag = "<version>" }
//! loom = { version = "0.7", features = ["futures"] }
//! # And whatever else your crate depends on.
//! ```
//!
//! In this repository the `extern crate` below does what that name does; yours does without.
//!
//! Its models are `my-loom-tests/tests/*.rs`, each a `loom::model(|| …)` over `my_rider_under_loom`, and
//! `cargo test` runs them. A model that interleaves nothing passes whatever the code does: count the
//! executions and require some, as `check` in `common/mod.rs` does. `LOOM_MAX_PREEMPTIONS=2` bounds those
//! that would not come to their end. In the workspace's `Cargo.toml`, `[profile.dev.package.loom]` and
//! `[profile.dev.package.generator]` with `opt-level = 3` make them several times as fast.
//!
//! What your rider needs beside the operators comes from outside, as `sleep`, `timeout` and the owner do
//! here: under loom there is no runtime and no clock, and the feature `tokio` is off. State of your own that
//! threads share must be loom's in a model, or loom does not see it; tokio's and futures' locks and channels
//! it does not see either.

extern crate rideout_under_loom as rideout;

mod common {
    pub(crate) mod check;
    pub(crate) mod yields;
}
#[path = "../../examples/own_rider/rider.rs"]
mod rider;

use std::{
    convert::Infallible,
    future::poll_fn,
    pin::Pin,
    rc::Rc,
    task::{Context, Waker},
    time::Duration,
};

use common::check::check;
use futures::Stream;
use loom::{future::block_on, thread};
use owner::{Owner, Script};
use rideout::{Refusal, RideError, teardown::Teardown};
use rider::Rider;

/// Every sleep is over at once, and every join ends by its event: the rider's two sources of time.
async fn sleep(_: Duration) {}

async fn timeout<F: Future>(_: Duration, future: F) -> Result<F::Output, Infallible> {
    Ok(future.await)
}

/// The owner that is asked: a script, which also looks at who asks.
mod owner {
    use std::{cell::RefCell, fmt, future::ready};

    use futures::{Stream, StreamExt, stream, stream::LocalBoxStream};
    use rideout::{
        Activation, Address, Refusal,
        refusal::{Closing, Seam},
        teardown::{Completed, Teardown},
    };

    use super::common::yields::yields;

    pub(crate) type Items = LocalBoxStream<'static, Result<u32, Refusal>>;

    #[derive(Clone, Copy)]
    pub(crate) enum Script {
        /// Its first subscription is refused behind its first item; every other one lives.
        Goes,
        /// Every subscription lives.
        Stays,
        /// There is no route to it.
        IsUnreachable,
    }

    pub(crate) struct Owner {
        script: Script,
        address: Address,
        activation: Activation,
        pub(crate) teardown: Teardown,
        // Whether an ask is out, and how many there were. Only the rider's own task is in here: what
        // several threads touch is loom's.
        asked: RefCell<(bool, u32)>,
    }

    impl Owner {
        pub(crate) fn new(address: Address, script: Script) -> Owner {
            let (activation, teardown) = ("0A".parse().unwrap(), Teardown::new());
            Owner { script, address, activation, teardown, asked: RefCell::default() }
        }

        pub(crate) async fn answer(&self, ask: u32) -> Result<Items, Refusal> {
            self.goes_out(true);
            yields().await;
            self.goes_out(false);
            let item = stream::iter([Ok(ask)]);
            match self.script {
                Script::Goes if ask == 1 => Ok(item.chain(self.end()).boxed_local()),
                Script::Goes | Script::Stays => Ok(item.chain(stream::pending()).boxed_local()),
                Script::IsUnreachable => Err(Refusal::host_cannot_route(&self.address)),
            }
        }

        fn goes_out(&self, out: bool) {
            let mut asked = self.asked.borrow_mut();
            assert_ne!(asked.0, out, "two asks are out");
            *asked = (out, asked.1 + u32::from(out));
        }

        fn end(&self) -> impl Stream<Item = Result<u32, Refusal>> + use<> {
            let closing = Closing::new(self.address.clone()).activation(self.activation.clone());
            stream::once(ready(Err(closing.refuse(Seam::Mailbox, "Subscribe"))))
        }

        pub(crate) fn asks(&self) -> u32 {
            self.asked.borrow().1
        }

        pub(crate) fn teardown_of(&self, activation: &Activation) -> Option<Completed> {
            (*activation == self.activation).then(|| self.teardown.completed())
        }

        pub(crate) fn tell(&self, _: impl fmt::Display) {}
    }
}

type Items = Pin<Box<dyn Stream<Item = Result<u32, RideError<Refusal>>>>>;

fn world(script: Script) -> (Rc<Owner>, Rc<Rider>, Items) {
    let address: rideout::Address = "prices/eur".parse().unwrap();
    let owner = Rc::new(Owner::new(address.clone(), script));
    let rider = Rider::new(address, Rc::clone(&owner));
    let items = Box::pin(rider.items());
    (owner, rider, items)
}

fn next(items: &mut Items) -> Option<Result<u32, RideError<Refusal>>> {
    block_on(poll_fn(|cx| items.as_mut().poll_next(cx)))
}

/// Waits for an item of the ask `least`, or a later one.
fn read_until(items: &mut Items, least: u32) {
    while next(items).expect("it goes on").expect("it is ridden out") < least {}
}

/// Another thread nudges.
fn nudging(rider: &Rider) -> thread::JoinHandle<()> {
    let carrier = rider.carrier();
    thread::spawn(move || carrier.nudge())
}

/// The owner goes, and its teardown is completed while another thread nudges: one ask is out at a time,
/// and the reader has items again.
#[test]
fn one_ask_is_out_whatever_asks_for_it() {
    check("own_rider", Some(2), 10, || {
        let (owner, rider, mut items) = world(Script::Goes);
        let nudge = nudging(&rider);
        let completing = {
            let teardown: Teardown = owner.teardown.clone();
            thread::spawn(move || _ = teardown.complete())
        };
        read_until(&mut items, 2);
        nudge.join().unwrap();
        completing.join().unwrap();
        assert!(owner.asks() <= 3);
    });
}

/// A nudge comes while the first ask is out, or when the reader is live: it is asked again, once.
#[test]
fn a_nudge_is_not_lost() {
    check("own_rider_nudge", Some(3), 5, || {
        let (owner, rider, mut items) = world(Script::Stays);
        assert!(items.as_mut().poll_next(&mut Context::from_waker(Waker::noop())).is_pending());
        let nudge = nudging(&rider);
        read_until(&mut items, 2);
        nudge.join().unwrap();
        assert_eq!(owner.asks(), 2);
    });
}

/// The route refuses until the budget is spent: the reader is told once, and whoever nudges then finds
/// nobody.
#[test]
fn one_that_has_given_up_ends() {
    check("own_rider_gives_up", Some(1), 10, || {
        let (owner, rider, mut items) = world(Script::IsUnreachable);
        let nudge = nudging(&rider);
        let end = next(&mut items).and_then(Result::err);
        assert!(end.is_some_and(|error| error.gave_up().is_some()));
        let asks = owner.asks();
        nudge.join().unwrap();
        assert!(next(&mut items).is_none());
        assert_eq!(owner.asks(), asks);
    });
}
