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
        reads_as_worded(&message)?;
    }

    #[test]
    fn what_is_said_holds_free_text_as_the_rule_is_worded(verb in hostile(), what in hostile()) {
        says_as_worded(&verb, &what)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// However many words stand before, which is read in another way than few of them.
    #[test]
    fn so_is_text_that_is_full_of_words(
        words in prop::collection::vec(prop::sample::select(&CROWDED[..]), 1..4),
        times in 30_usize..80,
        between in hostile(),
        end in hostile(),
    ) {
        let crowd = words.concat().repeat(times);
        let message = format!("{crowd}{between}{crowd}{end}");
        reads_as_worded(&message)?;
        says_as_worded(&message, &end)?;
    }
}

/// What a text may be full of: words, and the letters that a reader looks for first.
const CROWDED: [&str; 16] = [
    "Hub ",
    "Hub x",
    "Hub x~",
    "Hub y is shutting down",
    " is shutting down",
    "activation #",
    "Host is shutting down, cannot route to ",
    "Host is shutting down, cannot route to x/",
    "H",
    "M",
    "w",
    "#",
    "~",
    "/",
    "\n",
    "é\u{85}",
];

fn reads_as_worded(message: &str) -> Result<(), TestCaseError> {
    for owner in ["x", "x/child", "AA", "—"].map(address) {
        prop_assert_eq!(answered_by(message, &owner), worded::answered_by(message, &owner));

        // A promise that has no field but its kind, and text alone.
        for kind in [Some(Kind::ShuttingDown), None] {
            let mut refusal = Refusal::from_text(message);
            refusal.kind = kind;
            let made = refusal.promise(&owner).map(|promise| promise.speaker);
            prop_assert_eq!(refusal.speaker(&owner), worded::speaker(&refusal, &owner));
            prop_assert_eq!(made, worded::promise(&refusal, &owner));
            let never_applied = worded::never_applied(&refusal, &owner);
            prop_assert_eq!(refusal.is_never_applied(&owner), never_applied);
        }
    }
    Ok(())
}

/// A word that would read as another refusal has the case of its first letter changed, control characters
/// are spaces.
fn says_as_worded(verb: &str, what: &str) -> Result<(), TestCaseError> {
    let plain = |text: &str| {
        let spaced = format!(" {} ", text.replace(char::is_control, " "));
        let plain =
            spaced.replace("Hub ", "hub ").replace(" is shutting down", " Is shutting down");
        let plain = plain.replace("activation #", "Activation #");
        plain[1..plain.len() - 1].to_owned()
    };
    let (detail, what_then) = (plain(verb), plain(&format!("{verb} {what}")));
    let remark = if detail.is_empty() { String::new() } else { format!(" ({detail})") };
    let said = Closing::new(address("x")).detail(verb).refuse(Wording::turned_away(verb), what);
    let promise = "; the address may reactivate (recycle / restart). Rejecting now.";
    let worded = format!("Hub x is shutting down{remark} — {what_then}{promise}");
    prop_assert_eq!(said.message, worded);
    Ok(())
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
