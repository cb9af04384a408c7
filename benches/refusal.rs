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

/// What is run, what one time cost in the first edition, and the most instructions that it may cost.
type Step = (&'static str, f64, f64, fn(u64));

/// What happens to each refusal.
const STEPS: [Step; 8] = [
    ("an owner's text, to its promise", 7054.0, 500.0, |times| {
        let (asked, text) = (address(), closing().refuse(Seam::Door, "SubscribeRequest").message);
        let refusal = Refusal::from_text(text);
        repeat(times, || black_box(&refusal).classify(&asked));
    }),
    ("the same, copied out of a slice before", 7232.0, 700.0, |times| {
        let (asked, text) = (address(), closing().refuse(Seam::Door, "SubscribeRequest").message);
        repeat(times, || Refusal::from_text(black_box(text.as_str())).classify(&asked));
    }),
    ("the same, relayed by a host", 7059.0, 850.0, |times| {
        let text = closing().refuse(Seam::Door, "SubscribeRequest").message;
        let text = format!("Delivery to 'prices/eur' failed: {text}");
        another_text(times, &text);
    }),
    ("the text `connection refused`", 3341.0, 60.0, |times| {
        another_text(times, "connection refused")
    }),
    ("a longer text of another's", 7131.0, 150.0, |times| {
        another_text(
            times,
            "error trying to connect: tcp connect error: Connection refused (os error 111)",
        );
    }),
    ("a repeated rejection, charged", 821.0, 170.0, |times| {
        let budget = Budget::default().re_asks(u32::MAX);
        let mut ledger = Ledger::new(StreamId::mint(), address(), budget);
        let rejection = Rejection::by_owner(Some(Activation::mint()));
        repeat(times, || ledger.charge(black_box(&rejection).clone()));
    }),
    ("a refusal minted", 11066.0, 900.0, |times| {
        let closing = closing();
        repeat(times, || black_box(&closing).refuse(Seam::Door, "SubscribeRequest"));
    }),
    ("an activation minted", 913.0, 150.0, |times| repeat(times, Activation::mint)),
];

const FEW: u64 = 100;
const MANY: u64 = 10_100;

/// How the texts open, and what they repeat: each is one that a careless parser would read at a
/// quadratic cost. The owner's path is `x`, or where `X` stands for it a longest one. Then what a byte
/// cost in the first edition, over all readings and the minting, and what it may cost.
type Text = (&'static str, &'static str, &'static str, f64, f64);

const TEXTS: [Text; 19] = [
    ("openings", "", "Hub ", 274.6, 11.0),
    ("openings of the owner's", "", "Hub X", 70.2, 6.0),
    ("owners with a host", "", "Hub x~", 151.8, 11.0),
    ("banners", "", "Hub y is shutting down", 163.0, 20.0),
    ("banners cut off", "", "Hub X is shutting dow", 69.7, 6.0),
    ("ends", "", " is shutting down", 131.0, 10.0),
    ("markers", "", "activation #", 119.4, 12.0),
    ("digits", "activation #", "A", 101.7, 4.0),
    ("hosts", "", "Host is shutting down, cannot route to ", 132.1, 12.0),
    ("hosts, to the owner's child", "", "Host is shutting down, cannot route to X/", 72.5, 6.5),
    ("marks", "Host is shutting down, cannot route to X", ".", 231.9, 8.0),
    ("promises", "", "he address may reactivate (recycle / restart)", 84.9, 4.0),
    (
        "tails cut off",
        "",
        "; the address may reactivate (recycle / restart). Rejecting now",
        87.9,
        6.5,
    ),
    ("control characters", "", "\u{0}", 223.0, 6.5),
    ("the same, of two bytes", "", "\u{85}", 130.7, 50.0),
    ("first letters", "", "H", 38.2, 7.0),
    ("the owner's openings", "", "Hub x", 258.2, 11.0),
    ("host marks", "", "~", 38.2, 4.0),
    ("letters of two bytes", "", "é", 37.5, 4.0),
];

/// The same for one reading alone, the first one that a rider does: in the first edition by the dearest
/// of the texts.
const READ_BEFORE: f64 = 39.5;
const A_BYTE_READ: f64 = 0.8;

const SHORT: u64 = 50_000;
const LONG: u64 = 200_000;

fn main() -> ExitCode {
    let mut args = env::args().skip(1);
    if let (Some("--count"), Some(name), Some(size)) =
        (args.next().as_deref(), args.next(), args.next().and_then(|it| it.parse().ok()))
    {
        count(&name, size);
        return ExitCode::SUCCESS;
    }
    let Some(above) = reports() else {
        eprintln!("valgrind is needed to count instructions, and did not run");
        return ExitCode::FAILURE;
    };
    if above > 0 {
        eprintln!("what is marked costs more than it may");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Prints all figures, and returns how many are above their bound. `None` where nothing can be counted.
fn reports() -> Option<usize> {
    let mut above = 0;
    let mut report = |name: &str, cost: f64, before: f64, most: f64| {
        let mark = if cost > most { "  <- above" } else { "" };
        println!("{name:<40} {cost:>10.2} {most:>10} {before:>10}{mark}");
        above += usize::from(cost > most);
    };
    println!("{:<40} {:>10} {:>10} {:>10}", "instructions", "now", "at most", "before");
    for (name, before, most, _) in STEPS {
        report(name, difference(name, FEW, MANY)?, before, most);
    }
    println!("a byte of hostile text, to read whether the owner spoke:");
    for (name, ..) in TEXTS {
        let made = difference(&format!("made: {name}"), SHORT, LONG)?;
        let read = difference(&format!("read: {name}"), SHORT, LONG)?;
        report(name, read - made, READ_BEFORE, A_BYTE_READ);
    }
    println!("the same, in all its readings and its minting:");
    for (name, _, _, before, most) in TEXTS {
        let made = difference(&format!("made: {name}"), SHORT, LONG)?;
        let all = difference(&format!("all: {name}"), SHORT, LONG)?;
        report(name, all - made, before, most);
    }
    Some(above)
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
    if let Some((_, opening, part, ..)) = TEXTS.into_iter().find(|(it, ..)| *it == text) {
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
