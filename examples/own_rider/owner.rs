//! The owner that is asked, and what can be seen of its teardowns: a script.

use std::{cell::RefCell, fmt, future::ready};

use futures::{Stream, StreamExt, stream, stream::BoxStream};
use rideout::{
    Activation, Address, Kind, Refusal,
    activation::InvalidActivation,
    refusal::{Closing, Seam},
    teardown::{Completed, Teardown},
};
use tokio::time::Instant;

/// A subscription.
pub(crate) type Items = BoxStream<'static, Result<u32, Refusal>>;

/// An owner that goes through four activations, A to D.
pub(crate) struct Owner {
    began: Instant,
    activations: [Activation; 4],
    closing: [Closing; 4],
    // Those of A and D. B and C were on other hosts, and are not observed from here.
    teardowns: [Teardown; 2],
    told: RefCell<Vec<String>>,
}

impl Owner {
    pub(crate) fn new(address: &Address) -> Result<Self, InvalidActivation> {
        let activations = ["0A".parse()?, "0B".parse()?, "0C".parse()?, "0D".parse()?];
        Ok(Owner {
            began: Instant::now(),
            closing: activations.clone().map(|it| Closing::new(address.clone()).activation(it)),
            activations,
            teardowns: [Teardown::new(), Teardown::new()],
            told: RefCell::default(),
        })
    }

    /// Answers an ask.
    pub(crate) async fn answer(&self, ask: u32) -> Result<Items, Refusal> {
        self.tell(format_args!("ask {ask}"));
        let [a, b, c, d] = &self.closing;
        match ask {
            // It goes away in the middle of its subscription.
            1 => Ok(items([1, 2]).chain(ends(a.refuse(Seam::Mailbox, "Subscribe"))).boxed()),
            // Its teardown is over, and the route still points at it.
            2 => Err(a.refuse(Seam::Door, "Subscribe")),
            3 => Err(b.refuse(Seam::Door, "Subscribe")),
            4 => Err(c.refuse(Seam::Door, "Subscribe")),
            // It lives, and says no more.
            5 => Ok(items([3, 4]).chain(stream::pending()).boxed()),
            // It goes away, and is killed before its teardown is over.
            6 => Ok(items([5]).chain(ends(d.refuse(Seam::Mailbox, "Subscribe"))).boxed()),
            // A new ride-out, and again there is nothing to join.
            7 => Ok(items([6]).chain(ends(b.refuse(Seam::Mailbox, "Subscribe"))).boxed()),
            _ => Ok(items([7]).chain(ends(Refusal::new(Kind::NotFound, "deleted"))).boxed()),
        }
    }

    /// The teardown of A is over.
    pub(crate) fn tear_down(&self) {
        self.tell("the teardown of 0A is over");
        self.teardowns[0].complete();
    }

    /// When the teardown of an activation is over, where that is observed.
    pub(crate) fn teardown_of(&self, activation: &Activation) -> Option<Completed> {
        let [a, _, _, d] = &self.activations;
        let observed = [a, d].into_iter().zip(&self.teardowns);
        observed.into_iter().find(|(it, _)| *it == activation).map(|(_, it)| it.completed())
    }

    pub(crate) fn tell(&self, what: impl fmt::Display) {
        let line = format!("{:>5} ms  {what}", self.began.elapsed().as_millis());
        self.told.borrow_mut().push(line);
    }

    /// Everything that was told.
    pub(crate) fn told(&self) -> Vec<String> {
        self.told.take()
    }
}

fn items<const N: usize>(items: [u32; N]) -> impl Stream<Item = Result<u32, Refusal>> {
    stream::iter(items.map(Ok))
}

fn ends(refusal: Refusal) -> impl Stream<Item = Result<u32, Refusal>> {
    stream::once(ready(Err(refusal)))
}
