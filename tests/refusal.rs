//! Structured first, text as fallback, on the wire and off it (R1, R4, R5, R32).

use std::{error::Error, time::Duration};

use proptest::prelude::*;
use serde_json::{Value, json};

use rideout::{
    Activation, Address, Closing, Kind, News, Party, Refusal, Rejection, Speaker,
    refusal::answered_by,
};

fn address(text: &str) -> Address {
    text.parse().unwrap()
}

fn activation(digits: &str) -> Activation {
    digits.parse().unwrap()
}

fn decoded(json: Value) -> Refusal {
    serde_json::from_value(json).unwrap()
}

/// A refusal at x's door, by its activation AA, as text.
fn sentence() -> String {
    Closing::new(address("x")).activation(activation("AA")).at_the_door("what").message
}

// --- Kinds (R1) ---

#[test]
fn one_kind_alone_is_a_promise() {
    let names = "Unknown Exception NotFound Rejected Ignored Failed RoutingLoop Unauthorized \
                 Forbidden ShuttingDown";
    let kinds: Vec<_> =
        names.split(' ').map(|name| (name, name.parse::<Kind>().unwrap())).collect();

    assert!(kinds.iter().map(|(_, kind)| kind).eq(Kind::ALL));
    for (name, kind) in kinds {
        assert_eq!(kind.is_promise(), name == "ShuttingDown");
        assert_eq!(kind.to_string(), name);
        assert_eq!(serde_json::to_value(kind).unwrap(), json!(name));
        assert_eq!(serde_json::from_value::<Kind>(json!(name)).unwrap(), kind);
    }
}

#[test]
fn what_is_no_known_name_is_unknown_and_a_verdict() {
    for name in ["", "shuttingdown", "SHUTTINGDOWN", "ShuttingDown ", "Throttled", "Unbekannt"] {
        assert_eq!(name.parse(), Ok(Kind::Unknown));
    }
    for kind in [
        json!("Throttled"),
        json!(9),
        json!(true),
        json!({ "ShuttingDown": 1 }),
        json!(["ShuttingDown"]),
    ] {
        assert_eq!(serde_json::from_value::<Kind>(kind.clone()).unwrap(), Kind::Unknown);

        // It is present, so that the promise in the text stays unread (R5).
        let refusal = decoded(json!({ "kind": kind, "message": sentence() }));
        assert_eq!(refusal.kind, Some(Kind::Unknown));
        assert_eq!(refusal.promise(&address("x")), None);
    }
}

// --- Who spoke, by the fields (R4, R5) ---

#[test]
fn fields_win_over_the_text_and_a_route_has_no_activation() {
    use Party::{Owner, Route};
    let (own, by) = (sentence(), |digits| Speaker::Owner(Some(activation(digits))));
    let child = own.replace("Hub x", "Hub x/child");
    let host = "Host is shutting down, cannot route to x (activation #AA)".to_owned();
    let tagged = "gone (activation #AA)".to_owned();
    let silent = String::new();

    for (message, speaker, named, spoke) in [
        (&own, None, Some("BB"), by("BB")),
        (&own, Some(Owner), None, by("AA")),
        (&own, Some(Owner), Some("BB"), by("BB")),
        (&own, Some(Route), None, Speaker::Route),
        (&own, Some(Route), Some("BB"), Speaker::Route),
        (&child, None, Some("BB"), Speaker::Route),
        (&child, Some(Owner), None, Speaker::Owner(None)),
        (&child, Some(Owner), Some("BB"), by("BB")),
        (&host, None, Some("BB"), Speaker::Route),
        (&host, Some(Owner), None, Speaker::Owner(None)),
        (&tagged, None, Some("BB"), by("BB")),
        (&tagged, Some(Owner), None, by("AA")),
        (&tagged, Some(Route), None, Speaker::Route),
        (&silent, None, None, Speaker::Route),
        (&silent, None, Some("BB"), by("BB")),
        (&silent, Some(Owner), None, Speaker::Owner(None)),
        (&silent, Some(Route), Some("BB"), Speaker::Route),
    ] {
        let mut refusal = Refusal::new(Kind::ShuttingDown, message);
        refusal.speaker = speaker;
        refusal.activation = named.map(activation);
        assert_eq!(refusal.speaker(&address("x")), spoke, "{refusal:?}");
        assert_eq!(refusal.promise(&address("x")).unwrap().speaker, spoke);
    }
}

