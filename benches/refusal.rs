//! What does the refusal's way cost, from an owner's words to a charge, in instructions?
//!
//! Counted by callgrind, not timed. The bench runs itself under `valgrind` twice for each figure: for a
//! step with few times and with many, for a hostile text with a short one and with a long one. The
//! difference, divided, is one time or one byte more: a byte costs what it costs however many stand
//! before it (`R6`).
//!
//! ```sh
//! cargo bench --bench refusal
//! ```
//!
//! It prints each figure beside its bound, and fails where one is above it.

mod callgrind;

use std::{env, hint::black_box, process::ExitCode};

use rideout::{
    Activation, Address, Budget, Classify, Kind, Refusal, Rejection,
    activation::StreamId,
    ledger::Ledger,
    refusal::{Closing, Seam, answered_by},
};

/// A figure: what is run, and the most instructions that one time may cost.
type Step = (&'static str, f64, fn(u64));

/// What happens to each refusal.
const STEPS: [Step; 8] = [
    ("an owner's text, to its promise", 500.0, |times| {
        let (asked, text) = (address(), closing().refuse(Seam::Door, "SubscribeRequest").message);
        let refusal = Refusal::from_text(text);
        repeat(times, || black_box(&refusal).classify(&asked));
    }),
    ("the same, copied out of a slice before", 700.0, |times| {
        let (asked, text) = (address(), closing().refuse(Seam::Door, "SubscribeRequest").message);
        repeat(times, || Refusal::from_text(black_box(text.as_str())).classify(&asked));
    }),
    ("the same, relayed by a host", 700.0, |times| {
        let text = closing().refuse(Seam::Door, "SubscribeRequest").message;
        let text = format!("Delivery to 'prices/eur' failed: {text}");
        another_text(times, &text);
    }),
    ("the text `connection refused`", 60.0, |times| another_text(times, "connection refused")),
    ("a longer text of another's", 150.0, |times| {
        another_text(
            times,
            "error trying to connect: tcp connect error: Connection refused (os error 111)",
        );
    }),
    ("a repeated rejection, charged", 100.0, |times| {
        let budget = Budget::default().re_asks(u32::MAX);
        let mut ledger = Ledger::new(StreamId::mint(), address(), budget);
        let rejection = Rejection::by_owner(Some(Activation::mint()));
        repeat(times, || ledger.charge(black_box(&rejection).clone()));
    }),
    ("a refusal minted", 900.0, |times| {
        let closing = closing();
        repeat(times, || black_box(&closing).refuse(Seam::Door, "SubscribeRequest"));
    }),
    ("an activation minted", 400.0, |times| repeat(times, Activation::mint)),
];

const FEW: u64 = 100;
const MANY: u64 = 10_100;

/// The most instructions that a byte of hostile text may cost one who reads it.
const A_BYTE_READ: f64 = 0.8;
/// The same for all its readings, and for its minting.
const A_BYTE_IN_ALL: f64 = 4.0;

const SHORT: u64 = 50_000;
const LONG: u64 = 200_000;

/// How the texts open, and what they repeat: each is one that a careless parser would read at a
/// quadratic cost. The owner's path is `x`, or where `X` stands for it a longest one.
const TEXTS: [(&str, &str, &str); 14] = [
    ("openings", "", "Hub "),
    ("openings of the owner's", "", "Hub X"),
    ("owners with a host", "", "Hub x~"),
    ("banners", "", "Hub y is shutting down"),
    ("banners cut off", "", "Hub X is shutting dow"),
    ("ends", "", " is shutting down"),
    ("markers", "", "activation #"),
    ("digits", "activation #", "A"),
    ("hosts", "", "Host is shutting down, cannot route to "),
    ("hosts, to the owner's child", "", "Host is shutting down, cannot route to X/"),
    ("marks", "Host is shutting down, cannot route to X", "."),
    ("promises", "", "he address may reactivate (recycle / restart)"),
    ("tails cut off", "", "; the address may reactivate (recycle / restart). Rejecting now"),
    ("control characters", "", "\u{0}"),
];

fn main() -> ExitCode {
    let mut args = env::args().skip(1);
    if let (Some("--count"), Some(name), Some(size)) =
        (args.next().as_deref(), args.next(), args.next().and_then(|it| it.parse().ok()))
    {
        count(&name, size);
        return ExitCode::SUCCESS;
    }
    let mut within = Some(true);
    println!("{:<48} {:>12} {:>8}", "instructions", "", "at most");
    for (name, most, _) in STEPS {
        let cost = difference(name, FEW, MANY);
        within = within.zip(cost).map(|(within, cost)| within & reports(name, cost, most));
    }
    for (name, ..) in TEXTS {
        let made = difference(&format!("made: {name}"), SHORT, LONG);
        for (how, most) in [("read", A_BYTE_READ), ("all", A_BYTE_IN_ALL)] {
            let name = format!("{how}: {name}");
            let cost = difference(&name, SHORT, LONG).zip(made).map(|(cost, made)| cost - made);
            within = within.zip(cost).map(|(within, cost)| within & reports(&name, cost, most));
        }
    }
    match within {
        Some(true) => return ExitCode::SUCCESS,
        Some(false) => eprintln!("what is marked costs more than it may"),
        None => eprintln!("valgrind is needed to count instructions, and did not run"),
    }
    ExitCode::FAILURE
}

/// Prints a figure, and returns whether it is within its bound.
fn reports(name: &str, cost: f64, most: f64) -> bool {
    let within = cost <= most;
    println!("{name:<48} {cost:>12.2} {most:>8}{}", if within { "" } else { "  <-- above" });
    within
}

fn difference(name: &str, less: u64, more: u64) -> Option<f64> {
    let (few, many) =
        callgrind::instructions(name, less).zip(callgrind::instructions(name, more))?;
    Some(many.saturating_sub(few) as f64 / (more - less) as f64)
}

fn count(name: &str, size: u64) {
    if let Some((.., run)) = STEPS.into_iter().find(|(it, ..)| *it == name) {
        return run(black_box(size));
    }
    let Some((how, text)) = name.split_once(": ") else { return };
    if let Some((_, opening, part)) = TEXTS.into_iter().find(|(it, ..)| *it == text) {
        hostile(how, opening, part, size as usize);
    }
}

fn address() -> Address {
    "prices/eur".parse().expect("a valid address")
}

fn closing() -> Closing {
    Closing::new(address()).activation(Activation::mint()).detail("RunLevel=Dead")
}

fn another_text(times: u64, text: &str) {
    let (asked, refusal) = (address(), Refusal::from_text(text));
    repeat(times, || black_box(&refusal).classify(&asked));
}

#[inline(never)]
fn repeat<T>(times: u64, mut step: impl FnMut() -> T) {
    for _ in 0..times {
        black_box(step());
    }
}

/// Reads a hostile text once, or in every way there is and has an owner say it.
fn hostile(how: &str, opening: &str, part: &str, length: usize) {
    let longest = [opening, part].iter().any(|it| it.contains('X'));
    let path = "x".repeat(if longest { rideout::address::MAX_LENGTH } else { 1 });
    let asked: Address = path.parse().expect("an address");
    let [opening, part] = [opening, part].map(|it| it.replace('X', &path));
    let text = opening + &part.repeat(length / part.len());

    // What is read and said is made beforehand: the owner's words twice, as its detail and as the request.
    let (promise, worded) = (Refusal::new(Kind::ShuttingDown, &*text), Refusal::from_text(&*text));
    let detail = text.clone();
    match how {
        "made" => {}
        "read" => {
            black_box(answered_by(&text, &asked));
        }
        _ => {
            black_box(answered_by(&text, &asked));
            black_box(promise.is_never_applied(&asked));
            black_box(worded.promise(&asked));
            black_box(Closing::new(asked).detail(detail).refuse(Seam::Door, &text));
        }
    }
}
