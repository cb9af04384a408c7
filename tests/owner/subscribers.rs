//! `Subscribers` (R44, R44b, the owner's half of R26): one registration a stream, numbered frames, state
//! before answer, idle release, and every answer once.

mod any_order;
mod panics;

use std::{
    cell::Cell,
    collections::BTreeMap,
    time::{Duration, Instant},
};

use proptest::prelude::*;
use rideout::owner::{Asked, Frame, Released, Subscribers};

const MINUTES_10: Duration = Duration::from_secs(600);

fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// An owner whose sinks and answers are numbers.
type Plain = Subscribers<&'static str, u32, u32>;

fn with_state() -> Plain {
    let mut subscribers = Subscribers::new();
    assert!(subscribers.publish().is_empty());
    subscribers
}

/// The sink, the number and the answers of a frame.
fn told<K, A>(frame: Frame<K, u32, A>) -> (u32, u64, Vec<A>) {
    (frame.sink, frame.number, frame.acknowledgements)
}

#[test]
fn the_face_is_what_an_owner_needs() {
    fn is<T: Send + Sync + Unpin + 'static>() {}
    is::<Subscribers<String, u32, u32>>();
    is::<Asked<String, u32, u32>>();
    is::<Released<String, u32, u32>>();
    fn has_default<T: Default>() {}
    has_default::<Subscribers<String, std::rc::Rc<()>, std::cell::RefCell<()>>>();
}

#[test]
fn an_ask_is_answered_with_the_state_first() {
    let mut subscribers = with_state();
    let asked = subscribers.ask("eur", 1, 7, 70, Instant::now());
    assert_eq!((asked.replaced, asked.refused), (None, None));
    let frame = asked.frame.unwrap();
    assert_eq!((frame.key, frame.attempt), ("eur", 1));
    assert_eq!(told(frame), (7, 1, vec![70]));
}

/// R44: a refresh is no second registration, and its frames begin anew.
#[test]
fn an_ask_of_a_stream_that_is_served_is_a_refresh() {
    let (mut subscribers, now) = (with_state(), Instant::now());
    let _ = subscribers.ask("eur", 1, 7, 70, now);
    let _ = subscribers.publish();

    let asked = subscribers.ask("eur", 2, 8, 80, now);
    assert_eq!((asked.replaced, asked.refused), (Some(7), None));
    assert_eq!(told(asked.frame.unwrap()), (8, 1, vec![80]));
    assert_eq!(subscribers.iter().collect::<Vec<_>>(), [(&"eur", &8)]);
    assert_eq!(subscribers.publish().into_iter().map(told).collect::<Vec<_>>(), [(8, 2, vec![])]);

    // Another stream is a second registration.
    assert_eq!(subscribers.ask("usd", 2, 9, 90, now).replaced, None);
    assert_eq!((subscribers.len(), subscribers.publish().len()), (2, 2));
}

#[test]
fn without_a_state_answers_are_held_until_the_first() {
    let (mut subscribers, now) = (Plain::new(), Instant::now());
    for (attempt, sink, replaced) in [(1, 7, None), (2, 8, Some(7))] {
        let asked = subscribers.ask("eur", attempt, sink, sink * 10, now);
        assert_eq!((asked.frame, asked.replaced, asked.refused), (None, replaced, None));
    }
    assert_eq!(subscribers.push(&"eur"), None); // no state, no number

    let first = subscribers.publish().pop().unwrap();
    assert_eq!(first.attempt, 2);
    assert_eq!(told(first), (8, 1, vec![70, 80]));
    assert_eq!(told(subscribers.publish().pop().unwrap()), (8, 2, vec![])); // once
}

