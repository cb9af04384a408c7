//! The world format: what every key means, and that nothing else is read.

use std::{fs, path::Path, time::Duration};

use rideout::{Activation, Budget, Kind, News, Refusal};
use serde_json::{Value, json};

use super::world::{End, Heard, Reply, Rider, Teardown, World};

/// A world in which every key is written.
fn full() -> Value {
    json!({
        "about": "Everything.",
        "owner": "x~pod",
        "rider": "read",
        "budget": {
            "activations": 1, "re_asks": 2, "pace_ms": 3, "join_limit_ms": 4, "ask_limit_ms": 5
        },
        "latency_ms": 6,
        "answers": [
            {"from_ms": 0, "refuse": "no", "kind": "Failed"},
            {"from_ms": 7, "silent": true},
            {"from_ms": 8, "serve": {
                "activation": "0D",
                "items": [{"after_ms": 2, "value": null}, {"after_ms": 1, "value": [1]}],
                "lives_ms": 9,
                "end": {"refuse": "gone", "kind": "NotFound"}
            }}
        ],
        "teardowns": [{"activation": "0D", "at_ms": 10}],
        "news": [{"at_ms": 12, "arrived": "0E"}, {"at_ms": 11, "ended": "0D"},
                 {"at_ms": 11, "ended": null}],
        "deadline_ms": 13,
        "until_ms": 14
    })
}

fn read(world: &Value) -> World {
    World::parse(&world.to_string()).expect("a world")
}

/// Puts `value` at `pointer` of the full world and returns what reading it says.
fn error_with(pointer: &str, value: Value) -> String {
    let mut world = full();
    let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
    match world.pointer_mut(parent).expect("a place in the full world") {
        Value::Object(keys) => drop(keys.insert(key.into(), value)),
        Value::Array(entries) => entries[key.parse::<usize>().expect("an index")] = value,
        other => panic!("{other} has no places"),
    }
    World::parse(&world.to_string())
        .map(|world| panic!("{pointer} was read: {world:?}"))
        .unwrap_err()
        .to_string()
}

/// Takes the key at `pointer` out of the full world and returns what reading it says.
fn error_without(pointer: &str) -> String {
    let mut world = full();
    let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
    world
        .pointer_mut(parent)
        .and_then(Value::as_object_mut)
        .and_then(|keys| keys.remove(key))
        .expect("a key");
    World::parse(&world.to_string())
        .map(|world| panic!("read without {pointer}: {world:?}"))
        .unwrap_err()
        .to_string()
}

#[track_caller]
fn says(error: String, place: &str, problem: &str) {
    assert!(error.starts_with(place), "{error:?} does not begin with {place:?}");
    assert!(error.contains(problem), "{error:?} does not say {problem:?}");
    assert_eq!(error.lines().count(), 1, "{error:?} is not one line");
}

fn tag(digits: &str) -> Activation {
    digits.parse().expect("an activation")
}

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[test]
fn every_key_is_read() {
    let world = read(&full());

    assert_eq!(world.owner.as_str(), "x~pod");
    assert_eq!(world.rider, Rider::Read);
    let budget =
        Budget::default().activations(1).re_asks(2).pace(ms(3)).join_limit(ms(4)).ask_limit(ms(5));
    assert_eq!(world.budget, budget);
    assert_eq!((world.latency, world.deadline, world.until), (ms(6), ms(13), ms(14)));
    assert_eq!(
        world.answers.iter().map(|answer| answer.from).collect::<Vec<_>>(),
        [ms(0), ms(7), ms(8)]
    );
    assert_eq!(world.answers[0].reply, Reply::Refuse(Refusal::new(Kind::Failed, "no")));
    assert_eq!(world.answers[1].reply, Reply::Silent);
    let Reply::Serve(serve) = &world.answers[2].reply else { panic!("{:?}", world.answers[2]) };
    assert_eq!(serve.activation, Some(tag("0D")));
    assert_eq!(serve.end, Some((ms(9), End::Refuse(Refusal::new(Kind::NotFound, "gone")))));
    assert_eq!(world.teardowns, [Teardown { activation: tag("0D"), at: ms(10) }]);
}

