//! How large the storm is.

#[path = "../counts/mod.rs"]
mod counts;

use std::ffi::OsString;

pub(crate) use counts::BadArgument;

/// What is counted, at least 1 of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    /// Clients that vanish; a tenth as many more only roll.
    pub(crate) clients: u32,
    /// How long the owner pushes.
    pub(crate) minutes: u32,
    /// Updates a second.
    pub(crate) updates: u32,
}

impl Default for Size {
    fn default() -> Self {
        Size { clients: 20, minutes: 10, updates: 2 }
    }
}

/// More of anything is a slip of the hand.
const MOST: u32 = 10_000;

/// The options, as an error names them.
const EXPECTED: &str = "--clients, --minutes or --updates";

impl Size {
    /// Reads `--clients N`, `--minutes N` and `--updates N`, or `--clients=N`; what is left out has its
    /// default.
    ///
    /// # Errors
    ///
    /// Returns the first argument that is no such thing.
    pub(crate) fn from_args(args: impl IntoIterator<Item = OsString>) -> Result<Self, BadArgument> {
        let [clients, minutes, updates] = counts::read(args, ["clients", "minutes", "updates"])?;
        let default = Size::default();
        Ok(Size {
            clients: clients.unwrap_or(default.clients),
            minutes: minutes.unwrap_or(default.minutes),
            updates: updates.unwrap_or(default.updates),
        })
    }
}
