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
    TearingDown,
}

const NAMES: [&str; 3] = ["a", "b", "c"];

/// What is parked, as these tests see it.
#[derive(Debug)]
struct Waiting {
    id: u32,
    sort: MessageKind,
    gates: Vec<&'static str>,
    since: u64,
}

proptest! {
    /// Nothing parked is lost or ends twice; each ends as it should.
    #[test]
    fn whatever_is_parked_ends_once(ops in prop::collection::vec(prop_oneof![
        3 => (0..3usize).prop_map(Op::Close),
        3 => (0..3usize).prop_map(Op::Open),
        5 => Just(Op::Pass(MessageKind::Request)),
        1 => Just(Op::Pass(MessageKind::Reply)),
        1 => Just(Op::Pass(MessageKind::Ignorable)),
        4 => Just(Op::Release),
        3 => (0..20u64).prop_map(Op::Wait),
        3 => Just(Op::Expire),
        1 => Just(Op::TearingDown),
    ], 0..120)) {
        let mut owner = Owner::with(|gates| gates.backlog(6));
        let (mut waiting, mut closed) = (Vec::<Waiting>::new(), Vec::new());
        let (mut now, mut torn_down, mut last) = (0, false, 0);
        for op in ops.into_iter().chain([Op::Expire, Op::TearingDown]) {
            let (mut out, mut failed, mut promised) = (vec![], vec![], vec![]);
            match op {
                Op::Close(gate) => {
                    let opened = !closed.contains(&NAMES[gate]);
                    prop_assert_eq!(owner.gates.close(NAMES[gate]), opened);
                    closed.extend(opened.then_some(NAMES[gate]));
                }
                Op::Open(gate) => {
                    prop_assert_eq!(owner.gates.open(NAMES[gate]), closed.contains(&NAMES[gate]));
                    closed.retain(|name| *name != NAMES[gate]);
                }
                Op::Pass(sort) => {
                    let mail = owner.mail(sort, "reader");
                    let gates = closed.clone();
                    let it = Waiting { id: mail.id, sort, gates, since: now };
                    let at = Duration::from_secs(now);
                    let through = owner.pass(mail, at);
                    prop_assert_eq!(through, closed.is_empty() && waiting.is_empty());
                    if through {
                        prop_assert!(it.id > last);
                        last = it.id;
                    } else if torn_down {
                        promised.push(it);
                    } else if waiting.len() == 6 {
                        failed.push(it);
                    } else {
                        waiting.push(it);
                    }
                }
                Op::Release => {
                    out.extend(handed(owner.gates.release()));
                    let may = |it: &Waiting| it.gates.iter().all(|gate| !closed.contains(gate));
                    let due = waiting.first().is_some_and(may).then(|| waiting.remove(0).id);
                    prop_assert_eq!(&out, &due.into_iter().collect::<Vec<_>>());
                }
                Op::Wait(seconds) => now += seconds,
                Op::Expire => {
                    owner.expire_at(Duration::from_secs(now));
                    while let Some(head) = waiting.first()
                        && head.gates.iter().any(|gate| closed.contains(gate))
                        && head.since + 30 <= now
                    {
                        failed.push(waiting.remove(0));
                    }
                }
                Op::TearingDown => {
                    owner.tear_down();
                    torn_down = true;
                    promised.append(&mut waiting);
                }
            }
            if let [id] = out[..] {
                prop_assert!(id > last, "{} overtook {}", id, last);
                last = id;
            }

            let ended = owner.ended();
            prop_assert_eq!(ended.len(), failed.len() + promised.len());
            let due = failed.iter().map(|it| (it, Kind::Failed));
            let due = due.chain(promised.iter().map(|it| (it, Kind::ShuttingDown)));
            for ((it, kind), (id, end)) in due.zip(&ended) {
                prop_assert_eq!(it.id, *id);
                match end {
                    End::Dropped => prop_assert_ne!(it.sort, MessageKind::Request),
                    End::Refused(refusal, _) => {
                        prop_assert_eq!((it.sort, refusal.kind), (MessageKind::Request, Some(kind)));
                        for name in NAMES {
                            let named = refusal.message.contains(&format!("`{name}`"));
                            prop_assert_eq!(named, it.gates.contains(&name));
                        }
                    }
                }
            }
            prop_assert_eq!(owner.gates.parked(), waiting.len());
            prop_assert_eq!(owner.gates.next_expiry().is_some(), waiting.first().is_some_and(|it| {
                it.gates.iter().any(|gate| closed.contains(gate))
            }));
        }
        prop_assert_eq!(owner.gates.parked(), 0);
    }
}
