//! How large a cluster is rolled.

use std::ffi::OsString;

/// What is counted, at least 1 of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) hosts: u32,
    pub(crate) addresses: u32,
    pub(crate) readers: u32,
}

impl Default for Size {
    fn default() -> Self {
        Size { hosts: 3, addresses: 10, readers: 50 }
    }
}

/// More of anything is a slip of the hand: a reader takes some kilobytes.
const MOST: u32 = 1_000_000;

/// Says why the arguments are none of this program's.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadArgument {
    #[error("unknown option {0:?} (expected --hosts, --addresses or --readers)")]
    Unknown(String),
    #[error("{0} has no value (expected a whole number from 1 to {MOST})")]
    NoValue(String),
    #[error("{option} is {value:?} (expected a whole number from 1 to {MOST})")]
    NoCount { option: String, value: String },
    #[error("{0} is given twice (expected once at most)")]
    Twice(String),
}

impl Size {
    /// Reads `--hosts N`, `--addresses N` and `--readers N`, or `--hosts=N`; what is left out has its
    /// default.
    ///
    /// # Errors
    ///
    /// Returns the first argument that is no such thing.
    pub(crate) fn from_args(args: impl IntoIterator<Item = OsString>) -> Result<Self, BadArgument> {
        let [mut hosts, mut addresses, mut readers] = [None; 3];
        let mut args = args.into_iter().map(|arg| arg.to_string_lossy().into_owned());
        while let Some(arg) = args.next() {
            let (option, value) = match arg.split_once('=') {
                Some((option, value)) => (option.to_owned(), Some(value.to_owned())),
                None => (arg, None),
            };
            let count = match option.as_str() {
                "--hosts" => &mut hosts,
                "--addresses" => &mut addresses,
                "--readers" => &mut readers,
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
            hosts: hosts.unwrap_or(default.hosts),
            addresses: addresses.unwrap_or(default.addresses),
            readers: readers.unwrap_or(default.readers),
        })
    }
}
