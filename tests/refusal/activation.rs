//! Identities are hex digits as written, and a mint is never reused (R3).

use std::{collections::HashSet, env, process::Command, thread};

use proptest::prelude::*;

use rideout::{
    Activation,
    activation::{InvalidActivation, MAX_DIGITS, StreamId},
};

fn invalid(text: &str) -> InvalidActivation {
    text.parse::<Activation>().expect_err(text)
}

#[test]
fn digits_are_kept_and_compared_as_written() {
    for text in ["0", "0D", "0d", "017DA86C", "00", &"F".repeat(MAX_DIGITS)] {
        let activation: Activation = text.parse().unwrap();
        assert_eq!(activation.as_str(), text);
        assert_eq!(activation.to_string(), text);
        assert_eq!(activation, activation.clone());
    }
    let distinct = ["0D", "0d", "D", "00D"].map(|text| text.parse::<Activation>().unwrap());
    assert_eq!(HashSet::from(distinct).len(), 4);
}

#[test]
fn what_is_not_1_to_64_hex_digits_is_said() {
    for (text, found) in [
        ("", "no digit"),
        ("G0", "'G' at byte 0"),
        ("0 ", "' ' at byte 1"),
        ("#0", "'#' at byte 0"),
        ("+1", "'+' at byte 0"),
        ("０", "'０' at byte 0"),
        (&"0".repeat(65), "65 digits"),
    ] {
        let said = format!("activation has {found}, expected 1 to 64 hex digits");
        assert_eq!(invalid(text).to_string(), said);
    }
}

#[test]
fn a_mint_has_upper_case_digits_only_and_reads_back() {
    let minted = Activation::mint();

    assert!(minted.as_str().len() >= 8);
    assert!(minted.as_str().bytes().all(|b| matches!(b, b'0'..=b'9' | b'A'..=b'F')));
    assert_eq!(minted.as_str().parse(), Ok(minted));
}

#[test]
fn no_mint_is_reused_by_any_thread() {
    let minting = || {
        let mint =
            || (0..20_000).map(|_| (Activation::mint(), StreamId::mint())).collect::<Vec<_>>();
        thread::spawn(mint)
    };
    let minted: Vec<_> = [minting(), minting(), minting(), minting()]
        .into_iter()
        .flat_map(|thread| thread.join().unwrap())
        .collect();

    let activations: HashSet<_> = minted.iter().map(|(activation, _)| activation).collect();
    let streams: HashSet<_> = minted.iter().map(|(_, stream)| stream).collect();
    assert_eq!((activations.len(), streams.len()), (80_000, 80_000));
}

#[test]
fn a_mint_shows_no_count() {
    // Neighbours differ in many digits: a reader that compares prefixes by eye is not misled.
    let (a, b) = (Activation::mint(), Activation::mint());
    let differing = a.as_str().bytes().zip(b.as_str().bytes()).filter(|(a, b)| a != b).count();
    assert!(differing >= 4, "{a} {b}");
}

#[test]
fn stream_ids_read_back() {
    let stream = StreamId::mint();
    assert_eq!(stream.to_string().len(), 16);
    assert_eq!(stream.to_string().parse(), Ok(stream));
    assert_eq!("ff".parse::<StreamId>().unwrap().to_string(), "00000000000000FF");
    assert_eq!(format!("{:?}", "1".parse::<StreamId>().unwrap()), "StreamId(0000000000000001)");

    for bad in ["", "+1", "-1", "x", "10000000000000000", " 1"] {
        let error = bad.parse::<StreamId>().expect_err(bad);
        assert!(error.to_string().ends_with("expected 1 to 16 hex digits"), "{error}");
    }
}

#[cfg(feature = "serde")]
#[test]
fn json_is_checked_too() {
    let activation: Activation = "0d".parse().unwrap();
    assert_eq!(serde_json::to_string(&activation).unwrap(), "\"0d\"");
    assert_eq!(serde_json::from_str::<Activation>("\"0d\"").unwrap(), activation);

    let stream = StreamId::mint();
    let written = serde_json::to_string(&stream).unwrap();
    assert_eq!(written, format!("\"{stream}\""));
    assert_eq!(serde_json::from_str::<StreamId>(&written).unwrap(), stream);

    for bad in ["\"\"", "\"xyz\"", "13", "null"] {
        assert!(serde_json::from_str::<Activation>(bad).is_err(), "{bad}");
        assert!(serde_json::from_str::<StreamId>(bad).is_err(), "{bad}");
    }
}

