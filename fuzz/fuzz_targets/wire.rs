//! What crosses a wire: whatever a peer of any build writes, it is read as the rules say or refused
//! with an error, and it goes on unchanged (R1, R5).

#![cfg_attr(fuzzing, no_main)]

#[path = "../../tests/refusal/hostile_words.rs"]
mod hostile_words;
#[path = "../../tests/refusal/worded.rs"]
mod worded;

use std::{fmt::Debug, time::Duration};

use arbitrary::Unstructured;
use rideout::{Activation, Address, Kind, News, Refusal, activation::StreamId, refusal::Party};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

fuzz::target!(check, 2_000);

/// The fields of a refusal, and two of a newer peer's.
const FIELDS: [&str; 10] = [
    "kind",
    "message",
    "speaker",
    "activation",
    "retry_after",
    "never_applied",
    "target_unserved",
    "released",
    "newer",
    "Kind",
];

/// What stands in them, where it is text.
const TEXTS: [&str; 12] = [
    "ShuttingDown",
    "Failed",
    "NotFound",
    "Throttled",
    "owner",
    "route",
    "AA",
    "0d",
    "",
    "soon",
    "Hub x is shutting down — no; the address may reactivate (recycle / restart). Rejecting now.",
    "Mesh is shutting down, cannot route to x",
];

/// The input is what stands on the wire, and the choices by which a refusal is written.
fn check(input: &[u8]) {
    passed_on::<Address>(input);
    passed_on::<Activation>(input);
    passed_on::<StreamId>(input);
    passed_on::<Party>(input);
    passed_on::<Kind>(input);
    passed_on::<News>(input);
    if let Some(refusal) = passed_on::<Refusal>(input) {
        read(&refusal);
    }
    if let Ok(Value::Object(fields)) = serde_json::from_slice(input) {
        written(fields);
    }
    // An error says that there are too few bytes to choose by.
    if let Ok(fields) = object(&mut Unstructured::new(input), 2) {
        written(fields);
    }
}

/// What can be read is read again from what is written of it, also from a [`Value`].
fn passed_on<T: Serialize + DeserializeOwned + PartialEq + Debug>(input: &[u8]) -> Option<T> {
    let value: T = serde_json::from_slice(input).ok()?;
    let written = serde_json::to_vec(&value).expect("can be written");
    assert_eq!(serde_json::from_slice::<T>(&written).expect("reads back"), value);
    let written = serde_json::to_value(&value).expect("can be written");
    assert_eq!(serde_json::from_value::<T>(written).expect("reads back"), value);
    Some(value)
}

/// It is a promise where the rules say so, and its speaker is who they say.
fn read(refusal: &Refusal) {
    let named = worded::banners(&refusal.message).into_iter().map(|(subject, _)| subject).take(4);
    for asked in named.chain(["x", "y"]).filter_map(|it| it.parse::<Address>().ok()) {
        let promise = refusal.promise(&asked);
        assert_eq!(refusal.speaker(&asked), worded::speaker(refusal, &asked), "{refusal:?}");
        let never_applied = worded::never_applied(refusal, &asked);
        assert_eq!(refusal.is_never_applied(&asked), never_applied, "{refusal:?}");
        if let Some(promise) = &promise {
            assert_eq!(promise.not_before, refusal.retry_after);
        }
        let by = promise.map(|it| it.speaker);
        assert_eq!(by, worded::promise(refusal, &asked), "{refusal:?}");
    }
}

/// Whatever stands in its fields, and whichever there are, it costs no refusal.
fn written(fields: Map<String, Value>) {
    let refusal: Refusal = serde_json::from_value(fields.clone().into()).expect("a refusal");
    assert_eq!(refusal, literally(&fields), "{fields:?}");
    read(&refusal);

    // What a build that knows less would say of it: each field is lost alone.
    for field in FIELDS {
        let mut less = fields.clone();
        less.remove(field);
        let refusal: Refusal = serde_json::from_value(less.clone().into()).expect("a refusal");
        assert_eq!(refusal, literally(&less), "{less:?}");
        read(&refusal);
    }
    let passed = serde_json::to_vec(&refusal).expect("can be written");
    assert_eq!(passed_on::<Refusal>(&passed), Some(refusal));
}

/// The fields one by one, as the documentation of `Refusal` has them.
fn literally(fields: &Map<String, Value>) -> Refusal {
    let text = |field| fields.get(field).and_then(Value::as_str);
    let is = |field| fields.get(field).and_then(Value::as_bool);
    let known = |name| Kind::ALL.iter().find(|it| Some(it.as_str()) == name).copied();

    let mut refusal = Refusal::from_text(text("message").unwrap_or_default());
    // A kind that is there and is none is unknown, and no kind that is not there.
    let kind = fields.get("kind").filter(|it| !it.is_null());
    refusal.kind = kind.map(|it| known(it.as_str()).unwrap_or(Kind::Unknown));
    refusal.speaker = fields.get("speaker").and_then(party);
    refusal.activation = text("activation").and_then(|it| it.parse().ok());
    let hint = fields.get("retry_after");
    let real = hint.and_then(Value::as_f64).filter(|it| *it >= 0.0).map(|it| it as u64);
    let millis = hint.and_then(Value::as_u64).or(real);
    refusal.retry_after = millis.map(Duration::from_millis);
    refusal.never_applied = is("never_applied");
    refusal.target_unserved = is("target_unserved") == Some(true);
    refusal.released = is("released") == Some(true);
    refusal
}

fn party(value: &Value) -> Option<Party> {
    match value.as_str()? {
        "owner" => Some(Party::Owner),
        "route" => Some(Party::Route),
        _ => None,
    }
}

/// A JSON object with a refusal's fields, of the right shape and of others.
fn object(bytes: &mut Unstructured<'_>, depth: u8) -> arbitrary::Result<Map<String, Value>> {
    let fields = bytes.int_in_range(0..=FIELDS.len())?;
    let field = |_| Ok(((*bytes.choose(&FIELDS)?).to_owned(), value(bytes, depth)?));
    (0..fields).map(field).collect()
}

fn value(bytes: &mut Unstructured<'_>, depth: u8) -> arbitrary::Result<Value> {
    Ok(match bytes.int_in_range(0..=8)? {
        0 => Value::Null,
        1 => bytes.arbitrary::<bool>()?.into(),
        2 => bytes.arbitrary::<u64>()?.into(),
        3 => bytes.arbitrary::<i64>()?.into(),
        4 => bytes.arbitrary::<f64>()?.into(),
        5 => fuzz::text(bytes, &hostile_words::WORDS)?.into(),
        6 if depth > 0 => vec![value(bytes, depth - 1)?].into(),
        7 if depth > 0 => object(bytes, depth - 1)?.into(),
        _ => (*bytes.choose(&TEXTS)?).into(),
    })
}
