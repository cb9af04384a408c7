//! What does a byte of hostile text cost to read, in instructions?
//!
//! Each text is one that a careless parser would read at a quadratic cost. The bench runs itself under
//! `valgrind` twice for each, with a short one and with one of four times its length; a byte more costs
//! what it costs however many stand before it.
//!
//! ```sh
//! cargo bench --bench hostile_text
//! ```
//!
//! It fails where a byte costs more than `MOST`: at a quadratic cost it would cost thousands (`R6`).

mod callgrind;

use std::{env, hint::black_box, process::ExitCode};

use rideout::{
    Address, Kind, Refusal,
    refusal::{Closing, Seam, answered_by},
};

/// The most instructions a byte may cost, over every reading of the text and its minting.
const MOST: f64 = 400.0;
const SHORT: u64 = 50_000;
const LONG: u64 = 200_000;

/// How the texts open, and what they repeat. The owner's path is `x`, or where `X` stands for it a
/// longest one.
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
    if let (Some("--count"), Some(name), Some(length)) =
        (args.next().as_deref(), args.next(), args.next().and_then(|it| it.parse().ok()))
    {
        if let Some((_, opening, part)) = TEXTS.into_iter().find(|(it, ..)| *it == name) {
            read(opening, part, length);
        }
        return ExitCode::SUCCESS;
    }
    println!("{:<28} {:>20}", "text of", "instructions a byte");
    let mut within = true;
    for (name, ..) in TEXTS {
        let short = callgrind::instructions(name, SHORT);
        let Some((short, long)) = short.zip(callgrind::instructions(name, LONG)) else {
            eprintln!("valgrind is needed to count instructions, and did not run");
            return ExitCode::FAILURE;
        };
        let a_byte = (long - short) as f64 / (LONG - SHORT) as f64;
        println!("{name:<28} {a_byte:>20.1}");
        within &= a_byte <= MOST;
    }
    if !within {
        eprintln!("a byte of hostile text may cost {MOST} instructions at most");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Reads a text in every way there is, and has an owner say it.
fn read(opening: &str, part: &str, length: usize) {
    let longest = [opening, part].iter().any(|it| it.contains('X'));
    let path = "x".repeat(if longest { rideout::address::MAX_LENGTH } else { 1 });
    let asked: Address = path.parse().expect("an address");
    let [opening, part] = [opening, part].map(|it| it.replace('X', &path));
    let text = opening + &part.repeat(length / part.len());

    black_box(answered_by(&text, &asked));
    black_box(Refusal::new(Kind::ShuttingDown, &*text).is_never_applied(&asked));
    black_box(Refusal::from_text(&*text).promise(&asked));
    black_box(Closing::new(asked).detail(&*text).refuse(Seam::Door, &text));
}
