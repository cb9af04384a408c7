//! The sentence by which an owner refuses, as text.

/// Returns the word of a refusal that `text` forms, alone or with a space before and after it.
pub(crate) fn forged_by(text: &str) -> Option<&'static str> {
    let text = format!(" {text} ");
    ["Hub ", " is shutting down", "activation #", "he address may reactivate (recycle / restart)"]
        .into_iter()
        .find(|word| text.contains(word))
}
