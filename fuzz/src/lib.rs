//! How does a fuzz target run, on any compiler?
//!
//! A target is one function of bytes that panics where a rule is broken. Where nightly is at hand,
//! libFuzzer varies them by what the code does with them:
//!
//! ```sh
//! cargo +nightly fuzz run sentence -- -max_total_time=60
//! ```
//!
//! On a stable compiler it is a plain program, which varies the seeds in `corpus/` blindly, for so long
//! and from a seed that it prints; or checks the files that it is given:
//!
//! ```sh
//! cargo run -p fuzz --bin sentence -- --seconds 10
//! cargo run -p fuzz --bin sentence -- --runs 1000 --seed 7
//! cargo run -p fuzz --bin sentence -- fuzz/artifacts/sentence/broken
//! ```
//!
//! Either keeps an input that breaks a rule in `artifacts/`. `cargo test` runs the seeds and a fixed
//! number of their variations. A seed's name has an extension, by which it is told from what libFuzzer
//! adds to the same folder.

mod inputs;
mod run;

use arbitrary::Unstructured;

pub use run::{main, replay};

/// Makes a target of a function of bytes; `cargo test` runs it on the seeds and `$runs` variations.
#[macro_export]
macro_rules! target {
    ($check:path, $runs:literal) => {
        #[cfg(fuzzing)]
        libfuzzer_sys::fuzz_target!(|input: &[u8]| $check(input));

        #[cfg(not(fuzzing))]
        fn main() -> std::process::ExitCode {
            $crate::main(env!("CARGO_BIN_NAME"), $check)
        }

        #[cfg(test)]
        #[test]
        fn seeds_and_variations() {
            $crate::replay(env!("CARGO_BIN_NAME"), $check, $runs);
        }
    };
}

/// Makes a text of `words`, and of anything between them.
///
/// # Errors
///
/// Returns an error where the bytes make no choice.
pub fn text(bytes: &mut Unstructured<'_>, words: &[&str]) -> arbitrary::Result<String> {
    let mut text = String::new();
    for _ in 0..bytes.int_in_range(0..=8)? {
        let word = if bytes.ratio(7, 8)? { *bytes.choose(words)? } else { bytes.arbitrary()? };
        text.push_str(word);
    }
    Ok(text)
}
