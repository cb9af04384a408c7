//! Counts from the command line, for the examples that take nothing else.

use std::ffi::OsString;

use lexopt::Arg;

use super::{EXPECTED, MOST};

/// Says why the arguments are none of this program's.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadArgument {
    #[error("unknown argument {0:?} (expected {EXPECTED})")]
    Unknown(String),
    #[error("--{0} has no value (expected a whole number from 1 to {MOST})")]
    NoValue(String),
    #[error("--{option} is {value:?} (expected a whole number from 1 to {MOST})")]
    NoCount { option: String, value: String },
    #[error("--{0} is given twice (expected once at most)")]
    Twice(String),
}

/// Reads `--OPTION N` or `--OPTION=N` for each of `options`, at most once; what is left out is `None`.
///
/// # Errors
///
/// Returns the first argument that is no such thing.
pub(crate) fn read<const N: usize>(
    args: impl IntoIterator<Item = OsString>,
    options: [&str; N],
) -> Result<[Option<u32>; N], BadArgument> {
    let mut counts = [None; N];
    let mut args = lexopt::Parser::from_args(args);
    // An option that was given a value it does not take is the only error here, and none of ours is one.
    while let Some(arg) = args.next().map_err(|error| BadArgument::Unknown(error.to_string()))? {
        let known = match &arg {
            Arg::Long(option) => options.iter().position(|known| known == option),
            Arg::Short(_) | Arg::Value(_) => None,
        };
        let Some(at) = known else { return Err(BadArgument::Unknown(written(&arg))) };
        let option = options[at].to_owned();
        let Ok(value) = args.value() else { return Err(BadArgument::NoValue(option)) };
        let value = value.to_string_lossy().into_owned();
        match value.parse() {
            Ok(value @ 1..=MOST) if counts[at].is_none() => counts[at] = Some(value),
            Ok(1..=MOST) => return Err(BadArgument::Twice(option)),
            _ => return Err(BadArgument::NoCount { option, value }),
        }
    }
    Ok(counts)
}

/// An argument as it was written.
fn written(arg: &Arg<'_>) -> String {
    match arg {
        Arg::Long(option) => format!("--{option}"),
        Arg::Short(option) => format!("-{option}"),
        Arg::Value(value) => value.to_string_lossy().into_owned(),
    }
}
