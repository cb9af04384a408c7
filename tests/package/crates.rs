//! The crates against the table of docs/architecture.md: which there are, and who depends on whom.

use std::{
    collections::{BTreeMap, BTreeSet},
    process::Command,
};

use serde_json::Value;

use crate::sources::{root, text};

/// What cargo says of the workspace's crates.
pub(crate) fn packages() -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let Value::Array(packages) = metadata["packages"].take() else { panic!("no packages") };
    packages
}

pub(crate) fn name(package: &Value) -> String {
    package["name"].as_str().expect("a name").to_owned()
}

/// The crates of this workspace on which each of them depends, be it for its tests alone.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let packages = packages();
    let names: BTreeSet<_> = packages.iter().map(name).collect();
    let of = |package: &Value| {
        let all = package["dependencies"].as_array().expect("a list");
        all.iter().map(name).filter(|it| names.contains(it)).collect()
    };
    packages.iter().map(|package| (name(package), of(package))).collect()
}

/// The rows of the table: a crate, and on which it may depend.
fn table() -> BTreeMap<String, BTreeSet<String>> {
    let page = text(&root().join("docs/architecture.md"));
    let section = page.split("## The crates").nth(1).expect("the section is there");
    let section = section.split("\n## ").next().expect("it has an end");
    let names = |cell: &str| -> BTreeSet<String> {
        cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    };
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| {
        let cells: Vec<_> = row.trim_matches('|').split('|').collect();
        let name = names(cells[0]).pop_first().expect("a crate's name");
        (name, names(cells[3]))
    })
    .collect()
}

#[test]
fn every_crate_depends_on_what_the_table_says() {
    assert_eq!(dependencies(), table());
}

/// Without its features the library names no runtime, be it by way of another crate.
#[test]
fn without_features_there_is_no_runtime() {
    let tree = |features: &[&str]| {
        let output = Command::new(env!("CARGO"))
            .args(["tree", "--package", "rideout", "--edges", "normal,build", "--prefix", "none"])
            .args(["--offline", "--format", "{lib}"])
            .args(features)
            .current_dir(root())
            .output()
            .expect("cargo runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let names = String::from_utf8(output.stdout).expect("UTF-8");
        names.lines().map(str::to_owned).collect::<BTreeSet<_>>()
    };
    assert!(tree(&["--all-features"]).contains("tokio"), "it would be seen");
    let without = tree(&["--no-default-features"]);
    assert!(without.contains("rideout") && !without.contains("tokio"), "{without:?}");
}
