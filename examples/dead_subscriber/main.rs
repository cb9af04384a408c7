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

pub(crate) mod args;
pub(crate) mod ear;
pub(crate) mod report;
pub(crate) mod storm;

use std::{error::Error, ffi::OsString, process::ExitCode};

use args::Size;
use ear::Ear;
use report::{Figures, Table, is_well};
use storm::{Release, Storm};

fn main() -> ExitCode {
    ExitCode::from(command(std::env::args_os().skip(1), &mut |line| println!("{line}")))
}

/// Does what the arguments say, and returns what to exit with.
pub(crate) fn command(
    args: impl IntoIterator<Item = OsString>,
    tell: &mut dyn FnMut(String),
) -> u8 {
    let is_well = match Size::from_args(args) {
        Ok(size) => run(size, tell),
        Err(error) => Err(error.into()),
    };
    match is_well {
        Ok(is_well) => u8::from(!is_well),
        Err(error) => {
            eprintln!("{error}\nusage: dead_subscriber [--clients N] [--minutes N] [--updates N]");
            2
        }
    }
}

/// Has both storms, and tells them line by line, the figures last; returns whether all is well.
fn run(size: Size, tell: &mut dyn FnMut(String)) -> Result<bool, Box<dyn Error>> {
    let (without, with) = (weather(size, Release::Unknown)?, weather(size, Release::Known)?);

    Table { without: &without, with: &with }.to_string().lines().for_each(|it| tell(it.into()));
    tell(String::new());
    let clients = size.clients;
    tell(format!(
        "{clients} clients vanished; the most that one of them was refused: {} pushes, and with the rule {}",
        without.dearest, with.dearest,
    ));
    for (storm, release) in [(&without, "unknown"), (&with, "known")] {
        let Storm { rolls, refused_in_roll, live, behind, .. } = storm;
        tell(format!(
            "release {release}: {rolls} rolls, {refused_in_roll} pushes refused meanwhile; of those \
             who rolled {live} are live on the latest value, {behind} are not",
        ));
    }
    tell(serde_json::to_string(&Figures::of(&without, &with))?);
    Ok(is_well(&without, &with, clients))
}

/// Has one storm, and listens to it.
fn weather(size: Size, release: Release) -> Result<Storm, Box<dyn Error>> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
    let ear = Ear::default();
    tracing::subscriber::with_default(ear.clone(), || {
        runtime.block_on(storm::storm(size, release, &ear))
    })
}
