//! What `owner/lifecycle` can get wrong.

use super::{Mutant, Part};

pub(crate) const OWNER_LIFECYCLE: Part = Part {
    name: "owner_lifecycle",
    models: &["owner_lifecycle"],
    mutants: &[
        Mutant {
            name: "a child is entered in a second step",
            file: "src/owner/lifecycle/children.rs",
            old: "            let enters = !state.frozen && !state.leaving;\n            if enters {\n                state.children.insert(child.shared.born, entry);\n            }\n            enters\n        });",
            new: "            !state.frozen && !state.leaving\n        });\n        if is_entered {\n            \
                  self.shared.state.with(|state| state.children.insert(child.shared.born, entry));\n        }",
        },
        Mutant {
            name: "a child is born in what is frozen",
            file: "src/owner/lifecycle/children.rs",
            old: "            let enters = !state.frozen && !state.leaving;",
            new: "            let enters = state.level < RunLevel::Quiescing;",
        },
        Mutant {
            name: "told before the subtree is frozen",
            file: "src/owner/lifecycle.rs",
            old: "        self.freeze_subtree();\n        self.set_ending(ending)",
            new: "        let decides = self.set_ending(ending);\n        self.freeze_subtree();\n        decides",
        },
        Mutant {
            name: "only the root is frozen",
            file: "src/owner/lifecycle/children.rs",
            old: "            frozen.extend(lifecycle.living_children());",
            new: "",
        },
        Mutant {
            name: "children are looked for before the freeze",
            file: "src/owner/lifecycle/children.rs",
            old: "            lifecycle.shared.state.with(|state| state.frozen = true);\n            frozen.extend(lifecycle.living_children());",
            new: "            frozen.extend(lifecycle.living_children());\n            lifecycle.shared.state.with(|state| state.frozen = true);",
        },
        Mutant {
            name: "every call decides how it ends",
            file: "src/owner/lifecycle.rs",
            old: "            let decides = state.level < RunLevel::Quiescing;",
            new: "            let decides = true;",
        },
        Mutant {
            name: "who decides is looked at in one step and written in another",
            file: "src/owner/lifecycle.rs",
            old: "        self.shared.state.announce(|state| {\n            let decides = state.level < RunLevel::Quiescing;",
            new: "        let decides = self.level() < RunLevel::Quiescing;\n        self.shared.state.announce(|state| {",
        },
        Mutant {
            name: "who tells does not look whether replies are pending",
            file: "src/owner/lifecycle.rs",
            old: "                state.raise(RunLevel::Quiescing);\n                state.end_quiescing_if_idle();",
            new: "                state.raise(RunLevel::Quiescing);",
        },
        Mutant {
            name: "the last reply does not look whether it was waited for",
            file: "src/owner/lifecycle/pending_reply.rs",
            old: "            state.end_quiescing_if_idle()",
            new: "            false",
        },
        Mutant {
            name: "the last reply looks in a second step, and tells nobody",
            file: "src/owner/lifecycle/pending_reply.rs",
            old: "            state.end_quiescing_if_idle()\n        });",
            new: "            false\n        });\n        self.lifecycle.shared.state.with(|state| state.end_quiescing_if_idle());",
        },
        Mutant {
            name: "whoever is disposed has no more replies",
            file: "src/owner/lifecycle.rs",
            old: "            && self.pending == 0\n",
            new: "",
        },
        Mutant {
            name: "the level is risen to, whatever it is",
            file: "src/owner/lifecycle.rs",
            old: "        let rises = level > self.level;",
            new: "        let rises = level != self.level;",
        },
        Mutant {
            name: "dying twice",
            file: "src/owner/lifecycle/death.rs",
            old: "                let dies = state.raise(RunLevel::Dead);",
            new: "                let dies = state.raise(RunLevel::Dead) || true;",
        },
        Mutant {
            name: "the last words are left where they are",
            file: "src/owner/lifecycle/death.rs",
            old: "Some(mem::take(&mut state.last_words))",
            new: "Some(mem::take(&mut state.last_words).into_iter().take(0).collect::<Vec<_>>())",
        },
        Mutant {
            name: "a late last word is forgotten",
            file: "src/owner/lifecycle/death.rs",
            old: "            if state.level < RunLevel::Dead {\n                state.last_words.extend(",
            new: "            if state.level <= RunLevel::Dead {\n                state.last_words.extend(",
        },
        Mutant {
            name: "a last word is judged in one step and kept in another",
            file: "src/owner/lifecycle/death.rs",
            old: "        self.shared.state.with(|state| {\n            if state.level < RunLevel::Dead {\n                state.last_words.extend(last_word.take());\n            }\n        });",
            new: "        if self.level() < RunLevel::Dead {\n            \
                  self.shared.state.with(|state| state.last_words.extend(last_word.take()));\n        }",
        },
        Mutant {
            name: "teardown is completed before the last words",
            file: "src/owner/lifecycle/death.rs",
            old: "            panics.catch(|| FirstPanic::run_all(last_words));\n            panics.catch(|| shared.teardown.complete());",
            new: "            panics.catch(|| shared.teardown.complete());\n            panics.catch(|| FirstPanic::run_all(last_words));",
        },
        Mutant {
            name: "teardown is never completed",
            file: "src/owner/lifecycle/death.rs",
            old: "panics.catch(|| shared.teardown.complete())",
            new: "panics.catch(|| shared.teardown.clone())",
        },
        Mutant {
            name: "who dies stays with its parent",
            file: "src/owner/lifecycle/death.rs",
            old: "panics.catch(|| shared.leave_parent())",
            new: "panics.catch(|| shared.parent.is_some())",
        },
        Mutant {
            name: "a child that goes wakes nobody",
            file: "src/owner/lifecycle/children.rs",
            old: "                went && state.level >= RunLevel::Quiescing",
            new: "                went && state.level < RunLevel::Quiescing",
        },
        Mutant {
            name: "the driver does not look again whether it is told",
            file: "src/owner/lifecycle/driver.rs",
            old: "fn end_is_asked_for(state: &State) -> bool {\n    state.level >= RunLevel::Quiescing",
            new: "fn end_is_asked_for(_: &State) -> bool {\n    false",
        },
        Mutant {
            name: "the driver does not wait for children",
            file: "src/owner/lifecycle/driver.rs",
            old: "        self.level == RunLevel::DisposeHosted && self.children.is_empty()",
            new: "        self.level == RunLevel::DisposeHosted",
        },
        Mutant {
            name: "the driver does not tell children",
            file: "src/owner/lifecycle/driver.rs",
            old: "            self.run(Lifecycle::end_children);",
            new: "",
        },
        Mutant {
            name: "the driver is deaf to what moves",
            file: "src/owner/lifecycle/driver.rs",
            old: "|state: &State| state.progress != progress || state.children_are_gone()",
            new: "|state: &State| state.children_are_gone()",
        },
        Mutant {
            name: "a waiter for a level looks for that one alone",
            file: "src/owner/lifecycle/reached.rs",
            old: "state.level >= level",
            new: "state.level == level",
        },
        Mutant {
            name: "starting wakes nobody",
            file: "src/owner/lifecycle.rs",
            old: "self.shared.state.announce(|state| state.raise(RunLevel::Started));",
            new: "self.shared.state.with(|state| state.raise(RunLevel::Started));",
        },
    ],
};
