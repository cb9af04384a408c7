use std::fmt;

/// How a lifetime ends: as what, and who asked for it and why, where that is known.
///
/// Its text is in the owner's refusals, so that who meets one knows whom to ask (`R40`).
///
/// # Examples
///
/// ```
/// use rideout::owner::Ending;
///
/// let ending = Ending::recycle().asked_by("ops").reason("a new build");
/// assert_eq!(ending.to_string(), "recycle asked for by ops: a new build");
/// assert!(ending.is_announced());
/// assert!(!Ending::dispose().is_announced());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    end: End,
    asked_by: Option<String>,
    reason: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Recycle,
    Deletion,
    Dispose,
}

impl Ending {
    /// The address is to come back at once: its subscribers are told (`R43`).
    pub fn recycle() -> Self {
        Self::new(End::Recycle)
    }

    /// What is at the address is deleted: its subscribers are told (`R43`), ask again, and learn so.
    pub fn deletion() -> Self {
        Self::new(End::Deletion)
    }

    /// The owner is put away, and nobody is told: a last word would bring back what is being retired.
    pub fn dispose() -> Self {
        Self::new(End::Dispose)
    }

    fn new(end: End) -> Self {
        Self { end, asked_by: None, reason: None }
    }

    /// Says who asked for it.
    #[must_use]
    pub fn asked_by(mut self, who: impl Into<String>) -> Self {
        self.asked_by = Some(who.into());
        self
    }

    /// Says why.
    #[must_use]
    pub fn reason(mut self, why: impl Into<String>) -> Self {
        self.reason = Some(why.into());
        self
    }

    /// Returns whether subscribers are told once the teardown is completed.
    pub fn is_announced(&self) -> bool {
        matches!(self.end, End::Recycle | End::Deletion)
    }

    /// The end of the children of one that ends so: silent, whatever its own is (`R43`), and asked for by
    /// who asked for its own, or else by it.
    pub(super) fn of_children(&self, parent: &impl fmt::Display) -> Self {
        let asked_by = self.asked_by.clone().unwrap_or_else(|| parent.to_string());
        Self { reason: self.reason.clone(), ..Self::dispose().asked_by(asked_by) }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.end {
            End::Recycle => "recycle",
            End::Deletion => "deletion",
            End::Dispose => "dispose",
        })?;
        if let Some(who) = &self.asked_by {
            write!(f, " asked for by {who}")?;
        }
        match &self.reason {
            Some(why) => write!(f, ": {why}"),
            None => Ok(()),
        }
    }
}
