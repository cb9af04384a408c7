//! Scripts of any kind, for small worlds that meet every rule often.

use std::collections::BTreeMap;

use proptest::{bool::weighted, collection::vec, option, prelude::*, sample::select};
use rideout::{Activation, Kind, News, Refusal, refusal::Party};

use super::script::{Answer, Answers, Limits, NEVER, Part, Says, Script};
use crate::support::{
    hand_clock::{address, ms},
    words::{by, by_route, not_found, tag, unnamed},
};

const TAGS: [&str; 5] = ["A1", "A2", "A3", "A4", "A5"];

/// Any script.
pub(crate) fn scripts() -> impl Strategy<Value = Script> {
    let heard = (heard(), nudges());
    let settings = (weighted(0.8), any::<bool>());
    (limits(), answers(), teardowns(), heard, settings, 1_000..20_000_u64).prop_map(
        |(limits, answers, teardowns, (news, nudges), (re_ask, versioned), until)| Script {
            address: address(),
            limits,
            re_ask,
            versioned,
            answers: Answers::InTurn(answers),
            teardowns,
            news,
            nudges,
            until,
        },
    )
}

fn limits() -> impl Strategy<Value = Limits> {
    let count = || prop_oneof![4 => 1..4_u32, 12 => 4..12_u32, 1 => Just(0), 2 => Just(u32::MAX)];
    let counts = (count(), count());
    let pace = prop_oneof![4 => 50..900_u64, 6 => Just(100), 1 => Just(NEVER), 1 => 0..3_u64];
    let limit = |most| prop_oneof![8 => 0..most, 1 => Just(NEVER), 1 => Just(0)];
    let asks = prop_oneof![12 => 500..5_000_u64, 2 => 0..500_u64, 1 => Just(NEVER), 1 => Just(0)];
    let limits = (limit(3_000_u64), asks, limit(3_000));
    let longest = option::weighted(0.3, limit(6_000));
    let proven = option::weighted(0.2, prop_oneof![2 => limit(1_500), 1 => Just(200)]);
    (counts, pace, limits, proven, longest).prop_map(
        |((activations, re_asks), pace, (join_limit, ask_limit, hint_limit), proven, longest)| {
            // What is asked at memory speed for ever shows no more than what is asked once a pace.
            let few = if pace < 50 { 20 } else { u32::MAX };
            Limits {
                activations: activations.min(few),
                re_asks: re_asks.min(few),
                pace,
                join_limit,
                ask_limit,
                hint_limit,
                proven_after: proven,
                longest,
            }
        },
    )
}

fn answers() -> impl Strategy<Value = Vec<Answer>> {
    let answer = || (late(), says()).prop_map(|(late, says)| Answer { late, says });
    vec(answer(), 1..12)
}

fn late() -> impl Strategy<Value = u64> {
    prop_oneof![4 => Just(0), 6 => 1..700_u64, 1 => 700..4_000_u64]
}

fn says() -> impl Strategy<Value = Says> {
    prop_oneof![
        24 => promise().prop_map(Says::Refuses),
        4 => Just(Says::Silent),
        24 => serves(),
        1 => verdict().prop_map(Says::Refuses),
    ]
}

fn serves() -> impl Strategy<Value = Says> {
    let end = prop_oneof![
        12 => Just(None),
        15 => promise().prop_map(|refusal| Some(Part::Fails(refusal))),
        1 => verdict().prop_map(|refusal| Some(Part::Fails(refusal))),
        9 => Just(Some(Part::Completes)),
    ];
    let gaps = vec((prop_oneof![2 => grid(5), 3 => 0..700_u64], 0..6_u64), 0..4);
    let lives = prop_oneof![4 => grid(5), 3 => 0..300_u64, 3 => 300..3_000_u64];
    (option::weighted(0.4, activation()), gaps, lives, end).prop_map(|(by, gaps, lives, end)| {
        let mut at = 0;
        let items = gaps.into_iter().map(|(gap, item)| {
            at += gap;
            (at, Part::Item(item))
        });
        let mut parts: Vec<_> = items.collect();
        let last = at + lives;
        parts.extend(end.map(|end| (last, end)));
        Says::Serves { by, parts }
    })
}

