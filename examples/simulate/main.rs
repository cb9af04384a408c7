//! Runs a rider against worlds, and prints what happens to it: one JSON object a line.
//!
//! A world is a file that says what one address does over time; the rider is run against it in virtual
//! time, so an hour takes no longer than a second. The format is described in `tests/worlds/README.md`.
//!
//! ```sh
//! cargo run --features serde --example simulate -- tests/worlds/one-corpse-then-back.json
//! ```

mod run;
mod world;

use std::{
    error::Error,
    ffi::OsString,
    io::{self, Write},
    path::Path,
    process::ExitCode,
};

use lexopt::Arg;
use world::World;

fn main() -> ExitCode {
    match paths(std::env::args_os().skip(1)).and_then(|paths| simulate(&paths)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

/// Reads the command line: the files of the worlds.
fn paths(args: impl IntoIterator<Item = OsString>) -> Result<Vec<OsString>, Box<dyn Error>> {
    const USAGE: &str = "usage: simulate WORLD.json…";
    let (mut paths, mut args) = (Vec::new(), lexopt::Parser::from_args(args));
    while let Some(arg) = args.next()? {
        match arg {
            Arg::Value(path) => paths.push(path),
            _ => {
                let error = arg.unexpected();
                return Err(
                    format!("{error} (expected files of worlds, and no option)\n{USAGE}").into()
                );
            }
        }
    }
    if paths.is_empty() { Err(USAGE.into()) } else { Ok(paths) }
}

fn simulate(paths: &[OsString]) -> Result<(), Box<dyn Error>> {
    // All are read before the first is run: a bad file is an error and no output.
    let worlds = paths.iter().map(World::read).collect::<Result<Vec<_>, _>>()?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    for (path, world) in paths.iter().zip(&worlds) {
        if paths.len() > 1 {
            let name = Path::new(path).file_stem().unwrap_or(path);
            writeln!(out, "# {}", name.display())?;
        }
        for event in run::run(world)? {
            writeln!(out, "{event}")?;
        }
    }
    out.flush()?;
    Ok(())
}