// --- Text alone (R5) ---

#[test]
fn text_alone_promises_by_the_banner_with_the_promise_or_by_the_route() {
    let owner = Some(Rejection::by_owner(Some(activation("AA"))));
    let route = Some(Rejection::by_route());
    let promise = "The address may reactivate (recycle / restart)";

    for (message, made) in [
        (sentence(), owner.clone()),
        (format!("Delivery to 'x' failed: {}", sentence()), owner.clone()),
        (format!("Hub x is shutting down (activation #AA). {promise}"), owner.clone()),
        (format!("{promise}. Hub x is shutting down (activation #AA)"), owner.clone()),
        ("Host is shutting down, cannot route to x".into(), route.clone()),
        ("Mesh is shutting down, cannot route to x".into(), route.clone()),
        ("Mesh is shutting down, cannot route to x~h".into(), route.clone()),
        ("Host is shutting down, cannot route to x (activation #AA)".into(), route.clone()),
        ("'Host is shutting down, cannot route to x'. Sorry".into(), route.clone()),
        (
            "Host is shutting down, cannot route to y; Mesh is shutting down, cannot route to x"
                .into(),
            route.clone(),
        ),
        ("Host is shutting down, cannot route to x: Hub x is shutting down".into(), route.clone()),
        ("Host is shutting down, cannot route to x/child".into(), None),
        ("Host is shutting down, cannot route to xy".into(), None),
        ("Host is shutting down, cannot route to x.y".into(), None),
        ("Host is shutting down, cannot route to y".into(), None),
        ("Host is shutting down, cannot route to ".into(), None),
        ("Host is shutting down".into(), None),
        ("Node is shutting down, cannot route to x".into(), None),
        ("host is shutting down, cannot route to x".into(), None),
        ("Hub x is shutting down (activation #AA)".into(), None),
        (format!("Hub y is shutting down. {promise}"), None),
        (format!("gone (activation #AA). {promise}"), None),
        (promise.into(), None),
        ("Hub x is shutting down. The address may reactivate".into(), None),
        ("No route to 'x'".into(), None),
        ("No node found at 'x'".into(), None),
        (String::new(), None),
    ] {
        assert_eq!(Refusal::from_text(&*message).promise(&address("x")), made, "{message}");
    }
}

#[test]
fn a_field_says_who_made_the_promise_of_the_text() {
    let x = address("x");
    let by_route = Refusal::from_text(sentence()).with_speaker(Party::Route);
    assert_eq!(by_route.promise(&x), Some(Rejection::by_route()));

    let named = Refusal::from_text(sentence()).with_activation(activation("BB"));
    assert_eq!(named.promise(&x), Some(Rejection::by_owner(Some(activation("BB")))));

    let host =
        Refusal::from_text(Refusal::host_cannot_route(&x).message).with_speaker(Party::Owner);
    assert_eq!(host.promise(&x), Some(Rejection::by_owner(None)));
}

