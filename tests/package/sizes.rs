//! No file is longer than can be read at a sitting, no function longer than a screen.

use std::path::PathBuf;

use crate::sources::{below, root, text};

const FILE: usize = 400;
const FUNCTION: usize = 60;

/// The lines of every function of `code`, which is formatted: from its signature to the brace that stands as
/// far to the right.
fn functions(code: &str) -> Vec<(&str, usize)> {
    let lines: Vec<_> = code.lines().collect();
    let starts = lines.iter().enumerate().filter_map(|(at, line)| {
        let (before, after) = line.split_once("fn ")?;
        let indent = before.len() - before.trim_start().len();
        let words = before[indent..].split_whitespace();
        let is_head = words.clone().all(|word| {
            word.starts_with("pub")
                || word.ends_with(')')
                || ["const", "async", "default"].contains(&word)
        });
        let name = after.split(['(', '<']).next()?;
        is_head.then_some((at, indent, name))
    });
    starts
        .filter_map(|(at, indent, name)| {
            let is_end = |line: &&str| {
                let body = &line[line.len() - line.trim_start().len()..];
                line.len() - body.len() == indent && (body.starts_with('}') || body.ends_with(';'))
            };
            let is_whole = lines[at].ends_with([';', '}']);
            let length = if is_whole { 0 } else { lines[at + 1..].iter().position(is_end)? + 1 };
            Some((name, length + 1))
        })
        .collect()
}

#[test]
fn the_length_of_a_function_is_counted() {
    let code = "\
/// fn in_a_comment() {
fn short() {}
pub(crate) fn long<T>(
    it: T,
) -> T
where
    T: Fn(),
{
    it
}
impl A {
    pub const fn inner(&self) -> u32 {
        let fn_pointer = |x| {
            x
        };
        1
    }
    fn declared(&self);
}
";
    let expected = [("short", 1), ("long", 8), ("inner", 6), ("declared", 1)];
    assert_eq!(functions(code), expected);
}

/// Every file of the workspace, by its path below the root.
fn files() -> Vec<(String, String)> {
    let folders = ["src", "crates", "tests", "loom-tests", "fuzz", "examples", "benches"];
    let folders = folders.map(|folder| root().join(folder));
    let paths = folders.iter().filter(|it| it.exists()).flat_map(|it| below(it));
    let named = |path: PathBuf| {
        let name = path.strip_prefix(root()).expect("it is below").display().to_string();
        (name, text(&path))
    };
    paths.map(named).collect()
}

#[test]
fn no_file_is_too_long() {
    let mut long = files();
    long.retain(|(_, code)| code.lines().count() > FILE);
    let long: Vec<_> = long.iter().map(|(name, _)| name).collect();
    assert!(long.is_empty(), "of more than {FILE} lines: {long:#?}");
}

#[test]
fn no_function_is_too_long() {
    let mut count = 0;
    let mut long = Vec::new();
    for (file, code) in &files() {
        let functions = functions(code);
        count += functions.len();
        let too_long = functions.into_iter().filter(|(_, length)| *length > FUNCTION);
        long.extend(too_long.map(|(name, length)| format!("{file}: {name}: {length}")));
    }
    assert!(count > 2_000, "only {count} functions were found");
    assert!(long.is_empty(), "of more than {FUNCTION} lines: {long:#?}");
}

/// What nobody uses goes. A file that two programs include is one that both use whole.
#[test]
fn nothing_is_given_leave_to_be_unused() {
    for (file, code) in &files() {
        let lines = code.lines().map(str::trim_start).filter(|line| !line.starts_with("//"));
        let code: String =
            lines.flat_map(|line| line.chars().filter(|it| !it.is_whitespace())).collect();
        for attribute in ["[allow(", "[expect("] {
            for leave in code.split(attribute).skip(1) {
                let lints = leave.split([']', '"']).next().expect("there is a first");
                let is_for = |lint: &&&str| lints.contains(**lint);
                let found = ["dead_code", "unused", "duplicate_mod"].iter().find(is_for);
                assert!(found.is_none(), "{file}: #{attribute}{lints}");
            }
        }
    }
}
