//! However much is at hand, a poll takes so many turns (C36).

use super::*;
use crate::contracts::harness::{Turns, is_bounded, is_bounded_as_a_future};

type Babble = LocalBoxStream<'static, News>;
type Never = fn(Activation) -> Option<Pending<()>>;
type Endless = RideOut<Asks, Never, Babble, (), Hasty>;

/// Riders that never rest: refused at once for ever, told for ever what does not matter, or given for
/// ever what they have had. The turns are those of what never ends.
fn endless(turns: &Turns) -> [Endless; 3] {
    let silent = || -> Babble { stream::pending().boxed_local() };
    let babble = turns.of(stream::repeat(News::Ended(Some(tag("E1"))))).boxed_local();
    let rider = |answer: Box<dyn Fn() -> Result<Items, Refusal>>, news| {
        let ask: Asks = Box::new(move |_| {
            let answer = answer().map(|items| Answer::new(items).served_by(tag("F0")));
            Box::pin(ready(answer))
        });
        RideOut::builder(address(), ask)
            .join((|_| None) as Never)
            .news(news)
            .timer(Hasty::new())
            .budget(Budget::default().re_asks(u32::MAX))
            .version(|item| *item)
            .build()
    };
    let (asks, items) = (turns.clone(), turns.clone());
    let refuse = move || {
        asks.take();
        Err(by_route())
    };
    let serve = move || Ok(Items::new(items.of(stream::repeat(1).map(Ok))));
    [
        rider(Box::new(refuse), silent()),
        rider(Box::new(|| Ok(Items::open([]))), babble),
        rider(Box::new(serve), silent()),
    ]
}

fn rides_are_bounded<S: Stream + 'static>(most: u32, of: impl Fn(Endless) -> S) {
    for which in 0..3 {
        is_bounded(most, |turns| of(endless(turns).into_iter().nth(which).expect("one of three")));
    }
}

#[test]
fn a_rider_takes_so_many_turns_in_a_poll() {
    // The items that may pass, and then as many turns.
    rides_are_bounded(32 + 32, |rider| rider);
}

#[test]
fn phases_take_so_many_turns_in_a_poll() {
    rides_are_bounded(32, Endless::phases);
}

#[test]
fn a_read_takes_so_many_turns_in_a_poll() {
    is_bounded_as_a_future(32, |turns| {
        let turns = turns.clone();
        let refuse = move |_| {
            turns.take();
            ready(Err::<(), _>(by_route()))
        };
        PointRead::builder(address(), refuse).timer(Hasty::new()).build()
    });
    is_bounded_as_a_future(32, |turns| {
        let babble = turns.of(stream::repeat(News::Ended(None)));
        PointRead::builder(address(), |_| pending::<Result<(), Refusal>>())
            .news(babble)
            .timer(Hasty::new())
            .build()
    });
}
