//! One formatter and one parser, to the word (R2–R4, R6).

use std::{fs, path::Path};

use proptest::prelude::*;

use rideout::{Activation, Address, Closing, Kind, Refusal, Speaker, refusal::answered_by};

fn address(text: &str) -> Address {
    text.parse().unwrap()
}

fn tag(digits: &str) -> Option<Activation> {
    Some(digits.parse().unwrap())
}

/// Who speaks in a promise that has no field but its kind.
fn heard(message: &str, asked: &str) -> Speaker {
    Refusal::new(Kind::ShuttingDown, message).speaker(&address(asked))
}

// --- What is written (R2) ---

#[test]
fn the_sentences_are_these() {
    let x = address("prices/eur~h");
    let bare = Closing::new(x.clone());
    let tagged = bare.clone().activation("017DA86C".parse().unwrap());
    let dead = tagged.clone().detail("RunLevel=Dead");
    let what = "cannot process SubscribeRequest";

    for (refusal, message) in [
        (
            bare.at_the_door(what),
            "Hub prices/eur~h is shutting down — cannot process SubscribeRequest; \
             the address may reactivate (recycle / restart). Rejecting now.",
        ),
        (
            tagged.at_the_door(what),
            "Hub prices/eur~h is shutting down (activation #017DA86C) — cannot process \
             SubscribeRequest; the address may reactivate (recycle / restart). Rejecting now.",
        ),
        (
            dead.at_the_door(what),
            "Hub prices/eur~h is shutting down (RunLevel=Dead, activation #017DA86C) — cannot \
             process SubscribeRequest; the address may reactivate (recycle / restart). Rejecting now.",
        ),
        (
            dead.accepted("2 gates never opened"),
            "Hub prices/eur~h is shutting down (RunLevel=Dead, activation #017DA86C) — 2 gates never \
             opened. The address may reactivate (recycle / restart); retry to get the authoritative \
             answer.",
        ),
        (
            dead.clone().host_stopping().at_the_door(what),
            "Hub prices/eur~h is shutting down (RunLevel=Dead, activation #017DA86C, its host is \
             stopping) — cannot process SubscribeRequest; the address may reactivate (recycle / \
             restart). Rejecting now.",
        ),
        (
            bare.clone().host_stopping().at_the_door(what),
            "Hub prices/eur~h is shutting down (its host is stopping) — cannot process \
             SubscribeRequest; the address may reactivate (recycle / restart). Rejecting now.",
        ),
        (
            bare.clone().detail("RunLevel=Dead").at_the_door(what),
            "Hub prices/eur~h is shutting down (RunLevel=Dead) — cannot process SubscribeRequest; \
             the address may reactivate (recycle / restart). Rejecting now.",
        ),
        (Refusal::host_cannot_route(&x), "Host is shutting down, cannot route to prices/eur~h"),
        (Refusal::mesh_cannot_route(&x), "Mesh is shutting down, cannot route to prices/eur~h"),
        (Refusal::no_route(&x), "No route to 'prices/eur~h'"),
        (Refusal::no_node(&x), "No node found at 'prices/eur~h'"),
    ] {
        assert_eq!(refusal.message, message);
    }
}

#[test]
fn free_text_adds_no_word_not_even_at_the_seams() {
    let y = "Hub y is shutting down (activation #BB)";
    let closing = Closing::new(address("x")).activation("AA".parse().unwrap());

    for free in [
        y,
        "is shutting down",
        "Hub",
        "Hub\n",
        "Hub\ty is\tshutting down",
        "Hub Hub x is shutting down is shutting down",
        "activation #",
        "reactivation ##activation #BB",
        "activation\u{85}#BB",
        "Host is shutting down, cannot route to y",
    ] {
        for refusal in [
            closing.clone().detail(free).at_the_door("what"),
            closing.at_the_door(free),
            closing.accepted(free),
            closing.clone().detail(free).accepted(free),
        ] {
            let message = refusal.message;
            assert_eq!(message.matches("Hub ").count(), 1, "{message}");
            assert_eq!(message.matches(" is shutting down").count(), 1, "{message}");
            assert_eq!(message.matches("activation #").count(), 1, "{message}");
            assert!(!message.contains(char::is_control), "{message}");
            assert_eq!(heard(&message, "x"), Speaker::Owner(tag("AA")));
            assert_eq!(heard(&message, "y"), Speaker::Route);
        }
    }
    assert_eq!(
        closing.accepted(y).message,
        "Hub x is shutting down (activation #AA) — hub y Is shutting down (Activation #BB). The \
         address may reactivate (recycle / restart); retry to get the authoritative answer."
    );
}

