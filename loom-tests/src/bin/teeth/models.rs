//! Runs models, each in a process of its own: one that fails usually aborts it.

use std::{
    error::Error,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Mutex,
    thread,
    time::Duration,
};

use wait_timeout::ChildExt;

use crate::scratch::Scratch;

/// No model takes nearly as long.
const HANGS: Duration = Duration::from_secs(120);

/// What loom says of one that spins, which hangs.
const ENDLESS: &str = "Model exceeded maximum number of branches";

/// One model's run.
#[derive(Debug)]
pub(crate) struct Run {
    /// The file of models that it stands in.
    pub(crate) set: String,
    pub(crate) model: String,
    pub(crate) outcome: Outcome,
}

#[derive(Debug)]
pub(crate) enum Outcome {
    Green(Explored),
    /// loom found what is wrong: what it, or the model, said.
    Red(String),
    /// No finding: why.
    Failed(String),
}

/// How much of a model was explored, as `common/check.rs` says it.
#[derive(Clone, Debug)]
pub(crate) struct Explored {
    pub(crate) bound: String,
    pub(crate) executions: u64,
    pub(crate) ms: u64,
}

/// Builds the models of each of `sets` and runs them all, one a core.
pub(crate) fn run(scratch: &Scratch, sets: &[&str]) -> Result<Vec<Run>, Box<dyn Error>> {
    let mut waiting = Vec::new();
    for (set, program) in sets.iter().zip(scratch.build(sets)?) {
        for model in listed(&program)? {
            waiting.push((*set, model, program.clone()));
        }
    }
    let (waiting, runs) = (Mutex::new(waiting.into_iter()), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let Some((set, model, program)) = waiting.lock().unwrap().next() else {
                        return;
                    };
                    let outcome = one(scratch, set, &model, &program);
                    let outcome =
                        outcome.unwrap_or_else(|error| Outcome::Failed(error.to_string()));
                    runs.lock().unwrap().push(Run { set: set.to_owned(), model, outcome });
                }
            });
        }
    });
    let mut runs = runs.into_inner()?;
    runs.sort_by(|a, b| (&a.set, &a.model).cmp(&(&b.set, &b.model)));
    Ok(runs)
}

fn listed(program: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let listed = Command::new(program).args(["--list", "--format", "terse"]).output()?;
    let listed = String::from_utf8(listed.stdout)?;
    Ok(listed.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
}

fn one(scratch: &Scratch, set: &str, model: &str, program: &PathBuf) -> io::Result<Outcome> {
    // A file: a pipe that nobody reads would fill, and hold the model up.
    let said = scratch.said(set, model)?;
    let mut child = Command::new(program)
        .args(["--exact", model, "--nocapture", "--test-threads", "1"])
        .env_remove("LOOM_MAX_PREEMPTIONS")
        .env_remove("LOOM_UNBOUNDED")
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::null())
        .stdout(File::create(&said)?)
        .stderr(Stdio::null())
        .spawn()?;
    let Some(ended) = child.wait_timeout(HANGS)? else {
        child.kill()?;
        child.wait()?;
        return Ok(Outcome::Failed(format!("{model} hangs")));
    };
    let said = String::from_utf8_lossy(&fs::read(&said)?).into_owned();
    Ok(outcome(model, ended.success(), &said))
}

/// Reads the lines `model NAME, bound B, N executions, M ms: …` of `common/check.rs`, of which a test may
/// have several.
fn outcome(model: &str, passed: bool, said: &str) -> Outcome {
    let explored: Vec<_> = said.lines().filter_map(explored).collect();
    // The first is what was found; after it the process comes down.
    let found = explored.iter().find(|(_, what)| what != "ok");
    match (passed, found, &explored[..]) {
        (_, _, []) => Outcome::Failed(format!("{model} does not say how far it came")),
        (true, None, [(Explored { bound, .. }, _), ..]) => Outcome::Green(Explored {
            bound: bound.clone(),
            executions: explored.iter().map(|(it, _)| it.executions).sum(),
            ms: explored.iter().map(|(it, _)| it.ms).sum(),
        }),
        (false, None, _) => Outcome::Failed(format!("{model} trips its floor")),
        (_, Some((_, what)), _) if what.starts_with(ENDLESS) => {
            Outcome::Failed(format!("{model} comes to no end"))
        }
        (_, Some((Explored { executions, .. }, what)), _) => {
            Outcome::Red(format!("{model}, execution {executions}: {what}"))
        }
    }
}

fn explored(line: &str) -> Option<(Explored, String)> {
    let (_, line) = line.split_once("bound ")?;
    let (counts, what) = line.split_once(" ms: ")?;
    let mut counts = counts.split(", ");
    let bound = counts.next()?.to_owned();
    let executions = counts.next()?.strip_suffix(" executions")?.parse().ok()?;
    let ms = counts.next()?.parse().ok()?;
    Some((Explored { bound, executions, ms }, what.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::{ENDLESS, Outcome, outcome};

    const COUNTS: &str = "model m, bound 2, 17 executions, 3 ms";

    #[test]
    fn only_what_loom_finds_is_a_kill() {
        let ok = format!("{COUNTS}: ok\n");
        assert!(matches!(outcome("m", true, &ok), Outcome::Green(it) if it.executions == 17));

        let found = format!("{COUNTS}: deadlock\n{COUNTS}: Arc leaked\n");
        assert!(matches!(outcome("m", false, &found), Outcome::Red(it) if it.contains("deadlock")));
        let second = format!("{ok}{found}");
        assert!(
            matches!(outcome("m", false, &second), Outcome::Red(it) if it.contains("deadlock"))
        );
        let both = format!("{ok}{ok}");
        assert!(matches!(outcome("m", true, &both), Outcome::Green(it) if it.executions == 34));

        // A floor is looked at after the model: it was green as far as it came.
        assert!(matches!(outcome("m", false, &ok), Outcome::Failed(_)));
        assert!(matches!(outcome("m", false, &both), Outcome::Failed(_)));
        let endless = format!("{COUNTS}: {ENDLESS}. This is often caused by …\n");
        assert!(matches!(outcome("m", false, &endless), Outcome::Failed(_)));
        assert!(matches!(outcome("m", false, ""), Outcome::Failed(_)));
        assert!(matches!(outcome("m", true, ""), Outcome::Failed(_)));
    }
}
