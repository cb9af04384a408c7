//! A cascade: children end with their parent, and hold it no longer than they may.

use super::*;

/// R38: told in one instant, and together they take as long as the slowest.
#[tokio::test(start_paused = true)]
async fn children_end_together() {
    let parent = owner();
    let began = tokio::time::Instant::now();
    let told = Arc::new(Mutex::new(Vec::new()));
    for count in [3, 1, 2] {
        let child = child(&parent);
        let told = Arc::clone(&told);
        let level = child.reached(RunLevel::Quiescing);
        tokio::spawn(child.driver_on(Paused, tokio::time::sleep(secs(count))));
        tokio::spawn(async move {
            level.await;
            told.lock().unwrap().push(began.elapsed());
        });
    }
    parent.dispose(Ending::recycle().asked_by("ops"));
    parent.driver_on(Paused, async { assert_eq!(began.elapsed(), secs(3)) }).await;
    assert_eq!(began.elapsed(), secs(3));
    assert_eq!(*told.lock().unwrap(), [Duration::ZERO; 3]);
}

/// R43: told as a plain dispose, by its parent, for the same reason.
#[test]
fn a_cascade_is_silent() {
    let parent = owner();
    let child = child(&parent);
    let mut driven = Driven::new(&parent, ready(()));
    parent.dispose(Ending::recycle().asked_by("ops").reason("a new build"));
    assert!(!driven.poll());
    let by = Ending::dispose().asked_by("ops").reason("a new build");
    assert_eq!(child.ending(), Some(by));
    assert!(parent.ending().unwrap().is_announced() && !child.ending().unwrap().is_announced());
}

/// R37: a child that comes to its end already goes on by its own, whatever its parent's.
#[test]
fn a_cascade_changes_nothing_of_an_end_that_is_decided() {
    let parent = owner();
    let child = child(&parent);
    let reply = child.pending();
    child.dispose(Ending::recycle().reason("its own"));
    let mut driven = Driven::new(&parent, ready(()));
    parent.dispose(Ending::recycle().asked_by("ops"));
    assert!(!driven.poll());
    assert_eq!(child.ending(), Some(Ending::recycle().reason("its own")));
    drop(reply);
}

/// R40: where nobody says who asked, the children's words name their parent.
#[test]
fn a_cascade_that_nobody_asked_for_is_the_parent_s() {
    let parent = owner();
    let child = child(&parent);
    let mut driven = Driven::new(&parent, ready(()));
    parent.dispose(Ending::recycle());
    assert!(!driven.poll());
    assert_eq!(child.ending(), Some(Ending::dispose().asked_by(parent.address().to_string())));
}

#[test]
fn a_child_that_hangs_holds_its_parent_five_seconds() {
    let heard = Heard::begin();
    let parent = owner();
    let hangs = child(&parent);
    let mut driven = Driven::new(&parent, ready(()));
    parent.dispose(Ending::dispose());
    driven.lasts(secs(5));
    assert!(driven.poll());
    assert!(hangs.is_refusing() && hangs.level() < RunLevel::Dead, "it is not forced for that");
    assert!(!parent.was_forced() && said(&heard).is_empty());
    hangs.force();
    assert!(hangs.teardown().is_complete());
}

#[test]
fn a_child_that_is_gone_holds_nobody() {
    type End = fn(Lifecycle);
    let ends: [(&str, End); 5] = [
        ("dropped", drop),
        ("forced", |child| child.force()),
        ("killed with its driver", |child| {
            let mut driven = Driven::new(&child, pending());
            child.dispose(Ending::dispose());
            assert!(!driven.poll());
        }),
        ("panicked", |child| {
            let mut driven = Driven::new(&child, async { panic!("its last code") });
            child.dispose(Ending::dispose());
            hand_clock::panics(|| driven.poll());
        }),
        ("ended", |child| {
            child.dispose(Ending::dispose());
            assert!(Driven::new(&child, ready(())).poll());
        }),
    ];
    for (case, end) in ends {
        for told_first in [false, true] {
            let parent = owner();
            let (child, sibling) = (child(&parent), child(&parent));
            let mut driven = Driven::new(&parent, ready(()));
            if told_first {
                parent.dispose(Ending::dispose());
                assert!(!driven.poll(), "{case}: the control");
                end(child);
            } else {
                end(child);
                parent.dispose(Ending::dispose());
            }
            assert!(!driven.poll(), "{case}: its sibling is there");
            drop(sibling);
            assert!(driven.poll(), "{case}");
        }
    }
}
