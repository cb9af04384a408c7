//! A copy of the tree in which one file at a time is broken.

use std::{
    error::Error,
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use crate::mutants::Mutant;

pub(crate) struct Scratch {
    tree: PathBuf,
    target: PathBuf,
}

impl Scratch {
    /// Copies the tree at `root`, anew each time.
    pub(crate) fn new(root: &Path) -> io::Result<Self> {
        let tree = root.join("target/teeth/tree");
        if tree.exists() {
            fs::remove_dir_all(&tree)?;
        }
        copy(root, &tree)?;
        Ok(Scratch { tree, target: root.join("target/teeth/build") })
    }

    /// Returns the file for what `model` of `set` says.
    pub(crate) fn said(&self, set: &str, model: &str) -> io::Result<PathBuf> {
        let folder = self.target.join("said").join(set);
        fs::create_dir_all(&folder)?;
        Ok(folder.join(model))
    }

    /// Runs `look` while `mutant` is in the copy.
    pub(crate) fn with<R>(
        &self,
        mutant: &Mutant,
        look: impl FnOnce() -> Result<R, Box<dyn Error>>,
    ) -> Result<R, Box<dyn Error>> {
        let file = self.tree.join(mutant.file);
        let sound = fs::read_to_string(&file)?;
        fs::write(&file, mutant.applied_to(&sound)?)?;
        let seen = look();
        fs::write(&file, sound)?;
        seen
    }

    /// Builds the models of each of `sets`; returns their programs, in that order.
    pub(crate) fn build(&self, sets: &[&str]) -> Result<Vec<PathBuf>, Box<dyn Error>> {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["test", "--package", "loom-tests", "--no-run", "--message-format", "json"]);
        cargo.args(sets.iter().flat_map(|set| ["--test", set]));
        // What a mutant no longer uses is no error.
        cargo.current_dir(&self.tree).env("CARGO_TARGET_DIR", &self.target);
        cargo.env("RUSTFLAGS", "--cap-lints=allow");
        let built = cargo.output()?;
        let messages: Vec<Value> = serde_json::Deserializer::from_slice(&built.stdout)
            .into_iter()
            .collect::<Result<_, _>>()?;
        if !built.status.success() {
            let error = messages.iter().filter(|it| it["message"]["level"] == "error");
            let error = error.filter_map(|it| it["message"]["rendered"].as_str()).next();
            let said = String::from_utf8_lossy(&built.stderr);
            return Err(format!("does not build: {}", error.unwrap_or(&said)).into());
        }
        sets.iter()
            .map(|set| {
                messages
                    .iter()
                    .filter(|message| message["target"]["name"] == **set)
                    .find_map(|message| message["executable"].as_str().map(PathBuf::from))
                    .ok_or_else(|| format!("no program for the models of {set}").into())
            })
            .collect()
    }
}

/// Copies what `from` is, without builds and history. A copy has the time of its making: cargo goes by
/// it, and an old one would leave the last mutant built.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if !from.is_dir() {
        fs::write(to, fs::read(from)?)?;
        return Ok(());
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let name = entry?.file_name();
        if name != "target" && name != ".git" {
            copy(&from.join(&name), &to.join(&name))?;
        }
    }
    Ok(())
}