#[test]
fn held_answers_are_given_back_where_the_stream_ends_first() {
    type End = fn(&mut Plain) -> Option<Released<&'static str, u32, u32>>;
    let ends: [End; 5] = [
        |subscribers| subscribers.unsubscribe(&"eur", 2),
        |subscribers| subscribers.release(&"eur"),
        |subscribers| subscribers.release_idle(Instant::now() + 2 * MINUTES_10).pop(),
        |subscribers| subscribers.retain(|_, sink| *sink != 8).pop(),
        |subscribers| subscribers.end().pop(),
    ];
    for end in ends {
        for has_state in [false, true] {
            let (mut subscribers, now) = (Plain::new(), Instant::now());
            let _ = subscribers.ask("eur", 1, 7, 70, now);
            let _ = subscribers.ask("eur", 2, 8, 80, now);
            if has_state {
                assert_eq!(subscribers.publish().pop().unwrap().acknowledgements, [70, 80]);
            }
            let ended = end(&mut subscribers).expect("it is served");
            assert_eq!((ended.key, ended.attempt, ended.sink), ("eur", 2, 8));
            assert_eq!(ended.held, if has_state { vec![] } else { vec![70, 80] });
            assert!(subscribers.is_empty() && !subscribers.beat(&"eur", now));
            assert_eq!(subscribers.next_release(), None);
            assert!(subscribers.publish().is_empty() && subscribers.push(&"eur").is_none());
        }
    }
}

#[test]
fn frames_of_each_stream_are_consecutive() {
    let (mut subscribers, now) = (with_state(), Instant::now());
    let _ = subscribers.ask("eur", 1, 7, 70, now);
    assert_eq!(subscribers.push(&"eur").map(told), Some((7, 2, vec![])));
    let _ = subscribers.ask("usd", 1, 9, 90, now);
    let mut frames: Vec<_> = subscribers.publish().into_iter().map(told).collect();
    frames.sort();
    assert_eq!(frames, [(7, 3, vec![]), (9, 2, vec![])]);
    assert_eq!(subscribers.push(&"chf"), None);
}

/// A run of a seed is the same in each process: what an owner sends goes out in one order, whatever the
/// hashes of its keys are. A refresh keeps its place, a new registration is the last.
#[test]
fn streams_go_in_the_order_of_their_registration() {
    let (mut subscribers, now) = (Subscribers::new(), Instant::now());
    let mut keys: Vec<u32> = (0..64).map(|number| number * 37 % 64).collect();
    for key in &keys {
        let _ = subscribers.ask(*key, 1, (), (), now);
    }
    let _ = subscribers.ask(keys[5], 2, (), (), now);
    let gone = keys.remove(7);
    assert!(subscribers.release(&gone).is_some());
    let _ = subscribers.ask(gone, 2, (), (), now);
    keys.push(gone);

    assert!(subscribers.iter().map(|(key, ())| key).eq(&keys));
    assert!(subscribers.publish().iter().map(|frame| &frame.key).eq(&keys));
    let last = keys.pop();
    assert!(subscribers.retain(|key, ()| Some(*key) == last).iter().map(|it| &it.key).eq(&keys));
    assert_eq!(subscribers.end().iter().map(|it| it.key).collect::<Vec<_>>(), [gone]);
}

/// R26.
#[test]
fn a_beat_is_told_whether_its_stream_is_served() {
    let (mut subscribers, now) = (with_state(), Instant::now());
    assert!(!subscribers.beat(&"eur", now));
    let _ = subscribers.ask("eur", 1, 7, 70, now);
    assert!(subscribers.beat(&"eur", now));
    assert!(!subscribers.beat(&"usd", now));
    assert_eq!(subscribers.len(), 1); // a beat registers nothing
}

/// R44b: asks and beats are signs of life; frames, to all or to one, are none.
#[test]
fn only_the_subscriber_gives_signs_of_life() {
    let (mut subscribers, start) = (with_state(), Instant::now());
    assert_eq!(subscribers.next_release(), None);
    let _ = subscribers.ask("eur", 1, 7, 70, start);
    assert_eq!(subscribers.next_release(), Some(start + MINUTES_10));

    let _ = (subscribers.publish(), subscribers.push(&"eur"), subscribers.iter().count());
    assert_eq!(subscribers.unsubscribe(&"eur", 9), None);
    assert_eq!(subscribers.next_release(), Some(start + MINUTES_10));

    assert!(subscribers.beat(&"eur", start + secs(45)));
    assert_eq!(subscribers.next_release(), Some(start + secs(45) + MINUTES_10));
    let _ = subscribers.ask("eur", 2, 8, 80, start + secs(60));
    assert_eq!(subscribers.next_release(), Some(start + secs(60) + MINUTES_10));

    // A clock that is read out of order takes nothing back.
    assert!(subscribers.beat(&"eur", start));
    assert_eq!(subscribers.next_release(), Some(start + secs(60) + MINUTES_10));
}

