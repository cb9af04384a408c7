use std::time::Duration;

use super::Speaker;
use crate::activation::Activation;

/// What an accounting needs to know of one promise: who gave it, and how long it asks to be left
/// alone.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
///
/// use rideout::{Activation, Rejection};
///
/// let mut rejection = Rejection::by_owner(Some(Activation::mint()));
/// rejection.not_before = Some(Duration::from_secs(1));
/// assert_ne!(rejection, Rejection::by_route());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// Who refused.
    pub speaker: Speaker,
    /// A hint: a rest under this rejection lasts at least so long. It shortens no wait.
    pub not_before: Option<Duration>,
}

impl Rejection {
    /// Returns a rejection by the owner, without a hint.
    ///
    /// Without an activation it counts as one more owner each time, and three spend the default budget
    /// (`R7`): where nobody can be named, and the owner need not be the one that refused, say
    /// [`by_route`](Rejection::by_route).
    pub fn by_owner(activation: Option<Activation>) -> Self {
        Self { speaker: Speaker::Owner(activation), not_before: None }
    }

    /// Returns a rejection by the route, without a hint.
    pub fn by_route() -> Self {
        Self { speaker: Speaker::Route, not_before: None }
    }
}
