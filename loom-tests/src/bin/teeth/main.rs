//! Do the models have teeth? Breaks the code in one place at a time, and requires a model to go red.
//!
//! ```sh
//! cargo run -p loom-tests --bin teeth            # all of it, and the table in docs/proof.md anew
//! cargo run -p loom-tests --bin teeth slot carrier
//! ```
//!
//! Each part of the crate that the models look at has a list of mutants in `mutants/`, and the files
//! of models in `loom-tests/tests/` that hold it. Every mutant is written into a scratch copy of the
//! tree (`target/teeth`), which is built and run. The unmutated tree comes first, and must be green.
//! A mutant that does not fit the code, or does not build, a model whose floor trips, and one that
//! hangs are errors and no kills; so is, where all of it runs, a model that no mutant turned red. The
//! last line is `killed K of N`.

mod models;
mod mutants;
mod report;
mod scratch;

use std::{env, error::Error, path::Path, process::ExitCode};

use mutants::{PARTS, Part};
use report::Report;
use scratch::Scratch;

fn main() -> ExitCode {
    let asked: Vec<String> = env::args().skip(1).collect();
    match bite(&asked) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns whether every mutant was killed, and nothing went wrong.
fn bite(asked: &[String]) -> Result<bool, Box<dyn Error>> {
    if let Some(unknown) = asked.iter().find(|asked| PARTS.iter().all(|part| part.name != **asked))
    {
        let known: Vec<_> = PARTS.iter().map(|part| part.name).collect();
        return Err(format!("no part is called {unknown}; there are {}", known.join(", ")).into());
    }
    let parts: Vec<&Part> = PARTS
        .iter()
        .filter(|part| asked.is_empty() || asked.iter().any(|asked| asked == part.name))
        .collect();

    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("no workspace")?;
    let scratch = Scratch::new(root)?;
    let mut report = Report::default();

    let mut sets: Vec<&str> = parts.iter().flat_map(|part| part.models).copied().collect();
    sets.sort_unstable();
    sets.dedup();
    for run in models::run(&scratch, &sets)? {
        report.unmutated(run)?;
    }
    println!("without a mutant: {} models, green", report.models());

    for part in parts {
        for mutant in part.mutants {
            let tried = scratch.with(mutant, || models::run(&scratch, part.models));
            let told = match tried {
                Ok(runs) => report.tried(runs),
                Err(error) => report.untried(&error.to_string()),
            };
            println!("{}: {}: {told}", part.name, mutant.name);
        }
    }
    let mut all_bite = true;
    if asked.is_empty() {
        for model in report.toothless() {
            println!("no mutant turned it red: {model}");
            all_bite = false;
        }
        report.write(&root.join("docs/proof.md"))?;
    }
    println!("{report}");
    Ok(all_bite && report.is_clean())
}
