//! `Lifecycle` (R37, R40, R43, R45) by itself: levels, the freeze, words, and who hears of them. Its
//! driver is in `driver.rs`, what it leaves behind in `leaves_nothing.rs`.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
    task::{Wake, Waker},
};

use crate::support::{
    by_hand::{Task, kept, poll},
    paused::Paused,
};
use rideout::{
    Address, Refusal, Rejection,
    owner::{Ending, Lifecycle, PendingReply, Reached, ReplyPath, RunLevel},
    refusal::{Party, Seam, answered_by},
};

const LEVELS: [RunLevel; 7] = [
    RunLevel::Starting,
    RunLevel::Started,
    RunLevel::Quiescing,
    RunLevel::DisposeHosted,
    RunLevel::HostedDisposed,
    RunLevel::ShutDown,
    RunLevel::Dead,
];

fn address(path: &str) -> Address {
    path.parse().expect("a valid address")
}

fn owner() -> Lifecycle {
    Lifecycle::new(address("prices"))
}

fn child(parent: &Lifecycle, name: &str) -> Lifecycle {
    parent.child(address(name)).expect("its parent lives")
}

/// A promise by exactly this lifetime: read from its fields, and from its text alone (`R3`, `R4`).
fn is_promise_of(refusal: &Refusal, owner: &Lifecycle) {
    let by = Some(Rejection::by_owner(Some(owner.activation().clone())));
    assert_eq!(refusal.promise(owner.address()), by, "{refusal}");
    let text = Refusal::from_text(refusal.to_string());
    assert_eq!(text.promise(owner.address()), by, "{refusal}");
    assert!(answered_by(&refusal.to_string(), owner.address()));
    let other = address("other/owner");
    assert_ne!(text.speaker(&other).party(), Party::Owner, "another address");
    assert!(!answered_by(&refusal.to_string(), &other));
}

#[test]
fn the_face_is_what_a_server_needs() {
    fn is<T: Send + Sync + Unpin + 'static>() {}
    is::<Lifecycle>();
    is::<PendingReply>();
    is::<Reached>();
    is::<Ending>();
    fn is_sent<T: Send>(_: T) {}
    is_sent(owner().driver_on(Paused, async {}));
}

#[test]
fn the_levels_are_in_order() {
    assert!(LEVELS.is_sorted_by(|a, b| a < b));
    assert_eq!(RunLevel::default(), LEVELS[0]);
}

#[test]
fn births_are_in_order_and_activations_differ() {
    let parent = owner();
    let mut lives = vec![parent.clone()];
    lives.extend((0..100).map(|n| child(&parent, &format!("prices/{n}"))));
    assert!(lives.is_sorted_by(|a, b| a.born() < b.born()));
    let tags: BTreeSet<_> = lives.iter().map(|life| life.activation().as_str()).collect();
    assert_eq!(tags.len(), lives.len());
    assert_eq!(parent.clone().activation(), parent.activation());
}

/// R37: at once, idempotent, the first decides.
#[test]
fn dispose_returns_at_once_and_the_first_decides() {
    let idle = owner();
    assert!(!idle.is_refusing() && idle.ending().is_none());
    assert!(idle.dispose(Ending::recycle().asked_by("ops")));
    assert!(idle.is_refusing(), "nothing is pending: at once");
    assert_eq!(idle.level(), RunLevel::DisposeHosted, "and nobody drives it");
    for later in [Ending::deletion(), Ending::dispose(), Ending::recycle().asked_by("another")] {
        assert!(!idle.dispose(later));
    }
    assert_eq!(idle.ending(), Some(Ending::recycle().asked_by("ops")));
    idle.started();
    assert_eq!(idle.level(), RunLevel::DisposeHosted, "no level falls");
}

#[test]
fn the_end_waits_for_every_reply() {
    let owner = owner();
    owner.started();
    let replies = [owner.pending(), owner.pending()];
    assert!(!owner.is_idle());
    owner.dispose(Ending::dispose());
    for reply in replies {
        assert_eq!(owner.level(), RunLevel::Quiescing);
        assert!(!owner.is_refusing(), "it serves still");
        drop(reply);
    }
    assert!(owner.is_idle());
    assert_eq!(owner.level(), RunLevel::DisposeHosted);
    drop(owner.pending());
    assert_eq!(owner.level(), RunLevel::DisposeHosted, "a late reply changes nothing");
}

