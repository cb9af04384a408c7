//! What `owner/subscribers` can get wrong.

use super::{Mutant, Part};

pub(crate) const OWNER_SUBSCRIBERS: Part = Part {
    name: "owner_subscribers",
    models: &["owner_subscribers"],
    mutants: &[
        Mutant {
            name: "the first state acknowledges nobody",
            file: "src/owner/subscribers/registration.rs",
            old: "        let acknowledgements = mem::take(&mut self.held);",
            new: "        let acknowledgements = Vec::new();",
        },
        Mutant {
            name: "a state that nobody hears is none",
            file: "src/owner/subscribers.rs",
            old: "        self.has_state = true;",
            new: "        self.has_state = !self.streams.is_empty();",
        },
        Mutant {
            name: "a held ask replaces the one before it",
            file: "src/owner/subscribers.rs",
            old: "        stream.held.push(acknowledgement);",
            new: "        stream.held = vec![acknowledgement];",
        },
        Mutant {
            name: "a re-assert goes on with the old numbers",
            file: "src/owner/subscribers.rs",
            old: "            (stream.attempt, stream.number) = (attempt, 0);",
            new: "            stream.attempt = attempt;",
        },
        Mutant {
            name: "an owner that is over holds asks",
            file: "src/owner/subscribers.rs",
            old: "        if self.is_over {",
            new: "        if self.is_over && self.has_state {",
        },
        Mutant {
            name: "an owner that ends keeps what it held",
            file: "src/owner/subscribers/ends.rs",
            old: "        mem::take(&mut self.streams).into_values().map(Registration::released).collect()",
            new: "        self.streams.clear();\n        Vec::new()",
        },
        Mutant {
            name: "a stream that ends answers one held ask",
            file: "src/owner/subscribers/registration.rs",
            old: "        Released { key: self.key, attempt: self.attempt, sink: self.sink, held: self.held }",
            new: "        let held = self.held.into_iter().take(1).collect();\n        Released { key: self.key, attempt: self.attempt, sink: self.sink, held }",
        },
        Mutant {
            name: "a late goodbye of an earlier attempt counts",
            file: "src/owner/subscribers/ends.rs",
            old: "        self.streams.get(&number).filter(|stream| stream.attempt == attempt)?;",
            new: "        self.streams.get(&number).filter(|stream| stream.attempt >= attempt)?;",
        },
        Mutant {
            name: "a re-assert keeps the old attempt",
            file: "src/owner/subscribers.rs",
            old: "            (stream.attempt, stream.number) = (attempt, 0);",
            new: "            stream.number = 0;",
        },
        Mutant {
            name: "a sign postpones nothing that is due",
            file: "src/owner/subscribers/registration.rs",
            old: "        if moved > self.due && due.remove(&self.due) {",
            new: "        if moved < self.due && due.remove(&self.due) {",
        },
        Mutant {
            name: "a sign is no sign",
            file: "src/owner/subscribers.rs",
            old: "        stream.postpone_release(later(now, self.idle_release), &mut self.due);",
            new: "        let _ = (later(now, self.idle_release), stream);",
        },
        Mutant {
            name: "a frame's number is left out",
            file: "src/owner/subscribers/registration.rs",
            old: "        self.number = self.number.saturating_add(1);",
            new: "        self.number = self.number.saturating_add(1 + u64::from(self.number > 0));",
        },
        Mutant {
            name: "a frame's number is used twice",
            file: "src/owner/subscribers.rs",
            old: "        self.streams.get_mut(number).map(Registration::next_frame)",
            new: "        self.streams.get_mut(number).map(|stream| {\n            let before = stream.number;\n            let frame = stream.next_frame();\n            stream.number = before;\n            frame\n        })",
        },
    ],
};