#[test]
fn a_silent_subscriber_is_released_at_its_time_and_no_other() {
    let (mut subscribers, start) = (with_state(), Instant::now());
    let _ = subscribers.ask("eur", 1, 7, 70, start);
    let _ = subscribers.ask("usd", 1, 8, 80, start);
    let _ = subscribers.ask("chf", 1, 9, 90, start + secs(1));
    assert!(subscribers.beat(&"usd", start + secs(2)));

    assert!(subscribers.release_idle(start + MINUTES_10 - Duration::from_nanos(1)).is_empty());
    let keys = |released: Vec<Released<_, _, _>>| -> Vec<_> {
        released.into_iter().map(|it| it.key).collect()
    };
    assert_eq!(keys(subscribers.release_idle(start + MINUTES_10)), ["eur"]);
    assert_eq!(subscribers.next_release(), Some(start + secs(1) + MINUTES_10));
    assert!(!subscribers.is_empty());
    // Late, and so the longest silent first.
    assert_eq!(keys(subscribers.release_idle(start + secs(9_000))), ["chf", "usd"]);
    assert!(subscribers.is_empty());
}

#[test]
fn the_bound_is_settable_and_saturates() {
    let now = Instant::now();
    let mut subscribers = with_state().idle_release(secs(3));
    let _ = subscribers.ask("eur", 1, 7, 70, now);
    assert_eq!(subscribers.next_release(), Some(now + secs(3)));

    let mut subscribers = with_state().idle_release(Duration::MAX);
    let _ = subscribers.ask("eur", 1, 7, 70, now);
    assert!(subscribers.beat(&"eur", now + secs(1)));
    assert!(subscribers.next_release().unwrap() > now + secs(1_000_000_000 / 2));
    assert!(subscribers.release_idle(now + secs(86_400)).is_empty());

    let mut subscribers = with_state().idle_release(Duration::ZERO);
    let _ = subscribers.ask("eur", 1, 7, 70, now);
    assert_eq!(subscribers.next_release(), Some(now));
    assert_eq!(subscribers.release_idle(now).len(), 1);
}

/// A refresh drops the old subscription after the new one is answered (R25): its goodbye comes late.
#[test]
fn a_late_goodbye_hits_no_successor() {
    let (mut subscribers, now) = (with_state(), Instant::now());
    let _ = subscribers.ask("eur", 1, 7, 70, now);
    let _ = subscribers.ask("eur", 2, 8, 80, now);
    let _ = subscribers.ask("usd", 1, 9, 90, now);

    assert_eq!(subscribers.unsubscribe(&"eur", 1), None);
    assert_eq!(subscribers.unsubscribe(&"eur", 3), None);
    assert_eq!(subscribers.unsubscribe(&"chf", 1), None);
    assert_eq!(subscribers.len(), 2);
    assert_eq!(subscribers.unsubscribe(&"eur", 2).unwrap().sink, 8);
    assert_eq!(subscribers.iter().collect::<Vec<_>>(), [(&"usd", &9)]);
}

/// R50: a delivery that failed names what it was sent to, not what is there now.
#[test]
fn a_failed_delivery_ends_what_it_was_sent_to() {
    let (mut subscribers, now) = (with_state(), Instant::now());
    let failed = subscribers.ask("eur", 1, 7, 70, now).frame.unwrap();
    let refreshed = subscribers.ask("eur", 2, 8, 80, now).frame.unwrap();
    assert_eq!(subscribers.unsubscribe(&failed.key, failed.attempt), None);
    assert!(subscribers.unsubscribe(&refreshed.key, refreshed.attempt).is_some());
}

#[test]
fn sinks_that_are_closed_are_removed_and_no_other() {
    let (mut subscribers, now) = (with_state(), Instant::now());
    for (key, sink) in [("eur", 7), ("usd", 8), ("chf", 9)] {
        let _ = subscribers.ask(key, 1, sink, sink * 10, now);
    }
    assert!(subscribers.retain(|_, _| true).is_empty());
    let released = subscribers.retain(|key, sink| *key == "eur" || *sink == 9);
    assert_eq!(released.into_iter().map(|it| it.key).collect::<Vec<_>>(), ["usd"]);
    assert_eq!(subscribers.len(), 2);
    assert_eq!(subscribers.release_idle(now + MINUTES_10).len(), 2);
}

