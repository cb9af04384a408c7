//! A world's file is read or refused with an error that names its place, and a world that is read is run
//! to an end, the same one every time.

#![cfg_attr(fuzzing, no_main)]

#[path = "../../tests/refusal/hostile_words.rs"]
mod hostile_words;
#[path = "../../examples/simulate/run.rs"]
mod run;
#[path = "../../examples/simulate/world.rs"]
mod world;

use std::{fs, mem::discriminant, path::Path, sync::LazyLock, time::Duration};

use arbitrary::Unstructured;
use serde_json::Value;
use world::{World, WorldError};

fuzz::target!(check, 400);

/// No run takes longer: at a pace of a millisecond it is ten thousand asks.
const LONGEST: Duration = Duration::from_secs(10);

/// The worlds of the tests, which are bent.
static WORLDS: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/worlds");
    let entries = fs::read_dir(folder).expect("the worlds").map(|it| it.expect("a file").path());
    let mut paths: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|it| it == "json")).collect();
    paths.sort();
    let worlds = paths.iter().map(|path| {
        assert!(World::read(path).is_ok(), "{}", path.display());
        serde_json::from_str(&fs::read_to_string(path).expect("a text")).expect("JSON")
    });
    worlds.collect()
});

/// The input is a world's file, and the choices by which a world of the tests is bent.
fn check(input: &[u8]) {
    if let Ok(text) = str::from_utf8(input) {
        read(text);
    }
    // An error says that there are too few bytes to choose by.
    if let Ok(world) = bent(&mut Unstructured::new(input)) {
        read(&world.to_string());
    }
}

fn read(text: &str) {
    match World::parse(text) {
        Ok(world) => runs(world, pace(text)),
        Err(error) => refused(&error),
    }
}

/// In one line it says where: by its path, by its line, or by the list that it is about.
fn refused(error: &WorldError) {
    let WorldError::Invalid { place, problem } = error else {
        panic!("no file was read: {error}");
    };
    assert!(!error.to_string().contains(char::is_control), "{error}");
    let placed = place.is_some() || problem.contains(" line ") || problem.starts_with("answers");
    assert!(placed && !problem.is_empty(), "{error}");
}

/// The pace of the world of `text`, in milliseconds: a `Budget` does not tell.
fn pace(text: &str) -> u64 {
    let world: Value = serde_json::from_str(text).expect("it was read before");
    world["budget"]["pace_ms"].as_u64().unwrap_or(500).max(1)
}

fn runs(mut world: World, pace: u64) {
    world.until = world.until.min(LONGEST);
    world.deadline = world.deadline.min(LONGEST);
    let events = run::run(&world).expect("a runtime");
    assert_eq!(run::run(&world).expect("a runtime"), events, "the same every time");

    let (mut asks, mut rejections, mut opened, mut last) = (0, 0, None, 0);
    for event in &events {
        let at = event["at_ms"].as_u64().expect("a time");
        assert!(last <= at && u128::from(at) <= LONGEST.as_millis(), "{event} after {last}");
        last = at;
        match name(event) {
            "ask" => {
                asks += 1;
                assert_eq!(event["ask"], asks, "asks are numbered");
            }
            "answered" => opened = Some(at),
            "item" => rejections = 0,
            "refused" => {
                // R9: one pace without an item is an answer too.
                let has_lived = opened.take().is_some_and(|since| at - since >= pace);
                rejections = if has_lived { 1 } else { rejections + 1 };
            }
            _ => {}
        }
        // R10. A read charges nothing: its deadline is its bound.
        let bounded = world.rider == world::Rider::Subscription;
        assert!(!bounded || rejections <= world.budget.worst_case().asks, "{events:?}");
    }
    let ends = ["live", "riding", "completed", "gave_up", "verdict", "recycling", "timed_out"];
    let (end, before) = events.split_last().expect("an end");
    assert!(!before.iter().any(|it| ends.contains(&name(it))), "one end: {events:?}");
    let read =
        matches!(world.rider, world::Rider::Read) && ["answered", "item"].contains(&name(end));
    assert!(read || ends.contains(&name(end)), "an end: {events:?}");
}

fn name(event: &Value) -> &str {
    event["event"].as_str().expect("a name")
}

/// A world of the tests with some of its values gone, or others in their place.
fn bent(bytes: &mut Unstructured<'_>) -> arbitrary::Result<Value> {
    let mut world = bytes.choose(&WORLDS)?.clone();
    for _ in 0..bytes.int_in_range(1..=8)? {
        if bytes.is_empty() {
            break;
        }
        let place = bytes.choose(&places(&world))?.clone();
        if !bytes.ratio(15, 16)? {
            let (parent, key) = place.rsplit_once('/').expect("a place has a parent");
            match world.pointer_mut(parent).expect("a place of the world") {
                Value::Object(keys) => _ = keys.remove(key),
                Value::Array(values) => _ = values.remove(key.parse().expect("an index")),
                _ => unreachable!("a parent has parts"),
            }
            continue;
        }
        let value = world.pointer_mut(&place).expect("a place of the world");
        *value = another(value, bytes)?;
    }
    Ok(world)
}

/// What stands in the place of `value`: mostly something of its kind.
fn another(value: &Value, bytes: &mut Unstructured<'_>) -> arbitrary::Result<Value> {
    const NUMBERS: [u64; 9] = [0, 1, 2, 499, 500, 501, 8_000, u32::MAX as u64, u64::MAX];

    Ok(match (value, bytes.int_in_range(0..=7)?) {
        (_, 7) => bytes.choose(&[Value::Null, true.into(), (-0.5).into()])?.clone(),
        (Value::Number(_), 0..3) => bytes.arbitrary::<u16>()?.into(),
        (Value::Number(_), _) => (*bytes.choose(&NUMBERS)?).into(),
        (Value::String(_), 0..4) => fuzz::text(bytes, &hostile_words::WORDS)?.into(),
        (it, _) => {
            let other = bytes.choose(&WORLDS)?;
            let mut alike = places(other);
            alike.retain(|at| {
                other.pointer(at).is_some_and(|part| discriminant(part) == discriminant(it))
            });
            match bytes.choose(&alike) {
                Ok(at) => other.pointer(at).expect("a place of it").clone(),
                Err(_) => Value::Null,
            }
        }
    })
}

/// The pointers to everything inside `value`.
fn places(value: &Value) -> Vec<String> {
    let parts: Vec<(String, &Value)> = match value {
        Value::Object(keys) => keys.iter().map(|(key, it)| (key.clone(), it)).collect(),
        Value::Array(values) => {
            (0..).zip(values).map(|(at, it): (u32, _)| (at.to_string(), it)).collect()
        }
        _ => Vec::new(),
    };
    let below = |(key, part): (String, &Value)| {
        let below = places(part).into_iter().map(|below| format!("/{key}{below}"));
        below.chain([format!("/{key}")]).collect::<Vec<_>>()
    };
    parts.into_iter().flat_map(below).collect()
}
