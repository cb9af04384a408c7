//! The sources against the table and the absences of docs/architecture.md.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use crate::sources::{below as sources, root};

/// The code of each top-level module: its files' lines without comments.
fn modules() -> BTreeMap<String, String> {
    let src = root().join("src");
    let mut modules = BTreeMap::<String, String>::new();
    for path in sources(&src) {
        let below = path.strip_prefix(&src).unwrap().with_extension("");
        let module = below.iter().next().unwrap().to_str().unwrap().to_owned();
        let text = fs::read_to_string(&path).unwrap();
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        modules.entry(module).or_default().extend(code.flat_map(|line| [line, "\n"]));
    }
    assert!(modules.remove("lib").is_some());
    modules
}

/// The rows of the table, in order: a module and what it may import.
fn table() -> Vec<(String, BTreeSet<String>)> {
    let page = fs::read_to_string(root().join("docs/architecture.md")).unwrap();
    let page = page.split("## Who may import whom").nth(1).unwrap().split("\n## ").next().unwrap();
    let names = |cell: &str| -> BTreeSet<String> {
        cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    };
    let mut rows = Vec::new();
    for line in page.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<_> = line.trim_matches('|').split('|').collect();
        rows.extend(names(cells[0]).into_iter().map(|module| (module, names(cells[2]))));
    }
    assert!(rows.len() > 10, "the table was not found");
    rows
}

/// The first segments of all paths that begin with `crate::`.
fn imports(code: &str) -> BTreeSet<String> {
    let mut imports = BTreeSet::new();
    let word = |text: &str| -> String {
        text.chars().take_while(|it| it.is_alphanumeric() || *it == '_').collect()
    };
    for (at, matched) in code.match_indices("crate::") {
        let rest = &code[at + matched.len()..];
        let Some(group) = rest.strip_prefix('{') else {
            imports.insert(word(rest));
            continue;
        };
        let mut depth = 0;
        let mut part = String::new();
        for it in group.chars() {
            match it {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    imports.insert(word(part.trim()));
                    part.clear();
                    continue;
                }
                _ => {}
            }
            part.push(it);
        }
        imports.insert(word(part.trim()));
    }
    imports.remove("");
    imports
}

#[test]
fn every_import_is_in_the_table() {
    let allowed: BTreeMap<_, _> = table().into_iter().collect();
    let modules = modules();
    assert_eq!(modules.keys().collect::<Vec<_>>(), allowed.keys().collect::<Vec<_>>());
    for (module, code) in &modules {
        let mut used = imports(code);
        used.remove(module);
        let stray: Vec<_> = used.difference(&allowed[module]).collect();
        assert!(stray.is_empty(), "{module} imports {stray:?}, which the table does not allow");
        let unused: Vec<_> = allowed[module].difference(&used).collect();
        assert!(unused.is_empty(), "{module} is allowed {unused:?} and does not import it");
    }
}

/// A path through `super` that ends at the crate's root would pass the table by.
#[test]
fn no_path_goes_up_to_the_root() {
    let src = root().join("src");
    for path in sources(&src) {
        let below = path.strip_prefix(&src).unwrap();
        if below == Path::new("lib.rs") {
            continue;
        }
        let up = "super::".repeat(below.components().count());
        let code = fs::read_to_string(&path).unwrap();
        assert!(!code.contains(&up), "{} goes up to the root", below.display());
    }
}

/// Each row may import those above it only, so no chain of imports comes back.
#[test]
fn the_table_has_no_circle() {
    let mut above = BTreeSet::new();
    for (module, allowed) in table() {
        assert!(allowed.is_subset(&above), "{module} is allowed what stands below it");
        above.insert(module);
    }
}

#[test]
fn a_path_is_found_in_a_group_and_alone() {
    let code = "use crate::{a::{b, c}, d}; crate::e::f(); use crate::g;";
    assert_eq!(imports(code).into_iter().collect::<String>(), "adeg");
}

fn assert_absent(words: &[&str], from: impl Fn(&str) -> bool) {
    let modules = modules();
    let from: Vec<_> = modules.keys().filter(|module| from(module)).collect();
    assert!(!from.is_empty());
    for module in from {
        for word in words {
            assert!(!modules[module].contains(word), "{module} holds `{word}`");
        }
    }
}

/// Under one of std's locks the models see nothing.
#[test]
fn only_sync_names_loom_and_std_s_locks() {
    let locks = ["Mutex", "RwLock", "Condvar"];
    let named = locks.map(|lock| format!("std::sync::{lock}"));
    let names = named.iter().map(String::as_str).chain(["loom::"]).collect::<Vec<_>>();
    let looked_at = |module: &str| module != "sync";
    assert_absent(&names, looked_at);
    for (module, code) in modules().into_iter().filter(|(module, _)| looked_at(module)) {
        let imports = code.split("use std::").skip(1).map(|it| it.split(';').next().unwrap());
        for import in imports {
            let lock = locks.iter().find(|lock| import.contains(**lock));
            assert!(lock.is_none(), "{module} imports std's {lock:?}");
        }
    }
}

#[test]
fn only_time_names_a_runtime() {
    assert_absent(&["tokio::"], |module| module != "time");
}

#[test]
fn pure_modules_are_pure() {
    let pure = ["sentence", "address", "refusal", "classify", "budget", "ledger", "diagnosis"];
    assert_absent(
        &[
            "async ",
            "Future",
            "Instant",
            "SystemTime",
            "std::fs",
            "std::io",
            "std::net",
            "tracing::",
        ],
        |module| pure.contains(&module),
    );
}

#[test]
fn operators_neither_spawn_nor_log_nor_read_a_clock() {
    assert_absent(&["tracing", "spawn", "Instant", "sleep"], |module| {
        matches!(module, "carrier" | "slot" | "teardown" | "monitor")
    });
}

#[test]
fn there_is_no_unsafe() {
    assert_absent(&["unsafe"], |_| true);
}
