//! What the example `chaos` shows must be so: nothing is lost, doubled, stuck or left over, and a seed does
//! the same again.

#[path = "../../../../examples/chaos/args.rs"]
mod args;
#[path = "../../../../examples/chaos/fault.rs"]
mod fault;
#[path = "../../../../examples/chaos/outcome.rs"]
mod outcome;
#[path = "../../../../examples/chaos/probe.rs"]
mod probe;
#[path = "../../../../examples/chaos/reader.rs"]
mod reader;
#[path = "../../../../examples/chaos/run.rs"]
mod run;
#[path = "../../../../examples/chaos/writer.rs"]
mod writer;

use std::collections::BTreeSet;

use args::{Args, BadArgs, Size};
use outcome::Counts;
use run::{measured, run};

const SIZE: Size = Size { hosts: 3, addresses: 8, readers: 32, faults: 250 };

#[test]
fn everything_converges_after_the_last_fault() {
    let mut sums = Counts::default();
    for seed in 0..3 {
        let outcome = run(SIZE, seed);
        assert!(outcome.counts().is_clean(), "seed {seed}:\n{outcome}");
        sums.add(outcome.counts());
        // It was no peace: each kind of a fault was met, and the writers came through between them.
        let kinds: BTreeSet<_> = outcome.faults.iter().map(|it| format!("{:?}", it.what)).collect();
        assert_eq!(kinds.len(), 16, "{kinds:?}");
        assert!(outcome.answered > SIZE.faults, "seed {seed}:\n{outcome}");
    }
    assert_eq!(sums, Counts { seeds: 3, faults: 3 * SIZE.faults, ..Counts::default() });
}

/// Whatever there is too few of.
#[test]
fn the_smallest_sizes_converge_too() {
    for (hosts, addresses, readers) in [(1, 1, 1), (1, 4, 3), (2, 1, 8)] {
        let outcome = run(Size { hosts, addresses, readers, faults: 100 }, 7);
        assert!(outcome.counts().is_clean(), "{hosts} {addresses} {readers}:\n{outcome}");
    }
}

#[test]
fn a_seed_does_the_same_again() {
    let size = Size { faults: 100, ..SIZE };
    let (first, second, other) = (run(size, 11), run(size, 11), run(size, 12));
    assert_eq!(first.to_string(), second.to_string());
    assert_ne!(first.trace, other.trace);
    // Fewer faults are the first ones of them.
    let fewer = run(Size { faults: 40, ..size }, 11);
    let begins = |text: String| text.lines().take(40).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(begins(fewer.to_string()), begins(first.to_string()));
}

#[test]
fn a_seed_leaves_nothing_the_second_time() {
    let size = Size { faults: 100, ..SIZE };
    run(size, 3);
    let counts = measured(size, 3);
    assert!(counts.is_clean(), "{counts:?}\n{}", run(size, 3));
}

fn parse(line: &str) -> Result<Args, BadArgs> {
    Args::parse(line.split_whitespace().map(Into::into))
}

#[test]
fn arguments_are_taken_or_refused_by_name() {
    let args = parse("--seed 3..5 --hosts 2 --addresses 9 --readers 1 --faults 0").unwrap();
    assert_eq!(args.size, Size { hosts: 2, addresses: 9, readers: 1, faults: 0 });
    assert_eq!(args.seeds, 3..5);
    assert_eq!(parse("").unwrap().size, Size::default());
    assert_eq!(parse("--seed 7").unwrap().seeds, 7..8);

    for (line, says) in [
        ("--seed 5..3", "--seed 5..3 holds no seed"),
        ("--seed 3..3", "--seed 3..3 holds no seed"),
        ("--seed 18446744073709551615", "holds no seed"),
        ("--seed 1..", "--seed \"\" is no number"),
        ("--hosts 0", "--hosts is 0 (expected at least 1)"),
        ("--readers 0", "--readers is 0"),
        ("--addresses -1", "--addresses \"-1\" is no number"),
        ("--faults many", "--faults \"many\" is no number"),
        ("--faults", "--faults has no value"),
        ("--fault 3", "invalid option '--fault' (expected --hosts, "),
        ("8", "unexpected argument \"8\" (expected --hosts, "),
    ] {
        let error = parse(line).unwrap_err().to_string();
        assert!(error.contains(says), "{line}: {error}");
    }
}
