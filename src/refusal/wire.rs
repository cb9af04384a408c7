//! How a field is read that a newer, older or careless sender may have written.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serializer, de::IgnoredAny};

/// A field, or what stands in its place.
#[derive(Deserialize)]
#[serde(untagged)]
enum Field<T> {
    Read(T),
    Malformed(IgnoredAny),
}

/// Reads a `T`, or `None` where it is null or malformed: one bad field must not cost the refusal.
pub(super) fn lenient<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    Ok(match Option::deserialize(deserializer)? {
        Some(Field::Read(value)) => Some(value),
        Some(Field::Malformed(IgnoredAny)) | None => None,
    })
}

/// Reads a `T` like [`lenient`], with the default in place of `None`.
pub(super) fn lenient_or_default<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: Deserialize<'de> + Default,
    D: Deserializer<'de>,
{
    lenient(deserializer).map(Option::unwrap_or_default)
}

/// A duration as whole milliseconds; what is too long for them is the longest there is.
pub(super) mod millis {
    use super::*;

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Millis {
        Whole(u64),
        // A fraction, a negative number, or one beyond 64 bits.
        Real(f64),
    }

    pub(in super::super) fn serialize<S: Serializer>(
        duration: &Option<Duration>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match duration {
            Some(duration) => {
                serializer.serialize_some(&u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
            }
            None => serializer.serialize_none(),
        }
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Duration>, D::Error> {
        Ok(match lenient(deserializer)? {
            Some(Millis::Whole(millis)) => Some(Duration::from_millis(millis)),
            // The cast saturates, so an absurd hint is merely a long one.
            Some(Millis::Real(millis)) if millis >= 0.0 => {
                Some(Duration::from_millis(millis as u64))
            }
            Some(Millis::Real(_)) | None => None,
        })
    }
}
