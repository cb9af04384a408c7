//! What came of it: a line a mutant, and a row a model for docs/proof.md.

use std::{
    collections::BTreeMap,
    fmt::{self, Write as _},
    fs, io,
    path::Path,
};

use crate::models::{Explored, Outcome, Run};

const BEGIN: &str = "<!-- made by `cargo run -p loom-tests --bin teeth` -->\n";
const END: &str = "<!-- end -->\n";

#[derive(Default)]
pub(crate) struct Report {
    /// By file of models and model.
    rows: BTreeMap<(String, String), Row>,
    tried: usize,
    killed: usize,
    failed: bool,
}

struct Row {
    explored: Explored,
    kills: usize,
}

impl Report {
    /// Enters a model's run over the unmutated tree.
    ///
    /// # Errors
    ///
    /// Where it is not green: then no kill means anything.
    pub(crate) fn unmutated(&mut self, run: Run) -> Result<(), String> {
        match run.outcome {
            Outcome::Green(explored) => {
                self.rows.insert((run.set, run.model), Row { explored, kills: 0 });
                Ok(())
            }
            Outcome::Red(what) | Outcome::Failed(what) => {
                Err(format!("without a mutant, {}: {what}", run.set))
            }
        }
    }

    pub(crate) fn models(&self) -> usize {
        self.rows.len()
    }

    /// Enters what became of a mutant; returns it in a sentence.
    pub(crate) fn tried(&mut self, runs: Vec<Run>) -> String {
        let (mut found, mut failed) = (Vec::new(), Vec::new());
        for Run { set, model, outcome } in runs {
            match outcome {
                Outcome::Green(_) => {}
                Outcome::Red(what) => {
                    found.push(what);
                    if let Some(row) = self.rows.get_mut(&(set, model)) {
                        row.kills += 1;
                    }
                }
                Outcome::Failed(why) => failed.push(why),
            }
        }
        self.tried += 1;
        match (found.first(), failed.first()) {
            (Some(first), _) => {
                self.killed += 1;
                format!("killed by {}: {first}", found.len())
            }
            (None, Some(why)) => self.failed(why),
            (None, None) => "SURVIVED".to_owned(),
        }
    }

    /// Enters that a mutant could not be tried.
    pub(crate) fn untried(&mut self, why: &str) -> String {
        self.tried += 1;
        self.failed(why)
    }

    fn failed(&mut self, why: &str) -> String {
        self.failed = true;
        format!("ERROR: {why}")
    }

    /// Returns the models that no mutant turned red: nothing shows that they can.
    pub(crate) fn toothless(&self) -> impl Iterator<Item = String> {
        let idle = self.rows.iter().filter(|(_, row)| row.kills == 0);
        idle.map(|((set, model), _)| format!("{set}: {model}"))
    }

    pub(crate) fn is_clean(&self) -> bool {
        !self.failed && self.killed == self.tried
    }

    /// Writes the table into the page at `path`, between its two marks.
    pub(crate) fn write(&self, path: &Path) -> io::Result<()> {
        let page = fs::read_to_string(path)?;
        let parts = page.split_once(BEGIN).and_then(|(before, rest)| {
            let (_, after) = rest.split_once(END)?;
            Some((before, after))
        });
        let (before, after) = parts.ok_or_else(|| io::Error::other("the page lacks its marks"))?;
        fs::write(path, format!("{before}{BEGIN}{}{END}{after}", self.table()))
    }

    fn table(&self) -> String {
        let mut table = "| model | bound | interleavings | seconds | mutants killed |\n".to_owned();
        table.push_str("|---|---|---|---|---|\n");
        for ((set, model), Row { explored: Explored { bound, executions, ms }, kills }) in
            &self.rows
        {
            let model = model.replace('_', " ");
            let (seconds, tenths) = (ms / 1000, ms % 1000 / 100);
            let row = format!(
                "| `{set}`: {model} | {bound} | {executions} | {seconds}.{tenths} | {kills} |\n"
            );
            table.push_str(&row);
        }
        let _ = writeln!(table, "\n{self}.");
        table
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "killed {} of {}", self.killed, self.tried)
    }
}
