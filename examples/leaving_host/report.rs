//! What the readers saw, in a table and in figures.

use std::{collections::BTreeMap, fmt};

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

/// Readers that saw the same, in one line each time.
pub(crate) struct Table(BTreeMap<Line, usize>);

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Line {
    served_on: String,
    asks: usize,
    refusals: [usize; 2],
    end: String,
}

impl Table {
    pub(crate) fn of(places: &[Place]) -> Self {
        let mut lines = BTreeMap::new();
        for place in places {
            for reader in &place.readers {
                *lines.entry(Line::of(reader, place)).or_default() += 1;
            }
        }
        Self(lines)
    }
}

impl Line {
    fn of(reader: &Seen, place: &Place) -> Self {
        let end = match &reader.end {
            None if is_live(reader, place) => "live on the latest value".into(),
            None => format!("on {:?}, the latest is {}", reader.last, place.latest),
            Some(End::GaveUp(why) | End::Verdict(why)) => why.clone(),
            Some(End::Completed) => "completed".into(),
        };
        let Seen { served_on, asks, refusals, .. } = reader;
        Self { served_on: served_on.join(", "), asks: *asks, refusals: *refusals, end }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let wide = self.0.keys().map(|line| line.served_on.len()).max().unwrap_or(0).max(9);
        writeln!(
            f,
            "readers  asks each  refused first, again  {:<wide$}  at the end",
            "served on"
        )?;
        for (Line { served_on, asks, refusals: [first, again], end }, readers) in &self.0 {
            writeln!(
                f,
                "{readers:>7}  {asks:>9}  {first:>13}, {again:>5}  {served_on:<wide$}  {end}"
            )?;
        }
        Ok(())
    }
}