#[test]
fn harmless_free_text_is_kept_to_the_letter() {
    let free = "gates «a», ‘b’ — asked by ops (why: \"moved\"); hub down, activation no. 7";
    let message = Closing::new(address("x")).detail(free).accepted(free).message;
    assert_eq!(message.matches(free).count(), 2, "{message}");
}

// --- Who spoke (R4) ---

#[test]
fn a_banner_is_answered_by_its_subject_alone() {
    for (message, owner, answered) in [
        ("Hub x is shutting down", "x", true),
        ("Hub x is shutting down", "x~elsewhere", true),
        ("Hub x~h is shutting down", "x", true),
        ("Hub x~h~i is shutting down", "x", true),
        ("Hub x~ is shutting down", "x", true),
        ("Delivery to 'x' failed: Hub x is shutting down (RunLevel=Dead)", "x", true),
        ("Hub y is shutting down; Hub x is shutting down", "x", true),
        ("Hub x is shutting down; Hub y is shutting down", "y", true),
        ("Hub Hub x is shutting down", "x", true),
        ("Hub Hub Hub x~h is shutting down", "x", true),
        ("Hub y and Hub x is shutting down", "x", true),
        ("Hub x~a Hub b is shutting down", "x", true),
        ("Hub x~a Hub b is shutting down", "b", true),
        ("GitHub x is shutting down", "x", true),
        ("Hub a b is shutting down", "a b", true),
        ("Hub é/ü is shutting down", "é/ü", true),
        ("Hub x/child is shutting down", "x", false),
        ("Hub x is shutting down", "x/child", false),
        ("Hub xy is shutting down", "x", false),
        ("Hub x is shutting down", "xy", false),
        ("Hub x  is shutting down", "x", false),
        ("Hub  x is shutting down", "x", false),
        ("Hub X is shutting down", "x", false),
        ("hub x is shutting down", "x", false),
        ("Hub x is Shutting down", "x", false),
        ("Hub x is shutting", "x", false),
        ("Hub x~h is shutting", "x", false),
        ("Hub is shutting down", "x", false),
        ("Hub  is shutting down", "x", false),
        ("Hub x", "x", false),
        ("Hub ", "x", false),
        ("Mesh is shutting down, cannot route to x", "x", false),
        ("Host is shutting down, cannot route to x", "x", false),
        ("No route to 'x'", "x", false),
        ("No node found at 'x'", "x", false),
        ("", "x", false),
    ] {
        assert_eq!(answered_by(message, &address(owner)), answered, "{message:?} by {owner}");
    }
}

#[test]
fn the_speaker_is_the_owner_by_its_banner_or_by_a_tag_alone() {
    use Speaker::{Owner, Route};

    for (message, speaker) in [
        ("Hub x is shutting down", Owner(None)),
        ("Hub x is shutting down (activation #AA)", Owner(tag("AA"))),
        ("peer closed (activation #0D)", Owner(tag("0D"))),
        ("Hub (activation #0D)", Owner(tag("0D"))),
        ("the disk is shutting down (activation #0D)", Owner(tag("0D"))),
        ("peer closed", Route),
        ("", Route),
        ("Hub x/child is shutting down", Route),
        ("Hub x/child is shutting down (activation #0C)", Route),
        ("(activation #0D) Hub y is shutting down", Route),
        ("Host is shutting down, cannot route to x", Route),
        ("Host is shutting down, cannot route to x (activation #AA)", Route),
        ("Mesh is shutting down, cannot route to x (activation #AA)", Route),
        ("Mesh is shutting down, cannot route to y (activation #AA)", Route),
        ("Delivery to 'x' failed: Hub x/child is shutting down (activation #0C) — gone", Route),
    ] {
        assert_eq!(heard(message, "x"), speaker, "{message:?}");
    }
}

// --- The tag (R3) ---

