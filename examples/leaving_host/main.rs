//! A rolling restart under live readers: each host in turn is told to stop, hands off what it has, and
//! comes back, while the values are written.
//!
//! ```sh
//! cargo run --example leaving_host -- --hosts 3 --addresses 200 --readers 1000
//! ```
//!
//! It runs on the embedded mesh in virtual time. The last line is one of JSON: how many readers end live
//! on the latest value, how many registrations are doubled or lost, how many readers gave up, and how
//! often all of them asked. It exits with 1 where a reader is not as it should be, and with 2 where its
//! arguments are none.

mod args;
mod reader;
mod report;
mod roll;

use std::{error::Error, process::ExitCode};

use args::Size;
use report::{Figures, Table};

fn main() -> ExitCode {
    let size = match Size::from_args(std::env::args_os().skip(1)) {
        Ok(size) => size,
        Err(error) => {
            eprintln!("{error}");
            eprintln!("usage: leaving_host [--hosts N] [--addresses N] [--readers N]");
            return ExitCode::from(2);
        }
    };
    let told = run(size, &mut |line| println!("{line}"));
    match told {
        Ok(figures) if figures.is_well() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Rolls a cluster of that size, and tells it line by line, the figures last.
pub(crate) fn run(size: Size, tell: &mut dyn FnMut(String)) -> Result<Figures, Box<dyn Error>> {
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
