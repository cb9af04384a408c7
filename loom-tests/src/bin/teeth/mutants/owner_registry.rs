//! What `owner/registry` can get wrong.

use super::{Mutant, Part};

pub(crate) const OWNER_REGISTRY: Part = Part {
    name: "owner_registry",
    models: &["owner_registry"],
    mutants: &[
        Mutant {
            name: "removal is by path",
            file: "src/owner/registry.rs",
            old: "entry.lifecycle.activation() == activation)",
            new: "entry.lifecycle.activation() == activation || true)",
        },
        Mutant {
            name: "identity is looked at in one step, and taken out in another",
            file: "src/owner/registry.rs",
            old: "        let removed = if is_its_own",
            new: "        drop(entries);\n        let mut entries = lock(&self.entries);\n        \
                  let removed = if is_its_own",
        },
        Mutant {
            name: "found dead in one step, replaced in another",
            file: "src/owner/registry.rs",
            old: "        let entry = Arc::new(Entry { lifecycle: lifecycle.clone(), owner });",
            new: "        drop(entries);\n        let mut entries = lock(&self.entries);\n        \
                  let entry = Arc::new(Entry { lifecycle: lifecycle.clone(), owner });",
        },
        Mutant {
            name: "a living one is replaced",
            file: "src/owner/registry.rs",
            old: "            && !there.is_dead()",
            new: "            && false",
        },
        Mutant {
            name: "a dead one is handed out",
            file: "src/owner/registry.rs",
            old: "(!entry.is_dead()).then(",
            new: "true.then(",
        },
    ],
};
