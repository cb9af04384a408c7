//! What the owner logs, counted by the reader that it is about.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard},
};

use rideout::activation::StreamId;
use tracing::{
    Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

/// What was logged of one reader.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Toll {
    /// Deliveries that were refused: one event at `DEBUG` each.
    pub(crate) refusals: u64,
    /// Lines at `WARN`.
    pub(crate) log_lines: u64,
}

/// Hears the crate's log. Clones hear as one.
#[derive(Clone, Default)]
pub(crate) struct Ear(Arc<Mutex<HashMap<Option<StreamId>, Toll>>>);

impl Ear {
    /// Returns what was heard so far, by reader; `None` is what is about no single one.
    pub(crate) fn tolls(&self) -> Vec<(Option<StreamId>, Toll)> {
        self.lock().iter().map(|(stream, toll)| (*stream, *toll)).collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Option<StreamId>, Toll>> {
        self.0.lock().expect("nothing panics under it")
    }
}

impl Subscriber for Ear {
    /// Of all that is at `DEBUG` the refusals alone, which the owner counts.
    fn enabled(&self, of: &Metadata<'_>) -> bool {
        let is_refusal = || of.fields().field("subscriber").is_some();
        of.target().starts_with("rideout")
            && (*of.level() == Level::WARN || *of.level() == Level::DEBUG && is_refusal())
    }

    fn event(&self, event: &Event<'_>) {
        let mut about = About(None);
        event.record(&mut about);
        let mut tolls = self.lock();
        let toll = tolls.entry(about.0).or_default();
        if *event.metadata().level() == Level::WARN {
            toll.log_lines += 1;
        } else {
            toll.refusals += 1;
        }
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

/// The reader that an event is about. Its address ends with its stream.
struct About(Option<StreamId>);

impl Visit for About {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if matches!(field.name(), "reader" | "subscriber") {
            let address = format!("{value:?}");
            self.0 = address.rsplit('/').next().and_then(|stream| stream.parse().ok());
        }
    }

    /// How many subscribers a report is about.
    fn record_u64(&mut self, _: &Field, _: u64) {}
}
