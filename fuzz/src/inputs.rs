//! Which inputs are tried?

use std::{fs, io, path::Path};

use fastrand::Rng;

/// The longest piece that is put in, and the longest that is taken out.
const PIECE: usize = 48;

/// The seeds of `target`, by their names.
pub(crate) fn seeds(target: &str) -> io::Result<Vec<Vec<u8>>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    let mut paths: Vec<_> =
        fs::read_dir(folder)?.map(|it| it.map(|it| it.path())).collect::<io::Result<_>>()?;
    paths.retain(|path| path.extension().is_some());
    paths.sort();
    paths.iter().map(fs::read).collect()
}

/// A variation of one of `seeds`, or bytes without one.
pub(crate) fn variation(seeds: &[Vec<u8>], random: &mut Rng) -> Vec<u8> {
    let seed = random.choice(seeds).filter(|_| random.u8(..8) > 0);
    let mut input = match seed {
        Some(seed) => seed.clone(),
        None => bytes(random, 10 * PIECE),
    };
    for _ in 0..random.u8(..8) {
        let (taken, at) = part(&input, random);
        let piece = match random.u8(..4) {
            0 => bytes(random, 4),
            1 => input[part(&input, random).0].to_vec(),
            2 => random.choice(seeds).map_or_else(Vec::new, |it| it[part(it, random).0].to_vec()),
            _ => Vec::new(),
        };
        // As often as it stands in the place of something, it is put between.
        input.splice(if random.bool() { taken } else { at..at }, piece);
    }
    input
}

/// A part of `input`, and where it begins.
fn part(input: &[u8], random: &mut Rng) -> (std::ops::Range<usize>, usize) {
    let at = random.usize(..=input.len());
    let length = random.usize(..=PIECE.min(input.len() - at));
    (at..at + length, at)
}

fn bytes(random: &mut Rng, most: usize) -> Vec<u8> {
    let length = random.usize(..=most);
    std::iter::repeat_with(|| random.u8(..)).take(length).collect()
}
