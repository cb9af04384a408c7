//! Text of any kind is read as the rules are worded, in linear time, and promises nothing (R6).

use proptest::prelude::*;

use rideout::{Activation, Address, Closing, Kind, Refusal, Speaker, refusal::answered_by};

fn address(text: &str) -> Address {
    text.parse().unwrap()
}

/// Who speaks in a promise that has no field but its kind.
fn heard(message: &str, asked: &str) -> Speaker {
    Refusal::new(Kind::ShuttingDown, message).speaker(&address(asked))
}

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
    }

    for part in ["Hub ", " is shutting down", "activation #", "\n"] {
        let minted = Closing::new(address("y")).at_the_door(&most(part)).message;
        assert_eq!(minted.matches("Hub ").count(), 1);
    }
}
