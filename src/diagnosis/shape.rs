//! The shape of a recycling, from who spoke and how many activations were named (`R30`).

use std::fmt;

/// What a run of refusals looks like.
///
/// # Examples
///
/// ```
/// use rideout::diagnosis::Shape;
///
/// assert_eq!(Shape::of(0, false), Shape::RouteOnly);
/// assert_eq!(Shape::of(0, true), Shape::Unnamed);
/// assert_eq!(Shape::of(1, true), Shape::OneActivation);
/// assert_eq!(Shape::of(4, true).to_string(),
///     "a storm of 4 distinct activations: look at who asks for the recycles");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Shape {
    /// Every refusal was the route's.
    RouteOnly,
    /// The owner spoke and named no activation.
    Unnamed,
    /// One activation refused every time.
    OneActivation,
    /// So many distinct activations refused.
    Storm(usize),
}

impl Shape {
    /// Tells the shape from the number of distinct activations that were named, and from whether the
    /// owner ever spoke.
    pub fn of(activations: usize, owner_spoke: bool) -> Self {
        match (activations, owner_spoke) {
            (0, false) => Shape::RouteOnly,
            (0, true) => Shape::Unnamed,
            (1, _) => Shape::OneActivation,
            (n, _) => Shape::Storm(n),
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shape::RouteOnly => f.write_str("every refusal was by the route, no owner spoke"),
            Shape::Unnamed => f.write_str(
                "the owner refused without naming an activation: one that hangs and many that follow \
                 each other cannot be told apart",
            ),
            Shape::OneActivation => f.write_str(
                "the same activation refused every time: look at that owner's disposal",
            ),
            Shape::Storm(n) => write!(
                f,
                "a storm of {n} distinct activations: look at who asks for the recycles"
            ),
        }
    }
}
