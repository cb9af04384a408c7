//! R45 under every interleaving: the production code on loom's primitives, one property a model.

mod common {
    pub(crate) mod check;
}

use common::check::check;
use loom::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
};
use rideout_under_loom::owner::{DrainSet, LeavingHost, Lifecycle};

fn refuses(host: &LeavingHost) -> bool {
    let asked = "eur".parse().unwrap();
    host.inbound(&asked, None, "Get").is_err() && host.outbound(&asked).is_err()
}

/// Two sides stop the host, and a third asks its doors: whoever asks after either stop has returned is
/// refused, and one of the two did it.
#[test]
fn whoever_asks_after_the_stop_is_refused() {
    check("stop_and_inbound", Some(3), 10, || {
        let host = LeavingHost::new("a", &DrainSet::new());
        let returned = Arc::new(AtomicBool::new(false));
        let sides: Vec<_> = (0..2)
            .map(|_| {
                let (host, returned) = (host.clone(), Arc::clone(&returned));
                thread::spawn(move || {
                    let did_it = host.stop();
                    assert!(refuses(&host));
                    returned.store(true, Relaxed);
                    did_it
                })
            })
            .collect();
        let was_stopped = returned.load(Relaxed);
        assert!(refuses(&host) || !was_stopped);
        let did_it = sides.into_iter().map(|side| side.join().unwrap());
        assert_eq!(did_it.filter(|did_it| *did_it).count(), 1);
        assert!(refuses(&host));
    });
}

/// A host that refuses is in the drain set already.
#[test]
fn who_refuses_is_in_the_set() {
    check("refuses_in_the_set", None, 2, || {
        let leaving = DrainSet::new();
        let host = LeavingHost::new("a", &leaving);
        let stopping = {
            let host = host.clone();
            thread::spawn(move || _ = host.stop())
        };
        if refuses(&host) {
            assert!(leaving.contains("a"));
        }
        stopping.join().unwrap();
    });
}

/// Two hosts leave at once and each would hand its address to the other: not both do.
#[test]
fn two_that_leave_at_once_do_not_change_places() {
    check("two_leave", None, 2, || {
        let leaving = DrainSet::new();
        let goes = |name: &'static str, to: &'static str| {
            let host = LeavingHost::new(name, &leaving);
            let owner = Lifecycle::new("eur".parse().unwrap());
            move || {
                host.stop();
                host.hand_off(&owner, [to]).is_some()
            }
        };
        let other = thread::spawn(goes("a", "b"));
        let handed = goes("b", "a")();
        assert!(!(other.join().unwrap() && handed));
    });
}
