//! What do dead subscribers cost an owner that pushes? Clients vanish without a goodbye, and the owner
//! goes on pushing to them: without the rule, and with it.
//!
//! ```sh
//! cargo run --release --example dead_subscriber -- --clients 200 --minutes 60 --updates 10
//! ```
//!
//! It runs on the embedded mesh, in virtual time, twice. The owner hears no goodbye in either run, and
//! releases nobody as idle. Where the *release* is unknown, a push to a client that vanished is refused
//! by a promise, for it may come back; so it is pushed to until the end. Where it is known, the first such
//! push is refused for good, and the owner evicts the client (`R49`, `R50`). A tenth as many clients more
//! are merely rolled: they vanish too, and come back half a minute later, in both runs. None of them may
//! be evicted.
//!
//! The table has, for each minute, the refusals and the lines at `WARN` that are about the clients that
//! vanished, as a subscriber of the example's own counts them, and the evictions. The lines are those of
//! the log that sums up (`R51`), and what else is told of the storm; a log that does not would have one
//! for each refusal. It knows 512 addresses: where more are refused by turns, most refusals are lines again,
//! and the rule alone helps. What clients in a roll were refused is told below it.
//!
//! The last line is one of JSON: the sums. It exits with 1 where somebody was evicted wrongly or lost its
//! stream by a roll, or where the rule left more than one refused push for a client that vanished, or did
//! not evict it; and with 2 where it cannot run, as with arguments that it does not know.

mod args;
mod command;
#[path = "../counts/mod.rs"]
mod counts;
mod ear;
mod report;
mod storm;

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(command::command(std::env::args_os().skip(1), &mut |line| println!("{line}")))
}