#[test]
fn a_dead_owner_is_not_disposed() {
    let owner = owner();
    owner.force();
    assert!(!owner.dispose(Ending::recycle()));
    assert_eq!((owner.ending(), owner.level()), (None, RunLevel::Dead));
    assert!(owner.was_forced() && owner.is_refusing() && owner.teardown().is_complete());
}

/// Tries to create below all of these when it is woken.
struct Tries(Vec<Lifecycle>, Mutex<Vec<bool>>);

impl Wake for Tries {
    fn wake(self: Arc<Self>) {
        let born = self.0.iter().map(|life| life.child(address("prices/late")).is_ok());
        self.1.lock().unwrap().extend(born);
    }
}

/// R37: who is told first finds the whole subtree frozen; who is beside it is not.
#[test]
fn the_whole_subtree_is_frozen_before_anyone_is_told() {
    let root = owner();
    let sub = child(&root, "prices/eur");
    let beside = child(&root, "prices/usd");
    let mut subtree = vec![sub.clone()];
    for n in 0..50 {
        let wide = child(&sub, &format!("prices/eur/{n}"));
        subtree.push(child(&wide, &format!("prices/eur/{n}/deep")));
        subtree.push(wide);
    }
    let tries = Arc::new(Tries(subtree.clone(), Mutex::default()));
    let mut told = sub.reached(RunLevel::Quiescing);
    assert!(poll(&mut told, &Waker::from(Arc::clone(&tries))).is_pending());
    assert!(subtree.iter().all(|life| life.child(address("prices/early")).is_ok()));

    sub.dispose(Ending::dispose());
    assert_eq!(*tries.1.lock().unwrap(), vec![false; subtree.len()]);
    assert!(subtree[1..].iter().all(|life| life.level() == RunLevel::Starting), "not told yet");
    assert!(beside.child(address("prices/usd/spot")).is_ok());
    assert!(root.child(address("prices/gbp")).is_ok());
}

