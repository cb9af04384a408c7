//! The walk of R2: at each seam the code that refuses there is driven for real, and what it says is
//! recognised (R3, R4); whoever is not to be answered is not (C18, C30).

use std::{
    error::Error,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use crate::support::recognised::{Said, is_recognised};
use rideout::{
    Address, Refusal, Rejection,
    owner::{
        Disposing, DrainSet, Ending, Gates, LeavingHost, Lifecycle, Message, MessageKind,
        ReplyPath, RunLevel, Subscribers,
    },
    refusal::Seam,
};

fn address(text: &str) -> Address {
    text.parse().unwrap()
}

type Answers = Arc<Mutex<Vec<Refusal>>>;

/// A message, and where its refusal goes.
struct Mail {
    kind: MessageKind,
    sender: Option<Address>,
    answers: Answers,
}

impl Message for Mail {
    fn name(&self) -> &str {
        "GetRequest"
    }

    fn kind(&self) -> MessageKind {
        self.kind
    }

    fn sender(&self) -> Option<&Address> {
        self.sender.as_ref()
    }

    fn refuse(self, refusal: Refusal, _: ReplyPath) {
        self.answers.lock().unwrap().push(refusal);
    }
}

/// An owner at `prices/eur` that serves.
fn owner() -> Lifecycle {
    let owner = Lifecycle::new(address("prices/eur~host-1"));
    owner.started();
    owner
}

fn request(answers: &Answers) -> Mail {
    Mail {
        kind: MessageKind::Request,
        sender: Some(address("reader")),
        answers: Arc::clone(answers),
    }
}

/// What `owner` says where `drive` leads a request to it.
fn by(by: &'static str, owner: &Lifecycle, drive: impl FnOnce(Mail)) -> Said {
    let answers = Answers::default();
    drive(request(&answers));
    let mut answers = std::mem::take(&mut *answers.lock().unwrap());
    let refusal = answers.pop().expect("refused");
    assert!(answers.is_empty(), "{by}: answered once");
    said(by, owner, refusal)
}

fn said(by: &'static str, owner: &Lifecycle, refusal: Refusal) -> Said {
    let (activation, owner) = (owner.activation().clone(), owner.address().clone());
    Said { by, refusal, owner, activation }
}

/// Whatever refuses at `seam`, made to. One that is added is missed here by the compiler.
fn walk(seam: Seam) -> Vec<Said> {
    match seam {
        Seam::Door => door(),
        Seam::Creation => creation(),
        Seam::Leaving => leaving(),
        Seam::Mailbox => mailbox(),
        Seam::Gate => gate(),
        Seam::Handler => handler(),
        Seam::Reassert => reassert(),
    }
}

fn door() -> Vec<Said> {
    let (ending, dead) = (owner(), owner());
    ending.dispose(Ending::recycle().asked_by("ops"));
    dead.force();
    [&ending, &dead]
        .map(|owner| by("Lifecycle::admit", owner, |mail| assert!(owner.admit(mail).is_none())))
        .into()
}

fn creation() -> Vec<Said> {
    let parent = owner();
    let child = parent.child(address("prices/eur/spot")).unwrap();
    parent.dispose(Ending::recycle());
    let refused = |parent: &Lifecycle, path| parent.child(address(path)).unwrap_err();
    vec![
        said("Lifecycle::child", &parent, refused(&parent, "prices/eur/fix")),
        said("Lifecycle::child, below", &child, refused(&child, "prices/eur/spot/bid")),
    ]
}

fn leaving() -> Vec<Said> {
    let (owner, none) = (owner(), owner());
    let host = LeavingHost::new("host-1", &DrainSet::new());
    host.stop();
    owner.leave();
    let (at, name) = (owner.address().clone(), "GetRequest");
    let mut all = vec![
        by("Lifecycle::admit", &owner, |mail| assert!(owner.admit(mail).is_none())),
        said("inbound", &owner, host.inbound(&at, Some(&owner), name).unwrap_err()),
        said("inbound, still told", &none, host.inbound(&at, Some(&none), name).unwrap_err()),
    ];
    for _ in 0..2 {
        let refusal = host.inbound(&at, None, name).unwrap_err();
        let activation = refusal.activation.clone().expect("one token");
        all.push(Said { by: "inbound, without an owner", refusal, owner: at.clone(), activation });
    }
    assert_eq!(all[3].activation, all[4].activation);

    for said in &all {
        let told = said.refusal.message.contains("its host is stopping)");
        assert!(told, "{}: {}", said.by, said.refusal);
    }
    all
}

fn mailbox() -> Vec<Said> {
    let (lives, ending) = (owner(), owner());
    ending.dispose(Ending::dispose());
    [&lives, &ending].map(|owner| by("Lifecycle::discard", owner, |it| owner.discard(it))).into()
}

fn gate() -> Vec<Said> {
    let parked = owner();
    let mut gates = Gates::new(parked.clone());
    gates.close("loading");
    let all = vec![
        by("Gates::tear_down", &parked, |mail| {
            assert!(gates.pass(mail, Instant::now()).is_none());
            parked.dispose(Ending::recycle().asked_by("ops").reason("a new build"));
            gates.tear_down();
        }),
        by("Gates::pass, torn down", &parked, |mail| {
            let mut gates = Gates::new(parked.clone());
            gates.close("loading");
            gates.tear_down();
            assert!(gates.pass(mail, Instant::now()).is_none());
        }),
    ];
    for said in &all {
        let told = "behind gate `loading`; recycle asked for by ops: a new build. The";
        assert!(said.refusal.message.contains(told), "{}: {}", said.by, said.refusal);
    }

    all
}

fn handler() -> Vec<Said> {
    let (lives, ending) = (owner(), owner());
    ending.dispose(Ending::recycle());
    let anothers = Refusal::mesh_cannot_route(&address("rates/usd"));
    let wrapped = std::io::Error::other(Disposing);
    let failures: [(&Lifecycle, &(dyn Error + 'static)); 4] =
        [(&lives, &Disposing), (&ending, &Disposing), (&lives, &wrapped), (&ending, &anothers)];
    failures
        .map(|(owner, error)| by("Lifecycle::failed", owner, |mail| owner.failed(mail, error)))
        .into()
}

/// An answer that was held until there would be a state, where its stream ends first.
fn reassert() -> Vec<Said> {
    let owner = owner();
    let mut subscribers = Subscribers::<_, _, Mail>::new();
    let answers = Answers::default();
    for attempt in 1..=2 {
        let asked = subscribers.ask("eur", attempt, (), request(&answers), Instant::now());
        assert!(asked.frame.is_none() && asked.refused.is_none());
    }
    owner.dispose(Ending::recycle());
    let held = subscribers.end().into_iter().flat_map(|released| released.held);
    let refusals = held.map(|mail| owner.closing().refuse(Seam::Reassert, mail.name()));
    refusals.map(|refusal| said("Subscribers::end", &owner, refusal)).collect()
}

#[test]
fn every_seam_that_refuses_is_recognised() {
    for &seam in Seam::ALL {
        let all = walk(seam);
        assert!(all.len() > 1, "{seam:?}: driven in more than one way");
        for said in &all {
            is_recognised(seam, said);
        }
    }
}

/// C18: wherever a request meets the end of one owner, it is a promise under that owner's tag.
#[test]
fn one_owner_speaks_under_one_tag_wherever_it_refuses() {
    let owner = owner();
    let mut gates = Gates::new(owner.clone());
    gates.close("access");
    let answers = Answers::default();
    let [at_gate, in_queue, in_handler, at_door] = [(); 4].map(|()| request(&answers));
    assert!(gates.pass(at_gate, Instant::now()).is_none());
    let in_queue = owner.admit(in_queue).expect("it serves");
    let in_handler = owner.admit(in_handler).expect("it serves");

    owner.dispose(Ending::recycle());
    assert!(owner.admit(at_door).is_none());
    gates.tear_down();
    owner.discard(in_queue);
    owner.failed(in_handler, &Disposing);
    owner.leave();
    assert!(owner.admit(request(&answers)).is_none());
    let created = owner.child(address("prices/eur/spot")).unwrap_err();

    let mut said = std::mem::take(&mut *answers.lock().unwrap());
    said.push(created);
    assert_eq!(said.len(), 6);
    let promise = Some(Rejection::by_owner(Some(owner.activation().clone())));
    for refusal in said {
        assert_eq!(refusal.promise(owner.address()), promise, "{refusal}");
        assert_eq!(Refusal::from_text(&*refusal.message).promise(owner.address()), promise);
    }
}

/// C30: a refusal of a refusal, of a reply, of a beat, of the owner's own: none is minted, anywhere.
#[test]
fn nobody_is_answered_who_does_not_ask() {
    let another = Some(address("reader"));
    let own = Some(address("prices/eur~elsewhere"));
    let silent = [
        (MessageKind::Reply, &another),
        (MessageKind::Refusal, &another),
        (MessageKind::Ignorable, &another),
        (MessageKind::Reply, &None),
        (MessageKind::Refusal, &None),
        (MessageKind::Ignorable, &None),
        (MessageKind::Request, &own),
    ];
    let asks = [(MessageKind::Request, &another), (MessageKind::Request, &None)];
    let answered = |kind, sender: &Option<Address>| {
        let answers = Answers::default();
        let mail = || Mail { kind, sender: sender.clone(), answers: Arc::clone(&answers) };
        let (lives, ending, leaving, dead) = (owner(), owner(), owner(), owner());
        ending.dispose(Ending::recycle());
        leaving.leave();
        dead.force();
        assert_eq!(dead.level(), RunLevel::Dead);
        for owner in [&ending, &leaving, &dead] {
            drop(owner.admit(mail()));
            owner.discard(mail());
            owner.failed(mail(), &Disposing);
            owner.failed(mail(), &std::fmt::Error);
            let now = Instant::now();
            let mut gates = Gates::new(owner.clone()).backlog(1).wait_limit(Duration::ZERO);
            gates.close("loading");
            drop(gates.pass(mail(), now));
            drop(gates.pass(mail(), now)); // meets a backlog
            gates.expire(now);
            drop(gates.pass(mail(), now));
            gates.tear_down();
            drop(gates.pass(mail(), now));
        }
        lives.failed(mail(), &Disposing);
        answers.lock().unwrap().len()
    };
    for (kind, sender) in silent {
        assert_eq!(answered(kind, sender), 0, "{kind:?} of {sender:?}");
    }
    for (kind, sender) in asks {
        assert_eq!(answered(kind, sender), 3 * 8 + 1, "{kind:?} of {sender:?}");
    }
}