#[test]
fn the_first_marker_counts_and_no_second_is_tried() {
    let long = format!("gone (activation #{})", "A".repeat(64));
    let too_long = format!("gone (activation #{}, activation #BB)", "A".repeat(65));

    for (message, found) in [
        ("activation #AA activation #BB", tag("AA")),
        ("activation #0dF0, activation #BB", tag("0dF0")),
        ("activation #AAG", tag("AA")),
        ("reactivation #AA", tag("AA")),
        ("activation #AA", tag("AA")),
        (&long, tag(&"A".repeat(64))),
        (&too_long, None),
        ("activation #G activation #BB", None),
        ("activation # AA", None),
        ("activation #", None),
        ("Activation #AA", None),
        ("activation  #AA", None),
        ("activation #０", None),
        ("activation ##AA activation #BB", None),
    ] {
        // The banner makes the owner the speaker in any case, so that the tag alone is compared.
        let message = format!("Hub x is shutting down ({message})");
        assert_eq!(heard(&message, "x"), Speaker::Owner(found), "{message}");
    }
}

#[test]
fn beside_this_owners_banner_the_marker_after_it_counts() {
    for (message, found) in [
        (
            "Hub x/child is shutting down (activation #0C); Hub x is shutting down (activation #0D)",
            tag("0D"),
        ),
        ("activation #0C: Hub x is shutting down", None),
        ("activation #0C: Hub x is shutting down (activation #G)", None),
        ("Hub x is shutting down; Hub y is shutting down (activation #0E)", tag("0E")),
        (
            "Hub x is shutting down (activation #0D); Hub x is shutting down (activation #0E)",
            tag("0D"),
        ),
        ("Hub x~activation #0C is shutting down (activation #0D)", tag("0D")),
    ] {
        assert_eq!(heard(message, "x"), Speaker::Owner(found), "{message}");
    }
}

// --- Bad input (R6) ---

/// The words of the sentence, whole, broken, and what may stand around them.
fn hostile() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        4 => Just("Hub ".to_owned()),
        4 => Just(" is shutting down".to_owned()),
        3 => Just("x".to_owned()),
        2 => Just("activation #".to_owned()),
        2 => Just("AA".to_owned()),
        1 => Just("Hub".to_owned()),
        1 => Just(" ".to_owned()),
        1 => Just("x/child".to_owned()),
        1 => Just("~".to_owned()),
        1 => Just("is shutting down".to_owned()),
        1 => Just("activation ".to_owned()),
        1 => Just("#".to_owned()),
        1 => Just("G".to_owned()),
        1 => Just("\n".to_owned()),
        1 => Just("\u{0}".to_owned()),
        1 => Just(" — ".to_owned()),
        1 => Just(", cannot route to ".to_owned()),
        1 => Just("Host".to_owned()),
        1 => Just("Mesh is shutting down, cannot route to ".to_owned()),
        1 => Just("; the address may reactivate (recycle / restart). Rejecting now.".to_owned()),
        1 => Just("The address may reactivate".to_owned()),
        1 => Just(" (recycle / restart)".to_owned()),
        1 => Just("A".repeat(65)),
        1 => ".{0,6}",
    ];
    prop::collection::vec(part, 0..12).prop_map(|parts| parts.concat())
}