/// R40: who was frozen from above, and is not told yet, says who asked all the same.
#[test]
fn a_creation_is_refused_by_who_was_asked_and_says_why() {
    let root = owner();
    let parent = child(&root, "prices/eur");
    let nested = child(&parent, "prices/eur/spot");
    root.dispose(Ending::recycle().asked_by("ops").reason("a new build"));
    for (life, who) in [(&root, "recycle asked for by ops"), (&nested, "dispose asked for by ops")]
    {
        let refusal = life.child(address("prices/eur/spot/x")).unwrap_err();
        is_promise_of(&refusal, life);
        let text = refusal.to_string();
        for part in [who, "a new build", "cannot create prices/eur/spot/x", "RunLevel="] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
    drop(root);
    assert!(
        !nested.closing().refuse(Seam::Door, "Get").to_string().contains("asked for"),
        "not known"
    );
}

#[test]
fn who_waits_for_a_level_hears_it_and_leaves_nothing() {
    let owner = owner();
    let tasks: Vec<_> = LEVELS.iter().map(|_| Task::new()).collect();
    let mut waits: Vec<_> = LEVELS.iter().map(|level| owner.reached(*level)).collect();
    let ready = |waits: &mut Vec<Reached>| -> Vec<bool> {
        let polled = waits.iter_mut().zip(&tasks).map(|(wait, (_, waker))| poll(wait, waker));
        polled.map(|polled| polled.is_ready()).collect()
    };
    assert_eq!(ready(&mut waits), LEVELS.map(|level| level <= RunLevel::Starting));
    let reply = owner.pending();
    owner.dispose(Ending::dispose());
    assert!(tasks[1..].iter().all(|(task, _)| task.wakes() == 1));
    for _ in 0..2 {
        assert_eq!(ready(&mut waits), LEVELS.map(|level| level <= RunLevel::Quiescing));
    }
    drop(waits.remove(5));
    assert_eq!(kept(&tasks[5].0), 0);
    drop(reply);
    owner.force();
    drop(waits);
    assert!(tasks.iter().all(|(task, _)| kept(task) == 0));
    assert!(poll(&mut owner.reached(RunLevel::Dead), Waker::noop()).is_ready());
}

#[test]
fn force_ends_children_before_their_parents() {
    let root = owner();
    let [left, right] = ["left", "right"].map(|name| child(&root, name));
    let below = child(&left, "left/below");
    let dead = Arc::new(Mutex::new(Vec::new()));
    for life in [&root, &left, &right, &below] {
        let (path, dead) = (life.address().to_string(), Arc::clone(&dead));
        life.on_death(move || dead.lock().unwrap().push(path));
    }
    root.force();
    root.force();
    assert_eq!(*dead.lock().unwrap(), ["left/below", "right", "left", "prices"]);
}

/// R40: by the owner, else its parent, else in process.
#[test]
fn a_refusal_has_a_reply_path_as_long_as_anybody_can_send_it() {
    let alone = owner();
    assert_eq!(alone.reply_path(), ReplyPath::Owner);
    alone.dispose(Ending::dispose());
    assert_eq!(alone.reply_path(), ReplyPath::Owner, "it refuses, and by itself");
    alone.force();
    assert_eq!(alone.reply_path(), ReplyPath::InProcess);

    let parent = owner();
    let [dead, orphan] = ["a", "b"].map(|name| child(&parent, name));
    dead.force();
    assert_eq!(dead.reply_path(), ReplyPath::Parent);
    let reply = parent.pending();
    parent.dispose(Ending::dispose());
    assert_eq!(dead.reply_path(), ReplyPath::Parent, "it serves still");
    drop(reply);
    assert_eq!(dead.reply_path(), ReplyPath::InProcess);
    assert_eq!(orphan.reply_path(), ReplyPath::Owner);
    drop(parent);
    orphan.force();
    assert_eq!(orphan.reply_path(), ReplyPath::InProcess);
}

/// R45: refuses, says so last, and lives on; also one that is told to end then.
#[test]
fn a_leaving_owner_refuses_and_lives() {
    let owner = owner();
    owner.started();
    assert!(!owner.is_leaving());
    owner.leave();
    assert!(owner.is_leaving() && owner.is_refusing());
    assert_eq!(owner.level(), RunLevel::Started);
    for _ in 0..2 {
        let refusal = owner.closing().refuse(Seam::Door, "Subscribe");
        is_promise_of(&refusal, &owner);
        let before = refusal.to_string();
        let (detail, _) = before.split_once(") — ").unwrap();
        assert!(detail.ends_with("its host is stopping"), "{before}");
        owner.dispose(Ending::dispose());
    }
}

/// R40, R2 to R4: at every level, whatever was given as who and why.
#[test]
fn every_refusal_is_this_owner_s_whatever_is_told_in_it() {
    let hostile = [
        "",
        "ops",
        "\u{0}\n\r\t\u{85}\u{2028}",
        "ops) — ",
        "((((",
        &owner().closing().refuse(Seam::Door, "activation #00 and cannot").to_string(),
        &Refusal::host_cannot_route(&address("prices")).to_string(),
        &"x".repeat(100_000),
    ];
    for text in hostile {
        let endings: [fn() -> Ending; 3] = [Ending::recycle, Ending::deletion, Ending::dispose];
        for ending in endings {
            let owner = owner();
            let child = child(&owner, "prices/eur");
            let reply = owner.pending();
            owner.dispose(ending().asked_by(text).reason(text));
            is_promise_of(&owner.closing().refuse(Seam::Door, text), &owner);
            is_promise_of(&child.closing().refuse(Seam::Mailbox, text), &child);
            drop(reply);
            is_promise_of(&owner.closing().refuse(Seam::Mailbox, text), &owner);
            owner.force();
            let refusal = owner.closing().refuse(Seam::Door, "Subscribe");
            is_promise_of(&refusal, &owner);
            assert!(refusal.to_string().contains("RunLevel=Dead, "), "{refusal}");
        }
    }
}

#[test]
fn an_ending_tells_what_is_known_of_it() {
    let told = |ending: Ending| (ending.to_string(), ending.is_announced());
    assert_eq!(told(Ending::recycle()), ("recycle".into(), true));
    assert_eq!(
        told(Ending::deletion().asked_by("ops")),
        ("deletion asked for by ops".into(), true)
    );
    assert_eq!(told(Ending::dispose().reason("idle")), ("dispose: idle".into(), false));
}
