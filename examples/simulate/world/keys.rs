//! How is a world written, key by key?
//!
//! Each struct here is what its namesake in the parent module is made from, by the checks that a type
//! alone cannot say.

use std::{fmt, marker::PhantomData, time::Duration};

use rideout::{Activation, Address, Budget, Kind, News, Refusal};
use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, Unexpected, Visitor, value::MapAccessDeserializer},
};
use serde_json::Value;

use super::{Answer, End, Heard, Item, Reply, Rider, Serve, Teardown, World};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Keys {
    // For people: it is looked at no further than that it is a sentence.
    #[serde(default, rename = "about", deserialize_with = "present")]
    _about: Option<String>,
    owner: Address,
    #[serde(default)]
    rider: Rider,
    #[serde(default, deserialize_with = "object")]
    budget: BudgetKeys,
    #[serde(default, rename = "latency_ms", deserialize_with = "millis")]
    latency: Duration,
    answers: Vec<Answer>,
    #[serde(default)]
    teardowns: Vec<Teardown>,
    #[serde(default)]
    news: Vec<Heard>,
    #[serde(default = "ten_seconds", rename = "deadline_ms", deserialize_with = "millis")]
    deadline: Duration,
    #[serde(default = "one_minute", rename = "until_ms", deserialize_with = "millis")]
    until: Duration,
}

impl TryFrom<Object<Keys>> for World {
    type Error = String;

    fn try_from(Object(keys): Object<Keys>) -> Result<Self, String> {
        let Keys { owner, rider, budget, latency, answers, teardowns, mut news, .. } = keys;
        let Keys { deadline, until, .. } = keys;

        match answers.first() {
            None => return Err("answers: empty, expected at least one".into()),
            Some(first) if !first.from.is_zero() => {
                return Err("answers[0]: from_ms is not 0, expected the first answer at 0".into());
            }
            Some(_) => {}
        }
        if let Some(at) = answers.windows(2).position(|pair| pair[0].from > pair[1].from) {
            return Err(format!(
                "answers[{}]: from_ms is less than the one before, expected them sorted",
                at + 1
            ));
        }
        news.sort_by_key(|heard| heard.at);
        let budget = budget.into();
        Ok(World { owner, rider, budget, latency, answers, teardowns, news, deadline, until })
    }
}

