//! An address is a path, perhaps with a host, that can forge nothing (R6).

use std::collections::{BTreeSet, HashSet};

use proptest::prelude::*;

use rideout::{
    Address,
    address::{InvalidAddress, MAX_LENGTH},
    refusal::{Closing, Seam, answered_by},
};

fn address(text: &str) -> Address {
    text.parse().unwrap()
}

fn invalid(text: &str) -> InvalidAddress {
    text.parse::<Address>().expect_err(text)
}

#[test]
fn path_and_host_part_at_the_first_tilde() {
    for (text, path, host) in [
        ("x", "x", None),
        ("x~h", "x", Some("h")),
        ("x/child~h~i", "x/child", Some("h~i")),
        ("x~", "x", None),
        ("Tb666188a0/Inst", "Tb666188a0/Inst", None),
        ("a b — c~h", "a b — c", Some("h")),
    ] {
        assert_eq!(address(text).path(), path, "{text}");
        assert_eq!(address(text).host(), host, "{text}");
        assert_eq!(address(text).as_str(), text);
        assert_eq!(address(text).to_string(), text);
    }
}

#[test]
fn every_way_in_checks() {
    assert_eq!(Address::try_from("x"), Ok(address("x")));
    assert_eq!(Address::try_from("x".to_owned()), Ok(address("x")));
    assert!(Address::try_from("").is_err());
    assert!(Address::try_from(String::new()).is_err());
}

#[test]
fn equal_and_ordered_as_text() {
    assert_eq!(address("x"), address("x").clone());
    assert_ne!(address("x"), address("X"));
    assert_ne!(address("x"), address("x~h"));
    assert_eq!(HashSet::from([address("x"), address("x")]).len(), 1);
    assert!(
        BTreeSet::from([address("b"), address("a")]).into_iter().eq([address("a"), address("b")])
    );
    assert_eq!(format!("{:?} {:>3}", address("x"), address("x")), "Address(\"x\")   x");
}

#[test]
fn an_empty_path_is_none() {
    for text in ["", "~", "~host"] {
        assert_eq!(invalid(text), InvalidAddress::EmptyPath { text: text.into() });
    }
    assert_eq!(
        invalid("~h").to_string(),
        "address \"~h\" has an empty path, expected text before the first `~`"
    );
}

#[test]
fn bytes_are_counted_and_not_characters() {
    assert_eq!(address(&"x".repeat(MAX_LENGTH)).as_str().len(), MAX_LENGTH);
    assert_eq!(invalid(&"x".repeat(MAX_LENGTH + 1)), InvalidAddress::TooLong { length: 1025 });
    assert_eq!(invalid(&"é".repeat(513)), InvalidAddress::TooLong { length: 1026 });
    assert_eq!(
        invalid(&"x".repeat(10_000_000)).to_string().len(),
        "address has 10000000 bytes, expected at most 1024".len()
    );
}

#[test]
fn control_characters_are_named() {
    for control in ['\0', '\n', '\r', '\t', '\u{7f}', '\u{85}', '\u{9f}'] {
        let found = invalid(&format!("é{control}x"));
        assert_eq!(found, InvalidAddress::ControlCharacter { found: control, at: 2 });
    }
    assert_eq!(
        invalid("a\nb").to_string(),
        "address holds the control character '\\n' at byte 1, expected none"
    );
}

#[test]
fn the_words_of_a_refusal_are_none() {
    for (text, word) in [
        ("Hub x", "Hub "),
        ("GitHub x", "Hub "),
        ("x is shutting down", " is shutting down"),
        ("x is shutting down~h", " is shutting down"),
        ("x~activation #AA", "activation #"),
        ("reactivation #", "activation #"),
        (
            "The address may reactivate (recycle / restart)",
            "he address may reactivate (recycle / restart)",
        ),
    ] {
        assert_eq!(invalid(text), InvalidAddress::Forges { text: text.into(), word });
    }
    // Nearly the words, and harmless: they count whole and case-sensitively.
    for text in ["hub x", "Hubx", "Hub/x", "x is shutting", "activation AA", "x Is shutting down"] {
        assert_eq!(address(text).as_str(), text);
    }
}

#[test]
fn the_space_beside_an_address_completes_no_word() {
    for (text, word) in [
        ("is shutting down", " is shutting down"),
        ("is shutting down, cannot route to y", " is shutting down"),
        ("is shutting down~h", " is shutting down"),
    ] {
        assert_eq!(invalid(text), InvalidAddress::Forges { text: text.into(), word });
    }
}

#[test]
fn a_name_that_ends_in_hub_is_a_name() {
    for text in ["Hub", "x/Hub", "x/MessageHub~h", "x~Hub"] {
        let address = address(text);
        let message = Closing::new(address.clone()).refuse(Seam::Door, "Subscribe").message;
        assert!(answered_by(&message, &address), "{message}");
        assert!(!answered_by(&message, &"y".parse().unwrap()), "{message}");
    }
}

#[test]
fn white_space_at_an_end_cannot_be_told_from_the_sentence() {
    for text in [" x", "x ", "\u{a0}x", "x ~h", "x~h ", " ", " ~h", "x\u{2003}"] {
        assert_eq!(invalid(text), InvalidAddress::Untrimmed { text: text.into() });
    }
    assert_eq!(address("a b").path(), "a b");
}

#[cfg(feature = "serde")]
#[test]
fn json_is_checked_too() {
    let written = serde_json::to_string(&address("x~h")).unwrap();
    assert_eq!(written, "\"x~h\"");
    assert_eq!(serde_json::from_str::<Address>(&written).unwrap(), address("x~h"));

    for bad in ["\"\"", "\"Hub x\"", "7", "null"] {
        assert!(serde_json::from_str::<Address>(bad).is_err(), "{bad}");
    }
}

proptest! {
    // Whatever an address is made of, no sentence about it passes for another owner's.
    #[test]
    fn no_address_forges(
        parts in prop::collection::vec(
            prop_oneof![
                Just("Hub"), Just("Hub "), Just(" "), Just("is shutting down"), Just("activation"),
                Just("#"), Just("~"), Just("x"), Just("/"), Just("Host"), Just("Mesh"), Just("—"),
                Just(", cannot route to "), Just(" is"), Just(" shutting"), Just(" down"), Just("'"),
            ],
            0..8,
        ),
        any in ".{0,8}",
    ) {
        for text in [parts.concat(), any.clone(), parts.concat() + &any] {
            let Ok(address) = text.parse::<Address>() else { continue };
            let message = Closing::new(address.clone()).refuse(Seam::Door, "what").message;

            prop_assert!(answered_by(&message, &address));
            for other in ["x", "Hub", "is", "y"] {
                let other: Address = other.parse().unwrap();
                prop_assert_eq!(answered_by(&message, &other), other.path() == address.path());
            }
            prop_assert_eq!(message.matches(" is shutting down").count(), 1);
            prop_assert_eq!(message.matches("activation #").count(), 0);
        }
    }
}
