//! The formatter: what an owner, a host or a mesh says.

use std::mem;

use memchr::memchr;

use super::{
    DOWN, HUB, MARKER, NO_WAY, SIDES, Tail,
    search::{APART, Search, TRIES},
};

/// What stands between the opening of a refusal and what it refuses.
const DASH: &str = " — ";

/// What an owner says that leaves with its host.
const LEAVING: &str = "its host is stopping";

/// How a refusal by an owner opens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Open<'a> {
    pub(crate) address: &'a str,
    /// Free text, made [`plain`].
    pub(crate) detail: &'a str,
    /// Hex digits.
    pub(crate) tag: Option<&'a str>,
    pub(crate) host_stopping: bool,
}

impl Open<'_> {
    /// Writes the refusal of a request: `what` are the words that name both, free text.
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
            push(&mut message, self.detail);
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
        let what = message.len();
        push(&mut message, verb);
        message.push(' ');
        push(&mut message, request);
        make_plain(&mut message, what);
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
pub(crate) fn plain(text: impl Into<String>) -> String {
    let mut text = text.into();
    make_plain(&mut text, 0);
    text
}

/// Makes [`plain`] what stands in `message` from `from` on.
fn make_plain(message: &mut String, from: usize) {
    // Nearly all texts have nothing of the kind.
    let seen = Seen::of(&message.as_bytes()[from..]);
    if seen.unusual || seen.lettered {
        change(message, from, &seen);
    }
}

/// Changes what may not stand in `message` from `from` on, in place.
#[cold]
fn change(message: &mut String, from: usize, seen: &Seen) {
    // Control characters first: a line end may become the space that completes a word.
    let holds = |byte| memchr(byte, &message.as_bytes()[from..]).is_some();
    // Where one has two bytes, this is the first of them.
    if seen.unusual && holds(0xC2) {
        let text = message.split_off(from);
        message.extend(text.chars().map(|it| if it.is_control() { ' ' } else { it }));
    } else if seen.unusual && (seen.lowest < b' ' || holds(0x7F)) {
        bytewise(message, from, |text| {
            text.iter_mut().for_each(|it| *it = if it.is_ascii_control() { b' ' } else { *it });
        });
    }
    if seen.lettered {
        change_words(message, from);
    }
}

/// Changes the case of a letter in each word of a refusal. It is in no other word, so their order does
/// not matter.
fn change_words(message: &mut String, from: usize) {
    let mut hubs = Search::new([HUB], b'H', 0);
    let mut found = 0;
    while let Some(at) = hubs.next(&message.as_bytes()[from..]) {
        found += 1;
        if found > TRIES + at / APART {
            bytewise(message, from + at, change_hubs);
            break;
        }
        message[from + at..=from + at].make_ascii_lowercase();
    }
    let text = &mut message[from..];
    let mut downs = Search::new([DOWN], b'w', DOWN.len() - 2);
    while let Some(at) = downs.next(text.as_bytes()) {
        text[at + 1..=at + 1].make_ascii_uppercase();
    }
    let mut markers = Search::new([MARKER], b'#', MARKER.len() - 1);
    while let Some(at) = markers.next(text.as_bytes()) {
        text[at..=at].make_ascii_uppercase();
    }

    // What stands before and behind it may be a space.
    if text.starts_with(&DOWN[1..]) {
        text[..1].make_ascii_uppercase();
    }
    if text.ends_with(HUB.trim_end()) {
        let at = text.len() + 1 - HUB.len();
        text[at..=at].make_ascii_lowercase();
    }
}

/// Changes characters of ASCII for other such ones, in what stands in `message` from `from` on.
fn bytewise(message: &mut String, from: usize, change: impl FnOnce(&mut [u8])) {
    let mut bytes = mem::take(message).into_bytes();
    change(&mut bytes[from..]);
    *message = String::from_utf8(bytes).expect("characters of ASCII stand for such ones");
}

/// Changes the case of every word that opens a banner. It is so short that all places are compared, many
/// at once.
fn change_hubs(text: &mut [u8]) {
    let &[h, u, b, space] = HUB.as_bytes() else { return };
    for at in 0..text.len().saturating_sub(HUB.len() - 1) {
        let [first, second, third, fourth] = [text[at], text[at + 1], text[at + 2], text[at + 3]];
        let stands = (first == h) & (second == u) & (third == b) & (fourth == space);
        text[at] = if stands { first.to_ascii_lowercase() } else { first };
    }
}

/// How many bytes are written in one step.
const BLOCK: usize = 256;

/// Writes `text` behind `message`.
fn push(message: &mut String, mut text: &str) {
    while !text.is_empty() {
        let mut end = text.len().min(BLOCK);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let (block, rest) = text.split_at(end);
        message.push_str(block);
        text = rest;
    }
}

/// How many bytes are looked at in one step.
const LANES: usize = 32;

/// What a text may hold.
struct Seen {
    lowest: u8,
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
            lowest,
            unusual: lowest < b' ' || highest > b'~',
            lettered: letters.into_iter().fold(false, |is, letter| is | letter),
        }
    }
}
