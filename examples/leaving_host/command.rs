//! A rolling restart, and what it tells.

use std::{error::Error, ffi::OsString};

use super::{
    args::Size,
    report::{Figures, Table},
    roll::roll,
};

/// Does what the arguments say, and returns what to exit with.
pub(crate) fn command(
    args: impl IntoIterator<Item = OsString>,
    tell: &mut dyn FnMut(String),
) -> u8 {
    let figures = match Size::from_args(args) {
        Ok(size) => run(size, tell),
        Err(error) => Err(error.into()),
    };
    match figures {
        Ok(figures) => u8::from(!figures.is_well()),
        Err(error) => {
            eprintln!("{error}\nusage: leaving_host [--hosts N] [--addresses N] [--readers N]");
            2
        }
    }
}

/// Rolls a cluster of that size, and tells it line by line, the figures last.
fn run(size: Size, tell: &mut dyn FnMut(String)) -> Result<Figures, Box<dyn Error>> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
    let places = runtime.block_on(roll(size, tell))?;

    let figures = Figures::of(&places);
    let refused: u64 = places.iter().map(|place| place.refused_writes).sum();
    let written: u64 = places.iter().map(|place| place.latest - 1).sum();
    tell(String::new());
    Table::of(&places).to_string().lines().for_each(|line| tell(line.into()));
    tell(String::new());
    tell(format!(
        "asks per reader {:.2}; {written} writes, refused and sent again {refused}",
        figures.asks as f64 / figures.readers as f64,
    ));
    tell(serde_json::to_string(&figures)?);
    Ok(figures)
}
