//! What a scripted owner answers.

use rideout::{Activation, Refusal};

use crate::support::words::tag;

/// What the owner answers to one ask.
#[derive(Clone)]
pub(crate) enum Reply {
    Refuse(Refusal),
    Silent,
    Serve(Serve),
    After(u64, Box<Reply>),
}

/// A served subscription: parts by milliseconds after its answer, and then silence.
#[derive(Clone, Default)]
pub(crate) struct Serve {
    pub(super) by: Option<Activation>,
    pub(super) parts: Vec<(u64, Part)>,
}

#[derive(Clone)]
pub(crate) enum Part {
    Item(u64),
    Fails(Refusal),
    Completes,
}

impl From<Refusal> for Reply {
    fn from(refusal: Refusal) -> Self {
        Reply::Refuse(refusal)
    }
}

impl From<Serve> for Reply {
    fn from(serve: Serve) -> Self {
        Reply::Serve(serve)
    }
}

/// Serves `items` at once, and stays open.
pub(crate) fn serve(items: impl IntoIterator<Item = u64>) -> Serve {
    Serve { by: None, parts: items.into_iter().map(|item| (0, Part::Item(item))).collect() }
}

impl Serve {
    pub(crate) fn by(mut self, digits: &str) -> Self {
        self.by = Some(tag(digits));
        self
    }

    pub(crate) fn item(mut self, after: u64, item: u64) -> Self {
        self.parts.push((after, Part::Item(item)));
        self
    }

    pub(crate) fn fails(mut self, after: u64, refusal: Refusal) -> Self {
        self.parts.push((after, Part::Fails(refusal)));
        self
    }

    pub(crate) fn completes(mut self, after: u64) -> Self {
        self.parts.push((after, Part::Completes));
        self
    }
}

/// Answers with `reply`, so long after the ask.
pub(crate) fn after(late: u64, reply: impl Into<Reply>) -> Reply {
    Reply::After(late, Box::new(reply.into()))
}
