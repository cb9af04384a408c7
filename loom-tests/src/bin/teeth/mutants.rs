//! What the code can get wrong, part by part.

mod carrier;
mod monitor;
mod own_rider;
mod owner_delivery_targets;
mod owner_leaving_host;
mod owner_lifecycle;
mod owner_registry;
mod owner_subscribers;
mod owner_waves;
mod rider;
mod slot;
mod teardown;

/// A part of the crate, the files of models that hold it, and what can be wrong with it.
pub(crate) struct Part {
    pub(crate) name: &'static str,
    /// Files in `loom-tests/tests/`.
    pub(crate) models: &'static [&'static str],
    pub(crate) mutants: &'static [Mutant],
}

/// One edit that some model must see.
pub(crate) struct Mutant {
    /// What is wrong then.
    pub(crate) name: &'static str,
    /// From the workspace's root.
    pub(crate) file: &'static str,
    /// Stands there exactly once.
    pub(crate) old: &'static str,
    pub(crate) new: &'static str,
}

impl Mutant {
    /// Returns `sound`, its file's text, with the edit made.
    ///
    /// # Errors
    ///
    /// Where what it replaces does not stand there exactly once: the code has moved on.
    pub(crate) fn applied_to(&self, sound: &str) -> Result<String, String> {
        match sound.matches(self.old).count() {
            1 => Ok(sound.replace(self.old, self.new)),
            places => Err(format!("fits {} in {places} places: {}", self.file, self.old)),
        }
    }
}

/// All there are.
pub(crate) const PARTS: &[Part] = &[
    monitor::MONITOR,
    slot::SLOT,
    teardown::TEARDOWN,
    carrier::CARRIER,
    rider::RIDER,
    own_rider::OWN_RIDER,
    owner_lifecycle::OWNER_LIFECYCLE,
    owner_registry::OWNER_REGISTRY,
    owner_leaving_host::OWNER_LEAVING_HOST,
    owner_waves::OWNER_WAVES,
    owner_subscribers::OWNER_SUBSCRIBERS,
    owner_delivery_targets::OWNER_DELIVERY_TARGETS,
];

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    use super::PARTS;

    fn root() -> &'static Path {
        Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
    }

    /// Without a build: that a mutant is killed, the whole run shows.
    #[test]
    fn every_mutant_fits_the_code() {
        for part in PARTS {
            let mut names = BTreeSet::new();
            for mutant in part.mutants {
                assert!(names.insert(mutant.name), "{}: {} twice", part.name, mutant.name);
                let sound = fs::read_to_string(root().join(mutant.file)).unwrap();
                let mutated = mutant.applied_to(&sound);
                assert_ne!(mutated.as_deref(), Ok(&*sound), "{}", mutant.name);
                mutated.unwrap_or_else(|error| panic!("{}: {}: {error}", part.name, mutant.name));
            }
        }
    }

    /// Or the page is older than the mutants: the whole run makes it anew.
    #[test]
    fn the_page_is_of_these_mutants() {
        let page = fs::read_to_string(root().join("docs/proof.md")).unwrap();
        let mutants: usize = PARTS.iter().map(|part| part.mutants.len()).sum();
        assert!(page.contains(&format!("\nkilled {mutants} of {mutants}.\n")), "run `teeth`");
    }

    #[test]
    fn every_file_of_models_has_mutants() {
        let held: BTreeSet<_> = PARTS.iter().flat_map(|part| part.models).copied().collect();
        let files = fs::read_dir(root().join("loom-tests/tests")).unwrap();
        let files: Vec<_> =
            files.map(|file| file.unwrap().path()).filter(|it| it.is_file()).collect();
        let files: BTreeSet<_> =
            files.iter().map(|it| it.file_stem().unwrap().to_str().unwrap()).collect();
        assert_eq!(held, files);
    }
}
