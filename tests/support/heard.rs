//! What a rider logs while a test runs.
//!
//! A subscriber of our own: it keeps every event with its fields, which is all that these tests ask,
//! and no crate does that with less.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, Once},
};

use tracing::{
    Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
    span,
    subscriber::{DefaultGuard, Interest},
};

/// One event: its level, and its fields by name, `message` among them.
#[derive(Clone, Debug)]
pub(crate) struct Said {
    pub(crate) level: Level,
    pub(crate) fields: BTreeMap<String, String>,
}

impl Said {
    pub(crate) fn message(&self) -> &str {
        self.field("message")
    }

    pub(crate) fn field(&self, name: &str) -> &str {
        self.fields.get(name).map_or("", String::as_str)
    }
}

impl Visit for Said {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.fields.insert(field.name().into(), value.into());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.fields.insert(field.name().into(), format!("{value:?}"));
    }
}

/// Hears what is logged on this thread, until it is dropped.
pub(crate) struct Heard {
    said: Arc<Mutex<Vec<Said>>>,
    _guard: DefaultGuard,
}

impl Heard {
    pub(crate) fn begin() -> Self {
        // Where an event is met first by a thread on which nobody listens, `tracing` may keep that for
        // good. With somebody there who never says so, each thread is asked each time.
        static DEAF: Once = Once::new();
        DEAF.call_once(|| _ = tracing::subscriber::set_global_default(Deaf));

        let said = Arc::default();
        let guard = tracing::subscriber::set_default(Ear(Arc::clone(&said)));
        Heard { said, _guard: guard }
    }

    /// Everything that was logged by this crate.
    pub(crate) fn all(&self) -> Vec<Said> {
        self.said.lock().expect("no test panics under it").clone()
    }
}

struct Ear(Arc<Mutex<Vec<Said>>>);

/// Hears nothing, and keeps `tracing` asking.
struct Deaf;

impl Subscriber for Deaf {
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        Interest::sometimes()
    }

    fn enabled(&self, _: &Metadata<'_>) -> bool {
        false
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

impl Subscriber for Ear {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("rideout")
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut said = Said { level: *event.metadata().level(), fields: BTreeMap::new() };
        event.record(&mut said);
        self.0.lock().expect("no test panics under it").push(said);
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}
