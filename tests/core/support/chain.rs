//! A chain of the operators, and an owner that answers when it is told to: polled by hand.

use std::{
    cell::RefCell,
    error::Error,
    fmt,
    pin::Pin,
    rc::Rc,
    task::{Context, Poll, Waker},
};

use futures::{FutureExt, Stream, channel::oneshot, future::LocalBoxFuture};
use rideout::{
    Activation, Address, Budget, Carrier, CarrierExt, Kind, Rejection, RideError,
    carrier::{Charges, ConcatAttempts, Defer, Triggers},
    ledger::Charge,
};

use super::ruled::Ruled;

/// What the owner refuses with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct No(pub(crate) &'static str);

impl fmt::Display for No {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Error for No {}

pub(crate) type Outcome = Result<u32, Ruled<No>>;
pub(crate) type Asking = LocalBoxFuture<'static, Outcome>;
pub(crate) type Probe = Box<dyn FnMut(Charge) -> Asking>;
pub(crate) type Chain = ConcatAttempts<Defer<Charges<Triggers>, Probe>, Probe, Asking, Ruled<No>>;

pub(crate) fn address() -> Address {
    "prices/eur".parse().expect("an address")
}

pub(crate) fn carrier() -> Carrier {
    Carrier::new(address(), Budget::default())
}

pub(crate) fn within(budget: Budget) -> Carrier {
    Carrier::new(address(), budget)
}

pub(crate) fn by_owner(tag: &str) -> Rejection {
    Rejection::by_owner(Some(activation(tag)))
}

pub(crate) fn activation(tag: &str) -> Activation {
    tag.parse().expect("a tag")
}

pub(crate) fn draining(rejection: Rejection) -> Outcome {
    Err(Ruled::promise(No("draining"), rejection))
}

pub(crate) fn absent() -> Outcome {
    Err(Ruled::verdict(No("absent"), Kind::NotFound))
}

/// Keeps every ask open until it is told what to say.
#[derive(Clone, Default)]
pub(crate) struct Owner(Rc<RefCell<Vec<Ask>>>);

struct Ask {
    charge: Charge,
    reply: Option<oneshot::Sender<Outcome>>,
}

impl Owner {
    /// The attempt that asks this owner.
    pub(crate) fn ask(&self, charge: Charge) -> Asking {
        let (reply, answer) = oneshot::channel();
        self.0.borrow_mut().push(Ask { charge, reply: Some(reply) });
        async { answer.await.expect("the owner answers") }.boxed_local()
    }

    pub(crate) fn asks(&self) -> usize {
        self.0.borrow().len()
    }

    /// What each ask was charged: its count, 0 where it was uncharged.
    pub(crate) fn counts(&self) -> Vec<u32> {
        self.0.borrow().iter().map(|ask| ask.charge.count()).collect()
    }

    pub(crate) fn charge(&self, ask: usize) -> Charge {
        self.0.borrow()[ask].charge.clone()
    }

    /// How many asks are still waited for by anybody.
    pub(crate) fn outstanding(&self) -> usize {
        let waited = |ask: &&Ask| ask.reply.as_ref().is_some_and(|reply| !reply.is_canceled());
        self.0.borrow().iter().filter(waited).count()
    }

    /// Answers the newest ask.
    pub(crate) fn says(&self, outcome: Outcome) {
        let reply = self.0.borrow_mut().last_mut().and_then(|ask| ask.reply.take());
        reply.expect("asked, and not answered yet").send(outcome).expect("waited for");
    }
}

/// The newest chain of `carrier`, which asks `owner`.
pub(crate) fn chain(carrier: &Carrier, owner: &Owner) -> Pin<Box<Chain>> {
    let owner = owner.clone();
    probing(carrier, move |charge| owner.ask(charge))
}

/// As [`chain`], whose attempts say when their ask goes out.
pub(crate) fn saying(carrier: &Carrier, owner: &Owner) -> Pin<Box<Chain>> {
    let (owner, handle) = (owner.clone(), carrier.clone());
    probing(carrier, move |charge| {
        handle.asking();
        owner.ask(charge)
    })
}

pub(crate) fn probing(
    carrier: &Carrier,
    probe: impl FnMut(Charge) -> Asking + 'static,
) -> Pin<Box<Chain>> {
    let probe: Probe = Box::new(probe);
    Box::pin(carrier.triggers().charge(carrier).defer(probe).concat_attempts(carrier))
}

/// Polls a stream once, for the task of `waker`.
pub(crate) fn poll_next<St: Stream + ?Sized>(
    stream: &mut Pin<Box<St>>,
    waker: &Waker,
) -> Poll<Option<St::Item>> {
    stream.as_mut().poll_next(&mut Context::from_waker(waker))
}

/// Polls a stream once, for nobody.
pub(crate) fn look<St: Stream + ?Sized>(stream: &mut Pin<Box<St>>) -> Poll<Option<St::Item>> {
    poll_next(stream, Waker::noop())
}

/// The answer that a chain has at hand.
pub(crate) fn answer(chain: &mut Pin<Box<Chain>>) -> u32 {
    match look(chain) {
        Poll::Ready(Some(Ok(answer))) => answer,
        other => panic!("expected an answer, not {other:?}"),
    }
}

/// The error that a chain ends with now.
pub(crate) fn error(chain: &mut Pin<Box<Chain>>) -> RideError<Ruled<No>> {
    match look(chain) {
        Poll::Ready(Some(Err(error))) => error,
        other => panic!("expected an error, not {other:?}"),
    }
}
