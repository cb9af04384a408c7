//! `Evictions` (R50, C29): on the stamp and a verdict, exactly; what is counted; what is said.

use std::time::{Duration, Instant};

use crate::support::heard::{Heard, Said};
use rideout::{
    Address, Closing, Kind, Refusal, Seam,
    owner::{EvictionCounts, Evictions},
};
use tracing::Level;

const BOUND: Duration = Duration::from_secs(30 * 60);
const MINUTE: Duration = Duration::from_secs(60);

fn client(n: u32) -> Address {
    format!("clients/{n}").parse().unwrap()
}

fn evictions() -> Evictions {
    Evictions::new("prices/eur".parse().unwrap())
}

fn promise(to: &Address) -> Refusal {
    Refusal::host_cannot_route(to).with_target_unserved()
}

fn verdict(to: &Address) -> Refusal {
    Refusal::no_node(to).with_target_unserved().with_released()
}

fn at(heard: &Heard, level: Level) -> Vec<Said> {
    heard.all().into_iter().filter(|said| said.level == level).collect()
}

/// Every kind, with and without each stamp: the third fact decides nothing.
#[test]
fn it_evicts_on_the_stamp_and_a_verdict_alone() {
    let (client, mut evictions) = (client(7), evictions());
    let mut seen = 0;
    for &kind in Kind::ALL {
        for unserved in [false, true] {
            for released in [false, true] {
                let mut refusal = Refusal::new(kind, "no");
                refusal.target_unserved = unserved;
                refusal.released = released;
                let expected = unserved && kind != Kind::ShuttingDown;
                let evicts = evictions.refused(&client, &refusal, Instant::now());
                assert_eq!(evicts, expected, "{refusal:?}");
                seen += 1;
            }
        }
    }
    let kinds = Kind::ALL.len() as u64;
    assert_eq!(seen, kinds * 4);
    let counts = evictions.counts();
    assert_eq!((counts.promises, counts.verdicts), (4, 4 * (kinds - 1)));
    assert_eq!((counts.unserved, counts.evicted), (2 * kinds, 2 * (kinds - 1)));
}

/// Where the kind is lost on the way, the text says whether it is a promise, to whom it names.
#[test]
fn a_promise_by_its_text_alone_evicts_nobody() {
    let (client, mut evictions) = (client(7), evictions());
    let mut evicts = |text: String| {
        let refusal = Refusal::from_text(text).with_target_unserved();
        evictions.refused(&client, &refusal, Instant::now())
    };
    assert!(!evicts(Refusal::host_cannot_route(&client).message));
    assert!(!evicts(Refusal::mesh_cannot_route(&client).message));
    assert!(!evicts(Closing::new(client.clone()).refuse(Seam::Door, "Frame").message));
    assert!(evicts(Refusal::no_node(&client).message));
    assert!(evicts(String::new()));
}

#[test]
fn each_fact_is_counted_by_itself() {
    let (client, mut evictions, now) = (client(7), evictions(), Instant::now());
    assert_eq!(evictions.counts(), EvictionCounts::default());
    let plain = [Refusal::host_cannot_route(&client), Refusal::no_node(&client)];
    for (times, refusal) in
        [(1, &plain[0]), (2, &promise(&client)), (4, &plain[1]), (8, &verdict(&client))]
    {
        for _ in 0..times {
            evictions.refused(&client, refusal, now);
        }
    }
    let counts = evictions.counts();
    assert_eq!((counts.promises, counts.verdicts), (3, 12));
    assert_eq!((counts.unserved, counts.evicted), (10, 8));
    evictions.delivered(&client);
    assert_eq!(evictions.counts(), counts);
}

#[test]
fn an_evicted_subscriber_is_a_line_and_its_other_deliveries_are_not() {
    let heard = Heard::begin();
    let (mut evictions, now) = (evictions(), Instant::now());
    for n in [1, 2, 1, 1, 2] {
        assert!(evictions.refused(&client(n), &verdict(&client(n)), now));
    }
    let lines = at(&heard, Level::INFO);
    assert_eq!(lines.len(), 2);
    for (line, subscriber) in lines.iter().zip(["clients/1", "clients/2"]) {
        assert_eq!(line.field("subscriber"), subscriber);
        assert_eq!(line.field("owner"), "prices/eur");
        assert_eq!((line.field("kind"), line.field("released")), ("NotFound", "true"));
    }

    // It came back, was delivered to, and is closed once more.
    evictions.delivered(&client(1));
    assert!(evictions.refused(&client(1), &verdict(&client(1)), now));
    assert_eq!(at(&heard, Level::INFO).len(), 3);
    assert!(at(&heard, Level::WARN).is_empty());
}

