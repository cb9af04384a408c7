//! `Evictions` (R50, C29): on the stamp and a verdict, exactly; what is counted; what is said.

use std::time::{Duration, Instant};

use crate::support::heard::{Heard, Said};
use rideout::{
    Address, Kind, Refusal,
    owner::{EvictionCounts, Evictions},
    refusal::{Closing, Seam},
};
use tracing::Level;

const BOUND: Duration = Duration::from_secs(30 * 60);
const MINUTE: Duration = Duration::from_secs(60);

fn client(n: u32) -> Address {
    format!("clients/{n}").parse().unwrap()
}

/// Each subscriber has one subscription, whose key is its address.
fn evictions() -> Evictions<Address> {
    Evictions::new("prices/eur".parse().unwrap())
}

fn promise(to: &Address) -> Refusal {
    Refusal::host_cannot_route(to).with_target_unserved()
}

fn verdict(to: &Address) -> Refusal {
    Refusal::no_node(to).with_target_unserved().with_released()
}

/// Refuses a delivery to the client of this number; returns whether it is to be dropped.
fn refuse(
    evictions: &mut Evictions<Address>,
    number: u32,
    refusal: fn(&Address) -> Refusal,
    now: Instant,
) -> bool {
    let client = client(number);
    evictions.refused(&client, &client, &refusal(&client), now)
}

/// What was said of storms.
fn storms(heard: &Heard) -> Vec<Said> {
    let mut said = at(heard, Level::WARN);
    said.retain(|said| said.message().starts_with("storming refusals, zero evictions"));
    said
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
                let evicts = evictions.refused(&client, &client, &refusal, Instant::now());
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
        evictions.refused(&client, &client, &refusal, Instant::now())
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
            evictions.refused(&client, &client, refusal, now);
        }
    }
    let counts = evictions.counts();
    assert_eq!((counts.promises, counts.verdicts), (3, 12));
    assert_eq!((counts.unserved, counts.evicted), (10, 8));
    evictions.delivered(&client, &client);
    assert_eq!(evictions.counts(), counts);
}

#[test]
fn an_evicted_subscriber_is_a_line_and_its_other_deliveries_are_not() {
    let heard = Heard::begin();
    let (mut evictions, now) = (evictions(), Instant::now());
    for n in [1, 2, 1, 1, 2] {
        assert!(refuse(&mut evictions, n, verdict, now));
    }
    let lines = at(&heard, Level::INFO);
    assert_eq!(lines.len(), 2);
    for (line, subscriber) in lines.iter().zip(["clients/1", "clients/2"]) {
        assert_eq!(line.field("subscriber"), subscriber);
        assert_eq!(line.field("owner"), "prices/eur");
        assert_eq!((line.field("kind"), line.field("released")), ("NotFound", "true"));
    }

    // It came back, was delivered to, and is closed once more.
    evictions.delivered(&client(1), &client(1));
    assert!(refuse(&mut evictions, 1, verdict, now));
    let is_drop = |it: &Said| it.message().starts_with("a subscriber is dropped");
    assert_eq!(at(&heard, Level::INFO).into_iter().filter(is_drop).count(), 3);
    assert!(storms(&heard).is_empty());
}

