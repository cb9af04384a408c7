//! What hostile text is made of.

/// The words of the sentence, whole, broken, and what may stand around them.
pub(crate) const WORDS: [&str; 24] = [
    "Hub ",
    " is shutting down",
    "x",
    "activation #",
    "AA",
    "Hub",
    " ",
    "x/child",
    "~",
    "is shutting down",
    "activation ",
    "#",
    "G",
    "\n",
    "\u{0}",
    " — ",
    ", cannot route to ",
    "Host",
    "Mesh is shutting down, cannot route to ",
    "; the address may reactivate (recycle / restart). Rejecting now.",
    "The address may reactivate",
    " (recycle / restart)",
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    ".",
];