#[test]
fn every_constructor_is_recognised_and_no_other_address_answers() {
    let (x, y) = (address("x~h"), address("x/child"));
    let closing = Closing::new(x.clone()).activation(activation("AA"));
    let owner = Some(Rejection::by_owner(Some(activation("AA"))));
    let route = Some(Rejection::by_route());

    for (refusal, made) in [
        (closing.at_the_door("what"), owner.clone()),
        (closing.accepted("what"), owner),
        (Refusal::host_cannot_route(&x), route.clone()),
        (Refusal::mesh_cannot_route(&x), route),
        (Refusal::no_route(&x), None),
        (Refusal::no_node(&x), None),
    ] {
        assert_eq!(refusal.promise(&x), made);
        assert_eq!(refusal.promise(&address("x")), made);
        assert_eq!(Refusal::from_text(&*refusal.message).promise(&x), made);
        assert_eq!(Refusal::from_text(&*refusal.message).promise(&y), None);
        assert_eq!(answered_by(&refusal.message, &x), refusal.speaker == Some(Party::Owner));
        assert!(!answered_by(&refusal.message, &y));
        assert_eq!(refusal.is_never_applied(&x), made.is_some());
    }
    assert_eq!(Refusal::no_node(&x).kind, Some(Kind::NotFound));
    assert_eq!(Refusal::no_route(&x).kind, Some(Kind::Failed));
}

// --- Never applied (R32) ---

#[test]
fn only_a_promise_was_never_applied_and_its_field_decides() {
    let x = address("x");
    let accepted = Closing::new(x.clone()).accepted("what").message;
    let banner = "Hub x is shutting down (activation #AA)".to_owned();
    let tail = sentence().replace(&banner, "");

    for (message, by_text) in [
        (sentence(), true),
        (accepted, true),
        (format!("Delivery to 'x' failed: {}", sentence()), true),
        (Refusal::host_cannot_route(&x).message, true),
        (Refusal::mesh_cannot_route(&x).message, true),
        (Refusal::host_cannot_route(&address("y")).message, false),
        (Closing::new(address("x/child")).at_the_door("what").message, false),
        (banner.clone(), false),
        (tail.clone(), false),
        // The tail is a child's; this owner's sentence was cut short.
        (format!("Hub x/child is shutting down{tail} {banner}"), false),
        (format!("{banner}. The address may reactivate (recycle / restart)"), false),
        ("the connection was cut (activation #AA)".into(), false),
        (String::new(), false),
    ] {
        let refusal = Refusal::new(Kind::ShuttingDown, &*message);
        assert_eq!(refusal.is_never_applied(&x), by_text, "{message}");
        assert!(refusal.clone().with_never_applied(true).is_never_applied(&x));
        assert!(!refusal.with_never_applied(false).is_never_applied(&x));

        let verdict = Refusal::new(Kind::Failed, &*message).with_never_applied(true);
        assert!(!verdict.is_never_applied(&x));
    }
}

// --- The wire (R5) ---

#[test]
fn every_field_goes_through_json_and_back() {
    let refusal = Closing::new(address("x"))
        .activation(activation("0d"))
        .at_the_door("what")
        .with_retry_after(Duration::from_millis(1500))
        .with_target_unserved()
        .with_released();

    let written = serde_json::to_value(&refusal).unwrap();
    assert_eq!(
        written,
        json!({
            "kind": "ShuttingDown",
            "message": refusal.message,
            "speaker": "owner",
            "activation": "0d",
            "retry_after": 1500,
            "never_applied": true,
            "target_unserved": true,
            "released": true,
        })
    );
    assert_eq!(decoded(written), refusal);
}

#[test]
fn absent_fields_stay_absent_and_unknown_ones_are_ignored() {
    assert_eq!(decoded(json!({})), Refusal::default());
    assert_eq!(decoded(json!({ "message": "no" })), Refusal::from_text("no"));
    assert_eq!(
        decoded(json!({ "message": "no", "kind": null, "hops": [1, { "a": 2 }], "speaker": null })),
        Refusal::from_text("no")
    );
    assert_eq!(
        serde_json::to_value(Refusal::from_text("no")).unwrap(),
        json!({ "message": "no", "target_unserved": false, "released": false })
    );
    assert!(serde_json::from_value::<Refusal>(json!(7)).is_err());
}

