//! What does an item cost on its way through a live `RideOut`, in instructions?
//!
//! Counted by callgrind, not timed: the same binary gives the same figure on a busy machine. The bench
//! runs itself under `valgrind` twice for each stream, with few items and with many; the difference,
//! divided by the items, is one item's way, the loop that drains the stream included.
//!
//! ```sh
//! cargo bench --bench item
//! ```
//!
//! It fails where an item through `RideOut` costs more than `MOST`.

mod callgrind;

use std::{
    env,
    future::{Pending, pending},
    hint::black_box,
    pin::{Pin, pin},
    process::ExitCode,
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

use futures::{Stream, StreamExt, stream};
use rideout::{Refusal, RideOut, time::Timer};

/// The most instructions an item may cost, the bare stream and the drain loop included.
const MOST: f64 = 30.0;
const FEW: u64 = 1_000;
const MANY: u64 = 101_000;

type Run = fn(u64);

const STREAMS: [(&str, Run); 8] = [
    ("bare stream::iter", |items| drain(source(items))),
    ("boxed, dyn", |items| drain(source(items).boxed())),
    ("futures flat_map", |items| drain(stream::iter([items]).flat_map(source))),
    ("RideOut", |items| drain(RideOut::new(address(), move |_| async move { Ok(source(items)) }))),
    ("RideOut, with news", |items| {
        let rider = RideOut::builder(address(), move |_| async move { Ok(source(items)) });
        drain(rider.news(stream::pending()).build());
    }),
    ("RideOut, resuming", |items| {
        let ask = move |_| async move { Ok::<_, Refusal>(source(items)) };
        drain(RideOut::resuming(address(), |item: &u64| *item, ask));
    }),
    ("RideOut, kept alive", |items| {
        let rider = RideOut::builder(address(), move |_| async move { Ok(source(items)) });
        drain(rider.keep_alive(|_| {}).timer(Still(Instant::now())).build());
    }),
    ("RideOut, numbered", |items| {
        let rider = RideOut::builder(address(), move |_| async move { Ok(source(items)) });
        drain(rider.frame_number(|item| *item).build());
    }),
];

fn main() -> ExitCode {
    let mut args = env::args().skip(1);
    if let (Some("--count"), Some(name), Some(items)) =
        (args.next().as_deref(), args.next(), args.next().and_then(|it| it.parse().ok()))
    {
        if let Some((_, run)) = STREAMS.into_iter().find(|(it, _)| *it == name) {
            run(black_box(items));
        }
        return ExitCode::SUCCESS;
    }
    println!("{:<20} {:>22}", "stream", "instructions an item");
    let mut within = true;
    for (name, _) in STREAMS {
        let Some((few, many)) =
            callgrind::instructions(name, FEW).zip(callgrind::instructions(name, MANY))
        else {
            eprintln!("valgrind is needed to count instructions, and did not run");
            return ExitCode::FAILURE;
        };
        let an_item = (many - few) as f64 / (MANY - FEW) as f64;
        println!("{name:<20} {an_item:>22.1}");
        let bounded = matches!(name, "RideOut" | "RideOut, with news" | "RideOut, kept alive");
        within &= !bounded || an_item <= MOST;
    }
    if !within {
        eprintln!("an item through RideOut may cost {MOST} instructions at most");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn address() -> rideout::Address {
    "prices/eur".parse().expect("a valid address")
}

fn source(items: u64) -> impl Stream<Item = Result<u64, Refusal>> + Send {
    stream::iter((0..items).map(Ok))
}

/// A clock that stands still.
struct Still(Instant);

impl Timer for Still {
    type Sleep = Pending<()>;

    fn sleep(&self, _: Duration) -> Pending<()> {
        pending()
    }

    fn now(&self) -> Instant {
        self.0
    }
}

#[inline(never)]
fn drain<T, E>(stream: impl Stream<Item = Result<T, E>>) {
    let mut stream = pin!(stream);
    let mut cx = Context::from_waker(Waker::noop());
    loop {
        match Pin::as_mut(&mut stream).poll_next(&mut cx) {
            Poll::Ready(Some(Ok(item))) => {
                black_box(item);
            }
            Poll::Ready(Some(Err(_)) | None) => return,
            // A stream that takes a rest goes on when it is polled again.
            Poll::Pending => {}
        }
    }
}
