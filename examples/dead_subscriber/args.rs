//! How large the storm is.

use std::ffi::OsString;

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

/// Says why the arguments are none of this program's.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadArgument {
    #[error("unknown option {0:?} (expected --clients, --minutes or --updates)")]
    Unknown(String),
    #[error("{0} has no value (expected a whole number from 1 to {MOST})")]
    NoValue(String),
    #[error("{option} is {value:?} (expected a whole number from 1 to {MOST})")]
    NoCount { option: String, value: String },
    #[error("{0} is given twice (expected once at most)")]
    Twice(String),
}

impl Size {
    /// Reads `--clients N`, `--minutes N` and `--updates N`, or `--clients=N`; what is left out has its
    /// default.
    ///
    /// # Errors
    ///
    /// Returns the first argument that is no such thing.
    pub(crate) fn from_args(args: impl IntoIterator<Item = OsString>) -> Result<Self, BadArgument> {
        let [mut clients, mut minutes, mut updates] = [None; 3];
        let mut args = args.into_iter().map(|arg| arg.to_string_lossy().into_owned());
        while let Some(arg) = args.next() {
            let (option, value) = match arg.split_once('=') {
                Some((option, value)) => (option.to_owned(), Some(value.to_owned())),
                None => (arg, None),
            };
            let count = match option.as_str() {
                "--clients" => &mut clients,
                "--minutes" => &mut minutes,
                "--updates" => &mut updates,
                _ => return Err(BadArgument::Unknown(option)),
            };
            let Some(value) = value.or_else(|| args.next()) else {
                return Err(BadArgument::NoValue(option));
            };
            match value.parse() {
                Ok(value @ 1..=MOST) if count.is_none() => *count = Some(value),
                Ok(1..=MOST) => return Err(BadArgument::Twice(option)),
                _ => return Err(BadArgument::NoCount { option, value }),
            }
        }
        let default = Size::default();
        Ok(Size {
            clients: clients.unwrap_or(default.clients),
            minutes: minutes.unwrap_or(default.minutes),
            updates: updates.unwrap_or(default.updates),
        })
    }
}
