//! What an example tells, and for how long it may.

use std::time::Duration;

/// By the virtual clock, far longer than an example takes.
pub(crate) const LONG: Duration = Duration::from_secs(3600);
pub(crate) const HANGS: &str = "it never ends";

/// Expects the lines that begin so, in this order and perhaps with others between them.
pub(crate) fn assert_told(told: &[String], expected: &[&str]) {
    let mut lines = told.iter();
    for start in expected {
        let found = lines
            .any(|line| line.split_whitespace().collect::<Vec<_>>().join(" ").starts_with(start));
        assert!(found, "not told, or not there: {start}\n{told:#?}");
    }
}

pub(crate) fn count(told: &[String], what: &str) -> usize {
    told.iter().filter(|line| line.contains(what)).count()
}
