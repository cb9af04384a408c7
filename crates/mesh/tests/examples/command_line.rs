//! What the tests of an example's command have in common.

use std::ffi::OsString;

use serde_json::Value;

/// The arguments on a command line.
pub(crate) fn args(line: &str) -> impl Iterator<Item = OsString> {
    line.split_whitespace().map(Into::into)
}

/// The figures of a run: its last line.
pub(crate) fn figures(told: &[String]) -> Value {
    serde_json::from_str(told.last().expect("it tells")).expect("the last line is JSON")
}
