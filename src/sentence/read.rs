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
    // Who is heard directly begins with it.
    if let Some(rest) = message.strip_prefix(HUB)
        && let Some(rest) = rest.strip_prefix(path)
        && let Some(rest) = rest.strip_prefix(DOWN)
    {
        return Some(rest);
    }
    banner_within(message, path)
}

fn banner_within<'a>(message: &'a str, path: &str) -> Option<&'a str> {
    let bare = Search::new([HUB, path, DOWN], b'H', 0).next(message.as_bytes());
    // None begins before and ends behind it (invariant 1).
    let before = &message[..bare.unwrap_or(message.len())];

    let hosted = [HUB, path, "~"];
    match (Search::new(hosted, b'~', HUB.len() + path.len()).next(before.as_bytes()), bare) {
        // The host runs to the banner's end. Where the first one has none, no later one has.
        (Some(at), _) => after(&message[at + HUB.len() + path.len()..], down()),
        (None, Some(at)) => Some(&message[at + HUB.len() + path.len() + DOWN.len()..]),
        (None, None) => None,
    }
}

/// Returns whether `message` carries a banner, or a sentence that counts as one, whoever's it is.
pub(crate) fn has_banner(message: &str) -> bool {
    after(message, Search::new([HUB], b'H', 0)).is_some_and(|rest| after(rest, down()).is_some())
        || SIDES.iter().any(|side| no_way(side, "").next(message.as_bytes()).is_some())
}

/// Returns the digits after the first marker in `text`, where it has one to `most`.
#[inline]
pub(crate) fn tag(text: &str, most: usize) -> Option<&str> {
    let rest = after(text, Search::new([MARKER], b'#', MARKER.len() - 1))?;
    let digits = leading::<16>(&rest.as_bytes()[..rest.len().min(most + 1)], is_hex);
    (1..=most).contains(&digits).then(|| &rest[..digits])
}

/// Returns whether `text` says that the address may come back.
#[inline]
pub(crate) fn promises(text: &str) -> bool {
    const SLASH: usize = PROMISE.len() - " restart)".len() - 1;
    // What an owner says ends so, unless something was added.
    Tail::ALL.iter().any(|tail| text.ends_with(tail.as_str()))
        || Search::new([PROMISE], b'/', SLASH).next(text.as_bytes()).is_some()
}

/// Returns whether `text` holds the end of an owner's refusal.
pub(crate) fn has_tail(text: &str) -> bool {
    Tail::ALL.iter().any(|tail| {
        let tail = tail.as_str();
        Search::new([tail], b'/', tail.find('/').unwrap_or_default())
            .next(text.as_bytes())
            .is_some()
    })
}

/// Returns whether `message` says that a host or mesh cannot route to an address with this path.
pub(crate) fn cannot_route_to(message: &str, path: &str) -> bool {
    SIDES.iter().any(|side| {
        let mut places = no_way(side, path);
        let length = side.len() + NO_WAY.len() + path.len();
        std::iter::from_fn(|| places.next(message.as_bytes()))
            .any(|at| ends_path(&message[at + length..]))
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
    word.next(text.as_bytes()).map(|at| &text[at + word.length()..])
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
    &text[leading::<64>(text.as_bytes(), is_mark)..]
}

/// Returns how many bytes at the start of `text` are such ones: `N` are looked at in one step.
#[inline(always)]
fn leading<const N: usize>(text: &[u8], are: impl Fn(u8) -> bool) -> usize {
    let (blocks, _) = text.as_chunks::<N>();
    // No early end within a block.
    let all_are = |block: &&[u8; N]| block.iter().fold(true, |all, byte| all & are(*byte));
    let whole = N * blocks.iter().take_while(all_are).count();
    whole + text[whole..].iter().take_while(|byte| are(**byte)).count()
}

// No `||` in these, so that many bytes are looked at in one step.

fn is_hex(byte: u8) -> bool {
    byte.is_ascii_digit() | matches!(byte | 0x20, b'a'..=b'f')
}

fn is_mark(byte: u8) -> bool {
    b".,;:!?'\")]".iter().fold(false, |is_one, mark| is_one | (byte == *mark))
}
