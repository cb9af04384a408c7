//! The accounting: every row of the table, what clears it, and why it gives up (`R7`–`R9`, `R15`,
//! `R22`, `R23`).

use std::time::Duration;

use rideout::{
    Activation, Budget, Rejection,
    activation::StreamId,
    ledger::{Axis, Cause, Charge, GaveUp, Key, Ledger, Wait},
    refusal::Speaker,
};

const PACE: Duration = Duration::from_millis(500);
const JOIN: Wait = Wait::Join { limit: Duration::from_secs(8), rest: PACE };
const REST: Wait = Wait::Rest(PACE);

fn tag(digits: &str) -> Activation {
    digits.parse().expect("hex digits")
}

/// `rt`, `?`, or a tag.
fn rejection(who: &str) -> Rejection {
    match who {
        "rt" => Rejection::by_route(),
        "?" => Rejection::by_owner(None),
        digits => Rejection::by_owner(Some(tag(digits))),
    }
}

fn ledger(budget: Budget) -> Ledger {
    Ledger::new(StreamId::mint(), "prices/eur".parse().expect("valid"), budget)
}

/// Charges one after the other, of which the last one gives up.
fn gives_up(budget: Budget, all: &[&str]) -> Box<GaveUp> {
    let mut ledger = ledger(budget);
    let (last, ridden) = all.split_last().expect("at least one");
    for who in ridden {
        ledger.charge(rejection(who)).unwrap_or_else(|report| panic!("{who}: {report}"));
    }
    ledger.charge(rejection(last)).expect_err("one too many")
}

fn count_of(charge: &Charge) -> (Axis, String, u32, u32) {
    let (axis, key) = (charge.axis().expect("charged"), charge.key().expect("charged"));
    (axis, key.to_string(), charge.count(), charge.budget())
}

#[test]
fn every_row_of_the_table() {
    // R7, in its order, with what follows.
    use Axis::{Activation as Act, Time};
    let mut ledger = ledger(Budget::default());
    for (who, axis, key, count, budget, wait) in [
        ("rt", Time, "(route)", 1, 16, REST),
        ("A", Act, "A", 1, 3, JOIN),
        ("A", Time, "A", 1, 16, REST),
        ("B", Act, "B", 2, 3, JOIN),
        ("A", Time, "A", 2, 16, REST),
        ("B", Time, "B", 1, 16, REST),
        ("rt", Time, "(route)", 2, 16, REST),
        ("?", Act, "(untagged)", 3, 3, REST),
        ("rt", Time, "(route)", 3, 16, REST),
    ] {
        let charge = ledger.charge(rejection(who)).expect("within the budget");
        assert_eq!(count_of(&charge), (axis, key.to_owned(), count, budget), "{who}");
        assert_eq!(charge.wait(), wait, "{who}");
        assert_eq!(charge.rejection(), Some(&rejection(who)));
        assert!(!charge.is_uncharged());
    }
}

#[test]
fn tags_are_told_apart_as_they_are_written() {
    let mut ledger = ledger(Budget::default());
    for (digits, count) in [("0d", 1), ("0D", 2), ("00D", 3)] {
        let charge = ledger.charge(rejection(digits)).expect("three are allowed");
        assert_eq!((charge.axis(), charge.count()), (Some(Axis::Activation), count));
    }
}

#[test]
fn one_after_the_other_and_back_are_two() {
    // The set matters: A, B, A, B, … is bounded, and so is every time key by itself.
    let mut ledger = ledger(Budget::default().re_asks(2));
    for who in ["A", "B", "A", "B", "A", "B"] {
        ledger.charge(rejection(who)).expect("within the budget");
    }
    let report = ledger.charge(rejection("A")).expect_err("the third repeat");
    assert_eq!(
        (report.key.clone(), report.count, report.budget),
        (Key::Activation(tag("A")), 3, 2)
    );
    assert_eq!(report.cause, Cause::Wedged);
}