proptest! {
    #[test]
    fn any_text_is_an_activation_exactly_if_it_is_1_to_64_hex_digits(
        text in prop_oneof!["[0-9a-fA-F]{0,70}", ".{0,10}"],
    ) {
        let hex = text.chars().all(|c| c.is_ascii_hexdigit()) && (1..=64).contains(&text.len());
        prop_assert_eq!(text.parse::<Activation>().is_ok(), hex);
    }
}

const TELL: &str = "RIDEOUT_TELLS_A_MINT";

/// What the processes of the next test run: they tell what they mint.
#[test]
fn a_process_tells_a_mint() {
    if env::var_os(TELL).is_some() {
        println!("minted {} {}", Activation::mint(), StreamId::mint());
    }
}

#[test]
fn two_processes_do_not_mint_alike() {
    let minted = || {
        let output = Command::new(env::current_exe().unwrap())
            .args(["--exact", "activation::a_process_tells_a_mint", "--nocapture"])
            .env(TELL, "1")
            .output()
            .unwrap();
        let output = String::from_utf8(output.stdout).unwrap();
        let told = output.split_once("minted ").expect("it tells").1;
        told.split_whitespace().take(2).map(str::to_owned).collect::<Vec<_>>()
    };
    let (one, two) = (minted(), minted());
    assert_ne!(one[0], two[0]);
    assert_ne!(one[1], two[1]);
}

#[test]
fn a_number_is_its_32_digits() {
    assert_eq!(Activation::from(0).as_str(), "0".repeat(32));
    assert_eq!(Activation::from(0x0d).as_str(), format!("{}0D", "0".repeat(30)));
    assert_eq!(Activation::from(u128::MAX).as_str(), "F".repeat(32));
}

#[test]
fn a_uuid_is_its_number_and_has_one_form() {
    let number = Activation::from(0x0000_4567_e89b_12d3_a456_4266_1417_400f);
    for text in ["00004567-e89b-12d3-a456-42661417400f", "00004567-E89B-12D3-A456-42661417400F"] {
        assert_eq!(Activation::from_uuid(text).as_ref(), Ok(&number), "{text}");
    }
    for bad in [
        "",
        "----",
        "00004567e89b12d3a45642661417400f",
        "00004567-e89b-12d3-a456-42661417400",
        "00004567-e89b-12d3-a456-42661417400ff",
        "0000456-7e89b-12d3-a456-42661417400f",
        "00004567-e89b-12d3-a456-42661417400g",
        "+0004567-e89b-12d3-a456-42661417400f",
        "00004567-e89b-12d3-a456-42661417400f-",
        "{00004567-e89b-12d3-a456-42661417400f}",
        "urn:uuid:00004567-e89b-12d3-a456-42661417400f",
        " 00004567-e89b-12d3-a456-42661417400f",
        "00004567–e89b–12d3–a456–42661417400f",
    ] {
        let error = Activation::from_uuid(bad).expect_err(bad);
        let begin: String = bad.chars().take(40).collect();
        let said = format!("uuid begins with {begin:?}, expected 8, 4, 4, 4");
        assert!(error.to_string().starts_with(&said), "{error}");
    }
}

/// The values are contract: an observer in another process, and another build, makes the same ones. The
/// first three are the published ones of FNV-1a.
#[test]
fn a_text_gives_the_same_identity_for_ever() {
    for (text, digits) in [
        ("", "6C62272E07BB014262B821756295C58D"),
        ("a", "D228CB696F1A8CAF78912B704E4A8964"),
        ("foobar", "343E1662793C64BF6F0D3597BA446F18"),
        ("broker-3/epoch 17", "8F69584E84D29DA6B8F1B8E8BA6AD29A"),
        ("é", "088093BF9EAB1BE95AA0733054C70821"),
    ] {
        assert_eq!(Activation::of_text(text).as_str(), digits, "{text}");
    }
}

proptest! {
    #[test]
    fn two_texts_are_two_identities(one in ".{0,20}", other in ".{0,20}") {
        let (a, b) = (Activation::of_text(&one), Activation::of_text(&other));
        prop_assert_eq!(a == b, one == other);
        prop_assert_eq!(a.as_str().parse(), Ok(a.clone()));
    }
}

#[test]
fn activations_of_any_length_compare_as_their_digits_do() {
    let digits = ["0", "00", "0D", "0d", "F"].into_iter().map(str::to_owned);
    let digits = digits.chain([15, 16, 17, 63, 64].map(|length| "A".repeat(length)));
    let all: Vec<(String, Activation)> =
        digits.map(|digits| (digits.clone(), digits.parse().unwrap())).collect();
    for (digits, one) in &all {
        assert_eq!(one.as_str(), digits);
        for (others, other) in &all {
            assert_eq!(one.cmp(other), digits.cmp(others), "{one} and {other}");
            assert_eq!(one == other, digits == others, "{one} and {other}");
        }
    }
}
