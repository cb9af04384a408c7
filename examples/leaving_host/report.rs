//! What the readers saw, in a table and in figures.

use std::{cmp::Reverse, collections::BTreeMap, fmt};

use serde::Serialize;

use super::{
    reader::{End, Seen},
    roll::Place,
};

/// The last line of the output. All is well where `live` is `readers` and `doubled`, `lost` and
/// `gave_up` are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Figures {
    pub(crate) readers: usize,
    /// Readers that are live on the latest value.
    pub(crate) live: usize,
    /// Registrations at the owners beyond one for each reader.
    pub(crate) doubled: usize,
    /// Readers without a registration, or not on the latest value.
    pub(crate) lost: usize,
    /// Readers whose budget was spent.
    pub(crate) gave_up: usize,
    /// Asks for a subscription, of all readers.
    pub(crate) asks: usize,
}

impl Figures {
    pub(crate) fn of(places: &[Place]) -> Self {
        places.iter().fold(Self::default(), |sum, place| {
            let (readers, served) = (place.readers.len(), place.registrations);
            let live = place.readers.iter().filter(|reader| is_live(reader, place)).count();
            let gave_up =
                place.readers.iter().filter(|it| matches!(it.end, Some(End::GaveUp(_)))).count();
            Self {
                readers: sum.readers + readers,
                live: sum.live + live,
                doubled: sum.doubled + served.saturating_sub(readers),
                lost: sum.lost + readers - live.min(served),
                gave_up: sum.gave_up + gave_up,
                asks: sum.asks + place.asks,
            }
        })
    }

    pub(crate) fn is_well(&self) -> bool {
        self.live == self.readers && self.doubled + self.lost + self.gave_up == 0
    }
}

fn is_live(reader: &Seen, place: &Place) -> bool {
    reader.end.is_none() && reader.last == Some(place.latest)
}

/// How many lines a table has at most, but for those of readers that are not as they should be.
const MOST: usize = 20;

/// What the readers saw: those that saw the same in one line, the most of them first. What went wrong
/// is above all else.
pub(crate) struct Table(Vec<(Line, usize)>);

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Line {
    is_live: bool,
    end: String,
    served_on: String,
    asks: usize,
    charges: [usize; 2],
}

impl Table {
    pub(crate) fn of(places: &[Place]) -> Self {
        let mut lines = BTreeMap::new();
        for place in places {
            for reader in &place.readers {
                *lines.entry(Line::of(reader, place)).or_default() += 1;
            }
        }
        let mut lines: Vec<_> = lines.into_iter().collect();
        lines.sort_by_key(|(line, readers)| (line.is_live, Reverse(*readers)));
        Self(lines)
    }
}

impl Line {
    fn of(reader: &Seen, place: &Place) -> Self {
        let end = match &reader.end {
            None if is_live(reader, place) => "live on the latest value".into(),
            None => "live, not on the latest value".into(),
            Some(End::GaveUp(axis)) => format!("gave up on the {axis} axis"),
            Some(End::Verdict(why)) => why.clone(),
            Some(End::Completed) => "completed".into(),
        };
        let Seen { served_on, asks, charges, .. } = reader;
        let (is_live, served_on) = (is_live(reader, place), served_on.join(", "));
        Self { is_live, end, served_on, asks: *asks, charges: *charges }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let wrong = self.0.iter().filter(|(line, _)| !line.is_live).count();
        let (shown, rest) = self.0.split_at(self.0.len().min(wrong + MOST));
        let wide = shown.iter().map(|(line, _)| line.served_on.len()).max().unwrap_or(0).max(9);
        writeln!(f, "         asks of  refusals charged to the")?;
        writeln!(
            f,
            "readers     each  activation axis, time axis  {:<wide$}  at the end",
            "served on"
        )?;
        for (Line { end, served_on, asks, charges: [activation, time], .. }, readers) in shown {
            writeln!(
                f,
                "{readers:>7}  {asks:>7}  {activation:>15}, {time:>9}  {served_on:<wide$}  {end}"
            )?;
        }
        if !rest.is_empty() {
            let readers: usize = rest.iter().map(|(_, readers)| readers).sum();
            writeln!(
                f,
                "{readers:>7}  and {} lines more, all live on the latest value",
                rest.len()
            )?;
        }
        Ok(())
    }
}
