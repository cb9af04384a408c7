//! Runs a rider against worlds, and prints what happens to it: one JSON object a line.
//!
//! A world is a file that says what one address does over time; the rider is run against it in virtual
//! time, so an hour takes no longer than a second. The format is described in `tests/worlds/README.md`.
//!
//! ```sh
//! cargo run --example simulate -- tests/worlds/one-corpse-then-back.json
//! ```

mod run;
mod world;

use std::{
    error::Error,
    io::{self, Write},
    path::Path,
    process::ExitCode,
};

use world::World;

fn main() -> ExitCode {
    let paths: Vec<_> = std::env::args_os().skip(1).collect();
    match simulate(&paths) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

fn simulate(paths: &[std::ffi::OsString]) -> Result<(), Box<dyn Error>> {
    if paths.is_empty() {
        return Err("usage: simulate WORLD.json…".into());
    }
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
