//! Every stream and every future of the mesh, and the test that shows its contracts: read against the sources,
//! so that none can be forgotten.

use std::{collections::BTreeSet, fs, path::Path};

/// A stream or a future, the test of what it keeps, and what a panic of the user's does to it.
struct Row {
    name: &'static str,
    keeps: fn(),
    panics: Panics,
}

enum Panics {
    Outlived(fn()),
    // Why there is nothing to show.
    None(&'static str),
}

use Panics::{None, Outlived};

const WAKERS: Panics = None("runs nobody's code but wakers, and `keeps` has those panic");
const REQUEST: Panics = None("its owner runs what is foreign; an `async fn` that panicked is over");
const RIDER: Panics = None("a `RideOut`, whose contracts are the library's");

// So much work in a poll: a channel gives one item, and what waits in it is finite; a request is a sleep,
// and then one answer.
const ROWS: [Row; 8] = [
    Row {
        name: "Subscription",
        keeps: crate::a_subscription_keeps_what_streams_keep,
        panics: Outlived(crate::a_subscription_outlives_panics),
    },
    Row { name: "NewsStream", keeps: crate::news_keep_what_streams_keep, panics: WAKERS },
    Row { name: "Changes", keeps: crate::changes_keep_what_streams_keep, panics: WAKERS },
    Row {
        name: "fn ride_out",
        keeps: crate::a_rider_of_the_mesh_keeps_what_streams_keep,
        panics: RIDER,
    },
    Row {
        name: "fn subscribe",
        keeps: crate::a_subscribe_keeps_what_futures_keep,
        panics: REQUEST,
    },
    Row { name: "fn write", keeps: crate::a_write_keeps_what_futures_keep, panics: REQUEST },
    Row { name: "fn patch", keeps: crate::a_patch_keeps_what_futures_keep, panics: REQUEST },
    Row { name: "fn read", keeps: crate::a_read_keeps_what_futures_keep, panics: REQUEST },
];

/// The code of the sources, without comments.
fn sources() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files = fs::read_dir(folder).expect("a folder").map(|file| file.expect("a file").path());
    let code = |text: String| {
        let lines = text.lines().map(str::trim).filter(|line| !line.starts_with("//"));
        lines.collect::<Vec<_>>().join("\n")
    };
    files.map(|file| code(fs::read_to_string(file).expect("a text"))).collect()
}

/// What stands behind each `start` as a name.
fn named<'a>(code: &'a str, start: &'a str) -> impl Iterator<Item = &'a str> {
    code.match_indices(start).map(move |(at, _)| {
        let rest = &code[at + start.len()..];
        let end = rest.find(|it: char| !it.is_alphanumeric() && it != '_');
        &rest[..end.unwrap_or(rest.len())]
    })
}

#[test]
fn every_stream_and_future_has_its_row() {
    let sources = sources();
    let mut found = BTreeSet::new();
    for code in &sources {
        let types = [" Stream for ", " Future for "].map(|what| named(code, what));
        found.extend(types.into_iter().flatten().map(str::to_owned));
        found.extend(named(code, "pub async fn ").map(|name| format!("fn {name}")));
        // Those that return a stream without a name.
        let opaque = code.split("pub fn ").skip(1).filter(|rest| {
            let head = rest.split('{').next().unwrap_or_default();
            head.split_once("->").is_some_and(|(_, returned)| returned.contains("RideOut<"))
        });
        found.extend(opaque.flat_map(|rest| named(rest, "").take(1)).map(|it| format!("fn {it}")));
    }
    let rows: BTreeSet<_> = ROWS.iter().map(|row| row.name.to_owned()).collect();
    assert_eq!(rows.len(), ROWS.len(), "a row is there twice");
    assert_eq!(found, rows, "found in src, and listed here");
}

/// That a test is there the compiler sees; that none stands for two, and each gap has its reason, this does.
#[test]
fn every_row_has_a_test_of_its_own() {
    let mut tests: Vec<_> = ROWS.iter().map(|row| row.keeps as usize).collect();
    for Row { name, panics, .. } in &ROWS {
        match panics {
            Outlived(test) => tests.push(*test as usize),
            None(reason) => assert!(reason.len() > 10, "{name}"),
        }
    }
    let distinct: BTreeSet<_> = tests.iter().collect();
    assert_eq!(distinct.len(), tests.len());
}

#[test]
fn every_stream_is_fused() {
    for code in sources() {
        let streams: Vec<_> = named(&code, " Stream for ").collect();
        assert_eq!(named(&code, " FusedStream for ").collect::<Vec<_>>(), streams);
    }
}
