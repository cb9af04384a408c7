//! What `slot` can get wrong.

use super::{Mutant, Part};

pub(crate) const SLOT: Part = Part {
    name: "slot",
    models: &["slot", "carrier", "chains"],
    mutants: &[
        Mutant {
            name: "a claim does not look whether the place is taken",
            file: "src/slot.rs",
            old: "let claimed = self.owed && !self.taken;",
            new: "let claimed = self.owed;",
        },
        Mutant {
            name: "a claim leaves what it took on owed",
            file: "src/slot.rs",
            old: "*self = State { owed: false, taken: true };",
            new: "self.taken = true;",
        },
        Mutant {
            name: "a claim leaves the place free",
            file: "src/slot.rs",
            old: "*self = State { owed: false, taken: true };",
            new: "self.owed = false;",
        },
        Mutant {
            name: "a claim looks in one step and takes in another",
            file: "src/slot.rs",
            old: "        let claimed = self.state.with(State::claim);\n        claimed.then(",
            new: "        let due = self.state.with(|state| state.is_due());\n        \
                  due.then(|| self.state.with(|state| *state = State { owed: false, taken: true }));\n        due.then(",
        },
        Mutant {
            name: "a trigger that folds writes nothing",
            file: "src/slot.rs",
            old: "self.state.announce(State::owe); // Invariants 2 and 7.",
            new: "if !self.state.with(|state| state.taken) { self.state.announce(State::owe); }",
        },
        Mutant {
            name: "a trigger wakes nobody",
            file: "src/slot.rs",
            old: "self.state.announce(State::owe); // Invariants 2 and 7.",
            new: "self.state.with(State::owe);",
        },
        Mutant {
            name: "covering leaves the debt",
            file: "src/slot.rs",
            old: "debug_assert!(self.taken, \"only the permit covers\");\n        self.owed = false;",
            new: "",
        },
        Mutant {
            name: "settling forgets what came meanwhile",
            file: "src/slot.rs",
            old: "        self.taken = false;\n        self.owed\n",
            new: "        self.taken = false;\n        std::mem::take(&mut self.owed) && false\n",
        },
        Mutant {
            name: "settling leaks the place",
            file: "src/slot.rs",
            old: "        self.taken = false;\n        self.owed\n",
            new: "        self.owed\n",
        },
        Mutant {
            name: "settled in one step, claimed in another",
            file: "src/slot.rs",
            old: "let one_more = self.state.with(|state| state.settle() && state.claim());",
            new: "let one_more = self.state.with(State::settle) && self.state.with(State::claim);",
        },
        Mutant {
            name: "a permit settles twice",
            file: "src/slot.rs",
            old: "self.settled = !one_more;",
            new: "",
        },
        Mutant {
            name: "a dropped permit forgets its debt",
            file: "src/slot.rs",
            old: "        self.taken = false;\n        self.owe()\n",
            new: "        self.taken = false;\n        self.owed\n",
        },
        Mutant {
            name: "a dropped permit leaks the place",
            file: "src/slot.rs",
            old: "        if !self.settled {\n            // Invariants 6 and 7.",
            new: "        if false {",
        },
        Mutant {
            name: "a dropped permit wakes nobody",
            file: "src/slot.rs",
            old: "self.state.announce(State::cancel);",
            new: "self.state.with(State::cancel);",
        },
        Mutant {
            name: "a dropped claim leaves its waker",
            file: "src/slot.rs",
            old: "        self.state.forget(&mut self.ticket);",
            new: "",
        },
    ],
};
