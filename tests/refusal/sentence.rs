//! One formatter and one parser, to the word (R2–R4).

use std::{fs, path::Path};

use rideout::{
    Activation, Address, Kind, Refusal,
    refusal::{Closing, Seam, Speaker, Wording, answered_by},
};

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
    let what = "SubscribeRequest";

    for (refusal, message) in [
        (
            bare.refuse(Seam::Door, what),
            "Hub prices/eur~h is shutting down — cannot process SubscribeRequest; \
             the address may reactivate (recycle / restart). Rejecting now.",
        ),
        (
            tagged.refuse(Seam::Door, what),
            "Hub prices/eur~h is shutting down (activation #017DA86C) — cannot process \
             SubscribeRequest; the address may reactivate (recycle / restart). Rejecting now.",
        ),
        (
            dead.refuse(Seam::Door, what),
            "Hub prices/eur~h is shutting down (RunLevel=Dead, activation #017DA86C) — cannot \
             process SubscribeRequest; the address may reactivate (recycle / restart). Rejecting now.",
        ),
        (
            dead.refuse(Wording::accepted("2 gates never"), "opened"),
            "Hub prices/eur~h is shutting down (RunLevel=Dead, activation #017DA86C) — 2 gates never \
             opened. The address may reactivate (recycle / restart); retry to get the authoritative \
             answer.",
        ),
        (
            dead.clone().host_stopping().refuse(Seam::Door, what),
            "Hub prices/eur~h is shutting down (RunLevel=Dead, activation #017DA86C, its host is \
             stopping) — cannot process SubscribeRequest; the address may reactivate (recycle / \
             restart). Rejecting now.",
        ),
        (
            bare.clone().host_stopping().refuse(Seam::Door, what),
            "Hub prices/eur~h is shutting down (its host is stopping) — cannot process \
             SubscribeRequest; the address may reactivate (recycle / restart). Rejecting now.",
        ),
        (
            bare.clone().detail("RunLevel=Dead").refuse(Seam::Door, what),
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
            closing.clone().detail(free).refuse(Seam::Door, "what"),
            closing.refuse(Wording::turned_away(free), "what"),
            closing.refuse(Wording::turned_away(free), free),
            closing.refuse(Wording::accepted(free), free),
            closing.refuse(Seam::Mailbox, free),
            closing.clone().detail(free).refuse(Seam::Mailbox, free),
            closing.clone().detail(free).refuse(Wording::accepted(free), free),
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
        closing.refuse(Seam::Mailbox, y).message,
        "Hub x is shutting down (activation #AA) — cannot finish hub y Is shutting down (Activation #BB). The \
         address may reactivate (recycle / restart); retry to get the authoritative answer."
    );
}

#[test]
fn harmless_free_text_is_kept_to_the_letter() {
    let free = "gates «a», ‘b’ — asked by ops (why: \"moved\"); hub down, activation no. 7";
    let message = Closing::new(address("x")).detail(free).refuse(Seam::Mailbox, free).message;
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
        (
            "By y: Hub x is shutting down (activation #0D); Hub x~h is shutting down (activation #0E)",
            tag("0D"),
        ),
        (
            "By y: Hub x~h is shutting down (activation #0D); Hub x is shutting down (activation #0E)",
            tag("0D"),
        ),
    ] {
        assert_eq!(heard(message, "x"), Speaker::Owner(found), "{message}");
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
