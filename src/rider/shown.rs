//! The text of a refusal, as a warning shows it.

use std::fmt;

/// How much of the last refusal's text a warning shows, in characters (`R23`): enough for the recycler
/// that it names.
const SHOWN: usize = 300;

/// Returns the text of a refusal, cut for a warning.
pub(super) fn shown(refusal: &impl fmt::Display) -> String {
    refusal.to_string().chars().take(SHOWN).collect()
}
