//! What is asked for on the command line.

use std::{ffi::OsString, num::ParseIntError, ops::Range};

pub(crate) const USAGE: &str =
    "usage: chaos [--hosts N] [--addresses N] [--readers N] [--seed N | --seed A..B] [--faults N]";

/// How large a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) hosts: usize,
    pub(crate) addresses: usize,
    pub(crate) readers: usize,
    /// How many faults are injected.
    pub(crate) faults: usize,
}

impl Default for Size {
    fn default() -> Self {
        Self { hosts: 3, addresses: 8, readers: 40, faults: 1_000 }
    }
}

/// A size, and a run of it by each of these seeds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Args {
    pub(crate) size: Size,
    pub(crate) seeds: Range<u64>,
}

/// Why a command line is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadArgs {
    #[error("unknown option {0:?} (expected --hosts, --addresses, --readers, --seed or --faults)")]
    Unknown(OsString),
    #[error("{0} has no value (expected a number behind it)")]
    NoValue(&'static str),
    #[error("{option} {value:?} is no number (expected one like 8): {source}")]
    NoNumber { option: &'static str, value: String, source: ParseIntError },
    #[error("{option} {value:?} is no text")]
    NoText { option: &'static str, value: OsString },
    #[error("{0} is 0 (expected at least 1)")]
    None(&'static str),
    #[error("--seed {0}..{1} holds no seed (expected the first below the end, which is not run)")]
    NoSeeds(u64, u64),
}

impl Args {
    pub(crate) fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Self, BadArgs> {
        let (mut size, mut seeds) = (Size::default(), 0..10);
        let mut args = args.into_iter();
        while let Some(option) = args.next() {
            match option.to_str() {
                Some("--hosts") => size.hosts = at_least_one("--hosts", args.next())?,
                Some("--addresses") => size.addresses = at_least_one("--addresses", args.next())?,
                Some("--readers") => size.readers = at_least_one("--readers", args.next())?,
                Some("--faults") => {
                    size.faults = number("--faults", &text("--faults", args.next())?)?;
                }
                Some("--seed") => seeds = range(&text("--seed", args.next())?)?,
                _ => return Err(BadArgs::Unknown(option)),
            }
        }
        Ok(Self { size, seeds })
    }
}

fn text(option: &'static str, value: Option<OsString>) -> Result<String, BadArgs> {
    let value = value.ok_or(BadArgs::NoValue(option))?;
    value.into_string().map_err(|value| BadArgs::NoText { option, value })
}

fn number<N>(option: &'static str, value: &str) -> Result<N, BadArgs>
where
    N: std::str::FromStr<Err = ParseIntError>,
{
    let no_number = |source| BadArgs::NoNumber { option, value: value.to_owned(), source };
    value.parse().map_err(no_number)
}

fn at_least_one(option: &'static str, value: Option<OsString>) -> Result<usize, BadArgs> {
    match number(option, &text(option, value)?)? {
        0 => Err(BadArgs::None(option)),
        number => Ok(number),
    }
}

/// `A..B`, half open, or one seed.
fn range(value: &str) -> Result<Range<u64>, BadArgs> {
    let seed = |value| number::<u64>("--seed", value);
    let Some((first, end)) = value.split_once("..") else {
        let only = seed(value)?;
        return only.checked_add(1).map(|end| only..end).ok_or(BadArgs::NoSeeds(only, only));
    };
    let (first, end) = (seed(first)?, seed(end)?);
    if first < end { Ok(first..end) } else { Err(BadArgs::NoSeeds(first, end)) }
}