#[test]
fn it_gives_up_on_budget_and_one() {
    // R8: the 4th distinct activation; the 17th refusal of one that already refused, its 18th in all;
    // the 17th by the route.
    let report = gives_up(Budget::default(), &["A", "B", "C", "D"]);
    assert_eq!((report.axis, report.count, report.budget), (Axis::Activation, 4, 3));
    let report = gives_up(Budget::default(), &["A"; 18]);
    assert_eq!((report.axis, report.count, report.budget), (Axis::Time, 17, 16));
    let report = gives_up(Budget::default(), &["rt"; 17]);
    assert_eq!((report.axis, report.count, report.budget), (Axis::Time, 17, 16));
    let report = gives_up(Budget::default(), &["?"; 4]);
    assert_eq!((report.axis, report.count, report.budget), (Axis::Activation, 4, 3));
}

#[test]
fn a_budget_of_nothing_gives_up_at_once() {
    // C8: 0 never means unlimited.
    for (budget, all) in [
        (Budget::default().activations(0), &["A"][..]),
        (Budget::default().activations(0), &["?"]),
        (Budget::default().re_asks(0), &["rt"]),
        (Budget::default().re_asks(0), &["A", "A"]),
        (Budget::default().activations(1), &["A", "B"]),
        (Budget::default().activations(1), &["?", "A"]),
        (Budget::default().re_asks(1), &["rt", "rt"]),
        (Budget::default().re_asks(1), &["A", "A", "A"]),
    ] {
        let report = gives_up(budget, all);
        assert_eq!(report.count, report.budget + 1, "{all:?}");
    }
}

#[test]
fn the_give_up_says_the_cause_of_the_axis_that_is_spent() {
    // R23, C6; whatever else was counted on the way.
    for (all, cause) in [
        (&["rt", "A", "A", "A", "A"][..], Cause::Wedged),
        (&["A", "B", "rt", "C", "D"], Cause::RecycleLoop),
        (&["A", "rt", "rt", "B", "rt"], Cause::Route),
        (&["?", "?", "rt", "?", "?"], Cause::Untagged),
        // One name among untagged ones may be all of them; two are a loop for certain.
        (&["A", "?", "?", "?"], Cause::Untagged),
        (&["?", "?", "?", "A"], Cause::Untagged),
        (&["A", "?", "B", "?"], Cause::RecycleLoop),
        (&["?", "?", "A", "B"], Cause::RecycleLoop),
        // Repeats of one that was named are that one's, untagged ones or not.
        (&["?", "A", "?", "A", "A", "A"], Cause::Wedged),
        (&["?", "?", "rt", "rt", "rt"], Cause::Route),
    ] {
        let report = gives_up(Budget::default().re_asks(2), all);
        assert_eq!(report.cause, cause, "{all:?}");
        assert_eq!(report.rejection, rejection(all[all.len() - 1]));
    }
}

#[test]
fn the_wording_says_what_the_cause_is_and_not_what_it_is_not() {
    // R23.
    let few = Budget::default().activations(2).re_asks(2);
    for (all, must, must_not) in [
        (
            &["A"; 4][..],
            &["prices/eur", "activation A", "3 times", "budget 2", "wedged", "not a slow reader"][..],
            &["recycling", "loop", "route"][..],
        ),
        (
            &["A", "B", "C"],
            &["prices/eur", "3 distinct activations", "budget 2", "recycling in a loop"],
            &["wedged", "route", "without naming"],
        ),
        (
            &["rt", "rt", "rt"],
            &["prices/eur", "the route", "3 times", "budget 2", "unavailable", "no owner recycled"],
            &["wedged", "loop", "activation"],
        ),
        (
            &["?", "?", "?"],
            &[
                "prices/eur",
                "the owner refused 3 times",
                "budget 2",
                "without naming an activation",
                "cannot be told apart",
            ],
            &["its teardown is wedged", "recycling in a loop", "route", "distinct"],
        ),
    ] {
        let text = gives_up(few, all).to_string();
        for part in must {
            assert!(text.contains(part), "{text:?} must say {part:?}");
        }
        for part in must_not {
            assert!(!text.contains(part), "{text:?} must not say {part:?}");
        }
        assert!(!text.contains('\n'));
    }
}

#[test]
fn an_answer_clears_every_count_and_nothing_else_does() {
    // R9.
    let mut ledger = ledger(Budget::default().activations(1).re_asks(1));
    for _ in 0..3 {
        for who in ["A", "A", "rt"] {
            let charge = ledger.charge(rejection(who)).expect("the first of its key");
            assert_eq!(charge.count(), 1);
        }
        assert!(ledger.has_refused(&tag("A")));
        ledger.answered();
        assert!(!ledger.has_refused(&tag("A")));
    }
    ledger.charge(rejection("?")).expect("the first one");
    ledger.answered();
    ledger.charge(rejection("?")).expect("the first one again");
    assert!(ledger.charge(rejection("?")).is_err());
}

