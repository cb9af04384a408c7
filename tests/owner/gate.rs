//! What waits behind a gate is handed out in order, or told how its wait ended (R41, C18).

mod any_order;
mod limits;
mod teardown;

use std::{
    cell::RefCell,
    panic::{AssertUnwindSafe, catch_unwind},
    rc::Rc,
    time::{Duration, Instant},
};

use crate::support::heard::Heard;
use proptest::prelude::*;
use rideout::{
    Address, Kind, Refusal, Rejection,
    owner::{Disposing, Ending, Gates, Lifecycle, Message, MessageKind, ReplyPath},
    refusal::{Party, Seam, Speaker},
};
use tracing::Level;

const SECOND: Duration = Duration::from_secs(1);

fn address(text: &str) -> Address {
    text.parse().unwrap()
}

/// How the waiting of a message ended.
#[derive(Clone, Debug, PartialEq)]
enum End {
    Refused(Refusal, ReplyPath),
    /// Dropped, and nobody was answered.
    Dropped,
}

type Ends = Rc<RefCell<Vec<(u32, End)>>>;

struct Mail {
    id: u32,
    kind: MessageKind,
    sender: Address,
    name: String,
    panics: bool,
    // `None` once it was refused or handed out.
    ends: Option<Ends>,
}

impl Message for Mail {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> MessageKind {
        self.kind
    }

    fn sender(&self) -> Option<&Address> {
        Some(&self.sender)
    }

    fn refuse(mut self, refusal: Refusal, reply_path: ReplyPath) {
        let ends = self.ends.take().expect("it is answered once");
        ends.borrow_mut().push((self.id, End::Refused(refusal, reply_path)));
        assert!(!self.panics, "as it was told to");
    }
}

impl Drop for Mail {
    fn drop(&mut self) {
        if let Some(ends) = self.ends.take() {
            ends.borrow_mut().push((self.id, End::Dropped));
        }
    }
}

/// An owner at x, its gates, and how the waiting of each message ended.
struct Owner {
    lifecycle: Lifecycle,
    gates: Gates<Mail>,
    ends: Ends,
    began: Instant,
    passed: u32,
}

impl Owner {
    fn new() -> Self {
        Self::with(|gates| gates)
    }

    fn with(set: impl FnOnce(Gates<Mail>) -> Gates<Mail>) -> Self {
        let lifecycle = Lifecycle::new(address("x"));
        lifecycle.started();
        let gates = set(Gates::new(lifecycle.clone()));
        Owner { lifecycle, gates, ends: Ends::default(), began: Instant::now(), passed: 0 }
    }

    fn mail(&mut self, kind: MessageKind, sender: &str) -> Mail {
        let ends = Some(Rc::clone(&self.ends));
        self.passed += 1;
        let (sender, name) = (address(sender), "GetRequest".into());
        Mail { id: self.passed, kind, sender, name, panics: false, ends }
    }

    /// Lets a request pass, `at` so long after the beginning; returns whether it went through.
    fn pass_at(&mut self, at: Duration) -> bool {
        let mail = self.mail(MessageKind::Request, "reader");
        self.pass(mail, at)
    }

    fn pass(&mut self, mail: Mail, at: Duration) -> bool {
        handed(self.gates.pass(mail, self.began + at)).is_some()
    }

    /// Parks so many requests at the beginning.
    fn park(&mut self, count: u32) {
        for _ in 0..count {
            assert!(!self.pass_at(Duration::ZERO));
        }
    }

    /// Hands out all that may go.
    fn released(&mut self) -> Vec<u32> {
        std::iter::from_fn(|| handed(self.gates.release())).collect()
    }

    fn expire_at(&mut self, at: Duration) {
        self.gates.expire(self.began + at);
    }

    fn next_expiry(&self) -> Option<Duration> {
        self.gates.next_expiry().map(|at| at - self.began)
    }

    fn tear_down(&mut self) {
        self.lifecycle.dispose(Ending::recycle().asked_by("ops").reason("new code"));
        self.gates.tear_down();
    }

    /// What ended since the last look.
    fn ended(&self) -> Vec<(u32, End)> {
        self.ends.take()
    }

    /// The refusals since the last look, where nothing else has ended.
    fn refused(&self) -> Vec<Refusal> {
        let ends = self.ended().into_iter();
        ends.map(|(id, end)| match end {
            End::Refused(refusal, ReplyPath::Owner) => refusal,
            other => panic!("{id} was not refused by the owner: {other:?}"),
        })
        .collect()
    }

    /// The refusal is the promise of this very owner, by its fields and by its text alone.
    fn promised(&self, refusal: &Refusal) {
        let promise = Rejection::by_owner(Some(self.lifecycle.activation().clone()));
        let alone = Refusal::from_text(&*refusal.message);
        for said in [refusal, &alone] {
            assert_eq!(said.promise(&address("x")), Some(promise.clone()), "{said:?}");
        }
        assert_eq!(alone.promise(&address("x/child")), None);
    }
}

/// Takes a message as handed out: it is the owner's from here on.
fn handed(mail: Option<Mail>) -> Option<u32> {
    mail.map(|mut mail| {
        mail.ends = None;
        mail.id
    })
}

// --- Waiting ---