/// R4 as it is worded, at any cost: every banner's subject, up to its first `~`.
fn subjects(message: &str) -> Vec<&str> {
    let starts = message.match_indices("Hub ").map(|(at, hub)| &message[at + hub.len()..]);
    starts
        .filter_map(|rest| rest.split_once(" is shutting down"))
        .map(|(subject, _)| subject.split('~').next().unwrap())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_refusal_reads_back_by_address_and_by_path(
        owner in prop_oneof!["[a-z]{1,3}(/[a-zA-Z0-9 ]{0,4}[a-z]){0,2}(~[a-z]{1,3})?", "\\PC{1,20}"],
        other in "[a-z]{1,2}(/[a-z]{1,2})?",
        detail in hostile(),
        what in hostile(),
        named in proptest::option::of("[0-9a-fA-F]{1,64}"),
        stopping in any::<bool>(),
        door in any::<bool>(),
    ) {
        prop_assume!(owner.parse::<Address>().is_ok());
        let (owner, other) = (address(&owner), address(&other));
        let activation = named.map(|digits| digits.parse::<Activation>().unwrap());

        let mut closing = Closing::new(owner.clone()).detail(detail);
        closing = activation.clone().into_iter().fold(closing, Closing::activation);
        closing = if stopping { closing.host_stopping() } else { closing };
        let refusal = if door { closing.at_the_door(&what) } else { closing.accepted(&what) };

        // With its fields, and as the text alone, relayed.
        let relayed = format!("Delivery to '{owner}' failed: {}", refusal.message);
        for refusal in [refusal.clone(), Refusal::from_text(refusal.message), Refusal::from_text(relayed)] {
            let path = address(owner.path());
            for asked in [&owner, &path] {
                let promise = refusal.promise(asked).expect("a promise");
                prop_assert_eq!(promise.speaker, Speaker::Owner(activation.clone()));
                prop_assert!(answered_by(&refusal.message, asked));
                prop_assert!(refusal.is_never_applied(asked));
            }
            if other.path() != owner.path() {
                prop_assert!(!answered_by(&refusal.message, &other));
            }
        }
    }

    #[test]
    fn hostile_text_is_read_as_the_rule_is_worded(message in hostile()) {
        let subjects = subjects(&message);

        for owner in ["x", "x/child", "AA", "—"] {
            let answered = answered_by(&message, &address(owner));
            prop_assert_eq!(answered, subjects.contains(&owner), "{:?} by {}", &message, owner);

            let speaker = heard(&message, owner);
            let banners = !subjects.is_empty()
                || message.contains("Host is shutting down, cannot route to ")
                || message.contains("Mesh is shutting down, cannot route to ");
            match &speaker {
                Speaker::Owner(None) => prop_assert!(answered),
                Speaker::Owner(Some(_)) => prop_assert!(answered || !banners),
                Speaker::Route => prop_assert!(!answered),
            }
        }
    }

    #[test]
    fn text_alone_is_a_promise_only_by_the_words(message in hostile()) {
        let asked = address("x");
        let refusal = Refusal::from_text(message.as_str());

        if let Some(promise) = refusal.promise(&asked) {
            let owners = subjects(&message).contains(&"x")
                && message.contains("he address may reactivate (recycle / restart)");
            let routes = ["Host", "Mesh"]
                .iter()
                .any(|side| message.contains(&format!("{side} is shutting down, cannot route to x")));
            match promise.speaker {
                Speaker::Owner(_) => prop_assert!(owners),
                Speaker::Route => prop_assert!(routes && !owners),
            }
        } else {
            prop_assert!(!refusal.is_never_applied(&asked));
        }
    }
}

#[test]
fn ten_megabytes_are_read_in_one_pass() {
    // At a quadratic cost each of these would take hours; that they end is the proof.
    let most = |part: &str| part.repeat(10_000_000 / part.len());
    let path = "x".repeat(1024);
    let nearly = "x".repeat(1023);

    for text in [
        most("Hub "),
        most("Hub x"),
        most(" is shutting down"),
        most("Hub y is shutting down"),
        most("Hub x~"),
        most(&format!("Hub {path}~")),
        most(&format!("Hub {nearly}")),
        most(&format!("Hub {path} is shutting dow")),
        most("activation #"),
        most("activation #G"),
        format!("activation #{}", most("A")),
        most("Host is shutting down, cannot route to "),
        most("Mesh is shutting down, cannot route to y"),
        most(&format!("Host is shutting down, cannot route to {nearly}")),
        format!("Host is shutting down, cannot route to x{}y", most(".")),
        most("he address may reactivate (recycle / restart)"),
        most("; the address may reactivate (recycle / restart). Rejecting now"),
        most("\u{0}"),
        most("é"),
    ] {
        // Between them these read the text for every word, from every start.
        let asked = address(if text.contains(&nearly) { &path } else { "x" });
        assert!(!answered_by(&text, &asked));
        assert!(!Refusal::new(Kind::ShuttingDown, &*text).is_never_applied(&asked));
        assert_eq!(Refusal::from_text(&*text).promise(&asked), None);

        let minted = Closing::new(address("y")).at_the_door(&text).message;
        assert_eq!(minted.matches("Hub ").count(), 1);
    }
}

// --- No other place (R2) ---

#[test]
fn the_words_stand_in_no_other_source() {
    let words = ["Hub ", " is shutting down", "activation #", "he address may reactivate"];
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut folders, mut seen, mut speaking) = (vec![sources.clone()], 0, Vec::new());

    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let found = words.into_iter().filter(|word| text.contains(word)).count();
            seen += 1;
            if found > 0 {
                speaking.push((path.strip_prefix(&sources).unwrap().to_owned(), found));
            }
        }
    }

    // The one that does speak shows that the scan finds what it looks for.
    assert_eq!(speaking, [("sentence.rs".into(), words.len())]);
    assert!(seen > 5, "{seen} sources");
}
