//! Every world, run in virtual time: the events must be those beside it, all of them, to the
//! millisecond.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{run, world::World};
use serde_json::Value;

fn worlds() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/worlds");
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut worlds: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|it| it == "json")).collect();
    worlds.sort();
    worlds
}

#[test]
fn every_world_gives_its_events() {
    let worlds = worlds();
    assert!(worlds.len() >= 28, "only {} worlds", worlds.len());
    for path in worlds {
        let world = World::read(&path).unwrap();
        let expected = fs::read_to_string(path.with_extension("events.jsonl")).unwrap();
        let expected: Vec<Value> =
            expected.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(run::run(&world).unwrap(), expected, "{}", path.display());
    }
}

/// A run reads no clock but the virtual one, and no order but the world's.
#[test]
fn a_world_gives_the_same_events_every_time() {
    for path in worlds() {
        let world = World::read(&path).unwrap();
        assert_eq!(run::run(&world).unwrap(), run::run(&world).unwrap(), "{}", path.display());
    }
}
