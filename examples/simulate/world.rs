//! What does one address do over time, as a world file says it?
//!
//! Reading is strict: a key that the format does not know, a number it cannot hold, or an entry that
//! could be understood in two ways is an error that names its place. `about` is known at the top of a
//! file and nowhere else.

#[path = "world/keys.rs"]
mod keys;

use std::{
    fmt, fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use rideout::{Activation, Address, Budget, News, Refusal};
use serde::Deserialize;
use serde_json::Value;

use self::keys::{AnswerKeys, HeardKeys, ItemKeys, Keys, Object, ServeKeys, TeardownKeys};

/// What one address does over time, and the rider that is run against it.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Object<Keys>")]
pub(crate) struct World {
    /// The address asked.
    pub(crate) owner: Address,
    /// Which rider asks it.
    pub(crate) rider: Rider,
    /// The bounds of a ride-out.
    pub(crate) budget: Budget,
    /// From an ask to the moment the address answers it.
    pub(crate) latency: Duration,
    /// What the address answers, sorted; never empty, and the first is in force from the start.
    pub(crate) answers: Vec<Answer>,
    /// Which teardowns can be observed.
    pub(crate) teardowns: Vec<Teardown>,
    /// What the rider hears besides answers, sorted; as written where moments are equal.
    pub(crate) news: Vec<Heard>,
    /// When a read ends.
    pub(crate) deadline: Duration,
    /// When the run of a subscription ends.
    pub(crate) until: Duration,
}

/// The client code that is run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) enum Rider {
    #[default]
    Subscription,
    Read,
}

/// What the address answers from a moment on.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "Object<AnswerKeys>")]
pub(crate) struct Answer {
    pub(crate) from: Duration,
    pub(crate) reply: Reply,
}

/// One answer to one ask.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reply {
    /// The ask is refused.
    Refuse(Refusal),
    /// The ask stays unanswered for ever.
    Silent,
    /// A stream opens.
    Serve(Serve),
}

/// A stream that opens, what it delivers, and how it ends.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "Object<ServeKeys>")]
pub(crate) struct Serve {
    /// Who serves, where the answer says so.
    pub(crate) activation: Option<Activation>,
    /// The items, sorted by their moment; as written where moments are equal.
    pub(crate) items: Vec<Item>,
    /// The length of the stream's life and its end; none lives on.
    pub(crate) end: Option<(Duration, End)>,
}

/// One item of a stream, so long after the answer.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(from = "Object<ItemKeys>")]
pub(crate) struct Item {
    pub(crate) after: Duration,
    pub(crate) value: Value,
}

/// How a stream ends.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum End {
    /// It completes.
    Close,
    /// A refusal stands in it.
    Refuse(Refusal),
}

/// The moment at which a teardown completed.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "Object<TeardownKeys>")]
pub(crate) struct Teardown {
    pub(crate) activation: Activation,
    pub(crate) at: Duration,
}

/// News of the address, and when the rider hears it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Object<HeardKeys>")]
pub(crate) struct Heard {
    pub(crate) at: Duration,
    pub(crate) news: News,
}

impl World {
    /// Reads the world file at `path`.
    ///
    /// # Errors
    ///
    /// Returns an error that names the file if it cannot be read or is not a world.
    pub(crate) fn read(path: impl AsRef<Path>) -> Result<Self, WorldError> {
        let path = path.as_ref();
        let text = fs::read_to_string(path)
            .map_err(|source| WorldError::Unreadable { path: path.into(), source })?;

        Self::parse(&text)
            .map_err(|error| WorldError::InFile { path: path.into(), error: error.into() })
    }

    /// Reads a world from the text of its file.
    ///
    /// # Errors
    ///
    /// Returns an error that names the first place in `text` that is not a world.
    pub(crate) fn parse(text: &str) -> Result<Self, WorldError> {
        let mut json = serde_json::Deserializer::from_str(text);

        let world = serde_path_to_error::deserialize(&mut json).map_err(|error| {
            // The root has no name, and its path prints as a lone stop.
            let place = Some(error.path().to_string()).filter(|place| place != ".");
            WorldError::Invalid { place, problem: error.into_inner().to_string() }
        })?;
        json.end()
            .map_err(|error| WorldError::Invalid { place: None, problem: error.to_string() })?;
        Ok(world)
    }

    /// Returns the reply to an ask that arrives at `moment`: the last one in force by then.
    pub(crate) fn reply_at(&self, moment: Duration) -> &Reply {
        let begun = self.answers.partition_point(|answer| answer.from <= moment);
        // The first answer is at 0, so at least one has begun.
        &self.answers[begun - 1].reply
    }

    /// Returns when the teardown of `activation` completed, or `None` if it cannot be observed.
    ///
    /// A teardown completes once: where several are listed, the earliest counts.
    pub(crate) fn teardown_of(&self, activation: &Activation) -> Option<Duration> {
        let of_it = self.teardowns.iter().filter(|teardown| teardown.activation == *activation);
        of_it.map(|teardown| teardown.at).min()
    }
}

/// Says why a file is not a world, in one line.
#[derive(Debug)]
pub(crate) enum WorldError {
    /// The file cannot be read as text.
    Unreadable { path: PathBuf, source: io::Error },
    /// Something in it is not as the format says: at a place, or in the whole.
    Invalid { place: Option<String>, problem: String },
    /// The same, in a file.
    InFile { path: PathBuf, error: Box<WorldError> },
}

impl fmt::Display for WorldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            WorldError::Unreadable { path, source } => format!("{}: {source}", path.display()),
            WorldError::Invalid { place: Some(place), problem } => format!("{place}: {problem}"),
            WorldError::Invalid { place: None, problem } => problem.clone(),
            WorldError::InFile { path, error } => format!("{}: {error}", path.display()),
        };

        // A key of the file may stand in the text, with whatever it holds: the error stays one line.
        text.chars().try_for_each(|c| match c.is_control() {
            true => write!(f, "{}", c.escape_default()),
            false => write!(f, "{c}"),
        })
    }
}

impl std::error::Error for WorldError {}
