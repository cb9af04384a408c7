//! What `rider` can get wrong.

use super::{Mutant, Part};

pub(crate) const RIDER: Part = Part {
    name: "rider",
    models: &["rider"],
    mutants: &[
        Mutant {
            name: "a live rider does not look whether it is to ask again",
            file: "src/rider/ride.rs",
            old: "        if items_first {\n            match self.look_at_chain(live, cx) {",
            new: "        if false {\n            match self.look_at_chain(live, cx) {",
        },
        Mutant {
            name: "who waits never looks at the teardown",
            file: "src/rider/ride/looks.rs",
            old: "            Some(StageProj::Waiting { .. }) => match self.poll_teardown(cx) {",
            new: "            Some(StageProj::Waiting { .. }) => match Poll::<()>::Pending {",
        },
        Mutant {
            name: "an announcement is not looked at",
            file: "src/rider/ride.rs",
            old: "        if self.look_at_news(live.as_mut(), cx) {\n            return Turn::Again;\n        }\n        if items_first {",
            new: "        if items_first {",
        },
        Mutant {
            name: "an announced end is no rejection",
            file: "src/rider/state.rs",
            old: "            (by, _) => Some(Rejection::by_owner(by.clone().or(tag))),",
            new: "            _ => None,",
        },
        Mutant {
            name: "an announcement leaves the ask that is out",
            file: "src/rider/ride/hears.rs",
            old: "                self.reject(Rejection::by_owner(Some(tag)), None);",
            new: "                self.state.carrier.reject(Rejection::by_owner(Some(tag)));",
        },
        Mutant {
            name: "an end beside a refresh is charged as well",
            file: "src/rider/ride/hears.rs",
            old: "                if self.stage().is_some() {",
            new: "                if false {",
        },
        Mutant {
            name: "an end beside a refresh is charged, and closed",
            file: "src/rider/ride/hears.rs",
            old: "                    self.close_live(live);\n                } else {",
            new: "                    self.state.carrier.reject(rejection);\n                    self.close_live(live);\n                } else {",
        },
        Mutant {
            name: "a goodbye of one that has refused drops the ask",
            file: "src/rider/ride/hears.rs",
            old: "                    && !self.has_refused(&tag)\n",
            new: "",
        },
        Mutant {
            name: "a goodbye of another than the live one ends it",
            file: "src/rider/state.rs",
            old: "            (Some(by), Some(tag)) if by != tag => None,",
            new: "            (Some(by), Some(tag)) if by != tag && false => None,",
        },
        Mutant {
            name: "who refused before is forgotten with the answer",
            file: "src/rider/state.rs",
            old: "        self.refused_before.contains(tag) || (",
            new: "        (",
        },
    ],
};
