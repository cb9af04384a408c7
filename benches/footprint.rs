//! What does a rider hold and allocate, and what does one refusal cost?
//!
//! ```sh
//! cargo bench --bench footprint
//! ```
//!
//! Allocations and sizes are counted, and the bench fails where one is above its bound. The time a
//! refusal takes is printed beside its own bound and fails nothing: it is the machine's as well.

use std::{
    collections::VecDeque,
    hint::black_box,
    pin::Pin,
    process::ExitCode,
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

use futures::{Stream, StreamExt, stream};
use rideout::{
    Activation, Address, Budget, Classify, Refusal, Rejection, RideOut, Ruling,
    activation::StreamId,
    ledger::Ledger,
    refusal::{Closing, Seam},
};

const ITEMS: u64 = 1_000;
const RIDE_OUTS: u64 = 100;
const REFUSALS: u32 = 100_000;

fn main() -> ExitCode {
    let (an_item, a_ride_out) = allocations();
    let counted = [
        ("bytes of a RideOut, without its user's parts", size_of_a_rider(), 256),
        ("bytes of a ledger on which two were charged", bytes_of_a_ledger(), 410),
        ("allocations an item", an_item, 0),
        ("allocations a ride-out", a_ride_out, 4),
    ];
    for (what, figure, most) in counted {
        println!("{what:<48} {figure:>6} (at most {most})");
    }
    println!("{:<48} {:>6}", "bytes of a live rider on the heap", bytes_on_the_heap());
    let refusal = nanoseconds_a_refusal();
    println!("{:<48} {refusal:>6} (at most 300)", "ns a refusal is parsed, classified and charged");
    if counted.iter().any(|(_, figure, most)| figure > most) {
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn address() -> Address {
    "prices/eur".parse().expect("a valid address")
}

fn draining(activation: &Activation) -> Refusal {
    let owner = Closing::new(address()).activation(activation.clone()).detail("RunLevel=Dead");
    // As an owner in another process is heard that says all of it in its sentence.
    Refusal::from_text(owner.refuse(Seam::Door, "Subscribe").message)
}

/// The size of a rider whose closures hold nothing.
fn size_of_a_rider() -> u64 {
    let rider =
        RideOut::new(address(), |_| async { Ok::<_, Refusal>(stream::empty::<Result<(), _>>()) });
    size_of_val(&rider) as u64
}

/// What a live rider holds beside itself: its boxes, its carrier and its ledger, for a subscription and
/// closures that hold nothing.
fn bytes_on_the_heap() -> i64 {
    let mut kept = None;
    let held = allocation_counter::measure(|| {
        let mut rider =
            RideOut::new(address(), |_| async { Ok::<_, Refusal>(stream::repeat_with(|| Ok(()))) });
        next(&mut rider);
        kept = Some(rider);
    });
    held.bytes_current
}

/// What a ledger holds, in itself and on the heap, when one activation refused, was answered, and another
/// one refused twice.
fn bytes_of_a_ledger() -> u64 {
    let (address, mut kept) = (address(), None);
    let [first, second] = [(); 2].map(|()| Rejection::by_owner(Some(Activation::mint())));
    let held = allocation_counter::measure(|| {
        let mut ledger = Box::new(Ledger::new(StreamId::mint(), address, Budget::default()));
        let _ = ledger.charge(first.clone());
        ledger.answered();
        let _ = (ledger.charge(second.clone()), ledger.charge(second.clone()));
        kept = Some(ledger);
    });
    held.bytes_current as u64
}

/// Allocations by an item, and by a ride-out whose owner names its activation and is torn down.
fn allocations() -> (u64, u64) {
    // One subscription after the other, made beforehand: items, then the refusal that ends it.
    let mut script: VecDeque<_> = (0..=RIDE_OUTS)
        .map(|_| {
            let refusal = draining(&Activation::mint());
            let items = stream::iter((0..ITEMS).map(Ok::<_, Refusal>));
            Box::pin(items.chain(stream::iter([Err(refusal)])))
        })
        .collect();
    let mut rider = RideOut::builder(address(), move |_| {
        let next = script.pop_front();
        async move { next.ok_or_else(|| Refusal::new(rideout::Kind::Failed, "over")) }
    })
    .join(|_| Some(std::future::ready(())))
    .build();

    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.expect("a runtime");
    // The boxes and the queues of the first round stay.
    next(&mut rider);
    for _ in 1..ITEMS {
        next(&mut rider);
    }
    let (mut items, mut ride_outs) = (0, 0);
    for _ in 0..RIDE_OUTS {
        // A subscription that lived for a pace is not held back.
        runtime.block_on(tokio::time::advance(Duration::from_secs(1)));
        let _clock = runtime.enter();
        ride_outs += allocation_counter::measure(|| next(&mut rider)).count_total;
        items +=
            allocation_counter::measure(|| (1..ITEMS).for_each(|_| next(&mut rider))).count_total;
    }
    (items.div_ceil(RIDE_OUTS * (ITEMS - 1)), ride_outs.div_ceil(RIDE_OUTS))
}

fn next<T, E>(rider: &mut (impl Stream<Item = Result<T, E>> + Unpin)) {
    match Pin::new(rider).poll_next(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(Some(Ok(item))) => {
            black_box(item);
        }
        _ => panic!("the script has another item"),
    }
}

/// The median over several rounds.
fn nanoseconds_a_refusal() -> u64 {
    let (address, refusal) = (address(), draining(&Activation::mint()));
    let mut rounds: Vec<_> = (0..9)
        .map(|_| {
            let budget = Budget::default().re_asks(u32::MAX);
            let mut ledger = Ledger::new(StreamId::mint(), address.clone(), budget);
            let began = Instant::now();
            for _ in 0..REFUSALS {
                if let Ruling::Promise(rejection) = black_box(&refusal).classify(&address) {
                    let _ = black_box(ledger.charge(rejection));
                }
            }
            began.elapsed().as_nanos() as u64 / u64::from(REFUSALS)
        })
        .collect();
    rounds.sort_unstable();
    rounds[rounds.len() / 2]
}
