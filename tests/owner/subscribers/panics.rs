//! Sinks that panic: nothing ends, and nobody loses an answer.

use super::*;

/// C40: what a panic leaves behind is whole.
#[test]
fn a_panic_in_retain_ends_nothing() {
    let (mut subscribers, now) = (with_state(), Instant::now());
    let _ = subscribers.ask("eur", 1, 7, 70, now);
    let _ = subscribers.ask("usd", 1, 8, 80, now);
    let mut looked = 0;
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        subscribers.retain(|_, _| {
            looked += 1;
            assert!(looked < 2, "the second look");
            false
        })
    }));
    assert!(panicked.is_err());
    assert_eq!(subscribers.publish().len(), 2);
    assert_eq!(subscribers.retain(|_, _| false).len(), 2);
    assert_eq!(subscribers.next_release(), None);
}

/// A sink whose clone panics while it is armed.
struct Armed<'a>(&'a Cell<bool>);

impl Clone for Armed<'_> {
    fn clone(&self) -> Self {
        assert!(!self.0.get(), "a clone that panics");
        Self(self.0)
    }
}

/// Nobody's number is used up, and nobody's held answer is lost.
#[test]
fn a_sink_whose_clone_panics_costs_nobody_an_answer() {
    let (mut subscribers, now, armed, safe) =
        (Subscribers::new(), Instant::now(), Cell::new(true), Cell::new(false));
    let _ = subscribers.ask("eur", 1, Armed(&safe), 70, now);
    let _ = subscribers.ask("usd", 1, Armed(&armed), 80, now);
    let publishes = std::panic::AssertUnwindSafe(|| subscribers.publish());
    assert!(std::panic::catch_unwind(publishes).is_err());

    armed.set(false);
    let frames = subscribers.publish().into_iter();
    let told: Vec<_> = frames.map(|it| (it.key, it.number, it.acknowledgements)).collect();
    assert_eq!(told, [("eur", 1, vec![70]), ("usd", 1, vec![80])]);
}