#[test]
fn items_and_news_come_in_the_order_of_their_moments() {
    let world = read(&full());

    let Reply::Serve(serve) = &world.answers[2].reply else { panic!("{:?}", world.answers[2]) };
    let items: Vec<_> = serve.items.iter().map(|item| (item.after, &item.value)).collect();
    assert_eq!(items, [(ms(1), &json!([1])), (ms(2), &Value::Null)]);
    let ended = Heard { at: ms(11), news: News::Ended(Some(tag("0D"))) };
    let untagged = Heard { at: ms(11), news: News::Ended(None) };
    let arrived = Heard { at: ms(12), news: News::Arrived(tag("0E")) };
    assert_eq!(world.news, [ended, untagged, arrived]);
}

#[test]
fn what_is_not_written_has_its_default() {
    let world = read(&json!({"owner": "x", "answers": [{"from_ms": 0, "refuse": "no"}]}));

    assert_eq!(world.rider, Rider::Subscription);
    assert_eq!(world.latency, ms(0));
    assert_eq!((world.deadline, world.until), (ms(10_000), ms(60_000)));
    assert!(world.teardowns.is_empty() && world.news.is_empty());
    assert_eq!(world.answers[0].reply, Reply::Refuse(Refusal::new(Kind::ShuttingDown, "no")));
    // The figures of the format, not those of whatever the library's default may become.
    let budget = Budget::default().activations(3).re_asks(16).pace(ms(500)).join_limit(ms(8_000));
    assert_eq!(world.budget, budget.ask_limit(ms(60_000)));
}

#[test]
fn a_kind_that_nobody_knows_is_unknown() {
    let world =
        read(&json!({"owner": "x", "answers": [{"from_ms": 0, "refuse": "", "kind": "Teapot"}]}));

    assert_eq!(world.answers[0].reply, Reply::Refuse(Refusal::new(Kind::Unknown, "")));
}

#[test]
fn a_stream_closes_lives_on_or_does_not_say_who_serves() {
    let served = |keys: Value| {
        let world = read(&json!({"owner": "x", "answers": [{"from_ms": 0, "serve": keys}]}));
        let Reply::Serve(serve) = world.answers[0].reply.clone() else { panic!("{world:?}") };
        serve
    };

    let closes = served(json!({"activation": null, "items": [], "lives_ms": 0, "end": "close"}));
    assert_eq!((closes.activation, closes.end), (None, Some((ms(0), End::Close))));
    assert_eq!(served(json!({"activation": "A", "items": []})).end, None);
}

#[test]
fn an_announcement_without_a_tag_is_not_an_absent_key() {
    let world = read(&json!({
        "owner": "x",
        "answers": [{"from_ms": 0, "silent": true}],
        "news": [{"at_ms": 1, "ended": null}]
    }));

    assert_eq!(world.news, [Heard { at: ms(1), news: News::Ended(None) }]);
}

#[test]
fn the_reply_is_the_last_one_in_force() {
    let world = read(&json!({"owner": "x", "answers": [
        {"from_ms": 0, "refuse": "a"}, {"from_ms": 5, "refuse": "b"}, {"from_ms": 5, "refuse": "c"}
    ]}));
    let at = |moment| match world.reply_at(ms(moment)) {
        Reply::Refuse(refusal) => refusal.message.as_str(),
        other => panic!("{other:?}"),
    };

    assert_eq!([at(0), at(4), at(5), at(u64::MAX)], ["a", "a", "c", "c"]);
}

#[test]
fn a_teardown_completes_once() {
    let world = read(&json!({
        "owner": "x",
        "answers": [{"from_ms": 0, "silent": true}],
        "teardowns": [{"activation": "A", "at_ms": 9}, {"activation": "A", "at_ms": 3}]
    }));

    assert_eq!(world.teardown_of(&tag("A")), Some(ms(3)));
    assert_eq!(world.teardown_of(&tag("a")), None);
}

