//! The formatter: what an owner, a host or a mesh says.

use super::{DOWN, HUB, MARKER, NO_WAY, SIDES, Tail, search::Search};

/// What stands between the opening of a refusal and what it refuses.
const DASH: &str = " — ";

/// What an owner says that leaves with its host.
const LEAVING: &str = "its host is stopping";

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
    /// Writes the refusal of a request: `what` are the words that name both, free text like the detail.
    pub(crate) fn refuse(&self, what: [&str; 2], tail: Tail) -> String {
        let [verb, request] = what;
        let tag = self.tag.unwrap_or_default();
        // With room for all that may come between, a separator each.
        let fixed = HUB.len() + DOWN.len() + DASH.len() + 1 + tail.as_str().len();
        let remarks = self.detail.len() + MARKER.len() + tag.len() + LEAVING.len() + 8;
        let free = verb.len() + request.len();
        let mut message = String::with_capacity(self.address.len() + fixed + remarks + free);

        message.push_str(HUB);
        message.push_str(self.address);
        message.push_str(DOWN);
        let opened = message.len();
        if !self.detail.is_empty() {
            message.push_str(separator(&message, opened));
            push_plain(&mut message, [self.detail]);
        }
        if self.tag.is_some() {
            message.push_str(separator(&message, opened));
            message.push_str(MARKER);
            message.push_str(tag);
        }
        if self.host_stopping {
            message.push_str(separator(&message, opened));
            message.push_str(LEAVING);
        }
        if message.len() > opened {
            message.push(')');
        }
        message.push_str(DASH);
        push_plain(&mut message, [verb, " ", request]);
        message.push_str(tail.as_str());
        message
    }
}

/// Returns what stands before a remark: the first one opens the brackets.
fn separator(message: &str, opened: usize) -> &'static str {
    if message.len() == opened { " (" } else { ", " }
}

/// Writes that a leaving host does not route to `address`.
pub(crate) fn host_cannot_route(address: &str) -> String {
    [SIDES[0], NO_WAY, address].concat()
}

/// Writes that a mesh which is going away does not route to `address`.
pub(crate) fn mesh_cannot_route(address: &str) -> String {
    [SIDES[1], NO_WAY, address].concat()
}

/// Writes that no route leads to `address`: nothing that a reader may take for a promise.
pub(crate) fn no_route(address: &str) -> String {
    format!("No route to '{address}'")
}

/// Writes that nothing is at `address`: nothing that a reader may take for a promise.
pub(crate) fn no_node(address: &str) -> String {
    format!("No node found at '{address}'")
}

/// Returns free text that forms no word of a refusal, wherever in the sentence it stands.
///
/// The words stay readable: each has the case of its first letter changed, which the parser does
/// not take for the word and which makes no other word of its surroundings.
pub(crate) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    push_plain(&mut plain, [text]);
    plain
}

/// Writes the parts of a free text one behind the other, as [`plain`] has it.
fn push_plain<const N: usize>(message: &mut String, parts: [&str; N]) {
    let from = message.len();
    parts.iter().for_each(|part| blocks(part).for_each(|block| message.push_str(block)));

    // Nearly all texts have nothing of the kind.
    let seen = Seen::of(&message.as_bytes()[from..]);
    // Control characters first: a line end may become the space that completes a word.
    if seen.unusual {
        message.truncate(from);
        parts.iter().for_each(|part| push_in_one_line(message, part));
    }
    if seen.lettered {
        change_words(&mut message[from..]);
    }
}

/// Writes `text` with a space in the place of each control character.
#[cold]
fn push_in_one_line(message: &mut String, text: &str) {
    for block in blocks(text) {
        if !block.is_ascii() {
            message.extend(block.chars().map(|it| if it.is_control() { ' ' } else { it }));
            continue;
        }
        let mut spaced = [b' '; BLOCK];
        for (to, from) in spaced.iter_mut().zip(block.bytes()) {
            *to = if from.is_ascii_control() { b' ' } else { from };
        }
        message.push_str(&String::from_utf8_lossy(&spaced[..block.len()]));
    }
}

/// Changes the case of a letter in each word of a refusal. It is in no other word, so their order does
/// not matter.
#[cold]
fn change_words(text: &mut str) {
    let mut hubs = Search::new([HUB], b'H', 0);
    while let Some(at) = hubs.next(text) {
        text[at..=at].make_ascii_lowercase();
    }
    let mut downs = Search::new([DOWN], b'w', DOWN.len() - 2);
    while let Some(at) = downs.next(text) {
        text[at + 1..=at + 1].make_ascii_uppercase();
    }
    let mut markers = Search::new([MARKER], b'#', MARKER.len() - 1);
    while let Some(at) = markers.next(text) {
        text[at..=at].make_ascii_uppercase();
    }

    // What stands before and behind it may be a space.
    if text.starts_with(&DOWN[1..]) {
        text[..1].make_ascii_uppercase();
    }
    if text.ends_with(&HUB[..HUB.len() - 1]) {
        let at = text.len() + 1 - HUB.len();
        text[at..=at].make_ascii_lowercase();
    }
}

/// How many bytes are written in one step.
const BLOCK: usize = 256;

/// Returns the blocks of a text, one behind the other.
fn blocks(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let mut end = text.len().min(BLOCK);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let (block, rest) = text.split_at(end);
        text = rest;
        Some(block).filter(|block| !block.is_empty())
    })
}

/// How many bytes are looked at in one step.
const LANES: usize = 16;

/// What a text may hold.
struct Seen {
    /// Anything but the plain characters of ASCII: a control character, or one of several bytes.
    unusual: bool,
    /// A letter of each word of a refusal.
    lettered: bool,
}

impl Seen {
    /// Looks at every byte, and at many of them at once: there is no early end.
    fn of(text: &[u8]) -> Self {
        let (mut lowest, mut highest, mut letters) = ([0xFF; LANES], [0; LANES], [false; LANES]);
        let mut look = |bytes: &[u8; LANES]| {
            for (lane, &byte) in bytes.iter().enumerate() {
                lowest[lane] = byte.min(lowest[lane]);
                highest[lane] = byte.max(highest[lane]);
                letters[lane] |= (byte == b'H') | (byte == b'w') | (byte == b'#');
            }
        };
        let (steps, rest) = text.as_chunks::<LANES>();
        steps.iter().for_each(&mut look);
        let mut last = [b' '; LANES];
        last[..rest.len()].copy_from_slice(rest);
        look(&last);

        let lowest = lowest.into_iter().fold(0xFF, u8::min);
        let highest = highest.into_iter().fold(0, u8::max);
        Seen {
            unusual: lowest < b' ' || highest > b'~',
            lettered: letters.into_iter().fold(false, |is, letter| is | letter),
        }
    }
}
