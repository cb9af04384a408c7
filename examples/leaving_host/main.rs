//! A rolling restart under live readers: each host in turn is told to stop, hands off what it has, and
//! comes back, while the values are written.
//!
//! ```sh
//! cargo run --example leaving_host -- --hosts 3 --addresses 200 --readers 1000
//! ```
//!
//! It runs on the embedded mesh, in virtual time. At first the addresses are spread over the hosts; what
//! is handed off goes to the first host that serves. With one host there is nobody to hand off to, and
//! what it has waits until it is back.
//!
//! The last line is one of JSON: how many readers end live on the latest value, how many registrations
//! at the owners are one too many, how many readers have none or an older value, how many gave up, and
//! how often all of them asked. It exits with 1 where a reader is not as it should be, and with 2 where
//! it cannot run, as with arguments that it does not know.

mod args;
mod command;
#[path = "../counts/mod.rs"]
mod counts;
mod reader;
mod report;
mod roll;

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(command::command(std::env::args_os().skip(1), &mut |line| println!("{line}")))
}
