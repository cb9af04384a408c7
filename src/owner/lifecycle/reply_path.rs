use super::{Lifecycle, RunLevel};

/// By whose means a refusal is sent (`R40`).
///
/// # Examples
///
/// ```
/// use rideout::owner::{Ending, Lifecycle, ReplyPath};
///
/// let parent = Lifecycle::new("prices".parse()?);
/// let child = parent.child("prices/eur".parse()?)?;
/// assert_eq!(child.reply_path(), ReplyPath::Owner);
///
/// child.force(); // it sends nothing any more
/// assert_eq!(child.reply_path(), ReplyPath::Parent);
///
/// parent.dispose(Ending::dispose());
/// assert_eq!(child.reply_path(), ReplyPath::InProcess);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReplyPath {
    /// The owner can send it.
    Owner,
    /// The owner can send nothing any more, and its parent can.
    Parent,
    /// Both are going: it reaches those alone who wait in this process, and them directly.
    InProcess,
}

impl Lifecycle {
    /// Returns by whose means a refusal of its is sent now.
    pub fn reply_path(&self) -> ReplyPath {
        if self.level() < RunLevel::ShutDown {
            return ReplyPath::Owner;
        }
        match self.parent() {
            Some(parent) if parent.level() < RunLevel::DisposeHosted => ReplyPath::Parent,
            _ => ReplyPath::InProcess,
        }
    }
}