/// Both facts of each refusal are told.
#[test]
fn each_refusal_is_told_at_debug() {
    let heard = Heard::begin();
    let (client, mut evictions, now) = (client(7), evictions(), Instant::now());
    let plain = [Refusal::host_cannot_route(&client), Refusal::no_node(&client)];
    for refusal in [&plain[0], &promise(&client), &plain[1], &verdict(&client)] {
        evictions.refused(&client, &client, refusal, now);
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
    assert_eq!(heard.all().len(), 4 + 1 + 1); // and the line that sums up, and the eviction
}

/// R51: a line for a subscriber at once, then one a minute; and the end, where some were swallowed.
#[test]
fn refusals_are_summed_up() {
    let heard = Heard::begin();
    let (client, mut evictions, start) = (client(7), evictions(), Instant::now());
    for second in 0..=61 {
        refuse(&mut evictions, 7, promise, start + Duration::from_secs(1) * second);
    }
    let lines = at(&heard, Level::WARN);
    let swallowed: Vec<_> = lines.iter().map(|line| line.field("swallowed")).collect();
    assert_eq!(swallowed, ["0", "59"]);
    for line in &lines {
        assert_eq!((line.field("owner"), line.field("subscriber")), ("prices/eur", "clients/7"));
        assert!(line.message().starts_with("deliveries are refused: "), "{}", line.message());
    }
    evictions.delivered(&client, &client);
    evictions.delivered(&client, &client);
    let again = at(&heard, Level::INFO);
    assert_eq!((again.len(), again[0].field("swallowed")), (1, "1"));
    assert_eq!(again[0].message(), "deliveries arrive again");
}

/// Its line of the minute may be a promise's.
#[test]
fn an_eviction_after_other_refusals_is_a_line() {
    let heard = Heard::begin();
    let (mut evictions, now) = (evictions(), Instant::now());
    refuse(&mut evictions, 7, promise, now);
    for _ in 0..3 {
        assert!(refuse(&mut evictions, 7, verdict, now));
    }
    assert_eq!((at(&heard, Level::WARN).len(), at(&heard, Level::INFO).len()), (1, 1));
}

/// What becomes of one subscription says nothing of the other.
#[test]
fn two_subscriptions_of_a_subscriber_are_two_streaks() {
    let (client, now) = (client(7), Instant::now());
    let mut evictions = Evictions::new("prices/eur".parse().unwrap());
    for key in ["spot", "forward", "swap"] {
        evictions.refused(&key, &client, &promise(&client), now);
    }
    evictions.delivered(&"spot", &client);
    assert_eq!(evictions.refusing(), 2);
    assert!(evictions.refused(&"forward", &client, &verdict(&client), now));
    assert_eq!(evictions.refusing(), 1);
    evictions.forget(&"swap");
    assert_eq!(evictions.refusing(), 0);
}

#[test]
fn a_storm_is_reported_once_with_its_facts() {
    let heard = Heard::begin();
    let (mut evictions, start) = (evictions(), Instant::now());
    for minute in 0..30 {
        for n in 0..3 {
            refuse(&mut evictions, n, promise, start + MINUTE * minute);
        }
    }
    refuse(&mut evictions, 0, promise, start + BOUND - Duration::from_nanos(1));
    assert!(storms(&heard).is_empty());

    refuse(&mut evictions, 0, promise, start + BOUND);
    let [report] = &storms(&heard)[..] else { panic!("not one report") };
    assert_eq!(report.field("owner"), "prices/eur");
    assert_eq!((report.field("refusals"), report.field("subscribers")), ("92", "3"));
    assert_eq!(report.field("lasting"), "1800s");

    // Those it counted are reported, however long they go on.
    for minute in 30..600 {
        for n in 0..3 {
            refuse(&mut evictions, n, promise, start + MINUTE * minute);
        }
    }
    assert_eq!((storms(&heard).len(), evictions.refusing()), (1, 3));
}

#[test]
fn a_success_clears_its_subscriber_and_then_it_is_reported_again() {
    let heard = Heard::begin();
    let (client, mut evictions, start) = (client(7), evictions(), Instant::now());
    let warned = || storms(&heard).len();
    let refused = |evictions: &mut Evictions<Address>, minute| {
        refuse(evictions, 7, promise, start + MINUTE * minute)
    };
    refused(&mut evictions, 0);
    evictions.delivered(&client, &client);
    refused(&mut evictions, 29);
    refused(&mut evictions, 58);
    assert_eq!(warned(), 0, "no streak lasts for 30 minutes");
    refused(&mut evictions, 59);
    assert_eq!(warned(), 1);
    // The success of another clears nothing of it.
    evictions.delivered(&self::client(8), &self::client(8));
    refused(&mut evictions, 200);
    assert_eq!(warned(), 1);
    evictions.delivered(&client, &client);
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
        refuse(&mut evictions, 7, promise, start + MINUTE * minute);
        for n in 0..7 {
            evictions.delivered(&client(n), &client(n));
        }
    }
    let [report] = &storms(&heard)[..] else { panic!("not one report") };
    assert_eq!((report.field("refusals"), report.field("subscribers")), ("31", "1"));
}

