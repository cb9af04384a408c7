//! How large a cluster is rolled.

#[path = "../counts/mod.rs"]
mod counts;

use std::ffi::OsString;

pub(crate) use counts::BadArgument;

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

/// The options, as an error names them.
const EXPECTED: &str = "--hosts, --addresses or --readers";

impl Size {
    /// Reads `--hosts N`, `--addresses N` and `--readers N`, or `--hosts=N`; what is left out has its
    /// default.
    ///
    /// # Errors
    ///
    /// Returns the first argument that is no such thing.
    pub(crate) fn from_args(args: impl IntoIterator<Item = OsString>) -> Result<Self, BadArgument> {
        let [hosts, addresses, readers] = counts::read(args, ["hosts", "addresses", "readers"])?;
        let default = Size::default();
        Ok(Size {
            hosts: hosts.unwrap_or(default.hosts),
            addresses: addresses.unwrap_or(default.addresses),
            readers: readers.unwrap_or(default.readers),
        })
    }
}
