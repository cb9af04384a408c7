//! What the example `own_rider` can get wrong.

use super::{Mutant, Part};

pub(crate) const OWN_RIDER: Part = Part {
    name: "own_rider",
    models: &["own_rider"],
    mutants: &[
        Mutant {
            name: "a nudge waits for the subscription's end",
            file: "examples/own_rider/rider.rs",
            old: "                match answers.poll_next_unpin(cx)? {",
            new: "                let polled = if live.is_some() { Poll::Pending } else { answers.poll_next_unpin(cx)? };\n                match polled {",
        },
        Mutant {
            name: "a rejection is swallowed",
            file: "examples/own_rider/rider.rs",
            old: "        self.carrier.reject(rejection);",
            new: "        let _ = rejection;",
        },
        Mutant {
            name: "who has given up goes on",
            file: "examples/own_rider/rider.rs",
            old: "                    Poll::Ready(None) => return Poll::Ready(None),",
            new: "                    Poll::Ready(None) => {}",
        },
        Mutant {
            name: "nothing is heard until the first item",
            file: "examples/own_rider/rider.rs",
            old: "                    Poll::Pending => {}",
            new: "                    Poll::Pending if live.is_some() && !answered => {}\n                    Poll::Pending => return Poll::Pending,",
        },
    ],
};