#[test]
fn an_unknown_key_is_an_error_at_every_level() {
    for place in [
        "",
        "/budget",
        "/answers/0",
        "/answers/2/serve",
        "/answers/2/serve/items/1",
        "/answers/2/serve/end",
        "/teardowns/0",
        "/news/0",
    ] {
        assert!(
            error_with(&format!("{place}/extra"), json!(1)).contains("unknown field `extra`"),
            "{place}"
        );
        // `about` is for the world as a whole.
        if !place.is_empty() {
            let error = error_with(&format!("{place}/about"), json!("why"));
            assert!(error.contains("unknown field `about`"), "{place}");
        }
    }
}

#[test]
fn what_is_required_is_missed() {
    for pointer in "/owner /answers /answers/0/from_ms /answers/2/serve/activation \
         /answers/2/serve/items /answers/2/serve/items/0/after_ms \
         /answers/2/serve/items/0/value /answers/2/serve/end/refuse /teardowns/0/activation \
         /teardowns/0/at_ms /news/0/at_ms"
        .split(' ')
    {
        let (_, key) = pointer.rsplit_once('/').expect("a pointer");
        assert!(error_without(pointer).contains(&format!("missing field `{key}`")), "{pointer}");
    }
}

#[test]
fn answers_begin_at_0_and_are_sorted() {
    says(error_with("/answers", json!([])), "answers: ", "empty");
    says(error_with("/answers/0/from_ms", json!(1)), "answers[0]: ", "not 0");
    says(error_with("/answers/2/from_ms", json!(6)), "answers[2]: ", "less than the one before");
}

#[test]
fn an_answer_is_exactly_one_thing() {
    says(error_without("/answers/1/silent"), "answers[1]: ", "no answer");
    for (key, value) in
        [("refuse", json!("no")), ("serve", json!({"activation": null, "items": []}))]
    {
        says(
            error_with(&format!("/answers/1/{key}"), value),
            "answers[1]: ",
            "more than one answer",
        );
    }
    says(error_with("/answers/0/silent", json!(true)), "answers[0]: ", "more than one answer");
    says(error_with("/answers/1/silent", json!(false)), "answers[1]: ", "silent is false");
    says(error_with("/answers/1/kind", json!("Failed")), "answers[1]: ", "kind without refuse");
}

#[test]
fn a_life_and_its_end_come_together() {
    let place = "answers[2].serve: ";
    says(error_without("/answers/2/serve/end"), place, "lives_ms without end");
    says(error_without("/answers/2/serve/lives_ms"), place, "end without lives_ms");
    let error = error_with("/answers/2/serve/end", json!("crash"));
    says(error, "answers[2].serve.end: ", "expected \"close\" or a refusal");
}

#[test]
fn news_is_exactly_one_thing() {
    says(error_without("/news/0/arrived"), "news[0]: ", "no news");
    says(error_with("/news/0/ended", json!("0D")), "news[0]: ", "more than one news");
    says(error_with("/news/0/ended", Value::Null), "news[0]: ", "more than one news");
    says(error_with("/news/0/arrived", Value::Null), "news[0].arrived: ", "null");
}

#[test]
fn a_number_is_whole_not_negative_and_not_too_large() {
    for pointer in "/budget/activations /budget/re_asks /budget/pace_ms /budget/join_limit_ms \
         /budget/ask_limit_ms /latency_ms /answers/0/from_ms \
         /answers/2/serve/items/0/after_ms /answers/2/serve/lives_ms /teardowns/0/at_ms \
         /news/0/at_ms /deadline_ms /until_ms"
        .split(' ')
    {
        let place = pointer[1..].replace("/0", "[0]").replace("/2", "[2]").replace('/', ".") + ": ";
        for bad in [json!(-1), json!(1.5), json!(1e20), json!("1"), Value::Null, json!([1])] {
            says(error_with(pointer, bad.clone()), &place, "expected");
        }
    }
    says(
        error_with("/budget/activations", json!(1_u64 << 32)),
        "budget.activations: ",
        "4294967296",
    );
}

