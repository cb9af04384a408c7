//! The parser: what can be read out of a text of any kind.

use memchr::memchr2;

use super::{DOWN, HUB, MARKER, NO_WAY, PROMISE, SIDES, Tail, search::Search};

/// Returns whether `message` may make a promise: each begins with one of two letters, and the shortest is
/// a side's.
#[inline]
pub(crate) fn may_promise(message: &str) -> bool {
    message.len() > SIDES[0].len() + NO_WAY.len()
        && (message.starts_with(HUB) || memchr2(b'H', b'M', message.as_bytes()).is_some())
}

/// Returns what follows the first banner in `message` whose subject has this path.
#[inline]
pub(crate) fn after_banner<'a>(message: &'a str, path: &str) -> Option<&'a str> {
    let bare = Search::new([HUB, path, DOWN], b'H', 0).next(message);
    // None begins before and ends behind it (invariant 1).
    let before = &message[..bare.unwrap_or(message.len())];

    let hosted = [HUB, path, "~"];
    match (Search::new(hosted, b'~', HUB.len() + path.len()).next(before), bare) {
        // The host runs to the banner's end. Where the first one has none, no later one has.
        (Some(at), _) => after(&message[at + HUB.len() + path.len()..], down()),
        (None, Some(at)) => Some(&message[at + HUB.len() + path.len() + DOWN.len()..]),
        (None, None) => None,
    }
}

/// Returns whether `message` carries a banner, or a sentence that counts as one, whoever's it is.
pub(crate) fn has_banner(message: &str) -> bool {
    after(message, Search::new([HUB], b'H', 0)).is_some_and(|rest| after(rest, down()).is_some())
        || SIDES.iter().any(|side| no_way(side, "").next(message).is_some())
}

/// Returns the digits after the first marker in `text`, where it has one to `most`.
#[inline]
pub(crate) fn tag(text: &str, most: usize) -> Option<&str> {
    let rest = after(text, Search::new([MARKER], b'#', MARKER.len() - 1))?;
    let bytes = &rest.as_bytes()[..rest.len().min(most + 1)];
    let digits = bytes.iter().position(|byte| !HEX[usize::from(*byte)]).unwrap_or(bytes.len());
    (1..=most).contains(&digits).then(|| &rest[..digits])
}

/// Which bytes are hex digits.
const HEX: [bool; 256] = {
    let mut hex = [false; 256];
    let mut byte = 0;
    while byte < hex.len() {
        hex[byte] = (byte as u8).is_ascii_hexdigit();
        byte += 1;
    }
    hex
};

/// Returns whether `text` says that the address may come back.
#[inline]
pub(crate) fn promises(text: &str) -> bool {
    const SLASH: usize = PROMISE.len() - " restart)".len() - 1;
    Search::new([PROMISE], b'/', SLASH).next(text).is_some()
}

/// Returns whether `text` holds the end of an owner's refusal.
pub(crate) fn has_tail(text: &str) -> bool {
    Tail::ALL.iter().any(|tail| {
        let tail = tail.as_str();
        Search::new([tail], b'/', tail.find('/').unwrap_or_default()).next(text).is_some()
    })
}

/// Returns whether `message` says that a host or mesh cannot route to an address with this path.
pub(crate) fn cannot_route_to(message: &str, path: &str) -> bool {
    SIDES.iter().any(|side| {
        let mut places = no_way(side, path);
        let length = side.len() + NO_WAY.len() + path.len();
        std::iter::from_fn(|| places.next(message)).any(|at| ends_path(&message[at + length..]))
    })
}

/// Searches for the statement of a side that it cannot route to `path`.
fn no_way<'a>(side: &'a str, path: &'a str) -> Search<'a, 3> {
    Search::new([side, NO_WAY, path], side.as_bytes()[0], 0)
}

fn down() -> Search<'static, 1> {
    Search::new([DOWN], b'w', DOWN.len() - 2)
}

/// Returns what follows the first place of a word in `text`.
#[inline(always)]
fn after<'a>(text: &'a str, mut word: Search<'_, 1>) -> Option<&'a str> {
    word.next(text).map(|at| &text[at + word.length()..])
}

/// Returns whether a path may end where `rest` starts: before a host, the punctuation that closes a
/// phrase, or a remark in brackets or behind a dash. Neither a child nor a longer name goes on so, nor
/// one with a space inside.
fn ends_path(rest: &str) -> bool {
    let closed = after_marks(rest);
    let remark = closed.trim_start();
    let spaced = remark.len() < closed.len();
    rest.starts_with('~')
        || closed.is_empty()
        || spaced
            && (closed.len() < rest.len() || remark.is_empty() || remark.starts_with(['(', '—']))
}

/// Returns what follows the marks that `text` begins with.
fn after_marks(text: &str) -> &str {
    // No `||`: so that a block is looked at as a whole, many bytes at once.
    let is_mark =
        |byte: u8| b".,;:!?'\")]".iter().fold(false, |is_one, mark| is_one | (byte == *mark));
    let all_marks = |block: &&[u8]| block.iter().fold(true, |all, byte| all & is_mark(*byte));

    let blocks = text.as_bytes().chunks_exact(64).take_while(all_marks).count();
    let rest = &text[64 * blocks..];
    let marks = rest.bytes().take_while(|byte| is_mark(*byte)).count();
    &rest[marks..]
}
