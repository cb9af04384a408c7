use std::{error::Error, fmt, iter};

/// The error by which a handler says that it failed because its owner is disposing.
///
/// It may stand anywhere among the sources of the handler's own error, in a transparent wrapper too.
///
/// # Examples
///
/// ```
/// use rideout::owner::Disposing;
///
/// fn read() -> Result<u64, std::io::Error> {
///     Err(std::io::Error::other(Disposing)) // its file is closed already
/// }
/// assert_eq!(read().unwrap_err().to_string(), "the owner is disposing");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Disposing;

impl fmt::Display for Disposing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("the owner is disposing")
    }
}

impl Error for Disposing {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&Mark)
    }
}

/// What [`Disposing`] is known by: a wrapper that passes for what it wraps (a transparent one,
/// `io::Error`, `Arc`) hides the error itself, and shows its source.
#[derive(Debug, thiserror::Error)]
#[error("what the request needed is gone")]
struct Mark;

/// Returns whether a handler failed because its owner is disposing.
pub(super) fn is_disposing(error: &(dyn Error + 'static)) -> bool {
    causes(error).any(|cause| cause.is::<Mark>())
}

/// Yields an error and its sources: not for ever, where one leads back to itself.
pub(super) fn causes<'a>(
    error: &'a (dyn Error + 'static),
) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    iter::successors(Some(error), |&cause| cause.source()).take(64)
}