#[test]
fn an_address_or_a_tag_that_is_none_is_an_error() {
    for bad in ["", "~pod", "Hub x", "x is shutting down", "x activation #1", "x\ny"] {
        says(error_with("/owner", json!(bad)), "owner: ", "address");
    }
    let long = "A".repeat(65);
    for bad in ["", "0x1F", "GG", &long] {
        says(error_with("/teardowns/0/activation", json!(bad)), "teardowns[0].activation: ", "hex");
        says(
            error_with("/answers/2/serve/activation", json!(bad)),
            "answers[2].serve.activation: ",
            "hex",
        );
        says(error_with("/news/0/arrived", json!(bad)), "news[0].arrived: ", "hex");
        says(error_with("/news/1/ended", json!(bad)), "news[1].ended: ", "hex");
    }
}

#[test]
fn each_value_has_one_shape() {
    for (pointer, bad) in [
        ("/about", Value::Null),
        ("/owner", json!(1)),
        ("/rider", json!("write")),
        ("/rider", json!({"read": null})),
        ("/rider", Value::Null),
        ("/budget", json!([])),
        ("/budget", Value::Null),
        ("/answers", json!({})),
        ("/answers/0", json!([0, "no", null, null, null])),
        ("/answers/0/refuse", Value::Null),
        ("/answers/0/kind", Value::Null),
        ("/answers/0/kind", json!(1)),
        ("/answers/1/silent", json!("true")),
        ("/answers/2/serve", json!(["0D", []])),
        ("/answers/2/serve/items", Value::Null),
        ("/answers/2/serve/items/0", json!([0, 1])),
        ("/answers/2/serve/end", Value::Null),
        ("/answers/2/serve/end", json!(["gone"])),
        ("/teardowns", Value::Null),
        ("/teardowns/0", json!(["0D", 1])),
        ("/news", json!({})),
        ("/news/0", json!([1, "0D"])),
    ] {
        let error = error_with(pointer, bad);
        let (place, _) = error.split_once(": ").expect("a place");
        let pointed = format!("/{}", place.replace('[', "/").replace(']', "").replace('.', "/"));
        assert_eq!(pointed, pointer, "{error}");
        assert_eq!(error.lines().count(), 1, "{error:?} is not one line");
    }
}

#[test]
fn a_text_that_is_no_object_or_more_than_one_is_an_error() {
    for bad in ["", "[]", "null", "\"x\"", "{", "{\"owner\": \"x\", \"owner\": \"y\"}"] {
        World::parse(bad).map(|world| panic!("{bad} was read: {world:?}")).unwrap_err();
    }
    let twice = format!("{0} {0}", full());
    says(World::parse(&twice).unwrap_err().to_string(), "trailing characters", "");
    let deep = "[".repeat(100_000);
    World::parse(&format!("{{\"owner\": {deep}")).unwrap_err();
}

#[test]
fn an_error_stays_one_line_whatever_the_file_holds() {
    says(error_with("/two\nlines", json!(1)), "two\\nlines: ", "unknown field");
}

#[test]
fn an_error_of_a_file_names_the_file() {
    let missing = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no-such-world.json");
    says(World::read(&missing).unwrap_err().to_string(), &format!("{}: ", missing.display()), "");

    let bad = Path::new(env!("CARGO_TARGET_TMPDIR")).join("unsorted.json");
    let text = r#"{"owner": "x", "answers": [{"from_ms": 2, "silent": true}]}"#;
    fs::write(&bad, text).expect("a folder for tests");
    let error = World::read(&bad).unwrap_err().to_string();
    says(error, &format!("{}: answers[0]: ", bad.display()), "not 0");

    fs::write(&bad, b"\xff").expect("a folder for tests");
    says(World::read(&bad).unwrap_err().to_string(), &format!("{}: ", bad.display()), "UTF-8");
}

#[test]
fn all_worlds_are_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/worlds");
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).expect("the worlds") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "json") {
            World::read(&path).unwrap_or_else(|error| panic!("{error}"));
            assert!(
                path.with_extension("events.jsonl").exists(),
                "{} has no events",
                path.display()
            );
            names.push(path);
        }
    }
    assert!(names.len() >= 28, "only {} worlds", names.len());
}
