//! No circle of imports at any level: not among modules, nor among the files of one.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    imports::{Crate, Imports, ModulePath},
    sources,
};

/// Circles that are being mended, each as the test shows it. One that is gone leaves this list.
const KNOWN: [&str; 0] = [];

/// What stands beside each other in one module: its own file, as its own name, and what is below it.
type Level = BTreeMap<String, BTreeSet<String>>;

/// The module that both are in, and what stands for each of them there.
fn level(from: &ModulePath, to: &ModulePath) -> (ModulePath, String, String) {
    let common = from.iter().zip(to).take_while(|(one, other)| one == other).count();
    let node = |path: &ModulePath| path.get(common).map_or("its own file", |it| it).to_owned();
    (from[..common].to_vec(), node(from), node(to))
}

/// Which nodes of each module import which.
fn levels(imports: &Imports) -> BTreeMap<ModulePath, Level> {
    let mut levels = BTreeMap::<_, Level>::new();
    for (from, to) in imports.keys() {
        let (module, from, to) = level(from, to);
        levels.entry(module).or_default().entry(from).or_default().insert(to);
    }
    levels
}

/// The nodes that can be reached from `start`.
fn reached<'a>(level: &'a Level, start: &str) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut next: Vec<&str> = level.get(start).into_iter().flatten().map(String::as_str).collect();
    while let Some(node) = next.pop() {
        if found.insert(node) {
            next.extend(level.get(node).into_iter().flatten().map(String::as_str));
        }
    }
    found
}

/// The nodes that import `node` and are imported by it, itself among them where there are any.
fn circle<'a>(level: &'a Level, node: &str) -> Vec<&'a str> {
    let there = reached(level, node).into_iter();
    there.filter(|it| reached(level, it).contains(node)).collect()
}

/// Each circle, as a module and its nodes that all import each other.
fn circles(imports: &Imports) -> Vec<String> {
    let mut circles = BTreeSet::new();
    for (module, level) in levels(imports) {
        let found = level.keys().map(|node| circle(&level, node)).filter(|it| !it.is_empty());
        circles.extend(found.map(|it| format!("{}: {}", module.join("/"), it.join(", "))));
    }
    circles.into_iter().collect()
}

/// Every import along a circle, for who mends it.
fn along(imports: &Imports) -> String {
    let levels = levels(imports);
    let mut lines = Vec::new();
    for ((from, to), names) in imports {
        let (module, one, other) = level(from, to);
        if circle(&levels[&module], &one).contains(&other.as_str()) {
            let names = names.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
            let (module, from, to) = (module.join("/"), from.join("/"), to.join("/"));
            lines.push(format!("  in {module}: {from} imports {names} of {to}"));
        }
    }
    lines.sort();
    lines.join("\n")
}

#[test]
fn no_file_is_in_a_circle() {
    let mut found = Vec::new();
    for src in sources::crates() {
        let imports = Crate::read(&src).imports();
        assert!(!imports.is_empty(), "{} imports nothing", src.display());
        println!("{}\n{}", src.display(), along(&imports));
        let name = src.strip_prefix(sources::root()).expect("it is below").display();
        found.extend(circles(&imports).iter().map(|circle| format!("{name}/{circle}")));
    }
    assert_eq!(found, KNOWN, "circles, and those that are known");
}

/// A crate of made-up files.
fn of<const N: usize>(files: [(&str, &str); N]) -> Imports {
    let path = |name: &str| name.split('/').map(str::to_owned).collect();
    Crate::of(files.map(|(name, text)| (path(name), text.to_owned()))).imports()
}

/// The imports in `files`, as `from>to`.
fn arrows<const N: usize>(files: [(&str, &str); N]) -> Vec<String> {
    of(files).into_keys().map(|(from, to)| format!("{}>{}", from.join("/"), to.join("/"))).collect()
}

