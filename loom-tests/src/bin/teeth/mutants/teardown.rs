//! What `teardown` can get wrong.

use super::{Mutant, Part};

pub(crate) const TEARDOWN: Part = Part {
    name: "teardown",
    models: &["teardown"],
    mutants: &[
        Mutant {
            name: "every call completes",
            file: "src/teardown.rs",
            old: "!std::mem::replace(complete, true)",
            new: "{ *complete = true; true }",
        },
        Mutant {
            name: "completion looks in one step and sets in another",
            file: "src/teardown.rs",
            old: "self.complete.announce(|complete| !std::mem::replace(complete, true))",
            new: "!self.is_complete() && self.complete.announce(|complete| { *complete = true; true })",
        },
        Mutant {
            name: "completion wakes nobody",
            file: "src/teardown.rs",
            old: "self.complete.announce(|complete| !std::mem::replace(complete, true))",
            new: "self.complete.with(|complete| !std::mem::replace(complete, true))",
        },
        Mutant {
            name: "woken before it is complete",
            file: "src/teardown.rs",
            old: "self.complete.announce(|complete| !std::mem::replace(complete, true))",
            new: "self.complete.announce(|complete| !*complete) \
                  && self.complete.with(|complete| !std::mem::replace(complete, true))",
        },
        Mutant {
            name: "a waiter that leaves stays registered",
            file: "src/teardown.rs",
            old: "        self.complete.forget(&mut self.ticket);",
            new: "",
        },
    ],
};
