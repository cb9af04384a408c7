//! Counts from the command line, for the examples that take nothing else.

use std::ffi::OsString;

use super::{EXPECTED, MOST};

/// Says why the arguments are none of this program's.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadArgument {
    #[error("unknown option {0:?} (expected {EXPECTED})")]
    Unknown(String),
    #[error("{0} has no value (expected a whole number from 1 to {MOST})")]
    NoValue(String),
    #[error("{option} is {value:?} (expected a whole number from 1 to {MOST})")]
    NoCount { option: String, value: String },
    #[error("{0} is given twice (expected once at most)")]
    Twice(String),
}

/// Reads `OPTION N` or `OPTION=N` for each of `options`, at most once; what is left out is `None`.
///
/// # Errors
///
/// Returns the first argument that is no such thing.
pub(crate) fn read<const N: usize>(
    args: impl IntoIterator<Item = OsString>,
    options: [&str; N],
) -> Result<[Option<u32>; N], BadArgument> {
    let mut counts = [None; N];
    let mut args = args.into_iter().map(|arg| arg.to_string_lossy().into_owned());
    while let Some(arg) = args.next() {
        let (option, value) = match arg.split_once('=') {
            Some((option, value)) => (option.to_owned(), Some(value.to_owned())),
            None => (arg, None),
        };
        let Some(at) = options.iter().position(|known| *known == option) else {
            return Err(BadArgument::Unknown(option));
        };
        let Some(value) = value.or_else(|| args.next()) else {
            return Err(BadArgument::NoValue(option));
        };
        match value.parse() {
            Ok(value @ 1..=MOST) if counts[at].is_none() => counts[at] = Some(value),
            Ok(1..=MOST) => return Err(BadArgument::Twice(option)),
            _ => return Err(BadArgument::NoCount { option, value }),
        }
    }
    Ok(counts)
}
