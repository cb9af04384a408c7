//! What `rider` can get wrong.

use super::{Mutant, Part};

pub(crate) const RIDER: Part = Part {
    name: "rider",
    models: &["rider"],
    mutants: &[
        Mutant {
            name: "the flag is cleared after the look",
            file: "src/rider/driver.rs",
            old: "                        Some(look) if looked == Looked::ButAtTimers => look.all_pending(),",
            new: "                        Some(look) if looked == Looked::ButAtTimers => {\n                            look.all_pending();\n                            self.bell.look().all_pending();\n                        }",
        },
        Mutant {
            name: "a look that yields leaves the flag clear",
            file: "src/rider/bell.rs",
            old: "        if let Some(shared) = &self.shared {\n            shared.gate.fetch_or(RUNG, Ordering::SeqCst);\n        }",
            new: "        let _ = &self.shared;",
        },
        Mutant {
            name: "the flag is not read again before a wait",
            file: "src/rider/bell.rs",
            old: "        self.register(cx.waker());\n        !self.is_rung()",
            new: "        self.register(cx.waker());\n        true",
        },
        Mutant {
            name: "the flag is read before the task is registered",
            file: "src/rider/bell.rs",
            old: "        self.register(cx.waker());\n        !self.is_rung()",
            new: "        let is_rung = self.is_rung();\n        self.register(cx.waker());\n        !is_rung",
        },
        Mutant {
            name: "a moved rider is not registered anew",
            file: "src/rider/bell.rs",
            old: "is_some_and(|registered| registered.will_wake(waker));",
            new: "is_some();",
        },
        Mutant {
            name: "an attempt that begins in a look is not polled in it",
            file: "src/rider/driver/looks.rs",
            old: "            Some(StageProj::Due) => self.ask(),",
            new: "            Some(StageProj::Due) => match self.ask() {\n                Turn::Again => Turn::Idle,\n                turn => turn,\n            },",
        },
        Mutant {
            name: "the bell does not wake the task",
            file: "src/rider/bell.rs",
            old: "            task.wake();",
            new: "            drop(task);",
        },
        Mutant {
            name: "who waits never looks at the teardown",
            file: "src/rider/driver/looks.rs",
            old: "            Some(StageProj::Waiting { .. }) => match self.poll_teardown(cx) {",
            new: "            Some(StageProj::Waiting { .. }) => match Poll::<()>::Pending {",
        },
        Mutant {
            name: "an announcement is not looked at",
            file: "src/rider/driver/looks.rs",
            old: "                self.hear(news);\n",
            new: "                drop(news);\n",
        },
        Mutant {
            name: "an announced end is no rejection",
            file: "src/rider/hears.rs",
            old: "            (by, tag) => Some(Rejection::by_owner(by.cloned().or(tag))),",
            new: "            _ => None,",
        },
        Mutant {
            name: "an announcement leaves the ask that is out",
            file: "src/rider/driver/effects.rs",
            old: "            Effect::AskLost(rejection) => self.reject(rejection, None),",
            new: "            Effect::AskLost(rejection) => self.carrier.reject(rejection),",
        },
        Mutant {
            name: "an end beside a refresh is charged as well",
            file: "src/rider/hears.rs",
            old: "            Some(rejection) if attempt == Attempting::Nothing => Effect::Lost(rejection),",
            new: "            Some(rejection) if attempt != Attempting::Waiting => Effect::Lost(rejection),",
        },
        Mutant {
            name: "a goodbye of one that has refused drops the ask",
            file: "src/rider/hears.rs",
            old: "                && !has_refused(&tag)\n",
            new: "",
        },
        Mutant {
            name: "a goodbye of another than the live one ends it",
            file: "src/rider/hears.rs",
            old: "            (Some(by), Some(tag)) if *by != tag => None,",
            new: "            (Some(by), Some(tag)) if *by != tag && false => None,",
        },
        Mutant {
            name: "who refused before is forgotten with the answer",
            file: "src/rider/hears.rs",
            old: "            self.refused_before.contains(tag) || (",
            new: "            (",
        },
    ],
};
