//! Counts from the command line, for the examples that take nothing else.

use std::ffi::OsString;

use lexopt::Arg;

/// Says why the arguments are none of this program's.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadArgument {
    #[error("unknown argument {found:?} (expected {expected})")]
    Unknown { found: String, expected: String },
    #[error("--{option} has no value (expected a whole number from 1 to {most})")]
    NoValue { option: &'static str, most: u32 },
    #[error("--{option} is {value:?} (expected a whole number from 1 to {most})")]
    NoCount { option: &'static str, value: String, most: u32 },
    #[error("--{0} is given twice (expected once at most)")]
    Twice(&'static str),
}

/// The options of a program.
pub(crate) struct Options<const N: usize> {
    pub(crate) names: [&'static str; N],
    pub(crate) most: u32,
}

impl<const N: usize> Options<N> {
    /// Reads `--OPTION N` or `--OPTION=N` for each, at most once; what is left out is `None`.
    ///
    /// # Errors
    ///
    /// Returns the first argument that is no such thing.
    pub(crate) fn read(
        &self,
        args: impl IntoIterator<Item = OsString>,
    ) -> Result<[Option<u32>; N], BadArgument> {
        let most = self.most;
        let mut counts = [None; N];
        let mut args = lexopt::Parser::from_args(args);
        // An option that was given a value it does not take is the only error here, and none of ours is one.
        while let Some(arg) = args.next().map_err(|error| self.unknown(error.to_string()))? {
            let known = match &arg {
                Arg::Long(option) => self.names.iter().position(|known| known == option),
                Arg::Short(_) | Arg::Value(_) => None,
            };
            let Some(at) = known else { return Err(self.unknown(written(&arg))) };
            let option = self.names[at];
            let Ok(value) = args.value() else { return Err(BadArgument::NoValue { option, most }) };
            let value = value.to_string_lossy().into_owned();
            match value.parse() {
                Ok(value) if (1..=most).contains(&value) => {
                    if counts[at].replace(value).is_some() {
                        return Err(BadArgument::Twice(option));
                    }
                }
                _ => return Err(BadArgument::NoCount { option, value, most }),
            }
        }
        Ok(counts)
    }

    fn unknown(&self, found: String) -> BadArgument {
        let names = self.names.map(|name| format!("--{name}"));
        let (last, others) = names.split_last().expect("a program without options reads none");
        BadArgument::Unknown { found, expected: format!("{} or {last}", others.join(", ")) }
    }
}

/// An argument as it was written.
fn written(arg: &Arg<'_>) -> String {
    match arg {
        Arg::Long(option) => format!("--{option}"),
        Arg::Short(option) => format!("-{option}"),
        Arg::Value(value) => value.to_string_lossy().into_owned(),
    }
}
