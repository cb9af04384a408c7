//! What comes of a mesh, its readers and its writers after a thousand faults at random? All of it.
//!
//! Owners and hosts are killed, recycled, stopped and drained, routes refuse or point at corpses, frames,
//! goodbyes and announcements are lost; many at a time, some for longer than any budget. Then all is
//! released, and everything must be as if nothing had been: each reader live on the latest value, one
//! registration each, nothing left over when all is dropped. Time is virtual.
//!
//! ```sh
//! cargo run --release --example chaos -- --hosts 3 --addresses 8 --readers 40 --seed 0..10 --faults 1000
//! ```
//!
//! The last line is JSON. A seed that fails prints itself and what was done, and does the same again with
//! `--seed N`; with fewer `--faults` it does the first ones of them.
//!
//! | counted | what |
//! |---|---|
//! | `lost` | readers not on the latest value, or without a registration; writes acknowledged and gone |
//! | `doubled` | registrations beyond one a reader; writes applied twice |
//! | `stuck` | readers, writers and owners that got nowhere within the time that the rules give |
//! | `leaked` | tasks left when all is dropped, and bytes when it is done a second time |

mod args;
mod fault;
mod outcome;
mod probe;
mod reader;
mod run;
mod writer;

use std::process::ExitCode;

use args::{Args, Size};
use outcome::Counts;

const USAGE: &str =
    "usage: chaos [--hosts N] [--addresses N] [--readers N] [--seed N | --seed A..B] [--faults N]";

fn main() -> ExitCode {
    let args = match Args::parse(std::env::args_os().skip(1)) {
        Ok(args) => args,
        Err(error) => {
            eprintln!("{error}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let mut sums = Counts::default();
    // What is made once in a process is not left over from a run.
    run::run(Size { faults: args.size.faults.min(100), ..args.size }, args.seeds.start);
    for seed in args.seeds {
        let counts = run::measured(args.size, seed);
        sums.add(counts);
        if !counts.is_clean() {
            println!("seed {seed} failed:\n{}", run::run(args.size, seed));
        }
    }
    println!("{}", serde_json::to_string(&sums).expect("numbers"));
    if sums.is_clean() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
