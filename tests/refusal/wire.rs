//! What a refusal says across a wire, between builds that know different fields (R1, R5).

use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::{Value, json};

use rideout::{
    Activation, Address, Kind, News, Refusal,
    owner::{DeliveryTargets, Evictions},
    refusal::{Closing, Seam},
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
    Closing::new(address("x")).activation(activation("AA")).refuse(Seam::Door, "what").message
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

#[test]
fn every_field_goes_through_json_and_back() {
    let refusal = Closing::new(address("x"))
        .activation(activation("0d"))
        .refuse(Seam::Door, "what")
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

/// What arrives of a refused delivery, and whether it evicts (R50).
fn evicts(json: Value) -> bool {
    let client = address("clients/7");
    Evictions::new(address("x")).refused(&1, &client, &decoded(json), Instant::now())
}

/// What is said of a client that is closed, and of one that is in the middle of a roll.
fn deliveries() -> [Value; 2] {
    let (client, mut targets, now) = (address("clients/7"), DeliveryTargets::new(), Instant::now());
    targets.register(1, ());
    targets.release(&1, &(), now);
    [1, 2]
        .map(|key| serde_json::to_value(targets.deliver(&client, &key, now).unwrap_err()).unwrap())
}

fn without(json: &Value, fields: &[&str]) -> Value {
    let mut json = json.clone();
    for field in fields {
        json.as_object_mut().unwrap().remove(*field);
    }
    json
}

/// An old sender, or an old one that relays: fields that it does not know are lost on the way.
#[test]
fn a_stamp_that_an_old_peer_loses_evicts_nobody() {
    let [closed, rolled] = deliveries();
    assert!(evicts(closed.clone())); // the control
    assert!(!evicts(without(&closed, &["target_unserved"])));
    assert!(!evicts(without(&closed, &["target_unserved", "released"])));
    for malformed in [json!(null), json!(1), json!("true"), json!([true])] {
        let mut json = closed.clone();
        json["target_unserved"] = malformed;
        assert!(!evicts(json));
    }
    // That it said goodbye is told, and decides nothing.
    assert!(evicts(without(&closed, &["released"])));

    // A promise is one whatever else is lost, the kind included: its text says so.
    let fields = ["kind", "speaker", "never_applied", "target_unserved", "released"];
    for lost in 0..1_u32 << fields.len() {
        let lost: Vec<_> = (0..fields.len()).filter(|n| lost >> n & 1 == 1).collect();
        let lost: Vec<_> = lost.into_iter().map(|n| fields[n]).collect();
        assert!(!evicts(without(&rolled, &lost)), "{lost:?}");
    }
}

/// A build that knew neither stamp reads what this one says, and what it says in turn is no more than a
/// promise, or a verdict that evicts nobody.
#[test]
fn an_old_reader_and_sender_takes_part() {
    #[derive(serde::Serialize, serde::Deserialize)]
    struct Old {
        kind: Kind,
        message: String,
    }
    let client = address("clients/7");
    for (json, kind) in deliveries().into_iter().zip([Kind::NotFound, Kind::ShuttingDown]) {
        let old: Old = serde_json::from_value(json).unwrap();
        assert_eq!(old.kind, kind);

        let relayed = serde_json::to_value(old).unwrap();
        assert_eq!(decoded(relayed.clone()).promise(&client).is_some(), kind.is_promise());
        assert!(!evicts(relayed));
    }
    // What an old router says of every client that is not there.
    let refusal = Refusal::host_cannot_route(&client);
    assert!(!evicts(
        serde_json::to_value(Old { kind: Kind::ShuttingDown, message: refusal.message }).unwrap()
    ));
}
