//! `DeliveryTargets` (R49): who is registered, who said goodbye, and what deliveries to them are told.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use proptest::prelude::*;
use rideout::{
    Address, Kind, Refusal,
    owner::DeliveryTargets,
    refusal::{Party, Speaker},
};

const LIFE: Duration = Duration::from_secs(600);
const INSTANT: Duration = Duration::from_nanos(1);

fn client() -> Address {
    "clients/7".parse().unwrap()
}

/// What a delivery is told.
#[derive(Debug, PartialEq, Eq)]
enum Told {
    Delivered,
    Promise,
    Released,
}
use Told::{Delivered, Promise, Released};

#[track_caller]
fn told<R: PartialEq>(targets: &DeliveryTargets<u32, R>, key: u32, now: Instant) -> Told {
    let client = client();
    let Err(refusal) = targets.deliver(&client, &key, now) else {
        return Delivered;
    };
    // Whichever it is, it is the route's, it is stamped, and it speaks in the words of its sort.
    assert_eq!(refusal.speaker, Some(Party::Route));
    assert_eq!(refusal.speaker(&client), Speaker::Route);
    assert!(refusal.target_unserved);
    match refusal.promise(&client) {
        Some(_) => {
            assert_eq!(refusal, Refusal::host_cannot_route(&client).with_target_unserved());
            Promise
        }
        None => {
            assert_eq!(refusal.kind, Some(Kind::NotFound));
            let verdict = Refusal::no_node(&client).with_target_unserved().with_released();
            assert_eq!(refusal, verdict);
            Released
        }
    }
}

fn registered(key: u32, registration: u32) -> DeliveryTargets<u32, u32> {
    let mut targets = DeliveryTargets::new();
    targets.register(key, registration);
    targets
}

#[test]
fn the_face_is_what_a_router_needs() {
    fn is<T: Send + Sync + Unpin + 'static>() {}
    is::<DeliveryTargets<String, u32>>();
    fn has_default<T: Default>() {}
    has_default::<DeliveryTargets<std::rc::Rc<()>, std::cell::Cell<f64>>>();
}

#[test]
fn each_state_tells_its_own() {
    let (mut targets, now) = (DeliveryTargets::new(), Instant::now());
    assert_eq!(told(&targets, 7, now), Promise); // never seen
    assert!(targets.is_empty());
    targets.register(7, 1);
    assert!(!targets.is_empty());
    assert_eq!(told(&targets, 7, now), Delivered);
    assert_eq!(told(&targets, 8, now), Promise);
    assert!(targets.release(&7, &1, now));
    assert!(targets.is_empty(), "who is gone is not registered");
    assert_eq!(told(&targets, 7, now), Released);
    assert_eq!(told(&targets, 8, now), Promise);
    targets.register(7, 2);
    assert_eq!(told(&targets, 7, now), Delivered);
    assert!(targets.mark_disconnected(&7, &2, now));
    assert_eq!(told(&targets, 7, now), Promise);
}

#[test]
fn a_fresh_registration_clears_the_tombstone_for_good() {
    let (mut targets, now) = (registered(7, 1), Instant::now());
    targets.release(&7, &1, now);
    targets.register(7, 2);
    assert_eq!((targets.len(), targets.remembered(), targets.next_expiry()), (1, 0, None));
    // Nothing of the old tombstone hits it when its time is over.
    targets.expire(now + 2 * LIFE);
    assert_eq!(told(&targets, 7, now + 2 * LIFE), Delivered);
    // Nor is a later roll taken for the goodbye.
    targets.mark_disconnected(&7, &2, now);
    assert_eq!(told(&targets, 7, now), Promise);
}

#[test]
fn a_late_goodbye_of_a_predecessor_hits_nobody() {
    let now = Instant::now();
    // A live successor.
    let mut targets = registered(7, 1);
    targets.register(7, 2);
    assert!(!targets.release(&7, &1, now));
    assert_eq!(told(&targets, 7, now), Delivered);
    assert_eq!(targets.remembered(), 0);

    // A successor in the middle of a roll.
    assert!(targets.mark_disconnected(&7, &2, now));
    assert!(!targets.release(&7, &1, now));
    assert_eq!(told(&targets, 7, now), Promise);
    targets.register(7, 3);
    assert_eq!(told(&targets, 7, now), Delivered);

    // One that is released already: its tombstone stands as it was.
    assert!(targets.release(&7, &3, now));
    assert!(!targets.release(&7, &1, now + LIFE / 2));
    assert_eq!(targets.next_expiry(), Some(now + LIFE));

    // The control: its own goodbye, of a live one and of one that was lost.
    let mut targets = registered(7, 2);
    assert!(targets.release(&7, &2, now));
    assert_eq!(told(&targets, 7, now), Released);
    let mut targets = registered(7, 2);
    assert!(targets.mark_disconnected(&7, &2, now) && targets.release(&7, &2, now));
    assert_eq!(told(&targets, 7, now), Released);
}

