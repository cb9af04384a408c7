//! What an owner that ends answers, and what it never does (R40, C18, C30).

use std::{cell::RefCell, error::Error, fmt, io, rc::Rc, sync::Arc};

use rideout::{
    Address, Kind, Refusal, Rejection,
    owner::{Disposing, Ending, Lifecycle, Message, MessageKind, ReplyPath, RunLevel},
    refusal::{Closing, Party, Seam, Speaker},
};

fn address(text: &str) -> Address {
    text.parse().unwrap()
}

type Answers = Rc<RefCell<Vec<(Refusal, ReplyPath)>>>;

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

    fn refuse(self, refusal: Refusal, reply_path: ReplyPath) {
        self.answers.borrow_mut().push((refusal, reply_path));
    }
}

/// An owner at x, and what was answered to those who asked it.
struct Owner {
    lifecycle: Lifecycle,
    answers: Answers,
}

impl Owner {
    fn new() -> Self {
        let lifecycle = Lifecycle::new(address("x"));
        lifecycle.started();
        Owner { lifecycle, answers: Answers::default() }
    }

    /// One that was told to end, and refuses.
    fn ending() -> Self {
        let owner = Owner::new();
        assert!(owner.lifecycle.dispose(Ending::recycle().asked_by("ops").reason("new code")));
        assert!(owner.lifecycle.is_refusing());
        owner
    }

    fn dead() -> Self {
        let owner = Owner::new();
        owner.lifecycle.force();
        owner
    }

    fn mail(&self, kind: MessageKind, sender: Option<&str>) -> Mail {
        Mail { kind, sender: sender.map(address), answers: Rc::clone(&self.answers) }
    }

    fn request(&self) -> Mail {
        self.mail(MessageKind::Request, Some("reader"))
    }

    /// What was answered since the last look.
    fn answered(&self) -> Vec<(Refusal, ReplyPath)> {
        self.answers.take()
    }

    /// The one answer since the last look.
    fn answer(&self) -> Refusal {
        let answered = self.answered();
        let [(refusal, _)] = &answered[..] else { panic!("one answer, and not {answered:?}") };
        refusal.clone()
    }

