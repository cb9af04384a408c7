//! The whole subscription rider against a second, plain model of the rules (`R4`, `R5`, `R7`–`R24`,
//! `R27`): equal in all that can be seen, to the millisecond.

mod accounts;
mod model;
mod read;
mod real;
mod run;
mod script;
mod scripts;
mod speaker;
mod worlds;

use std::{fs, path::Path};

use proptest::prelude::*;
use serde_json::Value;

use self::{run::Run, scripts::scripts, worlds::events};

/// The model itself is right where the rules' own examples say what is right.
#[test]
fn the_model_gives_every_worlds_events() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/worlds");
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let worlds = entries.filter(|path| path.extension().is_some_and(|it| it == "json"));
    let mut count = 0;
    for path in worlds {
        let expected = fs::read_to_string(path.with_extension("events.jsonl")).unwrap();
        let expected: Vec<Value> =
            expected.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let said = events(&fs::read_to_string(&path).unwrap());
        assert_eq!(said, expected, "{}", path.display());
        count += 1;
    }
    assert!(count >= 28, "only {count} worlds");
}

proptest! {
    // `PROPTEST_CASES` raises it.
    #![proptest_config(ProptestConfig {
        cases: 512,
        failure_persistence: None,
        max_global_rejects: u32::MAX,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_rider_does_what_the_model_says(script in scripts()) {
        let Some((expected, _)) = model::run(&script) else {
            return Err(TestCaseError::reject("the rules leave it open"));
        };
        same(&real::phases(&script), &expected)?;
        same(&real::items(&script), &expected.without_phases())?;
    }
}

/// Requires that the rider did what the model says, and shows where it first did not.
fn same(rider: &Run, model: &Run) -> Result<(), TestCaseError> {
    let (rider, model) = (rider.to_string(), model.to_string());
    let (mut rider, mut model) = (rider.lines(), model.lines());
    let mut both = Vec::new();
    loop {
        match (rider.next(), model.next()) {
            (None, None) => return Ok(()),
            (did, said) if did == said => both.extend(did),
            (did, said) => {
                let both = both[both.len().saturating_sub(5)..].join("\n");
                let text = format!("{both}\nrider: {did:?}\nmodel: {said:?}");
                return Err(TestCaseError::fail(text));
            }
        }
    }
}