#[test]
fn a_late_loss_hits_nobody() {
    let (mut targets, now) = (registered(7, 1), Instant::now());
    targets.register(7, 2);
    assert!(!targets.mark_disconnected(&7, &1, now));
    assert_eq!(told(&targets, 7, now), Delivered);
    // The connection is cut after the goodbye: the goodbye stands.
    assert!(targets.release(&7, &2, now));
    assert!(!targets.mark_disconnected(&7, &2, now));
    assert_eq!(told(&targets, 7, now), Released);
}

/// Not known is a promise: a goodbye of somebody who never was here, or is forgotten, proves nothing.
#[test]
fn the_goodbye_of_an_unknown_leaves_nothing() {
    let (mut targets, now) = (registered(7, 1), Instant::now());
    assert!(!targets.release(&8, &1, now));
    assert_eq!((told(&targets, 8, now), targets.remembered()), (Promise, 0));

    assert!(targets.mark_disconnected(&7, &1, now));
    assert!(!targets.release(&7, &1, now + LIFE)); // forgotten at this very instant
    assert_eq!((told(&targets, 7, now + LIFE), targets.remembered()), (Promise, 0));
    let mut targets = registered(7, 1);
    assert!(targets.mark_disconnected(&7, &1, now));
    assert!(targets.release(&7, &1, now + LIFE - INSTANT)); // the control
}

#[test]
fn a_tombstone_lives_from_its_goodbye_to_the_instant() {
    let (mut targets, now) = (registered(7, 1), Instant::now());
    targets.mark_disconnected(&7, &1, now);
    let goodbye = now + Duration::from_secs(60);
    targets.release(&7, &1, goodbye);
    assert!(!targets.release(&7, &1, goodbye + LIFE / 2), "said before: it changes nothing");

    let over = goodbye + LIFE;
    assert_eq!(targets.next_expiry(), Some(over));
    assert_eq!(told(&targets, 7, over - INSTANT), Released);
    assert_eq!(told(&targets, 7, over), Promise);
    targets.expire(over - INSTANT);
    assert_eq!(targets.remembered(), 1);
    targets.expire(over);
    assert_eq!((targets.remembered(), targets.next_expiry()), (0, None));
}

#[test]
fn the_oldest_goes_where_there_are_too_many() {
    let now = Instant::now();
    let mut targets = DeliveryTargets::new().most_tombstones(2);
    for key in 0..4 {
        targets.register(key, ());
    }
    for key in 0..3 {
        assert!(targets.release(&key, &(), now));
    }
    let told = |key| told(&targets, key, now);
    assert_eq!([told(0), told(1), told(2), told(3)], [Promise, Released, Released, Delivered]);
    assert_eq!((targets.len(), targets.remembered()), (1, 2));
}

#[test]
fn every_setting_is_safe() {
    let now = Instant::now();
    let mut none = registered(7, 1).most_tombstones(0);
    assert!(none.release(&7, &1, now));
    assert_eq!((told(&none, 7, now), none.remembered()), (Promise, 0));
    let mut short = registered(7, 1).tombstone_life(Duration::ZERO);
    assert!(short.release(&7, &1, now));
    assert_eq!(told(&short, 7, now), Promise);
    let mut long = registered(7, 1).tombstone_life(Duration::MAX);
    assert!(long.release(&7, &1, now));
    assert_eq!(told(&long, 7, now + 1_000_000 * LIFE), Released);
    // A clock that is read out of order.
    let mut targets = registered(7, 1);
    targets.register(8, 1);
    assert!(targets.release(&7, &1, now + LIFE) && targets.release(&8, &1, now));
    assert_eq!(told(&targets, 7, now), Released);
    assert_eq!(targets.next_expiry(), Some(now + LIFE));
    assert_eq!(format!("{targets:?}"), "DeliveryTargets { registered: 0, remembered: 2, .. }");
}

