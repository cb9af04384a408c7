//! Release and eviction together (R49, R50): an owner with its `Subscribers` and `Evictions`, the `DeliveryTargets` at
//! the other end of the route, and clients that roll, close, come back and say goodbye late.

use std::{
    cell::Cell,
    collections::{BTreeMap, BTreeSet, VecDeque},
    mem,
    time::{Duration, Instant},
};

use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};
use rideout::{
    Address, Refusal,
    owner::{DeliveryTargets, Evictions, Subscribers},
};

const CLIENTS: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    // Registered, and not known to be anything else.
    Live,
    // Lost, and about to register again.
    MidRoll,
    // Said goodbye.
    Closed,
}

#[derive(Clone, Copy, Debug)]
struct Client {
    state: State,
    // The number of its newest registration; 0 before the first.
    newest: u32,
}

/// What is on its way to the owner.
#[derive(Debug)]
enum ToOwner {
    Ask { client: usize, attempt: u32 },
    Refusal { client: usize, attempt: u32, address: Address, refusal: Refusal },
}

#[derive(Clone, Debug)]
enum Op {
    /// It goes without a goodbye.
    Lose(usize),
    /// It registers, and asks the owner: for the first time, after a roll, or once more.
    Register(usize),
    /// It says goodbye, and the owner does not hear of it.
    Close(usize),
    /// The goodbye of an older registration arrives, or one a second time.
    LateGoodbye(usize, u32),
    /// The owner pushes, and hears of what is refused at once.
    Push,
    /// The owner pushes, and what is refused is on its way.
    PushAway,
    /// The next thing on its way to the owner arrives.
    Arrive,
    Advance(u64),
}

/// An operation from a number, which is quicker to make, and to shrink, than a choice of strategies.
fn op(n: u32) -> Op {
    let (which, client, more) = (n % 32, (n >> 8) as usize % CLIENTS, n >> 16);
    match which {
        0..4 => Op::Lose(client),
        4..9 => Op::Register(client),
        9..11 => Op::Close(client),
        11..15 => Op::LateGoodbye(client, more),
        15..21 => Op::Push,
        21..23 => Op::PushAway,
        23..28 => Op::Arrive,
        _ => Op::Advance(u64::from(more % 400)),
    }
}

/// What happened in all interleavings, so that none of it is proven of nothing.
#[derive(Debug, Default)]
struct Happened {
    evicted: Cell<u32>,
    promises_in_a_roll: Cell<u32>,
    late_goodbyes: Cell<u32>,
    late_refusals: Cell<u32>,
    fell_idle: Cell<u32>,
}

fn count(cell: &Cell<u32>) {
    cell.set(cell.get() + 1);
}

struct World<'a> {
    now: Instant,
    clients: [Client; CLIENTS],
    targets: DeliveryTargets<usize, u32>,
    // The sink is the address and the attempt that it was given with.
    subscribers: Subscribers<usize, (Address, u32), ()>,
    evictions: Evictions<usize>,
    to_owner: VecDeque<ToOwner>,
    // Registrations that said goodbye, as the other end heard it.
    goodbyes: BTreeSet<(usize, u32)>,
    // How often a push met each released registration, before the owner knew it.
    refused: BTreeMap<(usize, u32), u32>,
    happened: &'a Happened,
}

impl<'a> World<'a> {
    fn new(happened: &'a Happened) -> Self {
        let mut subscribers = Subscribers::new();
        let _ = subscribers.publish();
        World {
            now: Instant::now(),
            clients: [Client { state: State::Closed, newest: 0 }; CLIENTS],
            targets: DeliveryTargets::new(),
            subscribers,
            evictions: Evictions::new("prices/eur".parse().unwrap()),
            to_owner: VecDeque::new(),
            goodbyes: BTreeSet::new(),
            refused: BTreeMap::new(),
            happened,
        }
    }

