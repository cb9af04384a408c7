//! How long and how many may wait, and what is logged of those that are stuck (R41).

use super::*;

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
