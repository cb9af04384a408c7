//! Counts the instructions of this program: it runs itself under callgrind.

use std::{env, process::Command};

/// Runs this program with the arguments `--count`, `name` and `size`, `None` where valgrind does not run.
pub(crate) fn instructions(name: &str, size: u64) -> Option<u64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(env::current_exe().ok()?)
        .args(["--count", name, &size.to_string()])
        .output()
        .ok()?;
    let report = String::from_utf8(output.stderr).ok()?;
    let (_, collected) = report.split_once("Collected : ")?;
    collected.split_whitespace().next()?.parse().ok()
}