#[test]
fn an_eviction_and_a_farewell_end_a_streak() {
    let heard = Heard::begin();
    let (client, mut evictions, start) = (client(7), evictions(), Instant::now());
    let ends: [fn(&mut Evictions<Address>, &Address, Instant); 2] = [
        |evictions, client, now| assert!(evictions.refused(client, client, &verdict(client), now)),
        |evictions, client, _| evictions.forget(client),
    ];
    for end in ends {
        refuse(&mut evictions, 7, promise, start);
        end(&mut evictions, &client, start + MINUTE);
        assert_eq!(evictions.refusing(), 0);
        refuse(&mut evictions, 7, promise, start + BOUND);
        evictions.forget(&client);
    }
    assert!(storms(&heard).is_empty());
}

/// A verdict without the stamp ends nothing either: it is part of the storm.
#[test]
fn whatever_evicts_nobody_is_part_of_a_streak() {
    let heard = Heard::begin();
    let (client, mut evictions, start) = (client(7), evictions(), Instant::now());
    assert!(!evictions.refused(&client, &client, &Refusal::no_node(&client), start));
    assert!(!evictions.refused(&client, &client, &Refusal::no_node(&client), start + BOUND));
    assert_eq!(storms(&heard)[0].field("refusals"), "2");
}

/// Subscribers that die one after the other: a report for each bound, not for each of them.
#[test]
fn reports_are_the_bound_apart() {
    let heard = Heard::begin();
    let (mut evictions, start) = (evictions(), Instant::now());
    for minute in 0..=(4 * 30) {
        for n in 0..=minute {
            refuse(&mut evictions, n, promise, start + MINUTE * minute);
        }
    }
    let reports = storms(&heard);
    let of: Vec<_> = reports.iter().map(|it| it.field("subscribers").to_owned()).collect();
    // Each by the first streak that the one before did not count, half an hour after it began.
    assert_eq!(of, ["30", "60", "90", "120"]);
}

#[test]
fn every_setting_is_safe() {
    let heard = Heard::begin();
    let start = Instant::now();
    let mut at_once = evictions().storm_after(Duration::ZERO);
    refuse(&mut at_once, 7, promise, start);
    refuse(&mut at_once, 7, promise, start);
    assert_eq!(storms(&heard).len(), 1);
    let mut never = evictions().storm_after(Duration::MAX);
    refuse(&mut never, 7, promise, start);
    refuse(&mut never, 7, promise, start + 1_000 * BOUND);
    refuse(&mut never, 7, promise, start); // read out of order
    assert_eq!(storms(&heard).len(), 1);
    assert!(format!("{never:?}").contains("refusing: 1"));
}

/// The largest storm is seen too, in bounded memory: the oldest streaks are kept, by turns or not.
#[test]
fn a_storm_over_any_number_is_seen_in_bounded_memory() {
    let heard = Heard::begin();
    let clients: Vec<_> = (0..5_000).map(|n| (client(n), promise(&client(n)))).collect();
    let (mut evictions, start) = (evictions(), Instant::now());
    let round = |evictions: &mut Evictions<Address>, minute: u32| {
        for (client, refusal) in &clients {
            evictions.refused(client, client, refusal, start + MINUTE * minute);
        }
    };
    round(&mut evictions, 0);
    assert_eq!(evictions.refusing(), 1_024);
    round(&mut evictions, 29);
    assert!(storms(&heard).is_empty());
    round(&mut evictions, 30);
    let [report] = &storms(&heard)[..] else { panic!("not one report") };
    assert_eq!(report.field("subscribers"), "1024");

    // Where they are refused no longer, there is room for others.
    let (other, later) = (client(9_000), start + BOUND * 3);
    evictions.refused(&other, &other, &promise(&other), later);
    assert_eq!(evictions.refusing(), 1);
}

/// Room is made where there is none, and at the very instant at which the bound is over.
#[test]
fn a_streak_goes_for_want_of_room_alone_and_at_the_bound() {
    let start = Instant::now();
    let refused = |evictions: &mut Evictions<Address>, n, now| {
        refuse(evictions, n, promise, now);
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
    let (mut evictions, start) = (evictions(), Instant::now());
    let mut round = |from: u32| {
        for n in from..from + 20_000 {
            let now = start + MINUTE / 60 * n;
            refuse(&mut evictions, n, promise, now);
            refuse(&mut evictions, n, verdict, now);
            refuse(&mut evictions, n, promise, now); // and stays so
        }
    };
    round(0);
    let held = allocation_counter::measure(|| round(20_000));
    assert!(held.bytes_current.abs() < 32_768, "{held:?}");
}
