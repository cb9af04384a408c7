//! What `owner/leaving_host` can get wrong.

use super::{Mutant, Part};

pub(crate) const OWNER_LEAVING_HOST: Part = Part {
    name: "owner_leaving_host",
    models: &["owner_leaving_host"],
    mutants: &[
        Mutant {
            name: "in the drain set only after the first refusal",
            file: "src/owner/leaving_host.rs",
            old: "        self.shared.leaving.enter(&self.shared.name);\n        self.rise(HostPhase::Draining)",
            new: "        let rises = self.rise(HostPhase::Draining);\n        \
                  self.shared.leaving.enter(&self.shared.name);\n        rises",
        },
        Mutant {
            name: "who entered the set first did it",
            file: "src/owner/leaving_host.rs",
            old: "        self.shared.leaving.enter(&self.shared.name);\n        self.rise(HostPhase::Draining)",
            new: "        self.shared.leaving.enter(&self.shared.name) && self.rise(HostPhase::Draining)",
        },
        Mutant {
            name: "the phase is looked at in one step and set in another",
            file: "src/owner/leaving_host.rs",
            old: "        let mut phase = lock(&self.shared.phase);\n        let rises = to > *phase;\n        if rises {\n            *phase = to;",
            new: "        let rises = to > *lock(&self.shared.phase);\n        if rises {\n            *lock(&self.shared.phase) = to;",
        },
        Mutant {
            name: "the drain set is not looked at",
            file: "src/owner/leaving_host.rs",
            old: "host != self.shared.name && !self.shared.leaving.contains(host)",
            new: "host != self.shared.name",
        },
        Mutant {
            name: "a host looks for another before it enters the set",
            file: "src/owner/leaving_host.rs",
            old: "        if self.phase() < HostPhase::Draining || !owner.is_idle() {",
            new: "        self.shared.leaving.rejoin(&self.shared.name);\n        \
                  if self.phase() < HostPhase::Draining || !owner.is_idle() {",
        },
        Mutant {
            name: "a door knows the phase by halves",
            file: "src/owner/leaving_host.rs",
            old: "        if self.phase() < HostPhase::Draining {",
            new: "        if self.phase() <= HostPhase::Draining {",
        },
    ],
};
