//! What `owner/delivery_targets` can get wrong.

use super::{Mutant, Part};

pub(crate) const OWNER_DELIVERY_TARGETS: Part = Part {
    name: "owner_delivery_targets",
    models: &["owner_delivery_targets"],
    mutants: &[
        Mutant {
            name: "a late goodbye is the successor's",
            file: "src/owner/delivery_targets.rs",
            old: "        if target.registration != *registration || !is_news {",
            new: "        if !is_news {",
        },
        Mutant {
            name: "a goodbye's stone is kept when it is over",
            file: "src/owner/delivery_targets.rs",
            old: "            self.departed.remove(&departure.until);",
            new: "            let _ = &departure.until;",
        },
        Mutant {
            name: "a fresh registration keeps its predecessor's stone",
            file: "src/owner/delivery_targets.rs",
            old: "        let before = self.known.insert(key, Target { registration, departure: None });",
            new: "        let before = self.known.remove(&key);\n        let kept = before.as_ref().and_then(|target| target.departure);\n        self.known.insert(key, Target { registration, departure: kept });",
        },
        Mutant {
            name: "one that was lost is released by another's goodbye",
            file: "src/owner/delivery_targets.rs",
            old: "        if target.registration != *registration || !is_news {",
            new: "        if target.registration != *registration && target.departure.is_some() || !is_news {",
        },
        Mutant {
            name: "a goodbye after the cut does not count",
            file: "src/owner/delivery_targets.rs",
            old: "target.departure.is_none_or(|departure| said_goodbye && !departure.said_goodbye)",
            new: "target.departure.is_none()",
        },
        Mutant {
            name: "a second goodbye counts again",
            file: "src/owner/delivery_targets.rs",
            old: "target.departure.is_none_or(|departure| said_goodbye && !departure.said_goodbye)",
            new: "target.departure.is_none_or(|departure| said_goodbye || departure.said_goodbye)",
        },
        Mutant {
            name: "a cut's stone is kept beside the goodbye's",
            file: "src/owner/delivery_targets.rs",
            old: "            self.departed.remove(&lost.until);",
            new: "            let _ = &lost.until;",
        },
        Mutant {
            name: "another's stone is taken out",
            file: "src/owner/delivery_targets.rs",
            old: "            self.departed.remove(&departure.until);",
            new: "            self.departed.remove(&(departure.until.0, 0));",
        },
        Mutant {
            name: "only a predecessor says goodbye",
            file: "src/owner/delivery_targets.rs",
            old: "        if target.registration != *registration || !is_news {",
            new: "        if target.registration == *registration || !is_news {",
        },
        Mutant {
            name: "a fresh registration does not replace",
            file: "src/owner/delivery_targets.rs",
            old: "        let before = self.known.insert(key, Target { registration, departure: None });",
            new: "        let before = None.filter(|_: &Target<R>| true);\n        self.known.entry(key).or_insert(Target { registration, departure: None });",
        },
    ],
};
