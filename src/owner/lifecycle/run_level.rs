/// How far an owner is between its start and its death, in this order (`R37`).
///
/// # Examples
///
/// ```
/// use rideout::owner::RunLevel;
///
/// assert!(RunLevel::Started < RunLevel::DisposeHosted);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RunLevel {
    /// It is coming up.
    #[default]
    Starting,
    /// It serves.
    Started,
    /// It was told to end, serves still, and waits for the replies that are pending.
    Quiescing,
    /// It refuses, and its children are told to end.
    DisposeHosted,
    /// Its children are gone, or had their time.
    HostedDisposed,
    /// Its last code runs, and it can send nothing any more.
    ShutDown,
    /// It is no more.
    Dead,
}
