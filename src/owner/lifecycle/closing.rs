//! The words of an owner's refusals, from how far it is and who ends it.

use std::iter;

use super::{Ending, Lifecycle};
use crate::refusal::Closing;

impl Lifecycle {
    /// Returns the words of its refusals: its address, its activation, how far it is, who asked for its
    /// end and why (`R40`).
    ///
    /// # Examples
    ///
    /// ```
    /// use rideout::{owner::{Ending, Lifecycle}, refusal::Seam};
    ///
    /// let owner = Lifecycle::new("prices/eur".parse()?);
    /// owner.dispose(Ending::recycle().asked_by("ops"));
    ///
    /// let refusal = owner.closing().refuse(Seam::Door, "Subscribe").to_string();
    /// assert!(refusal.contains("RunLevel=DisposeHosted, recycle asked for by ops"));
    /// assert!(refusal.contains(owner.activation().as_str()));
    /// # Ok::<_, rideout::address::InvalidAddress>(())
    /// ```
    pub fn closing(&self) -> Closing {
        let (level, ending, leaving) =
            self.shared.state.with(|state| (state.level, state.ending.clone(), state.leaving));
        let detail = match ending.or_else(|| self.ending_above()) {
            Some(ending) => format!("RunLevel={level:?}, {ending}"),
            None => format!("RunLevel={level:?}"),
        };
        let closing = Closing::new(self.address().clone())
            .activation(self.activation().clone())
            .detail(detail);
        if leaving { closing.host_stopping() } else { closing }
    }

    /// How the nearest above it ends that was told to: what froze it, where it is not told itself yet.
    fn ending_above(&self) -> Option<Ending> {
        iter::successors(self.parent(), Self::parent)
            .find_map(|above| Some(above.ending()?.of_children(above.address())))
    }
}