#[test]
fn where_no_gate_is_closed_everything_passes() {
    let mut owner = Owner::new();
    assert!(owner.pass_at(Duration::ZERO));
    owner.gates.close("a");
    assert!(!owner.pass_at(Duration::ZERO));
    assert_eq!(owner.gates.parked(), 1);
}

#[test]
fn a_message_waits_for_all_its_gates_and_goes_in_order() {
    let mut owner = Owner::new();
    assert!(owner.gates.close("a"));
    owner.park(1);
    assert!(owner.gates.close("b"));
    owner.park(2);

    assert!(owner.gates.open("b"));
    assert!(owner.released().is_empty());
    assert!(owner.gates.close("b"));
    assert!(owner.gates.open("a"));
    assert_eq!(owner.released(), [1]); // b is not its gate
    assert!(owner.gates.open("b"));
    assert_eq!(owner.released(), [2, 3]);
    assert_eq!((owner.gates.parked(), owner.ended()), (0, vec![]));
}

#[test]
fn a_gate_is_closed_or_open_however_often_it_was_told() {
    let mut owner = Owner::new();
    assert!(owner.gates.close("a"));
    assert!(!owner.gates.close("a"));
    assert!(owner.gates.is_closed("a"));
    assert!(!owner.gates.open("b"));
    owner.park(1);
    assert!(owner.released().is_empty());
    assert!(owner.gates.open("a"));
    assert!(!owner.gates.open("a"));
    assert!(!owner.gates.is_closed("a"));
    assert_eq!(owner.released(), [1]);
}

/// One of its gates closes again before it went: what it waits for is not so.
#[test]
fn a_gate_that_closes_again_holds_what_knows_it_and_nothing_overtakes() {
    let mut owner = Owner::new();
    owner.gates.close("lease");
    owner.gates.close("loading");
    owner.park(1);
    owner.gates.open("lease");
    owner.park(1); // behind `loading` alone
    owner.gates.close("lease");
    owner.gates.open("loading");
    assert!(owner.released().is_empty());
    owner.gates.open("lease");
    assert_eq!(owner.released(), [1, 2]);
}

/// A handler may close the gate again, and what is not handed out yet is told so.
#[test]
fn a_gate_that_closes_between_two_releases_holds_the_rest() {
    let mut owner = Owner::new();
    owner.gates.close("a");
    owner.park(2);
    owner.gates.open("a");
    assert_eq!(handed(owner.gates.release()), Some(1));
    owner.gates.close("a");
    assert!(owner.released().is_empty());
}

#[test]
fn what_comes_while_others_may_go_goes_behind_them() {
    let mut owner = Owner::new();
    owner.gates.close("a");
    owner.park(1);
    owner.gates.open("a");
    owner.park(1);
    assert_eq!(owner.released(), [1, 2]);
    assert!(owner.pass_at(Duration::ZERO));
}

// --- Who is never answered (R40, C30) ---

#[test]
fn replies_refusals_ignorable_and_self_sent_messages_are_never_answered() {
    let never = [
        (MessageKind::Reply, "reader"),
        (MessageKind::Refusal, "reader"),
        (MessageKind::Ignorable, "reader"),
        (MessageKind::Request, "x"),
    ];
    let torn_down: fn(&mut Owner) = Owner::tear_down;
    let expired: fn(&mut Owner) = |owner| owner.expire_at(30 * SECOND);
    for end in [torn_down, expired] {
        let mut owner = Owner::with(|gates| gates.backlog(5));
        owner.gates.close("a");
        owner.park(1); // the control: a request
        for (kind, sender) in never.into_iter().chain(never) {
            let mail = owner.mail(kind, sender);
            assert!(!owner.pass(mail, Duration::ZERO));
        }
        // The last four met a full backlog, and were dropped there and then.
        assert_eq!(owner.ended(), [6, 7, 8, 9].map(|id| (id, End::Dropped)));

        end(&mut owner);
        let ended = owner.ended();
        assert!(matches!(ended[0], (1, End::Refused(..))), "{ended:?}");
        assert_eq!(ended[1..], [2, 3, 4, 5].map(|id| (id, End::Dropped)));
    }
}

// --- C18 ---

/// A request refused by a gate, a queue, a handler, a sweep of a closing owner: every one is a promise
/// with the owner's tag.
#[test]
fn wherever_an_owner_refuses_it_promises_in_its_own_name() {
    let mut owner = Owner::new();
    owner.gates.close("a");
    owner.park(2);
    let (queued, handled) =
        (owner.mail(MessageKind::Request, "y"), owner.mail(MessageKind::Request, "y"));
    let late = owner.mail(MessageKind::Request, "y");

    owner.tear_down(); // the sweep of the gates
    owner.lifecycle.discard(queued);
    owner.lifecycle.failed(handled, &Disposing);
    assert!(owner.lifecycle.admit(late).is_none());
    owner.park(1); // admitted before, and behind a gate that opens no more

    let refusals = owner.refused();
    assert_eq!(refusals.len(), 6);
    for refusal in &refusals {
        owner.promised(refusal);
        assert_eq!(refusal.activation.as_ref(), Some(owner.lifecycle.activation()));
    }
    let not_applied = |it: &&Refusal| it.is_never_applied(&address("x"));
    assert_eq!(refusals.iter().filter(not_applied).count(), 5); // all but the handler's
}