    fn act(&mut self, op: Op) {
        match op {
            Op::Lose(client) if self.clients[client].state == State::Live => {
                let newest = self.clients[client].newest;
                assert!(self.targets.mark_disconnected(&client, &newest, self.now));
                self.clients[client].state = State::MidRoll;
            }
            Op::Register(client) => {
                let attempt = self.clients[client].newest + 1;
                self.clients[client] = Client { state: State::Live, newest: attempt };
                self.targets.register(client, attempt);
                self.to_owner.push_back(ToOwner::Ask { client, attempt });
            }
            Op::Close(client) if self.clients[client].state != State::Closed => {
                let newest = self.clients[client].newest;
                self.clients[client].state = State::Closed;
                self.goodbye(client, newest);
            }
            Op::LateGoodbye(client, which) => {
                let Client { state, newest } = self.clients[client];
                // Of a predecessor, whatever became of it; or once more, of one that is closed.
                let known = newest.saturating_sub(u32::from(state != State::Closed));
                if known > 0 {
                    let attempt = which % known + 1;
                    count(&self.happened.late_goodbyes);
                    assert!(!self.targets.release(&client, &attempt, self.now));
                }
            }
            Op::Push => self.push(false),
            Op::PushAway => self.push(true),
            Op::Arrive => self.arrive(),
            Op::Advance(seconds) => self.advance(seconds),
            Op::Lose(_) | Op::Close(_) => {}
        }
        self.check();
    }

    fn goodbye(&mut self, client: usize, attempt: u32) {
        // Of one that was lost so long ago that it is forgotten, it comes too late.
        self.targets.release(&client, &attempt, self.now);
        self.goodbyes.insert((client, attempt));
    }

    fn advance(&mut self, seconds: u64) {
        // No ask is on its way for minutes (`R20`).
        let (asks, rest) = mem::take(&mut self.to_owner)
            .into_iter()
            .partition::<VecDeque<_>, _>(|it| matches!(it, ToOwner::Ask { .. }));
        self.to_owner = rest;
        asks.into_iter().for_each(|ask| self.hear(ask));
        self.now += Duration::from_secs(seconds);
        for (n, client) in self.clients.iter().enumerate() {
            if client.state == State::Live {
                self.subscribers.beat(&n, self.now);
            }
        }
        for idle in self.subscribers.release_idle(self.now) {
            count(&self.happened.fell_idle);
            self.evictions.forget(&idle.key);
        }
    }

    fn push(&mut self, away: bool) {
        for frame in self.subscribers.publish() {
            let (client, attempt, address) = (frame.key, frame.attempt, frame.sink.0);
            let Client { state, newest } = self.clients[client];
            let Err(refusal) = self.targets.deliver(&address, &client, self.now) else {
                assert_eq!(state, State::Live, "delivered to nobody");
                self.evictions.delivered(&client, &address);
                continue;
            };
            assert_ne!(state, State::Live, "one that is live is refused");
            if state == State::MidRoll {
                assert!(!refusal.released && refusal.promise(&address).is_some());
                count(&self.happened.promises_in_a_roll);
            }
            // How often, without that the owner could know by another's being on its way.
            let is_on_its_way = self
                .to_owner
                .iter()
                .any(|it| matches!(it, ToOwner::Refusal { client: it, .. } if *it == client));
            if self.goodbyes.contains(&(client, newest)) && !is_on_its_way {
                *self.refused.entry((client, attempt)).or_default() += 1;
            }
            let refusal = ToOwner::Refusal { client, attempt, address, refusal };
            if away { self.to_owner.push_back(refusal) } else { self.hear(refusal) }
        }
    }

    fn arrive(&mut self) {
        if let Some(next) = self.to_owner.pop_front() {
            count(&self.happened.late_refusals);
            self.hear(next);
        }
    }

    fn hear(&mut self, said: ToOwner) {
        match said {
            ToOwner::Ask { client, attempt } => {
                let address = format!("clients/{client}").parse().unwrap();
                let _ = self.subscribers.ask(client, attempt, (address, attempt), (), self.now);
            }
            ToOwner::Refusal { client, attempt, address, refusal } => {
                if self.evictions.refused(&client, &address, &refusal, self.now)
                    && self.subscribers.unsubscribe(&client, attempt).is_some()
                {
                    let Client { state, newest } = self.clients[client];
                    let is_over = attempt < newest || state == State::Closed;
                    assert!(is_over, "{client} is {state:?} on {attempt}, and was evicted");
                    count(&self.happened.evicted);
                }
            }
        }
    }