/// R43: those who are to be told are known; nothing is registered after the end.
#[test]
fn the_end_gives_everything_back_for_good() {
    let (mut subscribers, now) = (with_state(), Instant::now());
    let _ = subscribers.ask("eur", 1, 7, 70, now);
    let _ = subscribers.ask("usd", 1, 8, 80, now);
    let mut sinks: Vec<_> = subscribers.end().into_iter().map(|it| it.sink).collect();
    sinks.sort();
    assert_eq!(sinks, [7, 8]);

    assert!(subscribers.end().is_empty());
    assert!(subscribers.publish().is_empty());
    let asked = subscribers.ask("eur", 2, 9, 90, now);
    assert_eq!((asked.frame, asked.replaced, asked.refused), (None, Some(9), Some(90)));
    assert!(subscribers.is_empty());
}

/// The newest are those that somebody still waits for.
#[test]
fn of_too_many_held_answers_the_oldest_is_given_back() {
    let (mut subscribers, now) = (Plain::new(), Instant::now());
    for ask in 0..16 {
        assert_eq!(subscribers.ask("eur", ask, ask, ask, now).refused, None);
    }
    let asked = subscribers.ask("eur", 16, 16, 16, now);
    assert_eq!((asked.frame, asked.replaced, asked.refused), (None, Some(15), Some(0)));
    assert_eq!(subscribers.ask("usd", 1, 1, 1, now).refused, None); // each stream has its own
    let frames = subscribers.publish();
    let eur = frames.into_iter().find(|frame| frame.key == "eur").unwrap();
    assert_eq!(eur.acknowledgements, (1..=16).collect::<Vec<_>>());
}

/// C22.
#[test]
fn nothing_grows_over_many_asks_and_beats() {
    const MANY: u32 = 100_000;
    let now = Instant::now();
    let at = |n: u32| now + Duration::from_millis(n.into());
    let held = |mut subscribers: Subscribers<u32, u32, u32>, act: fn(&mut _, u32, Instant)| {
        act(&mut subscribers, 0, at(0));
        let held =
            allocation_counter::measure(|| (1..MANY).for_each(|n| act(&mut subscribers, n, at(n))));
        held.bytes_current
    };
    let answered = || {
        let mut subscribers = Subscribers::new();
        assert!(subscribers.publish().is_empty());
        subscribers
    };
    type Act = fn(&mut Subscribers<u32, u32, u32>, u32, Instant);
    let asks: Act = |subscribers, n, now| drop(subscribers.ask(1, n, n, n, now));
    let beats: Act = |subscribers, n, now| assert!(!subscribers.beat(&n, now));
    let signs: Act = |subscribers, n, now| {
        let _ = subscribers.ask(n % 2, n, n, n, now);
        assert!(subscribers.beat(&(n % 2), now));
    };
    let comes_and_goes: Act = |subscribers, n, now| {
        let _ = subscribers.ask(n, n, n, n, now);
        let _ = subscribers.unsubscribe(&n, n).expect("it is served");
    };
    let idles: Act = |subscribers, n, now| {
        let _ = subscribers.ask(n, n, n, n, now);
        let _ = subscribers.release_idle(now + MINUTES_10);
    };
    for act in [asks, beats, signs, comes_and_goes, idles] {
        assert!(held(answered(), act) < 4_096);
        assert!(held(Subscribers::new(), act) < 4_096); // answers held
    }

    // The control: streams that stay are counted.
    let stay: Act = |subscribers, n, now| drop(subscribers.ask(n, n, n, n, now));
    assert!(held(answered(), stay) > i64::from(MANY));
}

#[test]
fn debug_tells_how_many() {
    let mut subscribers = with_state();
    let _ = subscribers.ask("eur", 1, 7, 70, Instant::now());
    let text = format!("{subscribers:?}");
    assert_eq!(text, "Subscribers { streams: 1, has_state: true, is_over: false, .. }");
}

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// A user's value, which is never dropped inside.
#[derive(Debug, PartialEq)]
struct Mine(u64);

impl Clone for Mine {
    fn clone(&self) -> Self {
        Mine(self.0)
    }
}

impl Drop for Mine {
    fn drop(&mut self) {
        assert!(!INSIDE.get(), "{} is dropped inside", self.0);
    }
}

fn inside<T>(call: impl FnOnce() -> T) -> T {
    INSIDE.set(true);
    let returned = call();
    INSIDE.set(false);
    returned
}
