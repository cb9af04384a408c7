//! The walk of R2: at each seam the code that refuses there is driven for real, and what it says is
//! recognised (R3, R4); whoever is not to be answered is not (C18, C30).

use std::{
    error::Error,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use futures::FutureExt;
use rideout::{
    Activation, Address, Kind, Party, Refusal, Rejection, Seam, Speaker, StreamId,
    mesh::Mesh,
    owner::{
        Disposing, DrainSet, Ending, Gates, LeavingHost, Lifecycle, Message, MessageKind,
        ReplyPath, RunLevel,
    },
    refusal::answered_by,
};

fn address(text: &str) -> Address {
    text.parse().unwrap()
}

type Answers = Arc<Mutex<Vec<Refusal>>>;

/// A message, and where its refusal goes.
struct Mail {
    sort: MessageKind,
    sender: Option<Address>,
    answers: Answers,
}

impl Message for Mail {
    fn name(&self) -> &str {
        "GetRequest"
    }

    fn kind(&self) -> MessageKind {
        self.sort
    }

    fn sender(&self) -> Option<&Address> {
        self.sender.as_ref()
    }

    fn refuse(self, refusal: Refusal, _: ReplyPath) {
        self.answers.lock().unwrap().push(refusal);
    }
}

/// What somebody was told: by which owner, and when that one had been asked.
struct Said {
    by: &'static str,
    refusal: Refusal,
    owner: Address,
    activation: Activation,
}

/// An owner at `prices/eur` that serves.
fn owner() -> Lifecycle {
    let owner = Lifecycle::new(address("prices/eur~host-1"));
    owner.started();
    owner
}

fn request(answers: &Answers) -> Mail {
    Mail {
        sort: MessageKind::Request,
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

/// A mesh with an owner at `prices/eur`.
fn mesh() -> (Mesh<u64>, Address, Activation) {
    let (mesh, address) = (Mesh::new(), address("prices/eur"));
    mesh.store(&address, 1);
    let activation = mesh.activate(&address).unwrap();
    (mesh, address, activation)
}

async fn settle() {
    for _ in 0..8 {
        tokio::task::yield_now().await;
    }
}

/// Whatever refuses at `seam`, made to. One that is added is missed here by the compiler.
async fn walk(seam: Seam) -> Vec<Said> {
    match seam {
        Seam::Door => door().await,
        Seam::Creation => creation().await,
        Seam::Leaving => leaving().await,
        Seam::Mailbox => mailbox().await,
        Seam::Gate => gate().await,
        Seam::Handler => handler(),
        Seam::Reassert => reassert().await,
    }
}

async fn door() -> Vec<Said> {
    let (ending, dead) = (owner(), owner());
    ending.dispose(Ending::recycle().asked_by("ops"));
    dead.force();
    let mut all: Vec<_> = [&ending, &dead]
        .map(|owner| by("Lifecycle::admit", owner, |mail| assert!(owner.admit(mail).is_none())))
        .into();

    let (mesh, owner, activation) = mesh();
    let fault = mesh.refuse_door(&owner);
    let subscribe = || async { mesh.subscribe(&owner, StreamId::mint()).await.unwrap_err() };
    let mut refusals = vec![("Mesh::refuse_door", subscribe().await)];
    drop(fault);
    let held = mesh.hold_route(&owner);
    mesh.recycle(&owner);
    refusals.push(("Mesh::subscribe", subscribe().await));
    refusals.push(("Mesh::read", mesh.read(&owner).await.unwrap_err()));
    refusals.push(("Mesh::write", mesh.write(&owner, 2).await.unwrap_err()));
    refusals.push(("Mesh::patch", mesh.patch(&owner, |_| {}).await.unwrap_err()));
    mesh.teardown_of(&activation).unwrap().await;
    refusals.push(("Mesh::hold_route", subscribe().await));
    drop(held);
    all.extend(refusals.into_iter().map(|(by, refusal)| Said {
        by,
        refusal,
        owner: owner.clone(),
        activation: activation.clone(),
    }));
    all
}

async fn creation() -> Vec<Said> {
    let parent = owner();
    let child = parent.child(address("prices/eur/spot")).unwrap();
    parent.dispose(Ending::recycle());
    let refused = |parent: &Lifecycle, path| parent.child(address(path)).unwrap_err();
    let mut all = vec![
        said("Lifecycle::child", &parent, refused(&parent, "prices/eur/fix")),
        said("Lifecycle::child, below", &child, refused(&child, "prices/eur/spot/bid")),
    ];

    // The mesh passes it on: the word of the parent, which is not the child's.
    let (mesh, parent, activation) = mesh();
    let child = address("prices/eur/spot");
    mesh.store(&child, 1);
    mesh.recycle(&parent);
    for relayed in [
        mesh.subscribe(&child, StreamId::mint()).await.unwrap_err(),
        mesh.activate(&child).unwrap_err(),
    ] {
        assert_eq!(relayed.promise(&child), Some(Rejection::by_route()), "{relayed}");
        let refusal = relayed.with_speaker(Party::Owner).with_activation(activation.clone());
        let (owner, activation) = (parent.clone(), activation.clone());
        all.push(Said { by: "Mesh::subscribe to a child", refusal, owner, activation });
    }
    all
}

async fn leaving() -> Vec<Said> {
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

    let (mesh, owner, activation) = mesh();
    let unhosted = address("rates/usd");
    mesh.store(&unhosted, 1);
    let _fault = mesh.linger_host("host-1");
    let refusal = mesh.read(&owner).await.unwrap_err();
    all.push(Said { by: "Mesh::linger_host", refusal, owner, activation });
    let refusal = mesh.subscribe(&unhosted, StreamId::mint()).await.unwrap_err();
    let activation = refusal.activation.clone().expect("one token");
    all.push(Said { by: "Mesh::linger_host, unhosted", refusal, owner: unhosted, activation });
    for said in &all {
        let told = said.refusal.message.contains("its host is stopping)");
        assert!(told, "{}: {}", said.by, said.refusal);
    }
    all
}

async fn mailbox() -> Vec<Said> {
    let (lives, ending) = (owner(), owner());
    ending.dispose(Ending::dispose());
    let mut all: Vec<_> = [&lives, &ending]
        .map(|owner| by("Lifecycle::discard", owner, |it| owner.discard(it)))
        .into();

    let (mesh, owner, activation) = mesh();
    settle().await;
    let mut write = mesh.write(&owner, 2).boxed();
    let mut ask = mesh.subscribe(&owner, StreamId::mint()).boxed();
    assert!((&mut write).now_or_never().is_none() && (&mut ask).now_or_never().is_none());
    mesh.recycle(&owner);
    for refusal in [write.await.unwrap_err(), ask.await.unwrap_err()] {
        let (owner, activation) = (owner.clone(), activation.clone());
        all.push(Said { by: "Mesh, in the mailbox", refusal, owner, activation });
    }
    all
}

async fn gate() -> Vec<Said> {
    let parked = owner();
    let mut gates = Gates::new(parked.clone());
    gates.close("loading");
    let mut all = vec![
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

    let (mesh, owner, activation) = mesh();
    let _fault = mesh.hold_store(&owner);
    settle().await;
    let mut write = mesh.write(&owner, 2).boxed();
    assert!((&mut write).now_or_never().is_none());
    settle().await;
    mesh.dispose(&owner);
    let refusal = write.await.unwrap_err();
    assert!(refusal.message.contains("behind gate `store`; dispose. The"), "{refusal}");
    all.push(Said { by: "Mesh::hold_store", refusal, owner, activation });
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

async fn reassert() -> Vec<Said> {
    type End = fn(&Mesh<u64>, &Address) -> Option<Activation>;
    let ends: [End; 3] = [
        |mesh, address| mesh.recycle(address),
        |mesh, address| mesh.delete(address),
        // By idleness.
        |mesh, address| mesh.activation_of(address),
    ];
    let mut all = Vec::new();
    for end in ends {
        let (mesh, owner, activation) = mesh();
        let _fault = mesh.hold_state(&owner);
        let stream = StreamId::mint();
        let mut asks =
            [mesh.subscribe(&owner, stream), mesh.subscribe(&owner, stream)].map(Box::pin);
        for ask in &mut asks {
            assert!(ask.now_or_never().is_none());
        }
        settle().await;
        end(&mesh, &owner).expect("an owner is there");
        for ask in asks {
            let refusal = ask.await.unwrap_err();
            let (owner, activation) = (owner.clone(), activation.clone());
            all.push(Said { by: "Mesh::hold_state", refusal, owner, activation });
        }
    }
    all
}

/// The words that a seam is to have: those of its place, and its tail.
fn words(seam: Seam) -> (&'static str, &'static str) {
    let door = "; the address may reactivate (recycle / restart). Rejecting now.";
    let accepted =
        ". The address may reactivate (recycle / restart); retry to get the authoritative answer.";
    match seam {
        Seam::Door | Seam::Leaving => (" — cannot process ", door),
        Seam::Creation => (" — cannot create ", door),
        Seam::Mailbox | Seam::Gate | Seam::Handler | Seam::Reassert => {
            (" — cannot finish ", accepted)
        }
    }
}

/// A refusal whose sender knew less.
fn but(refusal: &Refusal, unknown: impl FnOnce(&mut Refusal)) -> Refusal {
    let mut refusal = refusal.clone();
    unknown(&mut refusal);
    refusal
}

/// Requires R4 and R3 to recognise what was said, by address and by path, from the fields and from the
/// text alone; and to find nobody else in it.
fn is_recognised(seam: Seam, Said { by, refusal, owner, activation }: &Said) {
    let case = format!("{seam:?} by {by}: {refusal:?}");
    let (place, tail) = words(seam);
    assert!(refusal.message.contains(place) && refusal.message.ends_with(tail), "{case}");
    assert_eq!(refusal.kind, Some(Kind::ShuttingDown), "{case}");
    assert_eq!(refusal.speaker, Some(Party::Owner), "{case}");
    assert_eq!(refusal.activation.as_ref(), Some(activation), "{case}");

    let in_fields = refusal.clone();
    let by_banner = but(refusal, |it| (it.speaker, it.activation) = (None, None));
    let text_alone = Refusal::from_text(&*refusal.message);
    let relayed = Refusal::from_text(format!("Delivery to 'y' failed: {}", refusal.message));
    let promise = Some(Rejection::by_owner(Some(activation.clone())));
    let path = owner.path();
    for asked in [path.to_owned(), format!("{path}~host-1"), format!("{path}~elsewhere")] {
        let asked = address(&asked);
        assert!(answered_by(&refusal.message, &asked), "{case}");
        for form in [&in_fields, &by_banner, &text_alone, &relayed] {
            assert_eq!(form.promise(&asked), promise, "{case} as {form:?}");
            assert_eq!(form.speaker(&asked), Speaker::Owner(Some(activation.clone())), "{case}");
            let is_never_applied = match seam {
                Seam::Handler if form.never_applied.is_some() => false,
                _ => seam != Seam::Handler || form.never_applied.is_none(),
            };
            assert_eq!(form.is_never_applied(&asked), is_never_applied, "{case} as {form:?}");
        }
    }

    let others = ["y", "host-1", "prices", &format!("{path}/child"), &path[..path.len() - 1]];
    for other in others.map(address) {
        assert!(!answered_by(&refusal.message, &other), "{case} to {other}");
        assert_eq!(text_alone.promise(&other), None, "{case} to {other}");
        let without = but(refusal, |it| it.speaker = None);
        for form in [&text_alone, &by_banner, &without] {
            assert_eq!(form.speaker(&other), Speaker::Route, "{case} to {other} as {form:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn every_seam_that_refuses_is_recognised() {
    for &seam in Seam::ALL {
        let all = walk(seam).await;
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
    let answered = |sort, sender: &Option<Address>| {
        let answers = Answers::default();
        let mail = || Mail { sort, sender: sender.clone(), answers: Arc::clone(&answers) };
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
    for (sort, sender) in silent {
        assert_eq!(answered(sort, sender), 0, "{sort:?} of {sender:?}");
    }
    for (sort, sender) in asks {
        assert_eq!(answered(sort, sender), 3 * 8 + 1, "{sort:?} of {sender:?}");
    }
}

/// C30 on the mesh: nobody hears of a beat that a closing owner meets, at its door or in its mailbox.
#[tokio::test(start_paused = true)]
async fn a_beat_to_a_closing_owner_is_not_answered() {
    let (mesh, owner, activation) = mesh();
    settle().await;
    let stream = StreamId::mint();
    let mut news = mesh.news(&owner, stream);
    mesh.beat(&owner, stream); // in its mailbox
    mesh.dispose(&owner);
    mesh.beat(&owner, stream); // at its door
    mesh.teardown_of(&activation).unwrap().await;
    settle().await;
    assert!(futures::StreamExt::next(&mut news).now_or_never().is_none());
}
