//! How large the storm is.

use std::ffi::OsString;

use crate::counts::{BadArgument, Options};

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

const OPTIONS: Options<3> = Options {
    names: ["clients", "minutes", "updates"],
    // More of anything is a slip of the hand.
    most: 10_000,
};

impl Size {
    /// Reads `--clients N`, `--minutes N` and `--updates N`, or `--clients=N`; what is left out has its
    /// default.
    ///
    /// # Errors
    ///
    /// Returns the first argument that is no such thing.
    pub(crate) fn from_args(args: impl IntoIterator<Item = OsString>) -> Result<Self, BadArgument> {
        let [clients, minutes, updates] = OPTIONS.read(args)?;
        let default = Size::default();
        Ok(Size {
            clients: clients.unwrap_or(default.clients),
            minutes: minutes.unwrap_or(default.minutes),
            updates: updates.unwrap_or(default.updates),
        })
    }
}
