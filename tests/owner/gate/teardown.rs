//! What a teardown tells those that wait (R41, C18), and whatever panics meanwhile.

use super::*;

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