// From text alone: a derived enum would also read `{"read": null}`.
impl TryFrom<String> for Rider {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        match &*name {
            "subscription" => Ok(Rider::Subscription),
            "read" => Ok(Rider::Read),
            _ => Err(format!("unknown rider {name:?}, expected \"subscription\" or \"read\"")),
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct BudgetKeys {
    #[serde(deserialize_with = "present")]
    activations: Option<u32>,
    #[serde(deserialize_with = "present")]
    re_asks: Option<u32>,
    #[serde(deserialize_with = "present")]
    pace_ms: Option<u64>,
    #[serde(deserialize_with = "present")]
    join_limit_ms: Option<u64>,
    #[serde(deserialize_with = "present")]
    ask_limit_ms: Option<u64>,
}

impl From<BudgetKeys> for Budget {
    fn from(keys: BudgetKeys) -> Budget {
        let set =
            |budget: Budget, value: Option<u64>, by: fn(Budget, Duration) -> Budget| match value {
                Some(millis) => by(budget, Duration::from_millis(millis)),
                None => budget,
            };

        // The defaults are the library's: the format has the same.
        let mut budget = Budget::default();
        if let Some(activations) = keys.activations {
            budget = budget.activations(activations);
        }
        if let Some(re_asks) = keys.re_asks {
            budget = budget.re_asks(re_asks);
        }
        budget = set(budget, keys.pace_ms, Budget::pace);
        budget = set(budget, keys.join_limit_ms, Budget::join_limit);
        set(budget, keys.ask_limit_ms, Budget::ask_limit)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AnswerKeys {
    #[serde(rename = "from_ms", deserialize_with = "millis")]
    from: Duration,
    #[serde(default, deserialize_with = "present")]
    refuse: Option<String>,
    #[serde(default, deserialize_with = "present")]
    kind: Option<String>,
    #[serde(default, deserialize_with = "present")]
    silent: Option<bool>,
    #[serde(default, deserialize_with = "present")]
    serve: Option<Serve>,
}

impl TryFrom<Object<AnswerKeys>> for Answer {
    type Error = &'static str;

    fn try_from(Object(keys): Object<AnswerKeys>) -> Result<Self, &'static str> {
        let AnswerKeys { from, refuse, kind, silent, serve } = keys;
        let reply = match (refuse, silent, serve) {
            (Some(message), None, None) => {
                return Ok(Answer { from, reply: Reply::Refuse(refusal(message, kind)) });
            }
            (None, Some(true), None) => Reply::Silent,
            (None, Some(false), None) => {
                return Err("silent is false, expected true or another answer");
            }
            (None, None, Some(serve)) => Reply::Serve(serve),
            (None, None, None) => {
                return Err("no answer, expected one of refuse, silent and serve");
            }
            _ => return Err("more than one answer, expected one of refuse, silent and serve"),
        };

        match kind {
            None => Ok(Answer { from, reply }),
            Some(_) => Err("kind without refuse, expected both or neither"),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ServeKeys {
    // Not defaulted: an answer that does not say who serves says so with `null`.
    #[serde(deserialize_with = "Option::deserialize")]
    activation: Option<Activation>,
    items: Vec<Item>,
    #[serde(default, deserialize_with = "present")]
    lives_ms: Option<u64>,
    #[serde(default, deserialize_with = "present")]
    end: Option<End>,
}

impl TryFrom<Object<ServeKeys>> for Serve {
    type Error = &'static str;

    fn try_from(Object(keys): Object<ServeKeys>) -> Result<Self, &'static str> {
        let ServeKeys { activation, mut items, lives_ms, end } = keys;
        let end = match (lives_ms, end) {
            (Some(millis), Some(end)) => Some((Duration::from_millis(millis), end)),
            (None, None) => None,
            (Some(_), None) => return Err("lives_ms without end, expected both or neither"),
            (None, Some(_)) => return Err("end without lives_ms, expected both or neither"),
        };

        items.sort_by_key(|item| item.after);
        Ok(Serve { activation, items, end })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HeardKeys {
    #[serde(rename = "at_ms", deserialize_with = "millis")]
    at: Duration,
    // The outer option tells an absent key from `null`, which is an announcement without a tag.
    #[serde(default, deserialize_with = "present")]
    ended: Option<Option<Activation>>,
    #[serde(default, deserialize_with = "present")]
    arrived: Option<Activation>,
}

impl TryFrom<Object<HeardKeys>> for Heard {
    type Error = &'static str;

    fn try_from(Object(keys): Object<HeardKeys>) -> Result<Self, &'static str> {
        let news = match (keys.ended, keys.arrived) {
            (Some(activation), None) => News::Ended(activation),
            (None, Some(activation)) => News::Arrived(activation),
            (None, None) => return Err("no news, expected one of ended and arrived"),
            (Some(_), Some(_)) => {
                return Err("more than one news, expected one of ended and arrived");
            }
        };

        Ok(Heard { at: keys.at, news })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ItemKeys {
    #[serde(rename = "after_ms", deserialize_with = "millis")]
    after: Duration,
    value: Value,
}

impl From<Object<ItemKeys>> for Item {
    fn from(Object(ItemKeys { after, value }): Object<ItemKeys>) -> Self {
        Item { after, value }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TeardownKeys {
    activation: Activation,
    #[serde(rename = "at_ms", deserialize_with = "millis")]
    at: Duration,
}

impl From<Object<TeardownKeys>> for Teardown {
    fn from(Object(TeardownKeys { activation, at }): Object<TeardownKeys>) -> Self {
        Teardown { activation, at }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EndKeys {
    refuse: String,
    #[serde(default, deserialize_with = "present")]
    kind: Option<String>,
}

impl<'de> Deserialize<'de> for End {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;

        impl<'de> Visitor<'de> for Either {
            type Value = End;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"close\" or a refusal")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<End, E> {
                match text {
                    "close" => Ok(End::Close),
                    other => Err(E::invalid_value(Unexpected::Str(other), &self)),
                }
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<End, A::Error> {
                let keys = EndKeys::deserialize(MapAccessDeserializer::new(map))?;
                Ok(End::Refuse(refusal(keys.refuse, keys.kind)))
            }
        }

        deserializer.deserialize_any(Either)
    }
}

/// A `T` that is written with its keys: a derived struct alone would also read an array.
pub(super) struct Object<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Keyed<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Keyed<T> {
            type Value = Object<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Object<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Object)
            }
        }

        deserializer.deserialize_map(Keyed(PhantomData))
    }
}

fn object<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    Object::deserialize(deserializer).map(|Object(value)| value)
}

/// Reads a key that is there, so that `null` is a value of its own and not the key's absence.
fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

fn millis<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    u64::deserialize(deserializer).map(Duration::from_millis)
}

fn refusal(message: String, kind: Option<String>) -> Refusal {
    // A name that nobody knows is `Unknown`, so no text fails here.
    let kind = kind.map_or(Kind::ShuttingDown, |name| name.parse().unwrap_or(Kind::Unknown));
    Refusal::new(kind, message)
}

fn ten_seconds() -> Duration {
    Duration::from_secs(10)
}

fn one_minute() -> Duration {
    Duration::from_secs(60)
}
