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
//! This is the one formatter and the one parser of them; no other place writes or reads this text.
//! Both know text alone, no type of the crate, so that an address can be checked against the words.
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

use std::{borrow::Cow, fmt::Write};

use memchr::memmem;

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

/// How a refusal by an owner opens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Open<'a> {
    pub(crate) address: &'a str,
    /// Free text.
    pub(crate) detail: &'a str,
    /// Hex digits.
    pub(crate) tag: Option<&'a str>,
    pub(crate) host_stopping: bool,
}

impl Open<'_> {
    /// Writes the refusal of `what`, free text like the detail.
    pub(crate) fn refuse(&self, what: &str, tail: Tail) -> String {
        let detail = plain(self.detail);
        let mark = self.tag.map(|tag| format!("{MARKER}{tag}"));
        let leaving = self.host_stopping.then_some("its host is stopping");
        let mut separator = " (";

        let mut message = format!("{HUB}{}{DOWN}", self.address);
        for part in [Some(&*detail), mark.as_deref(), leaving].into_iter().flatten() {
            if !part.is_empty() {
                message.extend([separator, part]);
                separator = ", ";
            }
        }
        if separator == ", " {
            message.push(')');
        }
        // Writing to a string cannot fail.
        let _ = write!(message, " — {}{}", plain(what), tail.as_str());
        message
    }
}

/// Writes that a leaving host does not route to `address`.
pub(crate) fn host_cannot_route(address: &str) -> String {
    format!("{}{NO_WAY}{address}", SIDES[0])
}

/// Writes that a mesh which is going away does not route to `address`.
pub(crate) fn mesh_cannot_route(address: &str) -> String {
    format!("{}{NO_WAY}{address}", SIDES[1])
}

/// Writes that no route leads to `address`: nothing that a reader may take for a promise.
pub(crate) fn no_route(address: &str) -> String {
    format!("No route to '{address}'")
}

/// Writes that nothing is at `address`: nothing that a reader may take for a promise.
pub(crate) fn no_node(address: &str) -> String {
    format!("No node found at '{address}'")
}

/// Returns the word of a refusal that `text` forms, alone or with a space before it.
///
/// A space after it forms the banner's opening out of an address that ends in `Hub`, and no banner: its
/// subject would begin with the banner's end, which no path does.
pub(crate) fn forged_by(text: &str) -> Option<&'static str> {
    let padded = format!(" {text}");
    [HUB, DOWN, MARKER, PROMISE].into_iter().find(|word| padded.contains(word))
}

/// Returns free text that forms no word of a refusal, wherever in the sentence it stands.
///
/// The words stay readable: each has the case of its first letter changed, which the parser does
/// not take for the word and which makes no other word of its surroundings.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    if forged_by(&format!("{text} ")).is_none() && !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    // Control characters first: a line end may become the space that completes a word.
    let padded = format!(" {} ", text.replace(char::is_control, " "))
        .replace(HUB, "hub ")
        .replace(DOWN, " Is shutting down")
        .replace(MARKER, "Activation #");
    Cow::Owned(padded[1..padded.len() - 1].to_owned())
}

/// Returns what follows the first banner in `message` whose subject has this path.
pub(crate) fn after_banner<'a>(message: &'a str, path: &str) -> Option<&'a str> {
    for at in memmem::find_iter(message.as_bytes(), HUB) {
        let Some(rest) = message[at + HUB.len()..].strip_prefix(path) else {
            continue;
        };
        if let Some(rest) = rest.strip_prefix(DOWN) {
            return Some(rest);
        }
        if rest.starts_with('~') {
            // The host runs to the banner's end. Where this one has none, no later one has.
            return after(rest, DOWN);
        }
    }
    None
}

/// Returns whether `message` carries a banner, or a sentence that counts as one, whoever's it is.
pub(crate) fn has_banner(message: &str) -> bool {
    after(message, HUB).is_some_and(|rest| after(rest, DOWN).is_some())
        || cannot_route(message).next().is_some()
}

/// Returns the digits after the first marker in `text`, as many as there are: it may be none.
pub(crate) fn tag(text: &str) -> Option<&str> {
    let rest = after(text, MARKER)?;
    let end = rest.bytes().position(|byte| !byte.is_ascii_hexdigit());
    Some(&rest[..end.unwrap_or(rest.len())])
}

/// Returns whether `text` says that the address may come back.
pub(crate) fn promises(text: &str) -> bool {
    after(text, PROMISE).is_some()
}

/// Returns whether `text` holds the end of an owner's refusal.
pub(crate) fn has_tail(text: &str) -> bool {
    Tail::ALL.iter().any(|tail| after(text, tail.as_str()).is_some())
}

/// Returns whether `message` says that a host or mesh cannot route to an address with this path.
pub(crate) fn cannot_route_to(message: &str, path: &str) -> bool {
    cannot_route(message).any(|rest| rest.strip_prefix(path).is_some_and(ends_path))
}

/// Yields what follows each statement of a host or mesh that it cannot route.
fn cannot_route(message: &str) -> impl Iterator<Item = &str> {
    memmem::find_iter(message.as_bytes(), NO_WAY)
        .filter(|&at| SIDES.iter().any(|side| message[..at].ends_with(side)))
        .map(|at| &message[at + NO_WAY.len()..])
}

/// Returns whether a path may end where `rest` starts: before a host, the punctuation that closes a
/// phrase, or a remark in brackets or behind a dash. Neither a child nor a longer name goes on so, nor
/// one with a space inside.
fn ends_path(rest: &str) -> bool {
    let closed = rest.trim_start_matches(['.', ',', ';', ':', '!', '?', '\'', '"', ')', ']']);
    let remark = closed.trim_start();
    let spaced = remark.len() < closed.len();
    rest.starts_with('~')
        || closed.is_empty()
        || spaced
            && (closed.len() < rest.len() || remark.is_empty() || remark.starts_with(['(', '—']))
}

/// Returns what follows the first `word` in `text`.
fn after<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let at = memmem::find(text.as_bytes(), word.as_bytes())?;
    Some(&text[at + word.len()..])
}