/// Both facts of each refusal are told, and nothing aloud where nobody is dropped.
#[test]
fn each_refusal_is_told_at_debug() {
    let heard = Heard::begin();
    let (client, mut evictions, now) = (client(7), evictions(), Instant::now());
    for refusal in [
        Refusal::host_cannot_route(&client),
        promise(&client),
        Refusal::no_node(&client),
        verdict(&client),
    ] {
        evictions.refused(&client, &refusal, now);
    }
    let told: Vec<_> = at(&heard, Level::DEBUG)
        .iter()
        .map(|said| {
            ["is_promise", "target_unserved", "released"].map(|it| said.field(it) == "true")
        })
        .collect();
    assert_eq!(
        told,
        [[true, false, false], [true, true, false], [false, false, false], [false, true, true]]
    );
    assert_eq!(heard.all().len(), 4 + 1); // and the eviction
}

#[test]
fn a_storm_is_reported_once_with_its_facts() {
    let heard = Heard::begin();
    let (mut evictions, start) = (evictions(), Instant::now());
    let warned = || at(&heard, Level::WARN);
    for minute in 0..30 {
        for n in 0..3 {
            evictions.refused(&client(n), &promise(&client(n)), start + MINUTE * minute);
        }
    }
    let just_before = start + BOUND - Duration::from_nanos(1);
    evictions.refused(&client(0), &promise(&client(0)), just_before);
    assert!(warned().is_empty());

    evictions.refused(&client(0), &promise(&client(0)), start + BOUND);
    let [report] = &warned()[..] else { panic!("one report, not {:?}", warned()) };
    assert!(report.message().starts_with("storming refusals, zero evictions"));
    assert_eq!(report.field("owner"), "prices/eur");
    assert_eq!((report.field("refusals"), report.field("subscribers")), ("92", "3"));
    assert_eq!(report.field("lasting"), "1800s");

    // Those it counted are reported, however long they go on.
    for minute in 30..600 {
        for n in 0..3 {
            evictions.refused(&client(n), &promise(&client(n)), start + MINUTE * minute);
        }
    }
    assert_eq!(warned().len(), 1);
    assert_eq!(evictions.refusing(), 3);
}

#[test]
fn a_success_clears_its_subscriber_and_then_it_is_reported_again() {
    let heard = Heard::begin();
    let (client, mut evictions, start) = (client(7), evictions(), Instant::now());
    let warned = || at(&heard, Level::WARN).len();
    let refused = |evictions: &mut Evictions, minute| {
        evictions.refused(&client, &promise(&client), start + MINUTE * minute)
    };
    refused(&mut evictions, 0);
    evictions.delivered(&client);
    refused(&mut evictions, 29);
    refused(&mut evictions, 58);
    assert_eq!(warned(), 0, "no streak lasts for 30 minutes");
    refused(&mut evictions, 59);
    assert_eq!(warned(), 1);

    // The success of another clears nothing of it.
    evictions.delivered(&"clients/8".parse().unwrap());
    refused(&mut evictions, 200);
    assert_eq!(warned(), 1);
    evictions.delivered(&client);
    refused(&mut evictions, 201);
    refused(&mut evictions, 230);
    assert_eq!(warned(), 1);
    refused(&mut evictions, 231);
    assert_eq!(warned(), 2);
}

/// One that is closed among many that are served, as in the story.
#[test]
fn the_success_of_others_hides_no_storm() {
    let heard = Heard::begin();
    let (mut evictions, start) = (evictions(), Instant::now());
    for minute in 0..=46 {
        evictions.refused(&client(7), &promise(&client(7)), start + MINUTE * minute);
        for n in 0..7 {
            evictions.delivered(&client(n));
        }
    }
    let [report] = &at(&heard, Level::WARN)[..] else { panic!("not one report") };
    assert_eq!((report.field("refusals"), report.field("subscribers")), ("31", "1"));
}

#[test]
fn an_eviction_and_a_farewell_end_a_streak() {
    let heard = Heard::begin();
    let (client, mut evictions, start) = (client(7), evictions(), Instant::now());
    let ends: [fn(&mut Evictions, &Address, Instant); 2] = [
        |evictions, client, now| assert!(evictions.refused(client, &verdict(client), now)),
        |evictions, client, _| evictions.forget(client),
    ];
    for end in ends {
        evictions.refused(&client, &promise(&client), start);
        end(&mut evictions, &client, start + MINUTE);
        assert_eq!(evictions.refusing(), 0);
        evictions.refused(&client, &promise(&client), start + BOUND);
        evictions.forget(&client);
    }
    assert!(at(&heard, Level::WARN).is_empty());
}

