//! What `monitor` can get wrong.

use super::{Mutant, Part};

pub(crate) const MONITOR: Part = Part {
    name: "monitor",
    models: &["slot", "teardown"],
    mutants: &[
        Mutant {
            name: "looked under the lock, registered after it",
            file: "src/monitor.rs",
            old: "            if let Some(waker) = fresh.take() {\n                let replaced",
            new: "            if let Some(waker) = fresh.take() {\n                drop(guarded);\n                \
                  let mut guarded = lock(&self.guarded);\n                let replaced",
        },
        Mutant {
            name: "no look with the waker in hand",
            file: "src/monitor.rs",
            old: "            if let Some(answer) = question(&mut guarded.state) {",
            new: "            if fresh.is_none() && let Some(answer) = question(&mut guarded.state) {",
        },
        Mutant {
            name: "the wakers are taken in a second step",
            file: "src/monitor.rs",
            old: "            // Invariant 2: in this very step, so that who registers after it is not woken for it.",
            new: "            drop(guarded);\n            let mut guarded = lock(&self.guarded);",
        },
        Mutant {
            name: "one of many is woken",
            file: "src/monitor.rs",
            old: "wakers.into_values().map(|waker| move || waker.wake())",
            new: "wakers.into_values().take(1).map(|waker| move || waker.wake())",
        },
        Mutant {
            name: "all but the first are woken",
            file: "src/monitor.rs",
            old: "wakers.into_values().map(|waker| move || waker.wake())",
            new: "wakers.into_values().skip(1).map(|waker| move || waker.wake())",
        },
        Mutant {
            name: "woken under the lock",
            file: "src/monitor.rs",
            old: "            std::mem::take(&mut guarded.wakers)\n        };\n        wake_all(wakers);",
            new: "            let wakers = std::mem::take(&mut guarded.wakers);\n            wake_all(wakers);\n        };",
        },
        Mutant {
            name: "a stale waker is kept",
            file: "src/monitor.rs",
            old: "        self.wakers.insert(number, waker)",
            new: "        self.wakers.entry(number).or_insert(waker);\n        None",
        },
        Mutant {
            name: "whoever is registered is taken for this task",
            file: "src/monitor.rs",
            old: ".is_some_and(|registered| registered.will_wake(waker))",
            new: ".is_some_and(|_| waker.will_wake(waker))",
        },
        Mutant {
            name: "all share one ticket",
            file: "src/monitor.rs",
            old: "            self.next_ticket += 1;\n            self.next_ticket",
            new: "            self.next_ticket",
        },
        Mutant {
            name: "one who leaves takes another's waker along",
            file: "src/monitor.rs",
            old: "            let waker = lock(&self.guarded).wakers.remove(&number);",
            new: "            let _ = number;\n            let waker = lock(&self.guarded).wakers.pop_first();",
        },
        Mutant {
            name: "one who leaves takes all others along",
            file: "src/monitor.rs",
            old: "            let waker = lock(&self.guarded).wakers.remove(&number);",
            new: "            let _ = number;\n            let waker = std::mem::take(&mut lock(&self.guarded).wakers);",
        },
        Mutant {
            name: "one who leaves stays registered",
            file: "src/monitor.rs",
            old: "            let waker = lock(&self.guarded).wakers.remove(&number);",
            new: "            let waker = number;",
        },
        Mutant {
            name: "a change that answers is not announced",
            file: "src/monitor.rs",
            old: "        wake_all(wakers);\n        true",
            new: "        drop(wakers);\n        true",
        },
        Mutant {
            name: "woken before the change is made",
            file: "src/monitor.rs",
            old: "            let mut guarded = lock(&self.guarded);\n            if !f(",
            new: "            wake_all(std::mem::take(&mut lock(&self.guarded).wakers));\n            \
                  let mut guarded = lock(&self.guarded);\n            if !f(",
        },
    ],
};
