//! Any error type takes part: a promise with its rejection, or final (R1, R5, R7b, C17).

use std::{convert::Infallible, fs, path::Path, sync::Arc, time::Duration};

use proptest::prelude::*;
use serde_json::Value;

use rideout::{
    Activation, Address, Classify, Kind, Refusal, Rejection, Ruling,
    refusal::{Closing, Party, Seam, Speaker},
};

fn address(text: &str) -> Address {
    text.parse().unwrap()
}

fn activation(digits: &str) -> Activation {
    digits.parse().unwrap()
}

#[test]
fn a_kind_that_is_present_wins_over_any_text() {
    let x = address("x");
    let promise = Closing::new(x.clone()).activation(activation("AA")).refuse(Seam::Door, "what");

    for &kind in Kind::ALL {
        for message in [&*promise.message, "", "Host is shutting down, cannot route to x", "no"] {
            let ruling = Refusal::new(kind, message).classify(&x);
            assert_eq!(matches!(ruling, Ruling::Promise(_)), kind == Kind::ShuttingDown);
            if kind != Kind::ShuttingDown {
                assert_eq!(ruling, Ruling::Verdict(kind));
            }
        }
    }

    // With neither banner nor tag the promise is the route's.
    let ruling = Refusal::new(Kind::ShuttingDown, "later").classify(&x);
    assert_eq!(ruling, Ruling::Promise(Rejection::by_route()));
    // Text alone that says nothing known.
    assert_eq!(Refusal::from_text("later").classify(&x), Ruling::Verdict(Kind::Unknown));
}

#[test]
fn the_hint_travels_with_a_promise() {
    let x = address("x");
    let hint = Duration::from_secs(2);

    for refusal in [
        Closing::new(x.clone()).refuse(Seam::Door, "what"),
        Refusal::host_cannot_route(&x),
        Refusal::new(Kind::ShuttingDown, ""),
        Refusal::from_text(Refusal::mesh_cannot_route(&x).message),
    ] {
        assert_eq!(refusal.promise(&x).unwrap().not_before, None);
        let Ruling::Promise(rejection) = refusal.with_retry_after(hint).classify(&x) else {
            panic!("a promise");
        };
        assert_eq!(rejection.not_before, Some(hint));
    }
}

#[test]
fn wrappers_rule_like_what_they_hold() {
    let x = address("x");
    let refusal = Closing::new(x.clone()).activation(activation("AA")).refuse(Seam::Door, "what");
    let ruling = refusal.classify(&x);

    fn by_reference(error: impl Classify, asked: &Address) -> Ruling {
        error.classify(asked)
    }
    assert_eq!(by_reference(&refusal, &x), ruling);
    assert_eq!(by_reference(Box::new(refusal.clone()), &x), ruling);
    assert_eq!(by_reference(Box::new(refusal.clone()) as Box<dyn Classify>, &x), ruling);
    assert_eq!(
        by_reference(Arc::new(refusal.clone()) as Arc<dyn Classify + Send + Sync>, &x),
        ruling
    );

    fn takes_part<E: Classify>() {}
    takes_part::<Infallible>();
}

proptest! {
    // C17: nothing but a promise is ridden, whatever else the refusal says.
    #[test]
    fn only_the_one_kind_is_a_promise(
        kind in prop::sample::select(Kind::ALL.to_vec()),
        message in prop_oneof![
            ".{0,40}",
            Just(Closing::new(address("x")).refuse(Seam::Mailbox, "what").message),
            Just("Hub x is shutting down (activation #AA)".to_owned()),
            Just("Mesh is shutting down, cannot route to x".to_owned()),
        ],
        speaker in prop::option::of(prop::sample::select(vec![Party::Owner, Party::Route])),
        named in prop::option::of(Just(activation("AA"))),
        never_applied in prop::option::of(any::<bool>()),
        target_unserved in any::<bool>(),
        released in any::<bool>(),
    ) {
        let mut refusal = Refusal::new(kind, message);
        refusal.speaker = speaker;
        refusal.activation = named;
        refusal.never_applied = never_applied;
        refusal.target_unserved = target_unserved;
        refusal.released = released;

        match refusal.classify(&address("x")) {
            Ruling::Promise(_) => prop_assert_eq!(kind, Kind::ShuttingDown),
            Ruling::Verdict(of) => {
                prop_assert!(kind != Kind::ShuttingDown);
                prop_assert_eq!(of, kind);
                prop_assert!(!refusal.is_never_applied(&address("x")));
            }
            other => panic!("what is {other:?}?"),
        }
    }
}

