//! Text of any kind is read as the rules are worded, in linear time, and promises nothing (R6).

use crate::{hostile_words, worded};
use proptest::prelude::*;

use rideout::{
    Activation, Address, Kind, Refusal,
    refusal::{Closing, Speaker, Wording, answered_by},
};

fn address(text: &str) -> Address {
    text.parse().unwrap()
}

/// The words of the sentence, in any order, and anything between them.
fn hostile() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        3 => prop::sample::select(&hostile_words::WORDS[..4]).prop_map(str::to_owned),
        4 => prop::sample::select(&hostile_words::WORDS[..]).prop_map(str::to_owned),
        1 => ".{0,6}",
    ];
    prop::collection::vec(part, 0..12).prop_map(|parts| parts.concat())
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
        let wording = if door { Wording::turned_away(&what) } else { Wording::accepted(&what) };
        let refusal = closing.refuse(wording, &what);

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
        for owner in ["x", "x/child", "AA", "—"].map(address) {
            prop_assert_eq!(answered_by(&message, &owner), worded::answered_by(&message, &owner));

            // A promise that has no field but its kind, and text alone.
            for kind in [Some(Kind::ShuttingDown), None] {
                let mut refusal = Refusal::from_text(message.as_str());
                refusal.kind = kind;
                let made = refusal.promise(&owner).map(|promise| promise.speaker);
                prop_assert_eq!(refusal.speaker(&owner), worded::speaker(&refusal, &owner));
                prop_assert_eq!(made, worded::promise(&refusal, &owner));
                let never_applied = worded::never_applied(&refusal, &owner);
                prop_assert_eq!(refusal.is_never_applied(&owner), never_applied);
            }
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
    }

    for part in ["Hub ", " is shutting down", "activation #", "\n"] {
        let minted =
            Closing::new(address("y")).refuse(Wording::turned_away(&most(part)), part).message;
        assert_eq!(minted.matches("Hub ").count(), 1);
    }
}
