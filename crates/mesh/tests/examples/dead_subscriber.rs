//! What the example `dead_subscriber` shows must be so: where the release is known, a client that is
//! gone costs one refused push and is evicted; where it is not, the storm is summed up; and nobody who
//! rolls is evicted.

#[path = "../../../../examples/dead_subscriber/args.rs"]
mod args;
#[path = "../../../../examples/dead_subscriber/command.rs"]
mod command;
#[path = "../../../../examples/dead_subscriber/ear.rs"]
mod ear;
#[path = "../../../../examples/dead_subscriber/report.rs"]
mod report;
#[path = "../../../../examples/dead_subscriber/storm.rs"]
mod storm;

use args::Size;
use report::{Figures, is_well};
use serde_json::json;
use storm::{Storm, Tally};

use crate::{
    command_line::{args, figures},
    counts::BadArgument,
};

/// Runs the example; returns what it exits with, and what it tells.
fn run(line: &str) -> (u8, Vec<String>) {
    let mut told = Vec::new();
    let code = command::command(args(line), &mut |line| told.push(line));
    (code, told)
}

#[test]
fn twenty_clients_vanish_by_default() {
    let (code, told) = run("");
    let keys = r#"{"without":{"refusals":18260,"log_lines":160,"evictions":0},"with":{"refusals":20,"log_lines":20,"evictions":20},"wrongly_evicted":0}"#;
    assert_eq!((code, told.last().map(String::as_str)), (0, Some(keys)), "{told:#?}");

    // A line a minute, under two of heads.
    let minute = |nth: usize| told[nth + 1].split_whitespace().collect::<Vec<_>>();
    assert_eq!(minute(1), ["1", "292", "4", "0", "4", "4", "4"]);
    assert_eq!(minute(10), ["10", "2400", "20", "0", "0", "0", "0"]);
    let told = told.join("\n");
    for line in [
        "that one of them was refused: 1198 pushes, and with the rule 1",
        "release unknown: 4 rolls, 240 pushes refused meanwhile; of those who rolled 2 are live",
        "release known: 4 rolls, 240 pushes refused meanwhile; of those who rolled 2 are live",
    ] {
        assert!(told.contains(line), "{line}: {told}");
    }
}

/// The demand's clients, for a fifth of its time at a tenth of its pace.
#[test]
fn two_hundred_clients_cost_one_push_each_where_the_release_is_known() {
    let (code, told) = run("--clients 200 --minutes 12 --updates=1");
    let figures = figures(&told);
    let once = json!({"refusals": 200, "log_lines": 200, "evictions": 200});
    assert_eq!((code, &figures["with"]), (0, &once), "{told:#?}");
    assert_eq!(figures["without"]["evictions"], 0);
    assert_eq!(figures["wrongly_evicted"], 0);
    // A line a minute and client; 100,000 refusals are not.
    let lines = figures["without"]["log_lines"].as_u64().unwrap();
    assert!((200..=200 * 12).contains(&lines), "{lines}");
    assert!(figures["without"]["refusals"].as_u64().unwrap() > 100_000);
}

#[test]
fn the_smallest_storm_is_one() {
    let (code, told) = run("--clients 1 --minutes 1 --updates 1");
    let figures = figures(&told);
    assert_eq!((code, &figures["with"]["evictions"]), (0, &json!(1)), "{told:#?}");
    assert_eq!(figures["without"]["log_lines"], 1);
}

#[test]
fn every_run_tells_the_same() {
    let line = "--clients 7 --minutes 3";
    assert_eq!(run(line), run(line));
}

#[test]
fn a_size_is_read_from_its_options() {
    let of = |line| Size::from_args(args(line));
    assert_eq!(of(""), Ok(Size { clients: 20, minutes: 10, updates: 2 }));
    assert_eq!(of("--updates 7 --clients=3"), Ok(Size { clients: 3, minutes: 10, updates: 7 }));
}

#[test]
fn bad_arguments_are_told_and_nothing_runs() {
    let bad = |line| Size::from_args(args(line)).unwrap_err();
    let is_unknown = |error: BadArgument, found: &str| {
        let says =
            format!("unknown argument {found:?} (expected --clients, --minutes or --updates)");
        assert_eq!(error.to_string(), says);
    };
    let most = 10_000;
    let no_count = |option, value: &str| BadArgument::NoCount { option, value: value.into(), most };
    assert_eq!(bad("--clients 0"), no_count("clients", "0"));
    assert_eq!(bad("--minutes=-1"), no_count("minutes", "-1"));
    assert_eq!(bad("--updates 10001"), no_count("updates", "10001"));
    assert_eq!(bad("--updates="), no_count("updates", ""));
    assert_eq!(bad("--clients"), BadArgument::NoValue { option: "clients", most });
    assert_eq!(bad("--clients 2 --clients 3"), BadArgument::Twice("clients"));
    is_unknown(bad("--clients 3 --client 2"), "--client");
    assert_eq!(
        bad("--clients many").to_string(),
        r#"--clients is "many" (expected a whole number from 1 to 10000)"#
    );
    assert_eq!(run("--clients 0"), (2, Vec::new()));
}

/// Storms of two clients, and what is wrong with the one that the rule is in.
fn with(wrong: impl Fn(&mut Storm)) -> (Figures, bool) {
    let storm = |refusals, evictions| Storm {
        minutes: vec![Tally { refusals, log_lines: 2, evictions }],
        dearest: refusals / 2,
        ..Storm::default()
    };
    let (without, mut with) = (storm(20, 0), storm(2, 2));
    wrong(&mut with);
    (Figures::of(&without, &with), is_well(&without, &with, 2))
}

#[test]
fn what_goes_wrong_is_told() {
    let (figures, well) = with(|_| {});
    assert!(well && figures.wrongly_evicted == 0);

    let (figures, well) = with(|storm| storm.wrongly_evicted = 1);
    assert!(!well && figures.wrongly_evicted == 1);
    for wrong in [
        (|storm| storm.dearest = 2) as fn(&mut Storm),
        |storm| storm.behind = 1,
        |storm| storm.minutes[0].evictions = 1,
        |storm| storm.minutes.clear(),
    ] {
        assert!(!with(wrong).1);
    }
}
