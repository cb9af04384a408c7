//! Which words does an owner refuse with, and what can be read out of them again?
//!
//! The words are contract between owners and readers that were built years apart:
//!
//! ```text
//! refusal := OPEN " — " WHAT TAIL
//! OPEN    := BANNER [ " (" DETAIL ")" ]
//! BANNER  := "Hub " ADDRESS " is shutting down"
//! DETAIL  := e.g. "RunLevel=Dead, activation #017DA86C"
//! ```
//!
//! This is the one formatter (`write`) and the one parser (`read`) of them; no other place writes or reads
//! this text, and both find its words by `search`. They know text alone, no type of the crate, so that an
//! address can be checked against the words.
//!
//! # Invariants
//!
//! 1. A path holds no [`HUB`], [`DOWN`], [`MARKER`] or [`PROMISE`], not even with a space before
//!    it; [`forged_by`] says so.
//! 2. No word overlaps itself, so a search finds every place where it stands. ([`NO_WAY`] could by
//!    its outer spaces, but then it follows a "to", and none of the [`SIDES`].)
//! 3. Reading is linear. A path is compared at each banner's start, and by invariant 1 no other
//!    banner starts within what agreed with it but at its very end, where the path may end in `Hub`:
//!    all comparisons together pass the text twice at most.

mod read;
mod search;
mod write;

pub(crate) use self::{
    read::{after_banner, cannot_route_to, has_banner, has_tail, may_promise, promises, tag},
    write::{Open, host_cannot_route, mesh_cannot_route, no_node, no_route, plain},
};

/// What a banner starts with; the subject follows.
const HUB: &str = "Hub ";

/// What a banner ends with.
const DOWN: &str = " is shutting down";

/// What stands before a tag.
const MARKER: &str = "activation #";

/// What a promise says, whichever letter the sentence starts with.
const PROMISE: &str = "he address may reactivate (recycle / restart)";

/// What follows the name of the side that cannot route; the address follows.
const NO_WAY: &str = " is shutting down, cannot route to ";

/// The sides that say so.
const SIDES: [&str; 2] = ["Host", "Mesh"];

/// How a refusal ends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Tail {
    /// The request was turned away before anything looked at it.
    AtTheDoor,
    /// The request was accepted and then could not be finished.
    Accepted,
}

impl Tail {
    const ALL: [Tail; 2] = [Tail::AtTheDoor, Tail::Accepted];

    fn as_str(self) -> &'static str {
        match self {
            Tail::AtTheDoor => "; the address may reactivate (recycle / restart). Rejecting now.",
            Tail::Accepted => {
                ". The address may reactivate (recycle / restart); \
                 retry to get the authoritative answer."
            }
        }
    }
}

/// Returns the word of a refusal that `text` forms, alone or with a space before it.
///
/// A space after it forms the banner's opening out of an address that ends in `Hub`, and no banner: its
/// subject would begin with the banner's end, which no path does.
pub(crate) fn forged_by(text: &str) -> Option<&'static str> {
    [HUB, DOWN, MARKER, PROMISE].into_iter().find(|word| {
        let behind_a_space = word.strip_prefix(' ').is_some_and(|rest| text.starts_with(rest));
        behind_a_space || text.contains(word)
    })
}
