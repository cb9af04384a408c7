//! Any order of calls, against a plain model.

use super::*;

const IDLE: u64 = 10;

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

/// The subscribers, and a list of who is served.
struct Model {
    subscribers: Subscribers<u8, Mine, Mine>,
    start: Instant,
    now: u64,
    asks: u64,
    streams: BTreeMap<u8, Known>,
    has_state: bool,
    is_over: bool,
    // Every ask's, as it came: whether it has been given (true) or given back (false).
    fates: BTreeMap<u64, Option<bool>>,
}

impl Model {
    fn new() -> Self {
        Model {
            subscribers: Subscribers::new().idle_release(secs(IDLE)),
            start: Instant::now(),
            now: 5,
            asks: 0,
            streams: BTreeMap::new(),
            has_state: false,
            is_over: false,
            fates: BTreeMap::new(),
        }
    }

    fn at(&self, seconds: u64) -> Instant {
        self.start + secs(seconds)
    }

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

    fn ask(&mut self, key: u8, attempt: u32, heard: u64) -> Result<(), TestCaseError> {
        self.asks += 1;
        let (ask, at) = (self.asks, self.at(heard));
        self.fates.insert(ask, None);
        let asked = inside(|| self.subscribers.ask(key, attempt, Mine(ask), Mine(ask), at));
        let replaced = asked.replaced.as_ref().map(|it| it.0);
        if self.is_over {
            prop_assert_eq!(replaced, Some(ask));
            prop_assert!(asked.frame.is_none());
            self.settle(asked.refused.as_slice(), false);
            return Ok(());
        }
        let before = self.streams.remove(&key);
        prop_assert_eq!(replaced, before.as_ref().map(|it| it.sink));
        let (mut held, last) = before.map_or((vec![], 0), |it| (it.held, it.heard));
        held.push(ask);
        let oldest = (held.len() > 16).then(|| held.remove(0));
        prop_assert_eq!(asked.refused.as_ref().map(|it| it.0), oldest);
        self.settle(asked.refused.as_slice(), false);
        let known = Known { attempt, sink: ask, number: 0, held, heard: last.max(heard) };
        self.streams.insert(key, known);
        prop_assert_eq!(asked.frame.is_some(), self.has_state);
        asked.frame.into_iter().for_each(|frame| self.framed(key, frame));
        Ok(())
    }

    fn publish(&mut self) -> Result<(), TestCaseError> {
        self.has_state = true;
        let mut frames = inside(|| self.subscribers.publish());
        frames.sort_by_key(|frame| frame.key);
        let keys: Vec<_> = frames.iter().map(|frame| frame.key).collect();
        prop_assert_eq!(keys, self.keys(|_, _| true));
        frames.into_iter().for_each(|frame| self.framed(frame.key, frame));
        Ok(())
    }

    fn end(&mut self) {
        let released = inside(|| self.subscribers.end());
        self.gone(self.keys(|_, _| true), released);
        self.is_over = true;
    }

    /// Makes a call, on the subscribers and on the list.
    fn call(&mut self, op: Op) -> Result<(), TestCaseError> {
        match op {
            Op::Ask { key, attempt, late } => self.ask(key, attempt, self.now - late)?,
            Op::Publish => self.publish()?,
            Op::Push(key) => {
                let frame = inside(|| self.subscribers.push(&key));
                let is_due = self.has_state && self.streams.contains_key(&key);
                prop_assert_eq!(frame.is_some(), is_due);
                frame.into_iter().for_each(|frame| self.framed(key, frame));
            }
            Op::Beat { key, late } => {
                let (heard, at) = (self.now - late, self.at(self.now - late));
                let known = self.streams.get_mut(&key);
                let is_served = inside(|| self.subscribers.beat(&key, at));
                prop_assert_eq!(is_served, known.is_some());
                known.into_iter().for_each(|it| it.heard = it.heard.max(heard));
            }
            Op::Unsubscribe { key, attempt } => {
                let released = inside(|| self.subscribers.unsubscribe(&key, attempt));
                let named = self.keys(|it, known| it == key && known.attempt == attempt);
                self.gone(named, released.into_iter().collect());
            }
            Op::Release(key) => {
                let released = inside(|| self.subscribers.release(&key));
                self.gone(self.keys(|it, _| it == key), released.into_iter().collect());
            }
            Op::Sweep => {
                let (now, at) = (self.now, self.at(self.now));
                let released = inside(|| self.subscribers.release_idle(at));
                self.gone(self.keys(|_, it| it.heard + IDLE <= now), released);
                prop_assert!(self.streams.values().all(|it| now - it.heard < IDLE));
            }
            Op::Retain(key) => {
                let released = inside(|| self.subscribers.retain(|it, _| *it != key));
                self.gone(self.keys(|it, _| it == key), released);
            }
            Op::Advance(seconds) => self.now += seconds,
            Op::End => self.end(),
        }
        Ok(())
    }

    /// Both know the same.
    fn agrees(&self) -> Result<(), TestCaseError> {
        let listed: BTreeMap<_, _> =
            self.subscribers.iter().map(|(key, sink)| (*key, sink.0)).collect();
        let known = self.streams.iter().map(|(key, it)| (*key, it.sink)).collect();
        prop_assert_eq!(listed, known);
        prop_assert_eq!(self.subscribers.len(), self.streams.len());
        let next = self.streams.values().map(|it| self.at(it.heard + IDLE)).min();
        prop_assert_eq!(self.subscribers.next_release(), next);
        Ok(())
    }
}

proptest! {
    /// Any order of calls, against a list of who is served.
    #[test]
    fn follows_its_reference(ops in prop::collection::vec(op(), 0..200)) {
        let mut model = Model::new();
        for op in ops {
            model.call(op)?;
            model.agrees()?;
        }
        model.end();
        prop_assert!(model.fates.values().all(Option::is_some), "an answer is owed for ever");
    }
}
