//! Where words stand in a text of any kind, at the cost of a few instructions a byte.

use memchr::{
    arch::all::packedpair::HeuristicFrequencyRank,
    memchr,
    memmem::{Finder, FinderBuilder},
};

use super::{DOWN, HUB, MARKER, NO_WAY, PROMISE, SIDES};

/// How many places may be tried in vain before a searcher is built, which costs some thousand instructions.
pub(super) const TRIES: usize = 32;

/// How many bytes have to lie between such places in the long run. Where they stand closer, text is hostile.
pub(super) const APART: usize = 64;

/// Finds the places of a word, one after the other.
///
/// A byte of the word that is rare in other text is searched for, and the word is tried where that byte
/// stands. In a text that has it at every turn, a searcher for the whole word does the rest.
pub(super) struct Search<'a, const N: usize> {
    // One behind the other they are the word.
    parts: [&'a str; N],
    rare: u8,
    // How many bytes of the word stand before the rare one.
    before: usize,
    // No place before this one is left.
    from: usize,
    tried: usize,
    searcher: Option<Box<Finder<'static>>>,
}

impl<'a, const N: usize> Search<'a, N> {
    /// Searches for `parts`, one behind the other, of which the byte `rare` is the one at `before`.
    #[inline(always)]
    pub(super) fn new(parts: [&'a str; N], rare: u8, before: usize) -> Self {
        Self { parts, rare, before, from: 0, tried: 0, searcher: None }
    }

    /// Returns how many bytes the word has.
    #[inline(always)]
    pub(super) fn length(&self) -> usize {
        self.parts.iter().map(|part| part.len()).sum()
    }

    /// Returns the next place of the word in `text`, which is the same text each time.
    #[inline(always)]
    pub(super) fn next(&mut self, text: &[u8]) -> Option<usize> {
        // Inlined wherever it is used: there the word is known, and compared in a few instructions. For
        // the same reason nothing cold borrows the search.
        while self.searcher.is_none() {
            let rest = text.get(self.from + self.before..)?;
            // What an owner says begins with a word, and hostile text often goes on with one.
            let next = if rest.first() == Some(&self.rare) { 0 } else { memchr(self.rare, rest)? };
            let at = self.from + next;
            if stands(self.parts, &text[at..]) {
                self.from = at + self.step();
                return Some(at);
            }
            self.from = at + 1;
            self.tried += 1;
            if self.tried > TRIES + at / APART {
                self.searcher = Some(searcher(&self.parts));
            }
        }
        let at = self.from + search(self.searcher.as_deref()?, &text[self.from..])?;
        self.from = at + self.step();
        Some(at)
    }

    /// Returns how far the next place is away at least: no word overlaps itself (invariant 2), but one with
    /// a path may.
    #[inline(always)]
    fn step(&self) -> usize {
        if N == 1 { self.length() } else { 1 }
    }
}

/// Returns whether `text` begins with `parts`, one behind the other.
#[inline(always)]
fn stands<const N: usize>(parts: [&str; N], mut text: &[u8]) -> bool {
    for part in parts {
        let Some(rest) = text.strip_prefix(part.as_bytes()) else { return false };
        text = rest;
    }
    true
}

#[cold]
fn searcher(parts: &[&str]) -> Box<Finder<'static>> {
    let word = parts.concat();
    Box::new(
        FinderBuilder::new().build_forward_with_ranker(OfAddresses, word.as_bytes()).into_owned(),
    )
}

/// Says which bytes are rare: those of an address, and after them one of what follows it. The searcher
/// looks for two, so that neither words about another address nor this address alone detain it.
struct OfAddresses;

impl HeuristicFrequencyRank for OfAddresses {
    fn rank(&self, byte: u8) -> u8 {
        RANKS[usize::from(byte)]
    }
}

const RANKS: [u8; 256] = {
    let mut ranks = [0; 256];
    let words = [HUB, DOWN, MARKER, PROMISE, NO_WAY, SIDES[0], SIDES[1]];
    let mut word = 0;
    while word < words.len() {
        let mut at = 0;
        while at < words[word].len() {
            ranks[words[word].as_bytes()[at] as usize] = u8::MAX;
            at += 1;
        }
        word += 1;
    }
    ranks[b'w' as usize] = 1;
    ranks
};

#[cold]
fn search(searcher: &Finder<'_>, text: &[u8]) -> Option<usize> {
    searcher.find(text)
}
