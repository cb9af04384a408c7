//! Which stream and which future of the crate keeps which contract, and where that is shown: read against
//! the sources, so that none can be forgotten, and against the tests.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// Where a contract is shown, or why there is nothing to show.
#[derive(Clone, Copy)]
enum Cell {
    /// By this test, as `module::test`.
    By(&'static str),
    Not(&'static str),
}

use Cell::{By, Not};

/// A stream or a future, and its contracts.
struct Row {
    name: &'static str,
    /// Fused, and says so; `size_hint` true at every step; none of its parts polled after its end (C37);
    /// nothing left wherever it is dropped (C39); in a new task that one is woken, and not the old one
    /// (C38); woken before it goes on; not stuck when a waker panics. And after its end what its
    /// documentation says.
    keeps: Cell,
    /// What of the user's panics reaches the caller, once; polled again it goes on (C40).
    panics: Cell,
    /// So much work in a poll however much is at hand, and others have their turn (C36).
    bounded: Cell,
}

const fn row(name: &'static str, keeps: Cell, panics: Cell, bounded: Cell) -> Row {
    Row { name, keeps, panics, bounded }
}

/// Wakers are foreign as well, and `keeps` has those panic.
const WAKERS: Cell = Not("runs nobody's code but wakers");
const ONE_LOOK: Cell = Not("looks once a poll, under a lock, at its own state");
const PART: Cell = Not("private: a part of a rider's, and polled by it alone");

const BOX: Cell = Not("hands each poll to the rider in it");

const MATRIX: [Row; 17] = [
    row("Claim", By("carrier::a_claim_keeps_what_futures_keep"), WAKERS, ONE_LOOK),
    row("Completed", By("carrier::a_completion_keeps_what_futures_keep"), WAKERS, ONE_LOOK),
    row("Triggers", By("carrier::triggers_keep_what_streams_keep"), WAKERS, ONE_LOOK),
    row(
        "Charges",
        By("carrier::charges_keep_what_streams_keep"),
        By("carrier::charges_outlive_panics"),
        By("carrier::charges_take_one_at_a_time"),
    ),
    row(
        "Defer",
        By("carrier::deferred_attempts_keep_what_streams_keep"),
        By("carrier::deferred_attempts_outlive_panics"),
        By("carrier::deferred_attempts_are_made_one_at_a_time"),
    ),
    row(
        "Attempt",
        By("carrier::an_attempt_keeps_what_futures_keep"),
        By("carrier::an_attempt_outlives_panics"),
        By("carrier::an_attempt_polls_its_ask_once_a_poll"),
    ),
    row(
        "ConcatAttempts",
        By("carrier::chains_keep_what_streams_keep_to_a_verdict"),
        By("carrier::chains_outlive_panics"),
        By("carrier::chains_take_so_many_turns_in_a_poll"),
    ),
    row(
        "RideOut",
        By("riders::a_rider_keeps_what_streams_keep"),
        By("panics::every_part_panics_once_wherever_a_rider_comes_to_it"),
        By("riders/bounded::a_rider_takes_so_many_turns_in_a_poll"),
    ),
    row("BoxRide", By("riders::a_box_keeps_what_streams_keep"), BOX, BOX),
    row(
        "Phases",
        By("riders::phases_keep_what_streams_keep"),
        By("panics::an_attempt_that_panicked_is_shown_anew"),
        By("riders/bounded::phases_take_so_many_turns_in_a_poll"),
    ),
    row(
        "PointRead",
        By("riders::a_read_keeps_what_futures_keep"),
        By("panics::every_part_of_a_read_panics_once"),
        By("riders/bounded::a_read_takes_so_many_turns_in_a_poll"),
    ),
    row(
        "NoNews",
        By("riders::no_news_keep_what_streams_keep"),
        Not("has nothing that could"),
        Not("has nothing to do"),
    ),
    row("Stage", PART, PART, PART),
    row("TokioSleep", By("riders::a_sleep_of_tokio_s_keeps_what_futures_keep"), WAKERS, ONE_LOOK),
    row("Reached", By("owner::a_wait_for_a_level_keeps_what_futures_keep"), WAKERS, ONE_LOOK),
    row(
        "Driver",
        By("owner::a_driver_keeps_what_futures_keep"),
        By("owner::a_driver_outlives_panics"),
        By("owner::a_driver_polls_the_last_code_once_a_poll"),
    ),
    row(
        "Wave",
        By("owner::a_wave_keeps_what_futures_keep"),
        WAKERS,
        Not("looks at each of its members once, over all polls"),
    ),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A file's code, without comments, in one line.
fn code(path: &Path) -> String {
    let text =
        fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let code = text.lines().map(|line| line.trim()).filter(|line| !line.starts_with("//"));
    code.collect::<Vec<_>>().join(" ")
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("a file").path());
    entries.flat_map(|at| if at.is_dir() { sources(&at) } else { vec![at] }).collect()
}

/// What stands from each `start` to where its body or its end begins.
fn heads<'a>(code: &'a str, start: &'a str) -> impl Iterator<Item = &'a str> {
    code.match_indices(start).map(move |(at, _)| {
        let end = code[at..].find(['{', ';']).map_or(code.len(), |length| at + length);
        &code[at..end]
    })
}

fn name(text: &str) -> &str {
    let end = text.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(text.len());
    &text[..end]
}

/// The types for which `code` implements `what`.
fn implementors<'a>(code: &'a str, what: &'a str) -> impl Iterator<Item = String> {
    let parts = heads(code, "impl").filter_map(move |head| head.split_once(what));
    parts.filter(|(before, _)| before.ends_with([' ', ':'])).map(|(_, rest)| name(rest).to_owned())
}

/// Every stream and every future in `code`: the types that are one, and the public functions that return
/// one that has no name.
fn found(code: &str) -> BTreeSet<String> {
    let unnamed = |head: &&str| {
        let returned = head.split_once("->").map_or("", |(_, returned)| returned);
        let returned = returned.split(" where ").next().unwrap_or_default();
        let is_opaque = returned.contains("impl ") || returned.contains("dyn ");
        let is_polled = returned.contains("Future") || returned.contains("Stream");
        head.contains("async fn ") || is_opaque && is_polled
    };
    let functions = heads(code, "pub ").filter(|head| head.contains("fn ")).filter(unnamed);
    let functions = functions
        .filter_map(|head| head.split_once("fn "))
        .map(|(_, rest)| format!("fn {}", name(rest)));
    let types = implementors(code, "Stream for ").chain(implementors(code, "Future for "));
    types.chain(functions).collect()
}

#[test]
fn the_scan_sees_them_all() {
    let code = "impl<T> Stream for A<T> where T: X { } impl futures_core::Stream for B { } \
        impl<Fut, E> Future for C<Fut, E> { } impl FusedStream for D { } impl Debug for E { } \
        pub async fn f(&self) -> u32 { } pub fn g() -> impl Future<Output = ()> { } \
        pub fn h(it: impl Stream) -> BTreeSet<u32> { } pub(super) async fn i() { } \
        pub fn j() -> Pin<Box<dyn Stream<Item = ()>>> { } pub const fn k() -> u32 where F: Future { }";
    let seen = found(code);
    assert_eq!(
        seen.iter().map(String::as_str).collect::<Vec<_>>(),
        ["A", "B", "C", "fn f", "fn g", "fn j"]
    );
}

#[test]
fn every_stream_and_future_has_its_row() {
    let files = sources(&root().join("src"));
    let found: BTreeSet<_> = files.iter().flat_map(|path| found(&code(path))).collect();
    let rows: BTreeSet<_> = MATRIX.iter().map(|row| row.name.to_owned()).collect();
    assert_eq!(rows.len(), MATRIX.len(), "a row is there twice");
    assert_eq!(found, rows, "found in src, and listed in the matrix");
}

#[test]
fn every_stream_is_fused() {
    let files = sources(&root().join("src"));
    let implement = |what: &str| -> BTreeSet<String> {
        files.iter().flat_map(|path| implementors(&code(path), what).collect::<Vec<_>>()).collect()
    };
    let streams = implement("Stream for ");
    assert!(!streams.is_empty());
    assert_eq!(implement("FusedStream for "), streams);
}

/// The functions of a test file, by name: their code.
fn functions(file: &str) -> BTreeMap<String, String> {
    let code = code(&root().join(format!("tests/core/contracts/{file}.rs")));
    let mut starts: Vec<_> = code.match_indices("fn ").map(|(at, _)| at).collect();
    starts.retain(|at| code[..*at].ends_with([' ', ')', ']']));
    starts.push(code.len());
    let bodies = starts.windows(2).map(|pair| &code[pair[0] + 3..pair[1]]);
    bodies.map(|body| (name(body).to_owned(), body.to_owned())).collect()
}

/// Whether `test` calls what starts with `goal`, itself or by another function of its file.
fn reaches(functions: &BTreeMap<String, String>, test: &str, goal: &str) -> bool {
    let Some(body) = functions.get(test) else { return false };
    let calls = |name: &str| {
        let called = format!("{name}(");
        body.match_indices(&called).any(|(at, _)| at > 0 && !body[..at].ends_with(['.', '_']))
    };
    let itself = body.match_indices(goal).any(|(at, _)| body[..at].ends_with([' ', '{', ':']));
    itself || functions.keys().any(|it| it != test && calls(it) && reaches(functions, it, goal))
}

#[test]
fn every_cell_is_shown_or_has_its_reason() {
    for Row { name, keeps, panics, bounded } in &MATRIX {
        for (cell, goal) in [(keeps, "keeps"), (panics, "outlives_panics"), (bounded, "is_bounded")]
        {
            match cell {
                Not(reason) => assert!(reason.len() > 10, "{name}: {goal}"),
                By(test) => {
                    let (file, test) = test.split_once("::").expect("a file and a test");
                    let functions = functions(file);
                    assert!(functions.contains_key(test), "{name}: there is no {file}::{test}");
                    assert!(
                        reaches(&functions, test, goal),
                        "{name}: {test} shows nothing of {goal}"
                    );
                }
            }
        }
    }
}

/// Of each it is said whether it is sent, shared and pinned.
#[test]
fn every_type_says_whether_it_is_sent() {
    let code = code(&root().join("tests/core/contracts/sent.rs"));
    for Row { name, keeps, .. } in &MATRIX {
        let is_private = matches!(keeps, Not(_));
        let said = ["is::<", "is_sent_and_unpin::<", "is_sent_and_shared::<"].iter().any(|says| {
            code.contains(&format!("{says}{name}>")) || code.contains(&format!("{says}{name}<"))
        });
        assert!(said || is_private, "nothing is said of {name}");
    }
}
