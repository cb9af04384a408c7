//! R52 under every interleaving: the production code on loom's primitives, one property a model.

mod common {
    pub(crate) mod check;
    pub(crate) mod poll_once;
}

use std::task::Waker;

use common::{check::check, poll_once::poll_once};
use loom::{future::block_on, thread};
use rideout_under_loom::owner::{Ending, Lifecycle, Waves};

fn owner(at: &str) -> Lifecycle {
    Lifecycle::new(at.parse().unwrap())
}

/// A consequence is asked for while the wave may be coming to its end: it joins, and the wave waits for
/// it; or it is a recycle by itself. It is told in any case, and by that call.
#[test]
fn a_consequence_at_the_end_is_not_lost() {
    check("consequence_at_the_end", None, 5, || {
        let (waves, eur, usd) = (Waves::new(), owner("eur"), owner("usd"));
        let mut wave = waves.land(|| [eur.clone()], Ending::recycle());
        let dying = thread::spawn(move || eur.force());
        let asking = {
            let (waves, usd) = (waves.clone(), usd.clone());
            thread::spawn(move || {
                assert!(waves.recycle(&usd, Ending::recycle()));
            })
        };
        // Over, it stays over.
        let was_over = poll_once(&mut wave, Waker::noop()).is_ready();
        dying.join().unwrap();
        asking.join().unwrap();
        assert!(usd.ending().is_some());
        assert!(!was_over || wave.is_over());
        usd.force();
        assert!(wave.is_over());
    });
}

/// A consequence that is asked for while the wave is on joins it: the wave is not over before it.
#[test]
fn a_consequence_in_the_wave_is_waited_for() {
    check("consequence_in_the_wave", None, 3, || {
        let (waves, eur, usd) = (Waves::new(), owner("eur"), owner("usd"));
        let wave = waves.land(|| [eur.clone()], Ending::recycle());
        let dying = thread::spawn(move || eur.force());
        waves.recycle(&usd, Ending::recycle());
        // Over is for good, so it was on when that was asked for.
        let joined = !wave.is_over();
        dying.join().unwrap();
        assert!(!joined || !wave.is_over());
        usd.force();
        assert!(wave.is_over());
    });
}

/// The last member's end and the wave's waiter: it is woken.
#[test]
fn who_waits_for_the_wave_hears_of_its_end() {
    check("end_of_wave", None, 5, || {
        let (waves, eur, usd) = (Waves::new(), owner("eur"), owner("usd"));
        let wave = waves.land(|| [eur.clone(), usd.clone()], Ending::recycle());
        eur.force();
        let last = usd.teardown().clone();
        let dying = thread::spawn(move || usd.force());
        block_on(wave);
        assert!(last.is_complete());
        dying.join().unwrap();
    });
}

/// A landing and a recycle of one of its members, at once: one of the two tells it, and the wave knows
/// of it either way.
#[test]
fn a_member_is_told_once() {
    check("told_once", None, 5, || {
        let (waves, eur) = (Waves::new(), owner("eur"));
        let by_recycle = Ending::recycle().asked_by("recycle");
        let asking = {
            let (waves, eur, ending) = (waves.clone(), eur.clone(), by_recycle.clone());
            thread::spawn(move || waves.recycle(&eur, ending))
        };
        let wave = waves.land(|| [eur.clone()], Ending::recycle());
        assert!(!wave.is_over());
        let recycled = asking.join().unwrap();
        assert_eq!(eur.ending() == Some(by_recycle), recycled);
        eur.force();
        assert!(wave.is_over());
    });
}

/// The successor is born while its predecessor's wave is on, and whatever is asked for it before that is
/// over changes nothing; if it was told, the predecessor was gone.
#[test]
fn a_successor_is_told_only_after_the_wave() {
    check("successor", None, 2, || {
        let (waves, eur) = (Waves::new(), owner("eur"));
        let wave = waves.land(|| [eur.clone()], Ending::recycle());
        let successor = owner("eur");
        let dying = {
            let eur = eur.clone();
            thread::spawn(move || eur.force())
        };
        if waves.recycle(&successor, Ending::recycle()) {
            assert!(eur.teardown().is_complete());
            assert!(wave.is_over());
        }
        dying.join().unwrap();
    });
}

/// Two waves land at once: whoever was born before one of them began is of the one that decides.
#[test]
fn the_wave_that_began_last_decides() {
    check("two_waves", None, 5, || {
        let waves = Waves::new();
        let landing = {
            let (waves, eur) = (waves.clone(), owner("eur"));
            thread::spawn(move || waves.land(|| [eur], Ending::recycle()))
        };
        // A birth is nothing that loom sees, and a look is: both are before the other beginning, or behind.
        _ = format!("{waves:?}");
        let (usd, gbp) = (owner("usd"), owner("gbp"));
        let wave = waves.land(|| [gbp.clone()], Ending::recycle());
        assert!(waves.recycle(&usd, Ending::recycle()), "it was taken for a successor");
        assert!(!wave.is_over());
        drop(landing.join().unwrap());
    });
}
