//! Progress as phases (`R27`): the observer, and what a screen shows.

use crate::support::{
    hand_clock::ms,
    script::{NEVER, Owner, Reply, Rider, after, serve},
    words::{by, by_route, tag},
};
use futures::{Stream, StreamExt, stream::FusedStream};
use rideout::{
    Budget, News, RideError,
    ledger::{Axis, Cause},
    rider::{Phase, Phases},
};

/// The phases until the end or `until`, as short text, by time.
async fn phases<S>(owner: &Owner, phases: &mut S, until: u64) -> Vec<(u64, String)>
where
    S: Stream<Item = Result<Phase<u64>, RideError<rideout::Refusal>>> + Unpin,
{
    let mut all = Vec::new();
    loop {
        let phase = tokio::select! {
            biased;
            () = owner.reach(until) => return all,
            phase = phases.next() => phase,
        };
        let text = match phase {
            Some(Ok(Phase::RidingOut(charge))) => {
                let (axis, key) = (charge.axis().expect("charged"), charge.key().expect("charged"));
                format!("{axis} {key} {}", charge.count())
            }
            Some(Ok(Phase::Answered(Some(by)))) => format!("answered by {by}"),
            Some(Ok(Phase::Answered(None))) => "answered".into(),
            Some(Ok(Phase::Live(item))) => item.to_string(),
            Some(Ok(other)) => panic!("what is {other:?}?"),
            Some(Err(error)) => match error.gave_up() {
                Some(report) => format!("{:?}", report.cause),
                None => "verdict".into(),
            },
            None => return all,
        };
        all.push((owner.now(), text));
    }
}

fn is(all: &[(u64, &str)]) -> Vec<(u64, String)> {
    all.iter().map(|(at, text)| (*at, (*text).to_owned())).collect()
}

#[tokio::test(start_paused = true)]
async fn every_charge_and_every_answer_is_shown_with_the_items_between_them() {
    let owner = Owner::answers([
        by("A1").into(),
        after(100, by_route()),
        serve([1, 2]).by("A2").fails(700, by("A2")).into(),
        serve([3]).completes(0).into(),
    ]);
    let mut rider = owner.rider().phases();
    assert_eq!(rider.size_hint(), (0, None));
    let seen = phases(&owner, &mut rider, NEVER).await;
    assert_eq!(
        seen,
        is(&[
            (0, "activation A1 1"),
            (100, "time (route) 1"),
            (600, "answered by A2"),
            (600, "1"),
            (600, "2"),
            (1_300, "activation A2 1"),
            (1_300, "answered"),
            (1_300, "3"),
        ])
    );
    assert!(rider.is_terminated());
    assert_eq!(rider.size_hint(), (0, Some(0)));
    assert!(rider.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_charge_is_shown_before_its_attempt_does_anything() {
    let owner = Owner::answers([by("A1").into(), serve([1]).into()]).teardown("A1", 0);
    let mut rider = owner.builder().join(owner.join()).build().phases();
    let Some(Ok(Phase::RidingOut(charge))) = rider.next().await else { panic!("a charge") };
    assert_eq!((charge.axis(), charge.count()), (Some(Axis::Activation), 1));
    assert!(owner.looked().is_empty(), "it has looked at nothing");
    assert_eq!(owner.alive(), [0; 5]);
    assert!(matches!(rider.next().await, Some(Ok(Phase::Answered(None)))));
    assert_eq!(owner.looked(), [(0, "A1".into())]);
}

#[tokio::test(start_paused = true)]
async fn a_spent_budget_is_an_error_and_no_phase() {
    let owner = Owner::answers([by_route().into()]);
    let mut rider = owner.builder().budget(Budget::new().re_asks(1)).build().phases();
    let seen = phases(&owner, &mut rider, NEVER).await;
    assert_eq!(seen, is(&[(0, "time (route) 1"), (500, &format!("{:?}", Cause::Route))]));
}

#[tokio::test(start_paused = true)]
async fn a_refresh_shows_its_charges_among_the_items_of_the_old_one() {
    let owner =
        Owner::answers([serve([1]).item(1_200, 2).into(), by_route().into(), serve([3]).into()]);
    let rider = owner.rider();
    let nudger = rider.nudger();
    let mut rider = rider.phases();
    assert_eq!(phases(&owner, &mut rider, 1_000).await, is(&[(0, "answered"), (0, "1")]));
    nudger.nudge();
    let seen = phases(&owner, &mut rider, 9_000).await;
    let shown = [(1_000, "time (route) 1"), (1_200, "2"), (1_500, "answered"), (1_500, "3")];
    assert_eq!(seen, is(&shown));
}

#[tokio::test(start_paused = true)]
async fn an_announced_end_and_a_silent_ask_are_shown_alike() {
    let owner = Owner::answers([serve([1]).by("A1").into(), Reply::Silent, serve([2]).into()]);
    let mut rider = owner
        .builder()
        .news(owner.news([(700, News::Ended(Some(tag("A1"))))]))
        .budget(Budget::new().ask_limit(ms(1_000)))
        .build()
        .phases();
    let seen = phases(&owner, &mut rider, 9_000).await;
    assert_eq!(
        seen[2..],
        is(&[
            (700, "activation A1 1"),
            (1_700, "time (route) 1"),
            (2_200, "answered"),
            (2_200, "2"),
        ])
    );
}

#[tokio::test(start_paused = true)]
async fn the_phases_are_the_rider_and_give_it_back() {
    let owner = Owner::answers([serve([1, 2, 3]).completes(0).into()]);
    let mut rider: Phases<_> = owner.rider().phases();
    assert!(matches!(rider.next().await, Some(Ok(Phase::Answered(None)))));
    assert!(matches!(rider.next().await, Some(Ok(Phase::Live(1)))));
    assert!(!rider.get_ref().is_terminated());
    let mut rider: Rider = rider.into_inner();
    assert!(matches!(rider.next().await, Some(Ok(2))));
    assert!(matches!(rider.next().await, Some(Ok(3))));
    let mut rider = rider.phases();
    assert!(rider.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn the_bound_by_the_clock_begins_with_the_charge() {
    // R9: not when the one who reads the phases comes back.
    let owner = Owner::answers([by_route().into()]);
    let mut phases = owner.builder().budget(Budget::new().longest(ms(1_000))).build().phases();
    assert!(matches!(phases.next().await, Some(Ok(Phase::RidingOut(_)))));
    tokio::time::advance(ms(5_000)).await;
    let error = phases.next().await.and_then(Result::err).expect("it gives up");
    assert_eq!(error.gave_up().expect("a give-up").cause, Cause::Outlasted { longest: ms(1_000) });
    assert_eq!(owner.times(), [0]);
}
