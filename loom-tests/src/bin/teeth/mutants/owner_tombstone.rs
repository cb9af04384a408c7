//! What `owner/tombstone` can get wrong.

use super::{Mutant, Part};

pub(crate) const OWNER_TOMBSTONE: Part = Part {
    name: "owner_tombstone",
    models: &["owner_tombstone"],
    mutants: &[
        Mutant {
            name: "a late goodbye is the successor's",
            file: "src/owner/tombstone.rs",
            old: "        if target.registration != *registration || !is_news {",
            new: "        if !is_news {",
        },
        Mutant {
            name: "a goodbye's stone is kept when it is over",
            file: "src/owner/tombstone.rs",
            old: "            self.gone.remove(&gone.until);",
            new: "            let _ = &gone.until;",
        },
        Mutant {
            name: "a fresh registration keeps its predecessor's stone",
            file: "src/owner/tombstone.rs",
            old: "        let before = self.known.insert(key, Target { registration, gone: None });",
            new: "        let before = self.known.remove(&key);\n        let kept = before.as_ref().and_then(|target| target.gone);\n        self.known.insert(key, Target { registration, gone: kept });",
        },
        Mutant {
            name: "one that was lost is released by another's goodbye",
            file: "src/owner/tombstone.rs",
            old: "        if target.registration != *registration || !is_news {",
            new: "        if target.registration != *registration && target.gone.is_some() || !is_news {",
        },
        Mutant {
            name: "a goodbye after the cut does not count",
            file: "src/owner/tombstone.rs",
            old: "        let is_news = target.gone.is_none_or(|gone| said_goodbye && !gone.said_goodbye);",
            new: "        let is_news = target.gone.is_none();",
        },
        Mutant {
            name: "a second goodbye counts again",
            file: "src/owner/tombstone.rs",
            old: "        let is_news = target.gone.is_none_or(|gone| said_goodbye && !gone.said_goodbye);",
            new: "        let is_news = target.gone.is_none_or(|gone| said_goodbye || gone.said_goodbye);",
        },
        Mutant {
            name: "a cut's stone is kept beside the goodbye's",
            file: "src/owner/tombstone.rs",
            old: "            self.gone.remove(&lost.until);",
            new: "            let _ = &lost.until;",
        },
        Mutant {
            name: "another's stone is taken out",
            file: "src/owner/tombstone.rs",
            old: "            self.gone.remove(&gone.until);",
            new: "            self.gone.remove(&(gone.until.0, 0));",
        },
        Mutant {
            name: "only a predecessor says goodbye",
            file: "src/owner/tombstone.rs",
            old: "        if target.registration != *registration || !is_news {",
            new: "        if target.registration == *registration || !is_news {",
        },
        Mutant {
            name: "a fresh registration does not replace",
            file: "src/owner/tombstone.rs",
            old: "        let before = self.known.insert(key, Target { registration, gone: None });",
            new: "        let before = None.filter(|_: &Target<R>| true);\n        self.known.entry(key).or_insert(Target { registration, gone: None });",
        },
    ],
};
