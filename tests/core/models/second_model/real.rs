//! The real rider of a script, in virtual time, and what is seen of it.

use std::time::Duration;

use futures::{Stream, StreamExt, stream};
use rideout::{
    Budget, Classify, News, Refusal, RideError, RideOut, Ruling,
    ledger::Charge,
    rider::{Nudger, Phase},
};
use tracing::Level;

use super::{
    run::{Asked, Counted, Run, Seen},
    script::{Limits, NEVER, Part, Says, Script},
};
use crate::support::{
    hand_clock::address,
    hand_clock::ms,
    heard::Heard,
    script::{self as scripted, Asks, Counting, Joins, Live, Owner, Reply, in_virtual_time},
};

type Rider = RideOut<Asks<u64>, Joins, Live<News>, u64, Counting>;

/// What a rider does that is read as phases (`R27`).
pub(crate) fn phases(script: &Script) -> Run {
    in_virtual_time(async {
        let heard = Heard::begin();
        let owner = owner(script);
        let rider = rider(script, &owner);
        let nudger = rider.nudger();
        let seen = watch(script, &owner, rider.phases(), nudger, phase).await;
        finish(&owner, seen, &heard)
    })
}

/// What it does that is read for its items alone.
pub(crate) fn items(script: &Script) -> Run {
    in_virtual_time(async {
        let heard = Heard::begin();
        let owner = owner(script);
        let rider = rider(script, &owner);
        let nudger = rider.nudger();
        let seen = watch(script, &owner, rider, nudger, Seen::Item).await;
        finish(&owner, seen, &heard)
    })
}

fn owner(script: &Script) -> Owner {
    let answers = script.clone();
    let owner = Owner::scripted(move |asked| {
        let answer = answers.answer(asked.attempt, asked.at);
        scripted::after(answer.late, reply(answer.says))
    });
    let teardowns = script.teardowns.iter();
    teardowns.fold(owner, |owner, (digits, at)| owner.teardown(digits, *at))
}

fn reply(says: Says) -> Reply {
    match says {
        Says::Refuses(refusal) => refusal.into(),
        Says::Silent => Reply::Silent,
        Says::Serves { by, parts } => {
            let serve = scripted::serve([]);
            let serve = by.iter().fold(serve, |serve, by| serve.by(by.as_str()));
            let parts = parts.into_iter().fold(serve, |serve, (after, part)| match part {
                Part::Item(item) => serve.item(after, item),
                Part::Fails(refusal) => serve.fails(after, refusal),
                Part::Completes => serve.completes(after),
            });
            parts.into()
        }
    }
}

fn rider(script: &Script, owner: &Owner) -> Rider {
    let rider = owner
        .builder_resuming()
        .join(owner.join())
        .news(owner.news_of(script.news.clone()))
        .budget(budget(&script.limits));
    let rider = if script.re_ask { rider.re_ask_on_completion() } else { rider };
    let rider = if script.versioned { rider.version(|item| *item) } else { rider };
    rider.build()
}

fn budget(limits: &Limits) -> Budget {
    let budget = Budget::new()
        .activations(limits.activations)
        .re_asks(limits.re_asks)
        .pace(millis(limits.pace))
        .join_limit(millis(limits.join_limit))
        .ask_limit(millis(limits.ask_limit))
        .hint_limit(millis(limits.hint_limit));
    let budget = limits.proven_after.map_or(budget, |life| budget.proven_after(millis(life)));
    limits.longest.map_or(budget, |longest| budget.longest(millis(longest)))
}

fn millis(count: u64) -> Duration {
    if count == NEVER { Duration::MAX } else { ms(count) }
}

/// Reads `rider` until its end, or until the script's, and nudges it meanwhile.
async fn watch<R, I>(
    script: &Script,
    owner: &Owner,
    mut rider: R,
    nudger: Nudger,
    item: impl Fn(I) -> Seen,
) -> Vec<(u64, Seen)>
where
    R: Stream<Item = Result<I, RideError<Refusal>>> + Unpin,
{
    let mut all = Vec::new();
    let mut nudges = stream::iter(script.nudges.iter().copied())
        .then(|at| owner.reach(at))
        .chain(stream::pending())
        .boxed_local();
    loop {
        let next = tokio::select! {
            biased;
            () = owner.reach(script.until) => return all,
            next = rider.next() => next,
            Some(()) = nudges.next() => {
                nudger.nudge();
                continue;
            }
        };
        let Some(next) = next else {
            // An error is followed by the end.
            if !matches!(all.last(), Some((_, Seen::Verdict(_) | Seen::GaveUp { .. }))) {
                all.push((owner.now(), Seen::Completed));
            }
            return all;
        };
        all.push((owner.now(), next.map_or_else(ended, &item)));
    }
}

fn phase(phase: Phase<u64>) -> Seen {
    match phase {
        Phase::RidingOut(charge) => Seen::Charged(counted(&charge).expect("a charge")),
        Phase::Answered(by) => Seen::Answered(by),
        Phase::Live(item) => Seen::Item(item),
        other => panic!("what is {other:?}?"),
    }
}

fn ended(error: RideError<Refusal>) -> Seen {
    if let Some(report) = error.gave_up() {
        let counted = Counted::from(report);
        return Seen::GaveUp { counted, cause: report.cause, asks: report.asks };
    }
    let refusal = error.verdict().expect("a rider ends in no other way");
    match refusal.classify(&address()) {
        Ruling::Verdict(kind) => Seen::Verdict(kind),
        other => panic!("{other:?} is no verdict: {refusal}"),
    }
}

fn counted(charge: &Charge) -> Option<Counted> {
    Some(Counted {
        speaker: charge.rejection()?.speaker.clone(),
        axis: charge.axis()?,
        key: charge.key()?,
        count: charge.count(),
        budget: charge.budget(),
    })
}

/// What was seen in all. The rider is dropped, and nothing of it is left (`R17`, `R20c`).
fn finish(owner: &Owner, seen: Vec<(u64, Seen)>, heard: &Heard) -> Run {
    assert_eq!(owner.alive(), [0; 5]);
    assert!(owner.asked().iter().all(|asked| asked.asks == 0), "one at a time (R16)");
    let asked = |asked: &scripted::Asked| Asked {
        attempt: asked.attempt,
        charge: counted(&asked.charge),
        resume: asked.resume,
        beside: asked.streams > 0,
    };
    let asks = owner.asked().iter().map(|it| (it.at, asked(it))).collect();
    let warnings = heard.all().iter().filter(|said| said.level == Level::WARN).count();
    assert_eq!(warnings, heard.all().len(), "a rider says nothing else");
    Run { asks, seen, warnings }
}