/// A promise in any of its shapes (`R4`, `R5`), with or without a hint.
fn promise() -> impl Strategy<Value = Refusal> {
    let owner = (digits(), 0..4_usize).prop_map(|(digits, shape)| match shape {
        0 => by(digits),
        1 => Refusal::from_text(by(digits).message),
        2 => Refusal::new(Kind::ShuttingDown, format!("cut off (activation #{digits})")),
        _ => Refusal::new(Kind::ShuttingDown, "")
            .with_speaker(Party::Owner)
            .with_activation(tag(digits)),
    });
    let untagged = prop_oneof![Just(unnamed()), Just(Refusal::from_text(unnamed().message))];
    let route = prop_oneof![
        Just(by_route()),
        Just(Refusal::from_text(by_route().message)),
        Just(Refusal::mesh_cannot_route(&address())),
        Just(Refusal::new(Kind::ShuttingDown, "cut off")),
        Just(Refusal::new(
            Kind::ShuttingDown,
            "Hub prices/eur/spot is shutting down (activation #A1)",
        )),
    ];
    let refusal = prop_oneof![5 => owner, 1 => untagged, 2 => route];
    (refusal, option::weighted(0.2, 0..3_000_u64)).prop_map(|(refusal, hint)| match hint {
        Some(hint) => refusal.with_retry_after(ms(hint)),
        None => refusal,
    })
}

fn verdict() -> impl Strategy<Value = Refusal> {
    prop_oneof![
        Just(not_found()),
        Just(Refusal::from_text("who knows")),
        Just(Refusal::new(Kind::Failed, by("A1").message)),
    ]
}

fn activation() -> impl Strategy<Value = Activation> {
    digits().prop_map(tag)
}

/// One of few, so that they meet.
fn digits() -> impl Strategy<Value = &'static str> {
    prop_oneof![3 => select(&TAGS[..2]), 2 => select(&TAGS[..])]
}

/// Of few lengths, so that what takes exactly one pace is met.
fn grid(most: u64) -> impl Strategy<Value = u64> {
    (0..most).prop_map(|count| count * 50)
}

fn teardowns() -> impl Strategy<Value = BTreeMap<String, u64>> {
    let at = prop_oneof![2 => Just(0), 6 => 0..8_000_u64, 1 => Just(NEVER)];
    vec(option::of(at), TAGS.len()).prop_map(|all| {
        let listed = TAGS.iter().zip(all);
        listed.filter_map(|(digits, at)| Some(((*digits).to_owned(), at?))).collect()
    })
}

fn heard() -> impl Strategy<Value = Vec<(u64, News)>> {
    let news = prop_oneof![
        3 => option::weighted(0.8, activation()).prop_map(News::Ended),
        1 => option::weighted(0.8, activation()).prop_map(News::NotServing),
        3 => activation().prop_map(News::Arrived),
    ];
    moments(16).prop_flat_map(move |moments| {
        let count = moments.len();
        (Just(moments), vec(news.clone(), count))
            .prop_map(|(moments, news)| moments.into_iter().zip(news).collect())
    })
}

fn nudges() -> impl Strategy<Value = Vec<u64>> {
    prop_oneof![1 => Just(Vec::new()), 3 => moments(12)]
}

/// Up to so many moments, in order. None is at 0, where all begins.
fn moments(most: usize) -> impl Strategy<Value = Vec<u64>> {
    vec(prop_oneof![2 => 1..300_u64, 1 => 1..2_000_u64], 0..most).prop_map(|gaps| {
        let mut at = 0;
        gaps.into_iter()
            .map(|gap| {
                at += gap;
                at
            })
            .collect()
    })
}
