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
    root: PathBuf,
    tree: PathBuf,
    target: PathBuf,
}

/// Puts the file back when it goes.
pub(crate) struct Mutated<'a> {
    scratch: &'a Scratch,
    file: &'static str,
}

impl Scratch {
    /// Copies the tree at `root`, anew each time.
    pub(crate) fn new(root: &Path) -> io::Result<Self> {
        let tree = root.join("target/teeth/tree");
        if tree.exists() {
            fs::remove_dir_all(&tree)?;
        }
        copy(root, &tree)?;
        Ok(Scratch { root: root.to_owned(), tree, target: root.join("target/teeth/build") })
    }

    /// Returns the file for what `model` of `set` says.
    pub(crate) fn said(&self, set: &str, model: &str) -> io::Result<PathBuf> {
        let folder = self.target.join("said").join(set);
        fs::create_dir_all(&folder)?;
        Ok(folder.join(model))
    }

    /// Writes `mutant` into the copy.
    pub(crate) fn mutate(&self, mutant: &Mutant) -> Result<Mutated<'_>, Box<dyn Error>> {
        let sound = fs::read_to_string(self.root.join(mutant.file))?;
        fs::write(self.tree.join(mutant.file), mutant.applied_to(&sound)?)?;
        Ok(Mutated { scratch: self, file: mutant.file })
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
        if !built.status.success() {
            let said = String::from_utf8_lossy(&built.stderr).into_owned();
            return Err(format!("does not build\n{said}").into());
        }
        let messages: Vec<Value> = serde_json::Deserializer::from_slice(&built.stdout)
            .into_iter()
            .collect::<Result<_, _>>()?;
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

impl Drop for Mutated<'_> {
    fn drop(&mut self) {
        let Scratch { root, tree, .. } = self.scratch;
        if let Err(error) = copy(&root.join(self.file), &tree.join(self.file)) {
            panic!("{} cannot be put back: {error}", self.file);
        }
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
