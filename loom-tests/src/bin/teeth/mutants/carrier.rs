//! What `carrier` can get wrong.

use super::{Mutant, Part};

pub(crate) const CARRIER: Part = Part {
    name: "carrier",
    models: &["carrier", "chains", "rider"],
    mutants: &[
        Mutant {
            name: "a rejection wakes nobody",
            file: "src/carrier.rs",
            old: "            state.inbox.push_back(Trigger::Rejected(rejection));\n            true",
            new: "            state.inbox.push_back(Trigger::Rejected(rejection));\n            false",
        },
        Mutant {
            name: "a charge is made on a ledger that is taken out meanwhile",
            file: "src/carrier/place.rs",
            old: "        self.with_ledger(|ledger| ledger.charge(rejection))",
            new: "        let empty = Ledger::new(self.stream_id(), self.address().clone(), crate::Budget::default());\n        let mut ledger = self.with_ledger(|entered| mem::replace(entered, empty));\n        let charge = ledger.charge(rejection);\n        self.with_ledger(|entered| *entered = ledger);\n        charge",
        },
        Mutant {
            name: "a closure that is put back is told to nobody",
            file: "src/carrier/defer.rs",
            old: "            *place = self.probe.take();\n            true",
            new: "            *place = self.probe.take();\n            false",
        },
        Mutant {
            name: "a nudge wakes nobody",
            file: "src/carrier.rs",
            old: "            state.slot.owe();\n            true",
            new: "            state.slot.owe();\n            false",
        },
        Mutant {
            name: "a nudge is not offered anew",
            file: "src/carrier.rs",
            old: "            state.offered = false;\n            state.slot.owe();\n            true",
            new: "            state.slot.owe();\n            true",
        },
        Mutant {
            name: "an ask covers nothing",
            file: "src/carrier.rs",
            old: "                state.slot.cover();",
            new: "",
        },
        Mutant {
            name: "the place is not looked at",
            file: "src/carrier/place.rs",
            old: "            if state.slot.is_taken() {\n                state.contended = true;\n                return None;\n            }",
            new: "            if state.slot.is_taken() {\n                return Some(Turn::Begun);\n            }",
        },
        Mutant {
            name: "nobody knows that a chain waits for the place",
            file: "src/carrier/place.rs",
            old: "                state.contended = true;",
            new: "",
        },
        Mutant {
            name: "a settled ask wakes nobody who waits for its place",
            file: "src/carrier/place.rs",
            old: "            mem::take(&mut state.contended) || owed || !state.inbox.is_empty()",
            new: "            owed || !state.inbox.is_empty()",
        },
        Mutant {
            name: "a settled ask wakes nobody for what is owed",
            file: "src/carrier/place.rs",
            old: "            mem::take(&mut state.contended) || owed || !state.inbox.is_empty()",
            new: "            _ = owed;\n            mem::take(&mut state.contended) || !state.inbox.is_empty()",
        },
        Mutant {
            name: "a settled ask wakes nobody for its own rejection",
            file: "src/carrier/place.rs",
            old: "            mem::take(&mut state.contended) || owed || !state.inbox.is_empty()",
            new: "            mem::take(&mut state.contended) || owed",
        },
        Mutant {
            name: "a trigger's attempt runs though another covered it",
            file: "src/carrier/place.rs",
            old: "            if !charge.is_uncharged() {\n                state.slot.owe();\n            }",
            new: "            state.slot.owe();",
        },
        Mutant {
            name: "a charged attempt needs a debt",
            file: "src/carrier/place.rs",
            old: "            if !charge.is_uncharged() {\n                state.slot.owe();\n            }",
            new: "",
        },
        Mutant {
            name: "what is stale runs",
            file: "src/carrier/place.rs",
            old: "            if state.ledger.is_stale(charge) {\n                return Some(Turn::Dropped);\n            }",
            new: "",
        },
        Mutant {
            name: "an opened subscription forgets what arrived",
            file: "src/carrier/place.rs",
            old: "            state.inbox.retain(|trigger| !matches!(trigger, Trigger::Owed(_)));",
            new: "            state.inbox.clear();",
        },
        Mutant {
            name: "a dropped chain leaks the place",
            file: "src/carrier/place.rs",
            old: "            if cancelled {\n                state.slot.cancel();\n            }",
            new: "            _ = cancelled;",
        },
        Mutant {
            name: "a dropped chain forgets its debt",
            file: "src/carrier/place.rs",
            old: "                state.slot.cancel();",
            new: "                state.slot.settle();",
        },
        Mutant {
            name: "a dropped chain forgets its charges",
            file: "src/carrier/place.rs",
            old: "                if !state.ledger.is_stale(&charge) {",
            new: "                if false {",
        },
        Mutant {
            name: "an ended chain leaks the place",
            file: "src/carrier/place.rs",
            old: "            true => self.settle(|_| {}),",
            new: "            true => {}",
        },
        Mutant {
            name: "the old chain does not hear that it is taken over",
            file: "src/carrier/triggers.rs",
            old: "            chain = state.chain;\n            true",
            new: "            chain = state.chain;\n            false",
        },
        Mutant {
            name: "two chains yield",
            file: "src/carrier/triggers.rs",
            old: "            if *chain == state.chain {",
            new: "            if *chain <= state.chain {",
        },
        Mutant {
            name: "the debt is gone once it is offered",
            file: "src/carrier/triggers.rs",
            old: "            self.offered = true;",
            new: "            self.slot = crate::slot::State::default();",
        },
        Mutant {
            name: "the place is free before its attempt is gone",
            file: "src/carrier/concat_attempts.rs",
            old: "            this.attempt.set(None);\n            this.carrier.refused(rejection);",
            new: "            this.carrier.refused(rejection);\n            this.attempt.set(None);",
        },
        Mutant {
            name: "a dropped chain's place is free before its attempt is gone",
            file: "src/carrier/concat_attempts.rs",
            old: "        this.attempt.set(None);\n        if *this.phase != Phase::Done {\n            this.carrier.give_back(running, queued);\n        }",
            new: "        if *this.phase != Phase::Done {\n            this.carrier.give_back(running, queued);\n        }\n        \
                  this.attempt.set(None);",
        },
        Mutant {
            name: "a dropped chain gives nothing back",
            file: "src/carrier/concat_attempts.rs",
            old: "        if *this.phase != Phase::Done {",
            new: "        if *this.phase == Phase::Done {",
        },
        Mutant {
            name: "a charged attempt begins where its trigger's would",
            file: "src/carrier/concat_attempts.rs",
            old: "        let Some(next) = this.queue.front().or(this.triggered.as_ref()) else {",
            new: "        let Some(next) = this.triggered.as_ref().or(this.queue.front()) else {",
        },
    ],
};