#[test]
fn memory_is_flat_over_a_million_releases() {
    const MANY: u32 = 1_000_000;
    let start = Instant::now();
    let release = |targets: &mut DeliveryTargets<u32, u32>, from: u32, to: u32, pace: Duration| {
        for n in from..to {
            targets.register(n, n);
            assert!(targets.release(&n, &n, start + pace * n));
        }
    };
    // By number: all within the life of a tombstone.
    let mut targets = DeliveryTargets::new().most_tombstones(400);
    release(&mut targets, 0, 100_000, Duration::ZERO);
    let held = allocation_counter::measure(|| {
        release(&mut targets, 100_000, MANY, Duration::ZERO);
    });
    assert!(held.bytes_current.abs() < 131_072, "{held:?}"); // a table may double once
    assert_eq!((targets.len(), targets.remembered()), (0, 400));
    let mut targets = DeliveryTargets::new();
    release(&mut targets, 0, 66_000, Duration::ZERO);
    assert_eq!((targets.len(), targets.remembered()), (0, 65_536));

    // By time: a second apart, six hundred live.
    let (mut targets, second) = (DeliveryTargets::new(), Duration::from_secs(1));
    release(&mut targets, 0, 5_000, second);
    let held = allocation_counter::measure(|| release(&mut targets, 5_000, 50_000, second));
    assert!(held.bytes_current.abs() < 16_384, "{held:?}");
    assert_eq!(targets.remembered(), 600);

    // The control: those who stay are counted.
    let held =
        allocation_counter::measure(|| (MANY..MANY + 9_000).for_each(|n| targets.register(n, n)));
    assert!(held.bytes_current > 72_000, "{held:?}");
}

#[derive(Clone, Debug)]
enum Op {
    Register(u32, u32),
    Release(u32, u32),
    Lose(u32, u32),
    Expire,
    Advance(u64),
}

fn op() -> impl Strategy<Value = Op> {
    let one = || (0..5_u32, 0..3_u32);
    prop_oneof![
        4 => one().prop_map(|(key, registration)| Op::Register(key, registration)),
        4 => one().prop_map(|(key, registration)| Op::Release(key, registration)),
        3 => one().prop_map(|(key, registration)| Op::Lose(key, registration)),
        1 => Just(Op::Expire),
        4 => (1..8_u64).prop_map(Op::Advance),
    ]
}

proptest! {
    /// Any order of calls, against a list that is searched.
    #[test]
    fn follows_its_reference(ops in prop::collection::vec(op(), 0..120)) {
        const LIFE: u64 = 10;
        const MOST: usize = 3;
        struct Known { registration: u32, gone: Option<(bool, u64, usize)> }
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut targets = DeliveryTargets::new()
            .tombstone_life(Duration::from_secs(LIFE))
            .most_tombstones(MOST);
        let mut model = BTreeMap::<u32, Known>::new();
        let mut now = 0;
        for (n, op) in ops.into_iter().enumerate() {
            model.retain(|_, known| known.gone.is_none_or(|(_, until, _)| now < until));
            match op {
                Op::Register(key, registration) => {
                    targets.register(key, registration);
                    model.insert(key, Known { registration, gone: None });
                }
                Op::Release(key, registration) | Op::Lose(key, registration) => {
                    let goodbye = matches!(op, Op::Release(..));
                    let changed = match model.get_mut(&key) {
                        Some(known) if known.registration == registration
                            && known.gone.is_none_or(|(said, ..)| goodbye && !said) => {
                            known.gone = Some((goodbye, now + LIFE, n));
                            true
                        }
                        _ => false,
                    };
                    let call = if goodbye { DeliveryTargets::release } else { DeliveryTargets::mark_disconnected };
                    prop_assert_eq!(call(&mut targets, &key, &registration, at(now)), changed);
                    let mut gone: Vec<_> = model.iter()
                        .filter_map(|(key, known)| Some((known.gone?.2, *key)))
                        .collect();
                    gone.sort();
                    if gone.len() > MOST {
                        model.remove(&gone[0].1);
                    }
                }
                Op::Expire => targets.expire(at(now)),
                Op::Advance(seconds) => now += seconds,
            }
            for key in 0..5 {
                let expected = match model.get(&key).map(|known| known.gone) {
                    Some(None) => Delivered,
                    Some(Some((true, until, _))) if now < until => Released,
                    _ => Promise,
                };
                prop_assert_eq!(told(&targets, key, at(now)), expected);
            }
            let live = model.values().filter(|known| known.gone.is_none()).count();
            prop_assert_eq!(targets.len(), live);
            prop_assert!(targets.remembered() <= MOST);
        }
    }
}
