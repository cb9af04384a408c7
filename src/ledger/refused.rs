//! Who refused since the last answer, and how often again.

use crate::activation::Activation;

/// A set of activations, with a count for each.
///
/// Nearly always there is one. So the first needs no memory of its own, and the others are in order:
/// however many a budget allows, one is found in a few steps.
#[derive(Debug, Default)]
pub(super) struct Refused {
    first: Option<Repeats>,
    others: Vec<Repeats>,
}

#[derive(Debug)]
struct Repeats {
    activation: Activation,
    count: u32,
}

impl Refused {
    /// Returns how often `activation` refused again, `None` where it has not refused at all.
    #[inline]
    pub(super) fn repeats(&mut self, activation: &Activation) -> Option<&mut u32> {
        let Refused { first, others } = self;
        let first = first.as_mut()?;
        if first.activation == *activation {
            return Some(&mut first.count);
        }
        let place = place(others, activation).ok()?;
        Some(&mut others[place].count)
    }

    pub(super) fn contains(&self, activation: &Activation) -> bool {
        let is_it = |first: &Repeats| {
            first.activation == *activation || place(&self.others, activation).is_ok()
        };
        self.first.as_ref().is_some_and(is_it)
    }

    #[cold]
    /// Adds one that has not refused.
    pub(super) fn insert(&mut self, activation: Activation) {
        let refused = |activation| Repeats { activation, count: 0 };
        if self.first.is_none() {
            self.first = Some(refused(activation));
        } else if let Err(place) = place(&self.others, &activation) {
            self.others.insert(place, refused(activation));
        }
    }

    pub(super) fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.others.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Activation> {
        self.first.iter().chain(&self.others).map(|refused| &refused.activation)
    }
}

/// Returns where `activation` is among the others, or where it belongs.
#[cold]
fn place(others: &[Repeats], activation: &Activation) -> Result<usize, usize> {
    others.binary_search_by(|refused| refused.activation.cmp(activation))
}