fn led_here(ledger: &Ledger, digits: &str) -> bool {
    ledger.who_led_here().any(|it| *it == tag(digits))
}

#[test]
fn who_led_here_is_of_the_last_ride_out_alone() {
    // R22: while it goes on, once it is answered, and through an answer that followed no rejection.
    let mut ledger = ledger(Budget::default());
    assert!(!led_here(&ledger, "A"));
    ledger.answered();
    ledger.charge(rejection("A")).expect("one");
    assert!(led_here(&ledger, "A"), "it goes on");
    ledger.answered();
    assert!(led_here(&ledger, "A") && !ledger.has_refused(&tag("A")));
    ledger.answered();
    assert!(led_here(&ledger, "A"), "a refresh was answered: no ride-out of its own");
    ledger.charge(rejection("rt")).expect("one");
    assert!(!led_here(&ledger, "A"), "a ride-out in which it has not refused");
    ledger.charge(rejection("B")).expect("one");
    ledger.answered();
    assert!(led_here(&ledger, "B") && !led_here(&ledger, "A"));
}

#[test]
fn a_charge_carries_its_verdict_though_the_counters_move_on() {
    // R15.
    let mut ledger = ledger(Budget::default());
    let first = ledger.charge(rejection("A")).expect("one");
    let was = first.clone();
    ledger.charge(rejection("B")).expect("two");
    ledger.charge(rejection("A")).expect("again");
    ledger.answered();
    assert_eq!(first, was);
    assert_eq!(count_of(&first), (Axis::Activation, "A".into(), 1, 3));
    assert_eq!(first.activation(), Some(&tag("A")));
    assert_eq!(ledger.charge(rejection("rt")).expect("one").activation(), None);
    assert_eq!(ledger.charge(rejection("?")).expect("one").activation(), None);
}

#[test]
fn a_hint_lengthens_the_rest_and_is_no_join() {
    // R7b.
    let hinted =
        |who, secs| Rejection { not_before: Some(Duration::from_secs(secs)), ..rejection(who) };
    let mut ledger = ledger(Budget::default().hint_limit(Duration::from_secs(5)));
    let mut wait = |who, secs| ledger.charge(hinted(who, secs)).expect("few").wait();
    let rest = Duration::from_secs;
    assert_eq!(wait("rt", 3), Wait::Rest(rest(3)));
    assert_eq!(wait("rt", 0), REST);
    assert_eq!(wait("rt", 9), Wait::Rest(rest(5)));
    assert_eq!(wait("?", 3), Wait::Rest(rest(3)));
    assert_eq!(wait("A", 3), Wait::Join { limit: rest(8), rest: rest(3) });
    assert_eq!(wait("A", 3), Wait::Rest(rest(3)));
}

#[test]
fn the_report_names_stream_address_and_what_ended_it() {
    let stream = StreamId::mint();
    let address = "prices/eur".parse().expect("valid");
    let mut ledger = Ledger::new(stream, address, Budget::default().activations(0));
    assert_eq!(ledger.stream_id(), stream);
    assert_eq!(ledger.address().as_str(), "prices/eur");
    assert_eq!(ledger.budget(), &Budget::default().activations(0));
    let report = ledger.charge(rejection("A")).expect_err("none is allowed");
    assert_eq!((report.stream, report.address.as_str()), (stream, "prices/eur"));
    assert_eq!(report.rejection.speaker, Speaker::Owner(Some(tag("A"))));
    assert_eq!(report.asks, 0, "the ledger alone asks nothing");
}

#[test]
fn counts_of_u32_max_never_end_and_never_overflow() {
    // C35.
    let mut ledger = ledger(Budget::default().activations(u32::MAX).re_asks(u32::MAX));
    for step in 0..10_000_u32 {
        let fresh = format!("{step:X}");
        for who in ["rt", "?", fresh.as_str(), fresh.as_str()] {
            ledger.charge(rejection(who)).expect("never one too many");
        }
    }
    assert_eq!(ledger.charge(rejection("?")).expect("20,001").count(), 20_001);
}
