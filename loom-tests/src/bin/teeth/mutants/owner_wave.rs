//! What `owner/wave` can get wrong.

use super::{Mutant, Part};

pub(crate) const OWNER_WAVE: Part = Part {
    name: "owner_wave",
    models: &["owner_wave"],
    mutants: &[
        Mutant {
            name: "a wave is over while it still tells its members",
            file: "src/owner/wave.rs",
            old: "        !self.landing && self.next().is_none()",
            new: "        self.next().is_none()",
        },
        Mutant {
            name: "a landing expects none of its members",
            file: "src/owner/wave.rs",
            old: "            members.iter().for_each(|member| under.expect(member));",
            new: "",
        },
        Mutant {
            name: "a consequence joins nothing",
            file: "src/owner/wave.rs",
            old: "                wave.expect(lifecycle);\n",
            new: "",
        },
        Mutant {
            name: "a successor is told in the wave",
            file: "src/owner/wave.rs",
            old: "            Some(_) => true,",
            new: "            Some(_) => false,",
        },
        Mutant {
            name: "whoever is born is of the wave",
            file: "src/owner/wave.rs",
            old: "        lifecycle.born() < self.began",
            new: "        lifecycle.born() < self.began || true",
        },
        Mutant {
            name: "a wave looks when it begins, and takes its place in a second step",
            file: "src/owner/wave.rs",
            old: "        let mut on = lock(&self.on);\n        let number = on.next;\n        on.next += 1;\n        // Under the lock, so that the order of the waves is that of their beginnings.\n        let began = Lifecycle::births();",
            new: "        let began = Lifecycle::births();\n        let mut on = lock(&self.on);\n        let number = on.next;\n        on.next += 1;",
        },
        Mutant {
            name: "a wave is over with its first member",
            file: "src/owner/wave.rs",
            old: "        while self.left.first_entry().is_some_and(|first| first.get().is_complete()) {\n            self.left.pop_first();\n        }",
            new: "        if self.left.first_entry().is_some_and(|first| first.get().is_complete()) {\n            self.left.clear();\n        }",
        },
        Mutant {
            name: "a waiter looks at its first join alone",
            file: "src/owner/wave.rs",
            old: "                this.joined = None;\n            }\n            if this.is_over() {",
            new: "                this.joined = None;\n                return Poll::Ready(());\n            }\n            \
                  if this.is_over() {",
        },
    ],
};
