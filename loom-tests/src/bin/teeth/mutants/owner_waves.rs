//! What `owner/waves` can get wrong.

use super::{Mutant, Part};

pub(crate) const OWNER_WAVES: Part = Part {
    name: "owner_waves",
    models: &["owner_waves"],
    mutants: &[
        Mutant {
            name: "a wave is over while it still tells its members",
            file: "src/owner/waves.rs",
            old: "        !self.is_telling && self.next_incomplete().is_none()",
            new: "        self.next_incomplete().is_none()",
        },
        Mutant {
            name: "a landing expects none of its members",
            file: "src/owner/waves.rs",
            old: "            members.iter().for_each(|member| wave.wait_for(member));",
            new: "",
        },
        Mutant {
            name: "a consequence joins nothing",
            file: "src/owner/waves.rs",
            old: "                wave.wait_for(lifecycle);\n",
            new: "",
        },
        Mutant {
            name: "a successor is told in the wave",
            file: "src/owner/waves.rs",
            old: "            Some(_) => true,",
            new: "            Some(_) => false,",
        },
        Mutant {
            name: "whoever is born is of the wave",
            file: "src/owner/waves.rs",
            old: "        lifecycle.born() < self.began",
            new: "        lifecycle.born() < self.began || true",
        },
        Mutant {
            name: "a wave looks when it begins, and takes its place in a second step",
            file: "src/owner/waves.rs",
            old: "        let mut open = lock(&self.open);\n        let number = open.next;\n        open.next += 1;\n        // Under the lock, so that the order of the waves is that of their beginnings.\n        let began = Lifecycle::births();",
            new: "        let began = Lifecycle::births();\n        let mut open = lock(&self.open);\n        let number = open.next;\n        open.next += 1;",
        },
        Mutant {
            name: "a wave is over with its first member",
            file: "src/owner/waves.rs",
            old: "        while self.incomplete.first_entry().is_some_and(|first| first.get().is_complete()) {\n            self.incomplete.pop_first();\n        }",
            new: "        if self.incomplete.first_entry().is_some_and(|first| first.get().is_complete()) {\n            self.incomplete.clear();\n        }",
        },
        Mutant {
            name: "a waiter looks at its first join alone",
            file: "src/owner/waves.rs",
            old: "                this.joined = None;\n            }\n            if this.is_over() {",
            new: "                this.joined = None;\n                return Poll::Ready(());\n            }\n            \
                  if this.is_over() {",
        },
    ],
};