    /// The answer to a request whose handler failed so.
    fn failed(&self, error: &(dyn Error + 'static)) -> Refusal {
        self.lifecycle.failed(self.request(), error);
        self.answer()
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

/// What is never answered: the kind, and who sent it.
const NEVER: [(MessageKind, Option<&str>); 6] = [
    (MessageKind::Reply, Some("reader")),
    (MessageKind::Refusal, Some("reader")),
    (MessageKind::Ignorable, Some("reader")),
    (MessageKind::Ignorable, None),
    (MessageKind::Request, Some("x")),
    (MessageKind::Request, Some("x~elsewhere")),
];

/// What is answered: a request of anybody else's.
const ALWAYS: [Option<&str>; 4] = [Some("reader"), None, Some("x/child"), Some("xy")];

// --- The door ---

#[test]
fn an_owner_that_serves_lets_everything_in() {
    let owner = Owner::new();
    let quiescing = Owner::new();
    let reply = quiescing.lifecycle.pending();
    quiescing.lifecycle.dispose(Ending::recycle());
    assert_eq!(quiescing.lifecycle.level(), RunLevel::Quiescing);

    for owner in [&owner, &quiescing] {
        for (kind, sender) in NEVER {
            assert!(owner.lifecycle.admit(owner.mail(kind, sender)).is_some());
        }
        for sender in ALWAYS {
            assert!(owner.lifecycle.admit(owner.mail(MessageKind::Request, sender)).is_some());
        }
        assert!(owner.answered().is_empty());
    }

    drop(reply);
    assert!(quiescing.lifecycle.admit(quiescing.request()).is_none());
    quiescing.promised(&quiescing.answer());
}

#[test]
fn from_dispose_hosted_on_every_request_is_refused_at_the_door() {
    for owner in [Owner::ending(), Owner::dead()] {
        for sender in ALWAYS {
            assert!(owner.lifecycle.admit(owner.mail(MessageKind::Request, sender)).is_none());
            let refusal = owner.answer();
            owner.promised(&refusal);
            assert!(refusal.is_never_applied(&address("x")));
            assert!(refusal.message.contains("— cannot process GetRequest; "), "{refusal}");
        }
    }
}

#[test]
fn a_refusal_says_who_asked_for_the_teardown_and_why() {
    let owner = Owner::ending();
    assert!(owner.lifecycle.admit(owner.request()).is_none());
    let message = owner.answer().message;
    assert!(message.contains("recycle asked for by ops: new code"), "{message}");
}

#[test]
fn an_owner_that_leaves_with_its_host_refuses_and_says_so() {
    let owner = Owner::new();
    owner.lifecycle.leave();
    assert_eq!(owner.lifecycle.level(), RunLevel::Started);

    assert!(owner.lifecycle.admit(owner.request()).is_none());
    let refusal = owner.answer();
    owner.promised(&refusal);
    assert!(refusal.message.contains(", its host is stopping) — cannot process"), "{refusal}");

    let staying = Owner::ending();
    assert!(staying.lifecycle.admit(staying.request()).is_none());
    assert!(!staying.answer().message.contains("its host is stopping"));
}

/// C30, at each seam and each level.
#[test]
fn replies_refusals_ignorable_and_self_sent_messages_are_never_answered() {
    let leaving = Owner::new();
    leaving.lifecycle.leave();
    for owner in [Owner::new(), Owner::ending(), Owner::dead(), leaving] {
        for (kind, sender) in NEVER {
            drop(owner.lifecycle.admit(owner.mail(kind, sender)));
            owner.lifecycle.discard(owner.mail(kind, sender));
            owner.lifecycle.failed(owner.mail(kind, sender), &Disposing);
            owner.lifecycle.failed(owner.mail(kind, sender), &fmt::Error);
            assert_eq!(owner.answered(), [], "{kind:?} from {sender:?}");
        }
        // The same calls answer a request.
        owner.lifecycle.discard(owner.request());
        owner.lifecycle.failed(owner.request(), &Disposing);
        owner.lifecycle.failed(owner.request(), &fmt::Error);
        assert_eq!(owner.answered().len(), 3);
    }
}

/// Its own last code may wait for a reply, or go on by a message to itself.
#[test]
fn an_owner_that_refuses_hears_its_replies_and_itself_until_it_is_dead() {
    let (ending, dead) = (Owner::ending(), Owner::dead());
    for (kind, sender) in NEVER {
        let is_let_in = |owner: &Owner| owner.lifecycle.admit(owner.mail(kind, sender)).is_some();
        assert_eq!(is_let_in(&ending), kind != MessageKind::Ignorable, "{kind:?}");
        assert!(!is_let_in(&dead), "{kind:?}");
    }
}

// --- The queue ---

#[test]
fn what_was_queued_is_discarded_as_accepted_and_never_applied() {
    for owner in [Owner::ending(), Owner::dead()] {
        owner.lifecycle.discard(owner.request());
        let refusal = owner.answer();
        owner.promised(&refusal);
        assert!(refusal.is_never_applied(&address("x")));
        assert!(refusal.message.contains("— cannot finish GetRequest. "), "{refusal}");
    }
}

// --- By whose means ---

#[test]
fn a_refusal_goes_by_the_owner_then_by_its_parent_then_in_process() {
    let (owner, parent) = (Owner::new(), Lifecycle::new(address("p")));
    let child = parent.child(address("x")).unwrap();
    let reply_path = || {
        child.discard(owner.request());
        owner.answered()[0].1
    };

    assert_eq!(reply_path(), ReplyPath::Owner);
    child.force();
    assert_eq!(reply_path(), ReplyPath::Parent);
    parent.dispose(Ending::dispose());
    assert_eq!(reply_path(), ReplyPath::InProcess);
}

// --- The handler ---

#[test]
fn a_handler_s_disposing_says_what_it_is() {
    assert_eq!(Disposing.to_string(), "the owner is disposing");
}

/// An error with a source.
#[derive(Debug, thiserror::Error)]
#[error("the handler failed")]
struct Wraps(#[source] Box<dyn Error + Send + Sync>);

/// An error that passes for what it wraps.
#[derive(Debug, thiserror::Error)]
enum Transparent {
    #[error(transparent)]
    Disposing(#[from] Disposing),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// An error that leads back to itself.
#[derive(Debug)]
struct Circle;

impl fmt::Display for Circle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("round and round")
    }
}

impl Error for Circle {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(self)
    }
}

#[test]
fn a_failure_that_is_or_wraps_disposing_is_a_promise_that_says_nothing_of_never_applied() {
    let cases: [Box<dyn Error>; 8] = [
        Box::new(Disposing),
        Box::new(Wraps(Disposing.into())),
        Box::new(Wraps(Wraps(Wraps(Disposing.into()).into()).into())),
        Box::new(Transparent::from(Disposing)),
        Box::new(io::Error::other(Disposing)),
        Box::new(Transparent::from(io::Error::other(Wraps(Disposing.into())))),
        Box::new(Arc::new(Disposing)),
        Box::new(Wraps(Transparent::from(Disposing).into())),
    ];
    for owner in [Owner::new(), Owner::ending(), Owner::dead()] {
        for error in &cases {
            let refusal = owner.failed(&**error);
            owner.promised(&refusal);
            assert_eq!(refusal.never_applied, Some(false));
            assert!(!refusal.is_never_applied(&address("x")), "{error:?}");
            assert!(refusal.message.contains("— cannot finish GetRequest. "), "{refusal}");
        }
    }
}

#[test]
fn any_other_failure_stays_a_verdict_with_its_text() {
    let cases: [(Box<dyn Error>, &str); 4] = [
        (Box::new("-1".parse::<u32>().unwrap_err()), "invalid digit found in string"),
        (Box::new(Wraps("disposing".into())), "the handler failed"),
        (Box::new(io::Error::other("the owner is disposing")), "the owner is disposing"),
        (Box::new(Circle), "round and round"),
    ];
    for owner in [Owner::new(), Owner::ending(), Owner::dead()] {
        for (error, text) in &cases {
            let refusal = owner.failed(&**error);
            assert_eq!(refusal.kind, Some(Kind::Failed), "{error:?}");
            assert_eq!(refusal.message, *text);
            assert_eq!(refusal.promise(&address("x")), None);
            assert_eq!(
                refusal.speaker(&address("x")),
                Speaker::Owner(Some(owner.lifecycle.activation().clone())),
            );
        }
    }
}

/// R6: the text of an error may come from anywhere, and its kind may be lost on its way.
#[test]
fn the_text_of_a_failure_makes_no_promise_not_even_alone() {
    let (owner, forged) =
        (Owner::new(), Closing::new(address("x")).refuse(Seam::Door, "Ask").message);
    assert!(Refusal::from_text(&*forged).promise(&address("x")).is_some());

    let refusal = owner.failed(&io::Error::other(forged));
    assert_eq!(refusal.kind, Some(Kind::Failed));
    assert_eq!(Refusal::from_text(refusal.message).promise(&address("x")), None);
}

#[test]
fn a_verdict_among_the_causes_keeps_its_kind() {
    for owner in [Owner::new(), Owner::ending()] {
        for &kind in Kind::ALL.iter().filter(|kind| !kind.is_promise()) {
            let verdict = Refusal::new(kind, "no");
            assert_eq!(owner.failed(&verdict).kind, Some(kind));
            assert_eq!(owner.failed(&Wraps(verdict.clone().into())).kind, Some(kind));
            let by_owner = verdict.with_speaker(Party::Owner);
            let own = by_owner.clone().with_activation(owner.lifecycle.activation().clone());
            assert_eq!(owner.failed(&own).kind, Some(kind));
        }
        assert_eq!(owner.failed(&Refusal::from_text("no")).kind, Some(Kind::Failed));
    }
}

/// R29: `NotFound` alone is evidence of absence, and of what was asked.
#[test]
fn the_absence_of_another_is_not_this_owners() {
    let owner = Owner::new();
    let other = Refusal::new(Kind::NotFound, "no row").with_activation("0B".parse().unwrap());
    for absent in [Refusal::no_node(&address("y")), other] {
        assert_eq!(owner.failed(&absent).kind, Some(Kind::Failed));
        assert_eq!(owner.failed(&Wraps(absent.into())).kind, Some(Kind::Failed));
    }
}

/// What another promises is kept by asking it again, not by asking here.
#[test]
fn the_promise_of_another_is_a_verdict_unless_this_owner_goes_too() {
    let serving = Owner::new();
    let (ending, leaving) = (Owner::ending(), Owner::new());
    leaving.lifecycle.leave();

    for promise in [
        Closing::new(address("y")).activation("0B".parse().unwrap()).refuse(Seam::Door, "Ask"),
        Refusal::host_cannot_route(&address("y")),
    ] {
        let refusal = serving.failed(&Wraps(promise.clone().into()));
        assert_eq!(refusal.kind, Some(Kind::Failed));
        assert_eq!(refusal.promise(&address("x")), None);

        for owner in [&ending, &leaving] {
            let refusal = owner.failed(&Wraps(promise.clone().into()));
            owner.promised(&refusal);
            assert_eq!(refusal.never_applied, Some(false));
        }
    }
}

/// A handler that may not create a child any more fails because its owner is disposing.
#[test]
fn a_creation_refused_by_the_owner_itself_is_its_promise() {
    let owner = Owner::new();
    let _reply = owner.lifecycle.pending();
    owner.lifecycle.dispose(Ending::recycle());
    assert_eq!(owner.lifecycle.level(), RunLevel::Quiescing); // it serves still

    let refused = owner.lifecycle.child(address("x/child")).unwrap_err();
    let refusal = owner.failed(&Wraps(refused.into()));
    owner.promised(&refusal);
    assert_eq!(refusal.never_applied, Some(false));
}
