//! R42 under every interleaving: the production code on loom's primitives, one property a model.

mod common {
    pub(crate) mod check;
}

use common::check::check;
use loom::thread;
use rideout_under_loom::{
    Address,
    owner::{Lifecycle, Registry, RunLevel},
};

fn address() -> Address {
    "eur".parse().unwrap()
}

/// A predecessor that is dead goes at last while its successor is entered: the successor stays.
#[test]
fn a_late_removal_leaves_the_successor() {
    check("late_removal", None, 2, || {
        let (owners, first) = (Registry::new(), Lifecycle::new(address()));
        let second = Lifecycle::new(address());
        owners.enter(&first, 1).unwrap();
        first.force();

        let going = {
            let (owners, first) = (owners.clone(), first.clone());
            thread::spawn(move || _ = owners.remove(first.address(), first.activation()))
        };
        owners.enter(&second, 2).unwrap();
        going.join().unwrap();
        assert_eq!(owners.resolve(&address()), Some(2));
    });
}

/// An owner dies while it is asked for: it is handed out only where it was alive when that began.
#[test]
fn who_was_dead_when_it_was_asked_for_is_not_handed_out() {
    check("resolve_and_death", None, 3, || {
        let (owners, first) = (Registry::new(), Lifecycle::new(address()));
        owners.enter(&first, 1).unwrap();
        let dying = {
            let first = first.clone();
            thread::spawn(move || first.force())
        };
        let was_dead = first.level() == RunLevel::Dead;
        let found = owners.resolve(&address());
        assert!(!(was_dead && found.is_some()));
        dying.join().unwrap();
        assert_eq!(owners.resolve(&address()), None);
    });
}

/// Two successors come at once: one is entered, the other hears of it and has its owner back.
#[test]
fn one_of_two_successors_is_entered() {
    check("two_successors", None, 2, || {
        let (owners, first) = (Registry::new(), Lifecycle::new(address()));
        owners.enter(&first, 0).unwrap();
        first.force();

        let other = {
            let owners = owners.clone();
            thread::spawn(move || {
                let second = Lifecycle::new(address());
                (owners.enter(&second, 1), second)
            })
        };
        let third = Lifecycle::new(address());
        let entered = owners.enter(&third, 2);
        let (other, second) = other.join().unwrap();
        let (refused, who, living, there) = match (other, entered) {
            (Ok(()), Err(refused)) => (refused, 2, second, 1),
            (Err(refused), Ok(())) => (refused, 1, third, 2),
            both => panic!("{both:?}"),
        };
        assert_eq!(refused.living().activation(), living.activation());
        assert_eq!(refused.into_owner(), who);
        assert_eq!(owners.resolve(&address()), Some(there));
    });
}