// --- The worlds ---

/// Every refusal that a world's address or stream gives.
fn refusals(world: &Value) -> Vec<Refusal> {
    let answers = world["answers"].as_array().unwrap();
    let ends = answers.iter().map(|answer| &answer["serve"]["end"]);
    answers
        .iter()
        .chain(ends)
        .filter_map(|answer| {
            let kind = answer["kind"].as_str().unwrap_or("ShuttingDown");
            Some(Refusal::new(kind.parse().unwrap(), answer["refuse"].as_str()?))
        })
        .collect()
}

/// What a world's events say of one refusal.
fn printed(ruling: Ruling) -> (String, Value) {
    match ruling {
        Ruling::Verdict(kind) => ("verdict".into(), kind.as_str().into()),
        Ruling::Promise(Rejection { speaker, .. }) => {
            let activation = speaker.activation().map_or(Value::Null, |a| a.as_str().into());
            (speaker.party().to_string(), activation)
        }
        other => panic!("what is {other:?}?"),
    }
}

#[test]
fn every_refusal_of_every_world_is_ruled_as_its_events_say() {
    let worlds = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/worlds");
    let (mut checked, mut route) = (0, 0);

    for entry in fs::read_dir(&worlds).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let world: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let owner = address(world["owner"].as_str().unwrap());
        let ruled: Vec<_> =
            refusals(&world).iter().map(|refusal| printed(refusal.classify(&owner))).collect();

        let events = fs::read_to_string(path.with_extension("events.jsonl")).unwrap();
        let events: Vec<Value> =
            events.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        // News and the limit of an ask refuse as well, and stand in no text.
        let by_text_alone = world["news"].is_null()
            && !events.iter().any(|e| e["at_ms"] == 60_000)
            && !world["answers"].as_array().unwrap().iter().any(|a| a["silent"] == true);

        for event in &events {
            let said = match event["event"].as_str().unwrap() {
                "refused" => {
                    (event["speaker"].as_str().unwrap().to_owned(), event["activation"].clone())
                }
                "verdict" => ("verdict".into(), event["kind"].clone()),
                _ => continue,
            };
            if by_text_alone {
                assert!(ruled.contains(&said), "{}: {said:?} of {ruled:?}", path.display());
                checked += 1;
                route += u32::from(said.0 == "route");
            }
        }
    }
    assert!(checked > 50 && route > 5, "{checked} events, {route} by the route");
}

#[test]
fn the_speakers_of_the_worlds_that_turn_on_it() {
    let x = address("x");
    let owner = |digits| Speaker::Owner(Some(activation(digits)));

    for (message, speaker) in [
        ("Host is shutting down, cannot route to x (activation #AA)", Speaker::Route),
        (
            "Delivery to 'x' failed: Hub x/child is shutting down (RunLevel=Dead, activation #0C) — gone",
            Speaker::Route,
        ),
        (
            "Hub x/child is shutting down (activation #0C); Hub x is shutting down (activation #0D)",
            owner("0D"),
        ),
        ("peer closed (activation #0D)", owner("0D")),
    ] {
        let ruling = Refusal::new(Kind::ShuttingDown, message).classify(&x);
        assert_eq!(ruling, Ruling::Promise(Rejection { speaker, not_before: None }));
    }
}
