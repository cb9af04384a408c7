//! Every setting at each extreme: no panic, and no spin (`C35`).

use super::*;

/// What each of the settings is set to, from nothing to all there is.
const WAITS: [Duration; 4] =
    [Duration::ZERO, Duration::from_nanos(1), Duration::from_millis(1), Duration::MAX];
const COUNTS: [u32; 3] = [0, 1, u32::MAX];

/// Each setting at each extreme, and all of them together.
fn budgets() -> Vec<Budget> {
    let default = || Budget::default().activations(u32::MAX).re_asks(u32::MAX);
    let mut budgets = Vec::new();
    for count in COUNTS {
        budgets.push(default().activations(count));
        budgets.push(default().re_asks(count));
    }
    for wait in WAITS {
        let one = [
            default().pace(wait),
            default().join_limit(wait),
            default().ask_limit(wait),
            default().hint_limit(wait),
            default().spread(wait),
            default().watchdog(wait),
            default().proven_after(wait),
            default().longest(wait),
        ];
        budgets.extend(one);
        for count in COUNTS {
            let all = Budget::default().activations(count).re_asks(count);
            let all = all.pace(wait).join_limit(wait).ask_limit(wait).hint_limit(wait);
            let all = all.spread(wait).watchdog(wait);
            budgets.extend([all, all.proven_after(wait), all.longest(wait)]);
            // Nothing holds it up but one pace.
            budgets.push(all.pace(Duration::ZERO).proven_after(Duration::MAX));
        }
    }
    budgets
}

/// Comes by every kind of answer, in an order that never ends.
fn moody(attempt: u32) -> Reply {
    let hinted = by_route().with_retry_after(Duration::MAX);
    match attempt % 9 {
        0 => Reply::Refuse(by("A1")),
        1 | 2 => Reply::Refuse(by(&format!("{attempt:04X}"))),
        3 => Reply::Refuse(by_route()),
        4 => Reply::Refuse(hinted),
        5 => Reply::Serve(vec![Err(by("A1"))]),
        6 => Reply::Serve(vec![Ok(1), Err(by(&format!("{attempt:04X}")))]),
        7 => Reply::Silent,
        _ => Reply::Serve(vec![]),
    }
}

type Gone = Option<LocalBoxFuture<'static, ()>>;

/// Returns how often the owner was asked.
fn through(budget: Budget, join: impl FnMut(Activation) -> Gone) -> usize {
    let owner = Owner::new();
    let mut rider = RideOut::builder(address(), owner.answers(moody))
        .join(join)
        .timer(owner.clock.clone())
        .budget(budget)
        .re_ask_on_completion()
        .build();
    step(&mut rider, &owner, 10_000);
    assert!(owner.densest() <= 2, "{} asks in a millisecond: {budget:?}", owner.densest());
    owner.asks()
}

/// C35: no panic, and no spin: one ask in a millisecond, and the one that goes out at once.
#[test]
fn every_setting_is_safe() {
    for budget in budgets() {
        let _ = (budget.worst_case(), budget.concerns());
        through(budget, |_| None);
        through(budget, |_| Some(ready(()).boxed_local()));
    }
    for budget in budgets().into_iter().filter(|it| !hurries(it)) {
        through(budget, |_| Some(pending().boxed_local()));
    }
    assert!(through(endless(), |_| None) > 1_000, "it goes through the moods");
}

/// A join that may not wait, of a teardown that is still to come, goes out at once by rule.
fn hurries(budget: &Budget) -> bool {
    [Duration::ZERO, Duration::from_nanos(1)]
        .into_iter()
        .any(|limit| *budget == budget.join_limit(limit))
}

#[test]
fn every_setting_of_a_read_is_safe() {
    for budget in budgets() {
        for deadline in WAITS {
            let owner = Owner::new();
            let asked = owner.clone();
            let ask = move |ask: Ask| -> LocalBoxFuture<'static, Result<u64, Refusal>> {
                asked.asked.borrow_mut().push(asked.clock.elapsed());
                match moody(ask.attempt) {
                    Reply::Refuse(refusal) => ready(Err(refusal)).boxed_local(),
                    _ => ready(Err(by_route())).boxed_local(),
                }
            };
            let read = PointRead::builder(address(), ask).deadline(deadline).budget(budget);
            let read = read.timer(owner.clock.clone()).build();
            let mut read = Box::pin(read).into_stream();
            step(&mut read, &owner, 1_000);
            assert!(owner.densest() <= 2, "{} asks: {budget:?}", owner.densest());
        }
    }
}
