//! Any order of calls, against a model of a few lines.

use super::*;

#[derive(Clone, Debug)]
enum Op {
    Close(usize),
    Open(usize),
    Pass(MessageKind),
    Release,
    Wait(u64),
    Expire,
    TearDown,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        3 => (0..3usize).prop_map(Op::Close),
        3 => (0..3usize).prop_map(Op::Open),
        5 => Just(Op::Pass(MessageKind::Request)),
        1 => Just(Op::Pass(MessageKind::Reply)),
        1 => Just(Op::Pass(MessageKind::Ignorable)),
        4 => Just(Op::Release),
        3 => (0..20u64).prop_map(Op::Wait),
        3 => Just(Op::Expire),
        1 => Just(Op::TearDown),
    ]
}

const NAMES: [&str; 3] = ["a", "b", "c"];

/// As many are parked at most.
const BACKLOG: usize = 6;

/// What is parked, as these tests see it.
#[derive(Debug)]
struct Waiting {
    id: u32,
    kind: MessageKind,
    gates: Vec<&'static str>,
    since: u64,
}

/// What there is behind the gates, and what a call ended there.
#[derive(Default)]
struct Model {
    waiting: Vec<Waiting>,
    closed: Vec<&'static str>,
    now: u64,
    torn_down: bool,
    // The newest that was let through.
    last: u32,
    failed: Vec<Waiting>,
    promised: Vec<Waiting>,
}

impl Model {
    fn closes(&self, it: &Waiting) -> bool {
        it.gates.iter().any(|gate| self.closed.contains(gate))
    }

    /// Makes a call, on the gates and here.
    fn call(&mut self, op: &Op, owner: &mut Owner) -> Result<(), TestCaseError> {
        match *op {
            Op::Close(gate) => {
                let opened = !self.closed.contains(&NAMES[gate]);
                prop_assert_eq!(owner.gates.close(NAMES[gate]), opened);
                self.closed.extend(opened.then_some(NAMES[gate]));
            }
            Op::Open(gate) => {
                prop_assert_eq!(owner.gates.open(NAMES[gate]), self.closed.contains(&NAMES[gate]));
                self.closed.retain(|name| *name != NAMES[gate]);
            }
            Op::Pass(kind) => self.pass(kind, owner)?,
            Op::Release => {
                let out = handed(owner.gates.release());
                let is_due = self.waiting.first().is_some_and(|it| !self.closes(it));
                let due = is_due.then(|| self.waiting.remove(0).id);
                prop_assert!(out.iter().copied().eq(due), "{:?}, and due {:?}", out, due);
                due.map_or(Ok(()), |id| self.goes_through(id))?;
            }
            Op::Wait(seconds) => self.now += seconds,
            Op::Expire => {
                owner.expire_at(Duration::from_secs(self.now));
                while let Some(head) = self.waiting.first()
                    && self.closes(head)
                    && head.since + 30 <= self.now
                {
                    self.failed.push(self.waiting.remove(0));
                }
            }
            Op::TearDown => {
                owner.tear_down();
                self.torn_down = true;
                self.promised.append(&mut self.waiting);
            }
        }
        Ok(())
    }

    fn pass(&mut self, kind: MessageKind, owner: &mut Owner) -> Result<(), TestCaseError> {
        let mail = owner.mail(kind, "reader");
        let it = Waiting { id: mail.id, kind, gates: self.closed.clone(), since: self.now };
        let through = owner.pass(mail, Duration::from_secs(self.now));
        prop_assert_eq!(through, self.closed.is_empty() && self.waiting.is_empty());
        if through {
            return self.goes_through(it.id);
        }
        let whither = if self.torn_down {
            &mut self.promised
        } else if self.waiting.len() == BACKLOG {
            &mut self.failed
        } else {
            &mut self.waiting
        };
        whither.push(it);
        Ok(())
    }

    fn goes_through(&mut self, id: u32) -> Result<(), TestCaseError> {
        prop_assert!(id > self.last, "{} overtook {}", id, self.last);
        self.last = id;
        Ok(())
    }

    /// Looks at what the call ended, and at what is parked still.
    fn judge(&mut self, owner: &Owner) -> Result<(), TestCaseError> {
        let failed = self.failed.drain(..).map(|it| (it, Kind::Failed));
        let due: Vec<_> =
            failed.chain(self.promised.drain(..).map(|it| (it, Kind::ShuttingDown))).collect();
        let ended = owner.ended();
        prop_assert_eq!(ended.len(), due.len());
        for ((it, refused_as), (id, end)) in due.iter().zip(&ended) {
            prop_assert_eq!(it.id, *id);
            match end {
                End::Dropped => prop_assert_ne!(it.kind, MessageKind::Request),
                End::Refused(refusal, _) => {
                    prop_assert_eq!(it.kind, MessageKind::Request);
                    prop_assert_eq!(refusal.kind, Some(*refused_as));
                    for name in NAMES {
                        let named = refusal.message.contains(&format!("`{name}`"));
                        prop_assert_eq!(named, it.gates.contains(&name));
                    }
                }
            }
        }
        prop_assert_eq!(owner.gates.parked(), self.waiting.len());
        let expires = self.waiting.first().is_some_and(|it| self.closes(it));
        prop_assert_eq!(owner.gates.next_expiry().is_some(), expires);
        Ok(())
    }
}

proptest! {
    /// Nothing parked is lost or ends twice; each ends as it should.
    #[test]
    fn whatever_is_parked_ends_once(ops in prop::collection::vec(op(), 0..120)) {
        let mut owner = Owner::with(|gates| gates.backlog(BACKLOG));
        let mut model = Model::default();
        for op in ops.iter().chain([&Op::Expire, &Op::TearDown]) {
            model.call(op, &mut owner)?;
            model.judge(&owner)?;
        }
        prop_assert_eq!(owner.gates.parked(), 0);
    }
}
