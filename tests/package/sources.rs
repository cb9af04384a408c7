//! The files of this checkout.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The workspace's folder.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every Rust file below `folder`, in order; what was built is none.
pub(crate) fn below(folder: &Path) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            if !path.ends_with("target") {
                files.extend(below(&path));
            }
        } else if path.extension().is_some_and(|it| it == "rs") {
            files.push(path);
        }
    }
    files
}

pub(crate) fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The `src` of each crate that is published.
pub(crate) fn crates() -> Vec<PathBuf> {
    let mut crates = vec![root().join("src")];
    if let Ok(entries) = fs::read_dir(root().join("crates")) {
        crates.extend(entries.map(|entry| entry.expect("an entry").path().join("src")));
    }
    crates.sort();
    crates
}
