//! A refusal: its text, its wire, the addresses and identities in it, and how errors are classified.

mod activation;
mod address;
mod classify;
mod hostile_text;
mod hostile_words;
mod refusal_log;
mod refusals;
mod seam;
mod sentence;
mod shape;
#[cfg(feature = "serde")]
mod wire;
mod worded;