#[test]
fn a_malformed_field_is_absent_and_the_text_speaks() {
    for (field, value) in [
        ("activation", json!("not hex")),
        ("activation", json!("")),
        ("activation", json!("A".repeat(65))),
        ("activation", json!(13)),
        ("speaker", json!("gateway")),
        ("speaker", json!(["owner"])),
        ("retry_after", json!(-1)),
        ("retry_after", json!("soon")),
        ("never_applied", json!("yes")),
        ("target_unserved", json!(1)),
        ("released", json!({})),
        ("message", json!(null)),
    ] {
        let mut json = json!({ "kind": "ShuttingDown", "message": sentence() });
        let mut plain = decoded(json.clone());
        json[field] = value;
        if field == "message" {
            plain.message.clear();
        }
        assert_eq!(decoded(json), plain, "{field}");
    }
}

#[test]
fn an_absurd_hint_is_a_long_one() {
    let longest = Duration::from_millis(u64::MAX);

    for (value, hint) in [
        (json!(0), Some(Duration::ZERO)),
        (json!(250.9), Some(Duration::from_millis(250))),
        (json!(u64::MAX), Some(longest)),
        (json!(1e300), Some(longest)),
        (json!(-0.5), None),
        (json!(i64::MIN), None),
    ] {
        let refusal = decoded(json!({ "kind": "ShuttingDown", "retry_after": value }));
        assert_eq!(refusal.retry_after, hint);
        assert_eq!(refusal.promise(&address("x")).unwrap().not_before, hint);
    }

    let written = Refusal::default().with_retry_after(Duration::MAX);
    assert_eq!(decoded(serde_json::to_value(written).unwrap()).retry_after, Some(longest));
}

#[test]
fn news_goes_through_json_and_back() {
    for (news, written) in [
        (News::Ended(Some(activation("AA"))), json!({ "ended": "AA" })),
        (News::Ended(None), json!({ "ended": null })),
        (News::NotServing(Some(activation("0d"))), json!({ "not_serving": "0d" })),
        (News::NotServing(None), json!({ "not_serving": null })),
        (News::Arrived(activation("BB")), json!({ "arrived": "BB" })),
    ] {
        assert_eq!(serde_json::to_value(&news).unwrap(), written);
        assert_eq!(serde_json::from_value::<News>(written).unwrap(), news);
    }
    for bad in [json!({ "arrived": null }), json!({ "arrived": "x" }), json!({ "went": "AA" })] {
        assert!(serde_json::from_value::<News>(bad).is_err());
    }
}

#[test]
fn a_refusal_is_an_error_that_says_its_message_or_its_kind() {
    let said = |refusal: Refusal| (Box::new(refusal) as Box<dyn Error + Send + Sync>).to_string();
    assert_eq!(said(Refusal::new(Kind::Failed, "no luck")), "no luck");
    assert_eq!(said(Refusal::new(Kind::Failed, "")), "Failed");
    assert_eq!(said(Refusal::default()), "Unknown");
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
        prop::sample::select(vec!["owner", "route", "AA", "ShuttingDown"]).prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::hash_map("[a-z]{1,3}", inner, 0..3)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    // Whatever stands in the other fields, they neither cost the refusal nor change what a kind
    // that is present says.
    #[test]
    fn no_field_costs_the_refusal_or_makes_a_promise(
        kind in any_json(),
        fields in prop::collection::hash_map(
            prop::sample::select(vec![
                "speaker", "activation", "retry_after", "never_applied", "target_unserved",
                "released", "newer",
            ]),
            any_json(),
            0..7,
        ),
    ) {
        let mut json = json!({ "kind": kind, "message": sentence() });
        for (field, value) in fields {
            json[field] = value;
        }

        let made = decoded(json).promise(&address("x"));
        let promised = kind.is_null() || kind == "ShuttingDown";
        prop_assert_eq!(made.is_some(), promised);
    }
}