    fn check(&self) {
        // A released one costs at most one refused push.
        assert!(self.refused.values().all(|&times| times <= 1), "{:?}", self.refused);
        for (client, Client { state, newest }) in self.clients.into_iter().enumerate() {
            let asked = !self.to_owner.iter().any(|it| {
                matches!(it, ToOwner::Ask { client: it, attempt } if (*it, *attempt) == (client, newest))
            });
            if state == State::Live && asked {
                let sink =
                    self.subscribers.iter().find(|(key, _)| **key == client).map(|it| it.1.1);
                assert_eq!(sink, Some(newest), "{client} is live and served no longer");
            }
        }
    }

    /// All that is on its way arrives, and the owner pushes once: no closed client is left.
    fn settles(mut self) {
        while !self.to_owner.is_empty() {
            self.arrive();
            self.check();
        }
        self.push(false);
        let closed = |world: &World<'_>| {
            let mut keys = world.subscribers.iter().map(|(key, _)| *key);
            keys.any(|key| world.clients[key].state == State::Closed)
        };
        assert!(!closed(&self), "a released one is still served");
        self.check();
    }
}

#[test]
fn ten_thousand_interleavings_evict_the_released_and_nobody_else() {
    let happened = Happened::default();
    let config = Config { failure_persistence: None, ..Config::with_cases(10_000) };
    let mut runner = TestRunner::new(config);
    let ops = prop::collection::vec(any::<u32>(), 0..60);
    let ops = ops.prop_map(|ops| ops.into_iter().map(op).collect::<Vec<_>>());
    let outcome = runner.run(&ops, |ops| {
        let mut world = World::new(&happened);
        ops.into_iter().for_each(|op| world.act(op));
        world.settles();
        Ok(())
    });
    if let Err(failed) = outcome {
        panic!("{failed}");
    }
    for (what, times) in [
        ("evicted", &happened.evicted),
        ("promises in a roll", &happened.promises_in_a_roll),
        ("late goodbyes", &happened.late_goodbyes),
        ("late refusals", &happened.late_refusals),
        ("fell idle", &happened.fell_idle),
    ] {
        assert!(times.get() > 1_000, "{what}: {}", times.get());
    }
}

/// The story: an owner that pushes for 46 minutes, many times a minute, to a client that is closed.
#[test]
fn a_closed_client_costs_one_refused_push() {
    let pushes = |released: bool| {
        let client: Address = "clients/7".parse().unwrap();
        let (start, minute) = (Instant::now(), Duration::from_secs(60));
        // The owner's own bound on the silent is out of the way.
        let mut subscribers = Subscribers::new().idle_release(Duration::MAX);
        let mut targets = DeliveryTargets::new();
        let mut evictions = Evictions::new("prices/eur".parse().unwrap());
        targets.register(1, 1);
        let _ = subscribers.ask(1, 1, client, (), start);
        if released {
            assert!(targets.release(&1, &1, start));
        } else {
            assert!(targets.mark_disconnected(&1, &1, start));
        }
        for n in 0..46 * 1_000 {
            let now = start + minute * n / 1_000;
            for frame in subscribers.publish() {
                let refusal = targets.deliver(&frame.sink, &1, now).unwrap_err();
                if evictions.refused(&frame.key, &frame.sink, &refusal, now) {
                    let _ =
                        subscribers.unsubscribe(&frame.key, frame.attempt).expect("it was served");
                }
            }
        }
        evictions.counts()
    };
    let counts = pushes(true);
    assert_eq!((counts.promises, counts.verdicts, counts.evicted), (0, 1, 1));
    // The control: its goodbye is not known, as in the story.
    let counts = pushes(false);
    assert_eq!((counts.promises, counts.verdicts, counts.evicted), (46_000, 0, 0));
}
