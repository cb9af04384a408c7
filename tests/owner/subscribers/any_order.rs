//! Any order of calls, against a plain model.

use super::*;

#[derive(Clone, Debug)]
enum Op {
    Ask { key: u8, attempt: u32, late: u64 },
    Publish,
    Push(u8),
    Beat { key: u8, late: u64 },
    Unsubscribe { key: u8, attempt: u32 },
    Release(u8),
    Sweep,
    Retain(u8),
    Advance(u64),
    End,
}

fn op() -> impl Strategy<Value = Op> {
    // Now and then the clock was read before another's.
    let late = || prop_oneof![4 => Just(0), 1 => 0..5_u64];
    prop_oneof![
        12 => (0..4_u8, 0..3_u32, late())
            .prop_map(|(key, attempt, late)| Op::Ask { key, attempt, late }),
        4 => Just(Op::Publish),
        4 => (0..4_u8).prop_map(Op::Push),
        8 => (0..4_u8, late()).prop_map(|(key, late)| Op::Beat { key, late }),
        4 => (0..4_u8, 0..3_u32).prop_map(|(key, attempt)| Op::Unsubscribe { key, attempt }),
        1 => (0..4_u8).prop_map(Op::Release),
        6 => Just(Op::Sweep),
        1 => (0..4_u8).prop_map(Op::Retain),
        8 => (0..8_u64).prop_map(Op::Advance),
        1 => Just(Op::End),
    ]
}

/// What the model keeps of a registration.
struct Known {
    attempt: u32,
    sink: u64,
    number: u64,
    held: Vec<u64>,
    heard: u64,
}

#[derive(Default)]
struct Model {
    streams: BTreeMap<u8, Known>,
    has_state: bool,
    is_over: bool,
    // Every ask's, as it came: whether it has been given (true) or given back (false).
    fates: BTreeMap<u64, Option<bool>>,
}

impl Model {
    fn settle(&mut self, answers: &[Mine], given: bool) {
        for Mine(answer) in answers {
            let before = self.fates.insert(*answer, Some(given));
            assert_eq!(before, Some(None), "answer {answer} a second time");
        }
    }

    /// The one frame that `key` is due.
    fn framed(&mut self, key: u8, frame: Frame<u8, Mine, Mine>) {
        let known = self.streams.get_mut(&key).expect("only what is served has frames");
        known.number += 1;
        let held = std::mem::take(&mut known.held);
        assert!(self.has_state, "a frame without a state");
        assert_eq!((frame.key, frame.attempt), (key, known.attempt));
        assert_eq!((frame.sink.0, frame.number), (known.sink, known.number));
        assert!(held.is_empty() || frame.number == 1, "an answer is given after the state");
        assert_eq!(frame.acknowledgements.iter().map(|it| it.0).collect::<Vec<_>>(), held);
        self.settle(&frame.acknowledgements, true);
    }

    /// Exactly those of `keys` that are served are gone.
    fn gone(&mut self, keys: Vec<u8>, mut released: Vec<Released<u8, Mine, Mine>>) {
        released.sort_by_key(|it| it.key);
        assert_eq!(released.iter().map(|it| it.key).collect::<Vec<_>>(), keys);
        for it in released {
            let known = self.streams.remove(&it.key).expect("it was served");
            assert_eq!((it.sink.0, it.attempt), (known.sink, known.attempt));
            assert_eq!(it.held.iter().map(|it| it.0).collect::<Vec<_>>(), known.held);
            self.settle(&it.held, false);
        }
    }

    fn keys(&self, which: impl Fn(u8, &Known) -> bool) -> Vec<u8> {
        self.streams.iter().filter(|(key, it)| which(**key, it)).map(|(key, _)| *key).collect()
    }
}

