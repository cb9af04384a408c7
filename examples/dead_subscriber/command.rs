//! Both storms, and what they tell.

use std::{error::Error, ffi::OsString};

use super::{
    args::Size,
    ear::Ear,
    report::{Figures, Table, is_well},
    storm::{Release, Storm, storm},
};

/// Does what the arguments say, and returns what to exit with.
pub(crate) fn command(
    args: impl IntoIterator<Item = OsString>,
    tell: &mut dyn FnMut(String),
) -> u8 {
    let is_well = match Size::from_args(args) {
        Ok(size) => run(size, tell),
        Err(error) => Err(error.into()),
    };
    match is_well {
        Ok(is_well) => u8::from(!is_well),
        Err(error) => {
            eprintln!("{error}\nusage: dead_subscriber [--clients N] [--minutes N] [--updates N]");
            2
        }
    }
}

/// Has both storms, and tells them line by line, the figures last; returns whether all is well.
fn run(size: Size, tell: &mut dyn FnMut(String)) -> Result<bool, Box<dyn Error>> {
    let (without, with) = (weather(size, Release::Unknown)?, weather(size, Release::Known)?);

    Table { without: &without, with: &with }.to_string().lines().for_each(|it| tell(it.into()));
    tell(String::new());
    let clients = size.clients;
    tell(format!(
        "{clients} clients vanished; the most that one of them was refused: {} pushes, and with the rule {}",
        without.dearest, with.dearest,
    ));
    for (storm, release) in [(&without, "unknown"), (&with, "known")] {
        let Storm { rolls, refused_in_roll, live, behind, .. } = storm;
        tell(format!(
            "release {release}: {rolls} rolls, {refused_in_roll} pushes refused meanwhile; of those \
             who rolled {live} are live on the latest value, {behind} are not",
        ));
    }
    tell(serde_json::to_string(&Figures::of(&without, &with))?);
    Ok(is_well(&without, &with, clients))
}

/// Has one storm, and listens to it.
fn weather(size: Size, release: Release) -> Result<Storm, Box<dyn Error>> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
    let ear = Ear::default();
    tracing::subscriber::with_default(ear.clone(), || runtime.block_on(storm(size, release, &ear)))
}