#[test]
fn a_path_is_followed_to_the_file_that_defines_the_name() {
    let a = ("a", "mod b; pub use self::b::B; pub(crate) struct A;");
    let b = ("a/b", "pub struct B;");
    for (code, to) in [
        ("use crate::a::A;", "c>a"),
        ("use crate::a::B;", "c>a/b"),
        ("use crate::{a::{B as Other}};", "c>a/b"),
        ("use crate::Root;", "c>a/b"),
        ("use super::a::b::B;", "c>a/b"),
        ("use crate::a; fn f() -> a::B { a::B }", "c>a/b"),
        ("use crate::a::{self as other}; fn f(_: other::A) {}", "c>a"),
        ("use crate::a::*; fn f(_: B) {}", "c>a/b"),
        ("fn f() { assert!(x.y(), \"{}\", [crate::a::B]) }", "c>a/b"),
        ("impl crate::a::A { fn f(&self) {} }", "c>a"),
        ("mod inner { use super::super::a::A; }", "c>a"),
        ("fn f(_: Vec<crate::a::B>) {}", "c>a/b"),
        ("fn f() { crate::a::made_by_a_macro() }", "c>a"),
    ] {
        let lib = ("lib", "mod a; mod c; pub use a::B as Root;");
        assert_eq!(arrows([lib, a, b, ("c", code)]), [to], "{code}");
    }
}

#[test]
fn neither_declarations_nor_re_exports_nor_what_is_foreign_are_imports() {
    let b = ("a/b", "pub struct B; pub mod deep { pub const C: u8 = 0; }");
    for code in [
        "mod b; pub use self::b::B;",
        "mod b; pub(super) use b::{B, deep};",
        "mod b; pub use b::*;",
        "mod b; use std::b::B; fn f() { std::b::B; x.B }",
        "mod b; fn f(b: u8) -> u8 { b + self::f(b) }",
        "mod b; pub(in crate::a) struct A; fn f() { write!(f, \"{}\", x.b) }",
    ] {
        let none: [String; 0] = [];
        assert_eq!(arrows([("lib", "mod a;"), ("a", code), b]), none, "{code}");
    }
    let used = "mod b; pub use self::b::B; fn f(_: B) {}";
    assert_eq!(
        arrows([("lib", "mod a;"), ("a", used), b]),
        ["a>a/b"],
        "re-exported, and used here"
    );
}

#[test]
fn an_impl_of_the_parent_s_type_imports_the_parent() {
    let child = ("a/b", "use super::A; impl A { fn f(&self) {} } pub struct B;");
    let arrow = arrows([("lib", "mod a;"), ("a", "mod b; pub struct A;"), child]);
    assert_eq!(arrow, ["a/b>a"]);
    let circle = circles(&of([("lib", "mod a;"), ("a", "mod b; pub struct A(b::B);"), child]));
    assert_eq!(circle, ["a: b, its own file"]);
}

#[test]
fn circles_are_found_at_every_level() {
    // Between files beside each other.
    let files = [
        ("a", "mod x; mod y;"),
        ("a/x", "use super::y::Y; pub struct X;"),
        ("a/y", "use super::x::X; pub struct Y;"),
    ];
    assert_eq!(circles(&of(files)), ["a: x, y"]);
    // Between modules, though no file is in one.
    let files = [
        ("a", "mod x; mod y;"),
        ("b", "mod x; mod y;"),
        ("a/x", "use crate::b::x::X; pub struct X;"),
        ("b/x", "pub struct X;"),
        ("b/y", "use crate::a::y::Y; pub struct Y;"),
        ("a/y", "pub struct Y;"),
    ];
    assert_eq!(circles(&of(files)), [": a, b"]);
    // Through a third.
    let files = [
        ("a", "use crate::b::B; pub struct A;"),
        ("b", "use crate::c::C; pub struct B;"),
        ("c", "use crate::a::A; pub struct C;"),
    ];
    assert_eq!(circles(&of(files)), [": a, b, c"]);
    // Up and down again is none.
    let files = [
        ("a", "mod b; mod c; pub use b::B;"),
        ("a/b", "use super::c::C; pub struct B;"),
        ("a/c", "pub struct C;"),
    ];
    assert!(circles(&of(files)).is_empty());
}
