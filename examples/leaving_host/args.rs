//! How large a cluster is rolled.

use std::ffi::OsString;

use crate::counts::{BadArgument, Options};

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

const OPTIONS: Options<3> = Options {
    names: ["hosts", "addresses", "readers"],
    // More of anything is a slip of the hand: a reader takes some kilobytes.
    most: 1_000_000,
};

impl Size {
    /// Reads `--hosts N`, `--addresses N` and `--readers N`, or `--hosts=N`; what is left out has its
    /// default.
    ///
    /// # Errors
    ///
    /// Returns the first argument that is no such thing.
    pub(crate) fn from_args(args: impl IntoIterator<Item = OsString>) -> Result<Self, BadArgument> {
        let [hosts, addresses, readers] = OPTIONS.read(args)?;
        let default = Size::default();
        Ok(Size {
            hosts: hosts.unwrap_or(default.hosts),
            addresses: addresses.unwrap_or(default.addresses),
            readers: readers.unwrap_or(default.readers),
        })
    }
}
