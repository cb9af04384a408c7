//! What does a target do as a plain program, and in a test?

use std::{
    env,
    error::Error,
    fs,
    panic::{UnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    process::ExitCode,
    time::{Duration, Instant},
};

use fastrand::Rng;

use crate::inputs::{seeds, variation};

/// Runs the target as its arguments say.
pub fn main(target: &str, check: fn(&[u8])) -> ExitCode {
    match run(target, check) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{target}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Checks the seeds of `target` and as many variations, which are the same every time.
///
/// # Panics
///
/// Panics where one of them breaks a rule.
pub fn replay(target: &str, check: fn(&[u8]), variations: u64) {
    if let Err(error) = vary(target, check, 0, |run, _| run < variations) {
        panic!("{target}: {error}");
    }
}

fn run(target: &str, check: fn(&[u8])) -> Result<(), Box<dyn Error>> {
    let (mut seed, mut runs, mut seconds, mut files) = (fastrand::u64(..), None, None, Vec::new());
    let mut args = env::args().skip(1);
    while let Some(arg) = args.next() {
        let number = |given: Option<String>| -> Result<u64, String> {
            let given = given.unwrap_or_default();
            given.parse().map_err(|_| format!("{arg} takes a whole number, not {given:?}"))
        };
        match &*arg {
            "--seed" => seed = number(args.next())?,
            "--runs" => runs = Some(number(args.next())?),
            "--seconds" => seconds = Some(number(args.next())?),
            option if option.starts_with('-') => {
                let known = "--seconds N, --runs N, --seed N, or files";
                return Err(format!("no option is called {option}; there are {known}").into());
            }
            file => files.push(file.to_owned()),
        }
    }
    for file in &files {
        check(&fs::read(file).map_err(|error| format!("{file}: {error}"))?);
        println!("{target}: {file}, ok");
    }
    if !files.is_empty() {
        return Ok(());
    }
    println!("{target}: seed {seed}");
    // Ten seconds, where nothing is said.
    let seconds = seconds.or(if runs.is_some() { None } else { Some(10) });
    let time = seconds.map_or(Duration::MAX, Duration::from_secs);
    vary(target, check, seed, |run, spent| runs.is_none_or(|runs| run < runs) && spent < time)
}

/// Checks the seeds, and then variations of them while `more` says so, which is told how many there
/// were and in what time.
fn vary(
    target: &str,
    check: fn(&[u8]),
    seed: u64,
    more: impl Fn(u64, Duration) -> bool,
) -> Result<(), Box<dyn Error>> {
    let (began, seeds) = (Instant::now(), seeds(target)?);
    if seeds.is_empty() {
        return Err("no seeds".into());
    }
    for input in &seeds {
        holds(target, check, input)?;
    }
    let (mut random, mut run) = (Rng::with_seed(seed), 0);
    while more(run, began.elapsed()) {
        holds(target, check, &variation(&seeds, &mut random))?;
        run += 1;
    }
    println!("{target}: {run} inputs, corpus {}, seed {seed}, ok", seeds.len());
    Ok(())
}

/// Checks `input`, and keeps it where it breaks a rule.
fn holds(
    target: &str,
    check: impl FnOnce(&[u8]) + UnwindSafe,
    input: &[u8],
) -> Result<(), Box<dyn Error>> {
    catch_unwind(|| check(input)).or_else(|_| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("artifacts").join(target);
        fs::create_dir_all(&folder)?;
        let broken: PathBuf = folder.join("broken");
        fs::write(&broken, input)?;
        let again = format!("cargo run -p fuzz --bin {target} -- {}", broken.display());
        Err(format!("an input breaks a rule, and is kept; to see it again: {again}").into())
    })
}