proptest! {
    /// Any order of calls, against a list of who is served.
    #[test]
    fn follows_its_reference(ops in prop::collection::vec(op(), 0..200)) {
        const IDLE: u64 = 10;
        let start = Instant::now();
        let at = |seconds| start + secs(seconds);
        let mut subscribers = Subscribers::<u8, Mine, Mine>::new().idle_release(secs(IDLE));
        let mut model = Model::default();
        let (mut now, mut asks) = (5, 0);

        for op in ops {
            match op {
                Op::Ask { key, attempt, late } => {
                    asks += 1;
                    model.fates.insert(asks, None);
                    let (sink, answer) = (Mine(asks), Mine(asks));
                    let asked = inside(|| subscribers.ask(key, attempt, sink, answer, at(now - late)));
                    if model.is_over {
                        prop_assert_eq!(asked.replaced.as_ref().map(|it| it.0), Some(asks));
                        prop_assert!(asked.frame.is_none());
                        model.settle(asked.refused.as_slice(), false);
                    } else {
                        let before = model.streams.remove(&key);
                        let replaced = before.as_ref().map(|it| it.sink);
                        prop_assert_eq!(asked.replaced.as_ref().map(|it| it.0), replaced);
                        let (mut held, heard) = before.map_or((vec![], 0), |it| (it.held, it.heard));
                        held.push(asks);
                        let oldest = (held.len() > 16).then(|| held.remove(0));
                        prop_assert_eq!(asked.refused.as_ref().map(|it| it.0), oldest);
                        model.settle(asked.refused.as_slice(), false);
                        let heard = heard.max(now - late);
                        let known = Known { attempt, sink: asks, number: 0, held, heard };
                        model.streams.insert(key, known);
                        prop_assert_eq!(asked.frame.is_some(), model.has_state);
                        asked.frame.into_iter().for_each(|frame| model.framed(key, frame));
                    }
                }
                Op::Publish => {
                    model.has_state = true;
                    let mut frames = inside(|| subscribers.publish());
                    frames.sort_by_key(|frame| frame.key);
                    prop_assert_eq!(
                        frames.iter().map(|frame| frame.key).collect::<Vec<_>>(),
                        model.keys(|_, _| true)
                    );
                    frames.into_iter().for_each(|frame| model.framed(frame.key, frame));
                }
                Op::Push(key) => {
                    let frame = inside(|| subscribers.push(&key));
                    let is_due = model.has_state && model.streams.contains_key(&key);
                    prop_assert_eq!(frame.is_some(), is_due);
                    frame.into_iter().for_each(|frame| model.framed(key, frame));
                }
                Op::Beat { key, late } => {
                    let known = model.streams.get_mut(&key);
                    prop_assert_eq!(inside(|| subscribers.beat(&key, at(now - late))), known.is_some());
                    known.into_iter().for_each(|it| it.heard = it.heard.max(now - late));
                }
                Op::Unsubscribe { key, attempt } => {
                    let released = inside(|| subscribers.unsubscribe(&key, attempt));
                    let named = model.keys(|it, known| it == key && known.attempt == attempt);
                    model.gone(named, released.into_iter().collect());
                }
                Op::Release(key) => {
                    let released = inside(|| subscribers.release(&key));
                    model.gone(model.keys(|it, _| it == key), released.into_iter().collect());
                }
                Op::Sweep => {
                    let released = inside(|| subscribers.release_idle(at(now)));
                    model.gone(model.keys(|_, it| it.heard + IDLE <= now), released);
                    prop_assert!(model.streams.values().all(|it| now - it.heard < IDLE));
                }
                Op::Retain(key) => {
                    let released = inside(|| subscribers.retain(|it, _| *it != key));
                    model.gone(model.keys(|it, _| it == key), released);
                }
                Op::Advance(seconds) => now += seconds,
                Op::End => {
                    let released = inside(|| subscribers.end());
                    model.gone(model.keys(|_, _| true), released);
                    model.is_over = true;
                }
            }
            let listed: BTreeMap<_, _> = subscribers.iter().map(|(key, sink)| (*key, sink.0)).collect();
            let known = model.streams.iter().map(|(key, it)| (*key, it.sink)).collect();
            prop_assert_eq!(listed, known);
            prop_assert_eq!(subscribers.len(), model.streams.len());
            let next = model.streams.values().map(|it| at(it.heard + IDLE)).min();
            prop_assert_eq!(subscribers.next_release(), next);
        }

        let released = inside(|| subscribers.end());
        model.gone(model.keys(|_, _| true), released);
        prop_assert!(model.fates.values().all(Option::is_some), "an answer is owed for ever");
    }
}
