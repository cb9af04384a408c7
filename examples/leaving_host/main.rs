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

pub(crate) mod args;
pub(crate) mod reader;
pub(crate) mod report;
pub(crate) mod roll;

use std::{error::Error, ffi::OsString, process::ExitCode};

use args::Size;
use report::{Figures, Table};

fn main() -> ExitCode {
    ExitCode::from(command(std::env::args_os().skip(1), &mut |line| println!("{line}")))
}

/// Does what the arguments say, and returns what to exit with.
pub(crate) fn command(
    args: impl IntoIterator<Item = OsString>,
    tell: &mut dyn FnMut(String),
) -> u8 {
    let figures = match Size::from_args(args) {
        Ok(size) => run(size, tell),
        Err(error) => Err(error.into()),
    };
    match figures {
        Ok(figures) => u8::from(!figures.is_well()),
        Err(error) => {
            eprintln!("{error}\nusage: leaving_host [--hosts N] [--addresses N] [--readers N]");
            2
        }
    }
}

/// Rolls a cluster of that size, and tells it line by line, the figures last.
fn run(size: Size, tell: &mut dyn FnMut(String)) -> Result<Figures, Box<dyn Error>> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
    let places = runtime.block_on(roll::roll(size, tell))?;

    let figures = Figures::of(&places);
    let refused: u64 = places.iter().map(|place| place.refused_writes).sum();
    let written: u64 = places.iter().map(|place| place.latest - 1).sum();
    tell(String::new());
    Table::of(&places).to_string().lines().for_each(|line| tell(line.into()));
    tell(String::new());
    tell(format!(
        "asks per reader {:.2}; {written} writes, refused and sent again {refused}",
        figures.asks as f64 / figures.readers as f64,
    ));
    tell(serde_json::to_string(&figures)?);
    Ok(figures)
}
