//! What the example `leaving_host` shows must be so: after a rolling restart every reader is live on the
//! latest value, served once, and has asked once for each owner that left it.

#[path = "../../../../examples/leaving_host/args.rs"]
mod args;
#[path = "../../../../examples/leaving_host/command.rs"]
mod command;
#[path = "../../../../examples/leaving_host/reader.rs"]
mod reader;
#[path = "../../../../examples/leaving_host/report.rs"]
mod report;
#[path = "../../../../examples/leaving_host/roll.rs"]
mod roll;

use args::Size;
use reader::{End, Seen};
use report::{Figures, Table};
use rideout::ledger::Axis;
use roll::Place;
use serde_json::{Value, json};

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

/// The figures of a run in which all is well.
fn well(readers: usize, asks: usize) -> Value {
    json!({"readers": readers, "live": readers, "doubled": 0, "lost": 0, "gave_up": 0, "asks": asks})
}

fn count(told: &[String], what: &str) -> usize {
    told.iter().filter(|line| line.contains(what)).count()
}

#[test]
fn three_hosts_are_rolled_by_default() {
    let (code, told) = run("");
    // Four addresses are on host-1 and go to host-2 and back: 20 readers ask twice more, 30 once.
    assert_eq!((code, figures(&told)), (0, well(50, 20 * 3 + 30 * 2)), "{told:#?}");
    for moved in ["4 to host-2", "7 to host-1", "3 to host-1"] {
        let line = format!("has handed off all of them, {moved}");
        assert_eq!(count(&told, &line), 1, "{line}: {told:#?}");
    }
    assert_eq!(count(&told, "is back"), 3);
    let keys = r#"{"readers":50,"live":50,"doubled":0,"lost":0,"gave_up":0,"asks":120}"#;
    assert_eq!(told.last().map(String::as_str), Some(keys));
}

#[test]
fn a_thousand_readers_of_two_hundred_addresses_ask_no_more_often() {
    let (code, told) = run("--hosts 3 --addresses 200 --readers 1000");
    assert_eq!((code, figures(&told)), (0, well(1000, 335 * 3 + 665 * 2)), "{told:#?}");
}

#[test]
fn two_hosts_hand_off_to_each_other() {
    let (code, told) = run("--hosts=2");
    assert_eq!((code, figures(&told)), (0, well(50, 25 * 3 + 25 * 2)), "{told:#?}");
    assert_eq!(count(&told, "has handed off all"), 2, "{told:#?}");
}

#[test]
fn one_host_has_nobody_to_hand_off_to() {
    let (code, told) = run("--hosts 1");
    assert_eq!((code, figures(&told)), (0, well(50, 50 * 2)), "{told:#?}");
    assert_eq!(count(&told, "nobody to hand off to"), 1, "{told:#?}");
    assert_eq!(count(&told, "has handed off"), 0, "{told:#?}");
}

#[test]
fn addresses_without_readers_and_hosts_without_addresses_are_rolled_too() {
    let (code, told) = run("--addresses 40 --readers 7");
    // Readers 1, 4 and 7 are on host-1.
    assert_eq!((code, figures(&told)), (0, well(7, 3 * 3 + 4 * 2)), "{told:#?}");

    let (code, told) = run("--hosts 5 --addresses 1 --readers 1");
    assert_eq!((code, figures(&told)), (0, well(1, 3)), "{told:#?}");
    assert_eq!(count(&told, "nothing to hand off"), 3, "{told:#?}");
}

#[test]
fn every_run_tells_the_same() {
    let line = "--hosts 4 --addresses 9 --readers 30";
    assert_eq!(run(line), run(line));
}

#[test]
fn a_size_is_read_from_its_options() {
    let of = |line| Size::from_args(args(line));
    assert_eq!(of(""), Ok(Size { hosts: 3, addresses: 10, readers: 50 }));
    assert_eq!(of("--readers 7 --hosts=2"), Ok(Size { hosts: 2, addresses: 10, readers: 7 }));
}

#[test]
fn bad_arguments_are_told_and_nothing_runs() {
    let bad = |line| Size::from_args(args(line)).unwrap_err();
    let is_unknown = |error: BadArgument, found: &str| {
        let says =
            format!("unknown argument {found:?} (expected --hosts, --addresses or --readers)");
        assert_eq!(error.to_string(), says);
    };
    let most = 1_000_000;
    let no_count = |option, value: &str| BadArgument::NoCount { option, value: value.into(), most };
    assert_eq!(bad("--hosts 0"), no_count("hosts", "0"));
    assert_eq!(bad("--addresses=-1"), no_count("addresses", "-1"));
    assert_eq!(bad("--readers many"), no_count("readers", "many"));
    assert_eq!(bad("--readers 99999999999999999999"), no_count("readers", "99999999999999999999"));
    assert_eq!(bad("--readers="), no_count("readers", ""));
    assert_eq!(bad("--hosts"), BadArgument::NoValue { option: "hosts", most });
    assert_eq!(bad("--hosts 2 --hosts 3"), BadArgument::Twice("hosts"));
    is_unknown(bad("3"), "3");
    is_unknown(bad("--hosts 3 --host 2"), "--host");
    assert_eq!(
        bad("--hosts zero").to_string(),
        r#"--hosts is "zero" (expected a whole number from 1 to 1000000)"#
    );
    assert_eq!(run("--hosts 0"), (2, Vec::new()));
}

/// An address with two readers, and what is wrong there.
fn place(registrations: usize, wrong: impl Fn(&mut Seen)) -> Figures {
    let live = Seen { last: Some(8), asks: 2, ..Seen::default() };
    let mut other = live.clone();
    wrong(&mut other);
    let readers = vec![live, other];
    let place = Place { latest: 8, refused_writes: 0, registrations, asks: 4, readers };
    let table = Table::of(std::slice::from_ref(&place)).to_string();
    assert!(table.contains("live on the latest value"), "{table}");
    Figures::of(&[place])
}

#[test]
fn what_goes_wrong_is_counted() {
    let well = Figures { readers: 2, live: 2, asks: 4, ..Figures::default() };
    assert_eq!(place(2, |_| {}), well);
    assert!(well.is_well());

    let doubled = Figures { doubled: 1, ..well };
    assert_eq!(place(3, |_| {}), doubled);
    let unserved = Figures { lost: 1, ..well };
    assert_eq!(place(1, |_| {}), unserved);
    let behind = Figures { live: 1, lost: 1, ..well };
    assert_eq!(place(2, |seen| seen.last = Some(7)), behind);
    assert_eq!(place(2, |seen| seen.end = Some(End::Completed)), behind);
    let gave_up = Figures { gave_up: 1, ..behind };
    assert_eq!(place(1, |seen| seen.end = Some(End::GaveUp(Axis::Time))), gave_up);
    for figures in [doubled, unserved, behind, gave_up] {
        assert!(!figures.is_well(), "{figures:?}");
    }
}
