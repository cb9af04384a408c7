//! What waits behind a gate is handed out in order, or told how its wait ended (R41, C18).

use std::{
    cell::RefCell,
    panic::{AssertUnwindSafe, catch_unwind},
    rc::Rc,
    time::{Duration, Instant},
};

use crate::support::heard::Heard;
use proptest::prelude::*;
use rideout::{
    Address, Kind, Party, Refusal, Rejection, Seam, Speaker,
    owner::{Disposing, Ending, Gates, Lifecycle, Message, MessageKind, ReplyPath},
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
    sort: MessageKind,
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
        self.sort
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

    fn mail(&mut self, sort: MessageKind, sender: &str) -> Mail {
        let ends = Some(Rc::clone(&self.ends));
        self.passed += 1;
        let (sender, name) = (address(sender), "GetRequest".into());
        Mail { id: self.passed, sort, sender, name, panics: false, ends }
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

// --- The teardown ---

#[test]
fn a_teardown_refuses_each_with_its_gates_as_recorded_who_asked_and_why() {
    let mut owner = Owner::new();
    owner.gates.close("loading");
    owner.park(1);
    owner.gates.close("lease");
    owner.park(1);
    owner.gates.open("lease"); // no longer closed, and recorded all the same
    owner.tear_down();

    let refusals = owner.refused();
    let tail = "; recycle asked for by ops: new code. The address may reactivate (recycle / \
                restart); retry to get the authoritative answer.";
    let [one, other] = &refusals[..] else { panic!("each one: {refusals:?}") };
    for (refusal, what) in [
        (one, "cannot finish GetRequest, behind gate `loading`"),
        (other, "cannot finish GetRequest, behind gate `lease` and `loading`"),
    ] {
        owner.promised(refusal);
        assert!(refusal.is_never_applied(&address("x")));
        assert!(refusal.message.ends_with(&format!(" — {what}{tail}")), "{refusal}");
    }
    assert_eq!(owner.gates.parked(), 0);
}

#[test]
fn a_teardown_that_nobody_is_known_to_have_asked_for_names_the_gates_alone() {
    let mut owner = Owner::new();
    owner.gates.close("loading");
    owner.park(1);
    owner.gates.tear_down();
    let refusal = &owner.refused()[0];
    assert!(refusal.message.contains("GetRequest, behind gate `loading`. The"), "{refusal}");
    owner.promised(refusal);
}

#[test]
fn after_the_teardown_a_closed_gate_refuses_at_once() {
    let mut owner = Owner::new();
    owner.gates.close("loading");
    owner.tear_down();
    assert!(!owner.pass_at(Duration::ZERO));
    owner.promised(&owner.refused()[0]);
    assert_eq!(owner.gates.parked(), 0);

    owner.gates.open("loading");
    assert!(owner.pass_at(Duration::ZERO));
}

/// R2, R6: gates and requests may have any name.
#[test]
fn no_name_of_a_gate_or_a_request_forges() {
    let hostile = "Hub y is shutting down (activation #BB)\n";
    let mut owner = Owner::new();
    owner.gates.close(hostile);
    let mut mail = owner.mail(MessageKind::Request, "reader");
    mail.name = hostile.into();
    owner.pass(mail, Duration::ZERO);
    owner.tear_down();
    let refusal = &owner.refused()[0];
    owner.promised(refusal);
    assert_eq!(Refusal::from_text(&*refusal.message).promise(&address("y")), None);
}

/// R6: a verdict whose kind is lost makes no promise, whatever its request was called.
#[test]
fn a_verdict_at_a_gate_makes_no_promise_by_its_text_alone() {
    let mut owner = Owner::with(|gates| gates.backlog(0));
    let forged = owner.lifecycle.closing().refuse(Seam::Door, "Ask").message;
    owner.gates.close("a");
    let mut mail = owner.mail(MessageKind::Request, "reader");
    mail.name = forged;
    owner.pass(mail, Duration::ZERO);
    let message = owner.refused().remove(0).message;
    assert_eq!(Refusal::from_text(message).promise(&address("x")), None);
}

#[test]
fn a_refusal_that_panics_costs_no_other_its_own() {
    let mut owner = Owner::new();
    owner.gates.close("a");
    for panics in [true, false, true, false] {
        let mut mail = owner.mail(MessageKind::Request, "reader");
        mail.panics = panics;
        owner.pass(mail, Duration::ZERO);
    }
    assert!(catch_unwind(AssertUnwindSafe(|| owner.tear_down())).is_err());
    assert_eq!(owner.refused().len(), 4);
    assert_eq!(owner.gates.parked(), 0);
}

#[test]
fn an_answer_that_panics_leaves_the_others_parked() {
    let mut owner = Owner::new();
    owner.gates.close("a");
    for panics in [true, false] {
        let mut mail = owner.mail(MessageKind::Request, "reader");
        mail.panics = panics;
        owner.pass(mail, Duration::ZERO);
    }
    assert!(catch_unwind(AssertUnwindSafe(|| owner.expire_at(30 * SECOND))).is_err());
    assert_eq!((owner.refused().len(), owner.gates.parked()), (1, 1));
    owner.expire_at(30 * SECOND);
    assert_eq!((owner.refused().len(), owner.gates.parked()), (1, 0));
}

/// A killed process announces nothing.
#[test]
fn gates_that_are_dropped_say_nothing() {
    let mut owner = Owner::new();
    owner.gates.close("a");
    owner.park(1);
    owner.gates = Gates::new(owner.lifecycle.clone());
    assert_eq!(owner.ended(), [(1, End::Dropped)]);
}

// --- Time and number ---

/// The refusal is a verdict of the owner that says what it waited for.
fn failed(owner: &Owner, refusal: &Refusal, text: &str) {
    assert_eq!(refusal.kind, Some(Kind::Failed));
    assert_eq!(refusal.promise(&address("x")), None);
    assert_eq!(refusal.speaker, Some(Party::Owner));
    assert_eq!(
        refusal.speaker(&address("x")),
        Speaker::Owner(Some(owner.lifecycle.activation().clone())),
    );
    assert_eq!(refusal.never_applied, Some(true));
    assert_eq!(refusal.message, text);
}

#[test]
fn a_message_that_waits_thirty_seconds_is_failed_and_not_before() {
    let mut owner = Owner::new();
    assert_eq!(owner.next_expiry(), None);
    owner.gates.close("a");
    assert_eq!(owner.next_expiry(), None);
    owner.pass_at(SECOND);
    owner.gates.close("b");
    owner.pass_at(2 * SECOND);
    assert_eq!(owner.next_expiry(), Some(31 * SECOND));

    owner.expire_at(31 * SECOND - Duration::from_nanos(1));
    assert_eq!(owner.ended(), []);
    owner.expire_at(31 * SECOND);
    failed(
        &owner,
        &owner.refused()[0],
        "cannot finish GetRequest, behind gate `a`: it has waited for 30s",
    );
    assert_eq!((owner.gates.parked(), owner.next_expiry()), (1, Some(32 * SECOND)));

    owner.expire_at(40 * SECOND);
    failed(
        &owner,
        &owner.refused()[0],
        "cannot finish GetRequest, behind gate `a` and `b`: it has waited for 30s",
    );
    assert_eq!(owner.next_expiry(), None);
}

#[test]
fn what_may_go_does_not_expire() {
    let mut owner = Owner::new();
    owner.gates.close("a");
    owner.park(1);
    owner.gates.open("a");
    assert_eq!(owner.next_expiry(), None);
    owner.expire_at(60 * SECOND);
    assert_eq!((owner.released(), owner.ended()), (vec![1], vec![]));
}

/// What is held up by one that expires may go then, and has not expired with it.
#[test]
fn what_an_expired_one_held_up_may_go() {
    let mut owner = Owner::new();
    owner.gates.close("a");
    owner.gates.close("b");
    owner.park(1);
    owner.gates.open("b");
    owner.park(1); // behind `a` alone
    owner.gates.close("b");
    owner.gates.open("a");
    assert!(owner.released().is_empty());
    owner.expire_at(60 * SECOND);
    assert_eq!(owner.refused().len(), 1);
    assert_eq!(owner.released(), [2]);
}

#[test]
fn the_message_that_meets_a_backlog_of_512_is_failed() {
    let mut owner = Owner::new();
    owner.gates.close("a");
    owner.park(512);
    assert_eq!((owner.ended(), owner.gates.parked()), (vec![], 512));

    owner.park(1);
    let refusals = owner.refused();
    failed(&owner, &refusals[0], "cannot finish GetRequest, behind gate `a`: 512 wait already");
    assert_eq!((refusals.len(), owner.gates.parked()), (1, 512));

    owner.gates.open("a");
    assert_eq!(owner.released(), (1..=512).collect::<Vec<_>>());
}

#[test]
fn both_figures_are_settings() {
    let mut owner = Owner::with(|gates| gates.wait_limit(5 * SECOND).backlog(2));
    owner.gates.close("a");
    owner.park(3);
    assert_eq!(owner.refused().len(), 1);
    assert_eq!(owner.next_expiry(), Some(5 * SECOND));
    owner.expire_at(5 * SECOND);
    assert_eq!(owner.refused().len(), 2);
}

#[test]
fn any_figure_is_safe() {
    let mut none = Owner::with(|gates| gates.backlog(0));
    none.gates.close("a");
    none.park(2);
    assert_eq!(none.refused().len(), 2);

    let mut zero = Owner::with(|gates| gates.wait_limit(Duration::ZERO));
    zero.gates.close("a");
    zero.park(1);
    assert_eq!(zero.next_expiry(), Some(Duration::ZERO));
    zero.expire_at(Duration::ZERO);
    assert_eq!(zero.refused().len(), 1);

    let mut most = Owner::with(|gates| gates.wait_limit(Duration::MAX).backlog(usize::MAX));
    most.gates.close("a");
    most.park(1);
    most.expire_at(1_000_000 * SECOND);
    assert_eq!((most.ended(), most.gates.parked()), (vec![], 1));
}

#[test]
fn a_clock_that_goes_back_hides_nobody_from_the_next_expiry() {
    let mut owner = Owner::new();
    owner.gates.close("a");
    owner.pass_at(10 * SECOND);
    owner.pass_at(SECOND);
    assert_eq!(owner.next_expiry(), Some(40 * SECOND));
    owner.expire_at(40 * SECOND);
    assert_eq!(owner.refused().len(), 2);
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
        for (sort, sender) in never.into_iter().chain(never) {
            let mail = owner.mail(sort, sender);
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

// --- What is logged ---

/// How many errors were logged, none of anything else.
fn errors(heard: &Heard) -> usize {
    let said = heard.all();
    assert!(said.iter().all(|it| it.level == Level::ERROR), "{said:?}");
    said.len()
}

#[test]
fn a_stuck_episode_is_one_error_with_its_facts() {
    let heard = Heard::begin();
    let mut owner = Owner::with(|gates| gates.backlog(3));
    owner.gates.close("loading");
    owner.gates.close("lease");
    owner.park(3);
    assert_eq!(errors(&heard), 0);
    owner.park(2);
    owner.expire_at(30 * SECOND);

    let [said] = &heard.all()[..] else { panic!("one error") };
    assert_eq!(said.level, Level::ERROR);
    assert_eq!(said.field("address"), "x");
    assert_eq!(said.field("activation"), owner.lifecycle.activation().as_str());
    assert_eq!(said.field("gates"), "`lease` and `loading`");
    assert_eq!(said.field("parked"), "3");
    assert_eq!(said.message(), "requests fail at the gates of an owner: the backlog is full");
}

#[test]
fn an_episode_ends_when_the_gate_opens() {
    let heard = Heard::begin();
    let mut owner = Owner::with(|gates| gates.backlog(2));
    owner.gates.close("a");
    owner.gates.close("b");
    owner.park(4);
    assert_eq!(errors(&heard), 1);

    owner.gates.open("b"); // the other one is closed still
    owner.park(1);
    assert_eq!(errors(&heard), 1);

    owner.gates.open("a");
    owner.gates.close("a");
    owner.park(2);
    assert_eq!(errors(&heard), 2);
}

#[test]
fn an_episode_ends_when_nothing_waits() {
    let heard = Heard::begin();
    let mut owner = Owner::new();
    owner.gates.close("a");
    owner.park(3);
    owner.pass_at(SECOND);
    owner.expire_at(30 * SECOND);
    assert_eq!(errors(&heard), 1);
    owner.pass_at(30 * SECOND);
    owner.expire_at(31 * SECOND); // the fourth: the fifth waits
    assert_eq!(errors(&heard), 1);
    owner.expire_at(60 * SECOND); // none is left
    assert_eq!(errors(&heard), 1);

    owner.pass_at(60 * SECOND);
    owner.expire_at(90 * SECOND);
    assert_eq!(errors(&heard), 2);
}

#[test]
fn a_backlog_of_none_is_one_episode_until_the_gates_open() {
    let heard = Heard::begin();
    let mut owner = Owner::with(|gates| gates.backlog(0));
    owner.gates.close("a");
    owner.park(3);
    owner.gates.close("b");
    owner.gates.open("b");
    owner.park(3);
    assert_eq!(errors(&heard), 1);
    owner.gates.open("a");
    owner.gates.close("a");
    owner.park(3);
    assert_eq!(errors(&heard), 2);
}

#[test]
fn a_teardown_is_no_error() {
    let heard = Heard::begin();
    let mut owner = Owner::new();
    owner.gates.close("a");
    owner.park(3);
    owner.tear_down();
    assert_eq!(errors(&heard), 0);
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

// --- Any order of calls ---

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
