//! What is asked for on the command line.

use std::{ffi::OsString, num::ParseIntError, ops::Range};

use lexopt::Arg;

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
#[derive(Debug, thiserror::Error)]
pub(crate) enum BadArgs {
    #[error("{0} (expected --hosts, --addresses, --readers, --seed or --faults)")]
    Unknown(lexopt::Error),
    #[error("{0} has no value (expected a number behind it)")]
    NoValue(&'static str),
    #[error("{option} {value:?} is no number (expected one like 8): {source}")]
    NoNumber { option: &'static str, value: String, source: ParseIntError },
    #[error("{0} is 0 (expected at least 1)")]
    None(&'static str),
    #[error("--seed {0}..{1} holds no seed (expected the first below the end, which is not run)")]
    NoSeeds(u64, u64),
}

impl Args {
    pub(crate) fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Self, BadArgs> {
        let (mut size, mut seeds) = (Size::default(), 0..10);
        let mut args = lexopt::Parser::from_args(args);
        while let Some(arg) = args.next().map_err(BadArgs::Unknown)? {
            match arg {
                Arg::Long("hosts") => size.hosts = at_least_one("--hosts", &mut args)?,
                Arg::Long("addresses") => size.addresses = at_least_one("--addresses", &mut args)?,
                Arg::Long("readers") => size.readers = at_least_one("--readers", &mut args)?,
                Arg::Long("faults") => {
                    size.faults = number("--faults", &text("--faults", &mut args)?)?;
                }
                Arg::Long("seed") => seeds = range(&text("--seed", &mut args)?)?,
                _ => return Err(BadArgs::Unknown(arg.unexpected())),
            }
        }
        Ok(Self { size, seeds })
    }
}

fn text(option: &'static str, args: &mut lexopt::Parser) -> Result<String, BadArgs> {
    let value = args.value().map_err(|_| BadArgs::NoValue(option))?;
    Ok(value.to_string_lossy().into_owned())
}

fn number<N>(option: &'static str, value: &str) -> Result<N, BadArgs>
where
    N: std::str::FromStr<Err = ParseIntError>,
{
    let no_number = |source| BadArgs::NoNumber { option, value: value.to_owned(), source };
    value.parse().map_err(no_number)
}

fn at_least_one(option: &'static str, args: &mut lexopt::Parser) -> Result<usize, BadArgs> {
    match number(option, &text(option, args)?)? {
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
