//! R49 under every interleaving: a goodbye, a loss and a fresh registration of one target, from the threads
//! of one owner. The production code behind a loom lock, one property a model.

mod common {
    pub(crate) mod check;
}

use std::time::{Duration, Instant};

use common::check::check;
use loom::{
    sync::{Arc, Mutex, MutexGuard},
    thread::{self, JoinHandle},
};
use rideout_under_loom::{Refusal, owner::DeliveryTargets};

const KEY: &str = "eur";
const LIFE: Duration = Duration::from_secs(60);

/// The targets of one place: `&mut self` each, so they stand under a lock of the place's own.
#[derive(Clone)]
struct Place {
    targets: Arc<Mutex<DeliveryTargets<&'static str, u32>>>,
    began: Instant,
}

impl Place {
    /// One where a target is registered.
    fn with(registration: u32) -> Place {
        let mut targets = DeliveryTargets::new().tombstone_life(LIFE);
        targets.register(KEY, registration);
        Place { targets: Arc::new(Mutex::new(targets)), began: Instant::now() }
    }

    fn targets(&self) -> MutexGuard<'_, DeliveryTargets<&'static str, u32>> {
        self.targets.lock().unwrap()
    }

    fn register(&self, registration: u32) {
        self.targets().register(KEY, registration);
    }

    fn release(&self, registration: u32) -> bool {
        self.targets().release(KEY, &registration, self.began)
    }

    fn disconnect(&self, registration: u32) -> bool {
        self.targets().mark_disconnected(KEY, &registration, self.began)
    }

    fn deliver(&self) -> Result<(), Refusal> {
        self.targets().deliver(&"clients/7".parse().unwrap(), KEY, self.began)
    }

    fn spawn<T: 'static>(&self, f: impl FnOnce(Place) -> T + 'static) -> JoinHandle<T> {
        let place = self.clone();
        thread::spawn(move || f(place))
    }

    /// The successor is there, and nothing of its predecessor is left that could hit it later.
    fn judge(&self) {
        assert_eq!(self.deliver(), Ok(()));
        self.targets().expire(self.began + LIFE);
        assert_eq!(self.deliver(), Ok(()), "its predecessor's tombstone was its own");
        let targets = self.targets();
        assert_eq!((targets.len(), targets.remembered()), (1, 0));
    }
}

/// The goodbye of a predecessor comes before its successor is registered, or after: the successor is
/// there, and a delivery meets one of the two or the tombstone between them, never a promise.
#[test]
fn a_late_goodbye_leaves_the_successor() {
    check("late_goodbye", None, 5, || {
        let place = Place::with(1);
        let going = place.spawn(|place| place.release(1));
        let delivering = place.spawn(|place| place.deliver());
        place.register(2);
        assert_eq!(place.deliver(), Ok(()));
        going.join().unwrap();
        if let Err(refusal) = delivering.join().unwrap() {
            assert!(refusal.released, "of a target that was never lost: {refusal}");
        }
        place.judge();
    });
}

/// A predecessor is cut off, and its goodbye comes all the same: between its loss and the successor, or
/// behind both.
#[test]
fn a_late_goodbye_of_one_that_was_lost_leaves_the_successor() {
    check("lost_and_late", None, 3, || {
        let place = Place::with(1);
        let going = place.spawn(|place| (place.disconnect(1), place.release(1)));
        place.register(2);
        assert_eq!(place.deliver(), Ok(()));
        let (lost, said_goodbye) = going.join().unwrap();
        assert!(lost || !said_goodbye, "the goodbye of a predecessor was taken down");
        place.judge();
    });
}

/// A cut and a goodbye of one registration: whichever is first, the goodbye counts, and once.
#[test]
fn a_goodbye_counts_whether_the_cut_is_before_it_or_after() {
    check("cut_and_goodbye", None, 2, || {
        let place = Place::with(1);
        let cut = place.spawn(|place| place.disconnect(1));
        let again = place.spawn(|place| place.release(1));
        let said = place.release(1);
        cut.join().unwrap();
        assert!(said ^ again.join().unwrap(), "one registration says goodbye once");
        assert!(place.deliver().unwrap_err().released);
        let targets = place.targets();
        assert_eq!((targets.len(), targets.remembered()), (0, 1));
    });
}

/// A tombstone is forgotten while a fresh registration clears it: the registration stays.
#[test]
fn a_tombstone_that_is_forgotten_takes_no_successor_along() {
    check("forgotten", None, 2, || {
        let place = Place::with(1);
        assert!(place.release(1));
        let sweeping = place.spawn(|place| {
            let over = place.began + LIFE;
            place.targets().expire(over);
        });
        place.register(2);
        sweeping.join().unwrap();
        place.judge();
    });
}

/// Two registrations of one key come at once, and one says goodbye: it is over where it was the newest,
/// and changes nothing where it was not.
#[test]
fn the_newest_of_two_is_the_one_that_says_goodbye() {
    check("newest", None, 2, || {
        let place = Place::with(1);
        let other = place.spawn(|place| {
            place.register(2);
            place.release(2)
        });
        place.register(3);
        let said = other.join().unwrap();
        match place.deliver() {
            Ok(()) => place.judge(),
            Err(refusal) => assert!(said && refusal.released, "{refusal}"),
        }
        // The one that is there is the newest: nobody else's goodbye does anything.
        assert!(!place.release(1) && !place.release(2));
    });
}