/// A verdict without the stamp ends nothing either: it is part of the storm.
#[test]
fn whatever_evicts_nobody_is_part_of_a_streak() {
    let heard = Heard::begin();
    let (client, mut evictions, start) = (client(7), evictions(), Instant::now());
    assert!(!evictions.refused(&client, &Refusal::no_node(&client), start));
    assert!(!evictions.refused(&client, &Refusal::no_node(&client), start + BOUND));
    assert_eq!(at(&heard, Level::WARN)[0].field("refusals"), "2");
}

/// Subscribers that die one after the other: a report for each bound, not for each of them.
#[test]
fn reports_are_the_bound_apart() {
    let heard = Heard::begin();
    let (mut evictions, start) = (evictions(), Instant::now());
    for minute in 0..=(4 * 30) {
        for n in 0..=minute {
            evictions.refused(&client(n), &promise(&client(n)), start + MINUTE * minute);
        }
    }
    let reports = at(&heard, Level::WARN);
    let of: Vec<_> = reports.iter().map(|it| it.field("subscribers").to_owned()).collect();
    // Each by the first streak that the one before did not count, half an hour after it began.
    assert_eq!(of, ["30", "60", "90", "120"]);
}

#[test]
fn every_setting_is_safe() {
    let heard = Heard::begin();
    let (client, start) = (client(7), Instant::now());
    let mut at_once = evictions().storm_after(Duration::ZERO);
    at_once.refused(&client, &promise(&client), start);
    at_once.refused(&client, &promise(&client), start);
    assert_eq!(at(&heard, Level::WARN).len(), 1);
    let mut never = evictions().storm_after(Duration::MAX);
    never.refused(&client, &promise(&client), start);
    never.refused(&client, &promise(&client), start + 1_000 * BOUND);
    never.refused(&client, &promise(&client), start); // read out of order
    assert_eq!(at(&heard, Level::WARN).len(), 1);
    assert!(format!("{never:?}").contains("refusing: 1"));
}

/// The largest storm is seen too, in bounded memory: the oldest streaks are kept, by turns or not.
#[test]
fn a_storm_over_any_number_is_seen_in_bounded_memory() {
    let heard = Heard::begin();
    let clients: Vec<_> = (0..5_000).map(|n| (client(n), promise(&client(n)))).collect();
    let (mut evictions, start) = (evictions(), Instant::now());
    let round = |evictions: &mut Evictions, minute: u32| {
        for (client, refusal) in &clients {
            evictions.refused(client, refusal, start + MINUTE * minute);
        }
    };
    round(&mut evictions, 0);
    assert_eq!(evictions.refusing(), 1_024);
    round(&mut evictions, 29);
    assert!(at(&heard, Level::WARN).is_empty());
    round(&mut evictions, 30);
    let reports = at(&heard, Level::WARN);
    assert_eq!(reports.len(), 1);
    assert_eq!(reports[0].field("subscribers"), "1024");

    // Where they are refused no longer, there is room for others.
    let (other, later) = (client(9_000), start + BOUND * 3);
    evictions.refused(&other, &promise(&other), later);
    assert_eq!(evictions.refusing(), 1);
}

/// Room is made where there is none, and at the very instant at which the bound is over.
#[test]
fn a_streak_goes_for_want_of_room_alone_and_at_the_bound() {
    let start = Instant::now();
    let refused = |evictions: &mut Evictions, n, now| {
        evictions.refused(&client(n), &promise(&client(n)), now);
        evictions.refusing()
    };
    let mut few = evictions();
    refused(&mut few, 0, start);
    assert_eq!(refused(&mut few, 1, start + 2 * BOUND), 2);

    let full = || {
        let mut evictions = evictions();
        (0..1_024).for_each(|n| _ = refused(&mut evictions, n, start));
        evictions
    };
    assert_eq!(refused(&mut full(), 1_024, start + BOUND - Duration::from_nanos(1)), 1_024);
    assert_eq!(refused(&mut full(), 1_024, start + BOUND), 1);
}

#[test]
fn nothing_grows_over_many_evictions() {
    let mut evictions = evictions();
    let start = Instant::now();
    let mut round = |from: u32| {
        for n in from..from + 20_000 {
            let (client, now) = (client(n), start + Duration::from_secs(1) * n);
            evictions.refused(&client, &promise(&client), now);
            evictions.refused(&client, &verdict(&client), now);
            evictions.refused(&client, &promise(&client), now); // and stays so
        }
    };
    round(0);
    let held = allocation_counter::measure(|| round(20_000));
    assert!(held.bytes_current.abs() < 32_768, "{held:?}");
}
