//! `Registry` (R42): a dead owner is never handed out, a disposing one is, and nobody takes another's
//! entry along.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use proptest::prelude::*;
use rideout::{
    Address,
    owner::{AlreadyServed, Ending, Lifecycle, Registry},
};

fn address(text: &str) -> Address {
    text.parse().unwrap()
}

fn owner(at: &str) -> Lifecycle {
    Lifecycle::new(address(at))
}

#[test]
fn the_face_is_shared() {
    fn is<T: Send + Sync + Clone + 'static>() {}
    is::<Registry<Arc<str>>>();
    fn is_error<T: std::error::Error + Send + Sync + 'static>() {}
    is_error::<AlreadyServed<Arc<str>>>();
}

#[test]
fn an_owner_is_found_by_path() {
    let owners = Registry::default();
    owners.enter(&owner("prices/eur~host-1"), 1).unwrap();
    for asked in ["prices/eur", "prices/eur~host-1", "prices/eur~host-2"] {
        assert_eq!(owners.resolve(&address(asked)), Some(1), "{asked}");
    }
    for asked in ["prices", "prices/eu", "prices/eur/spot", "prices/EUR"] {
        assert_eq!(owners.resolve(&address(asked)), None, "{asked}");
    }
}

#[test]
fn a_disposing_owner_is_handed_out_and_a_dead_one_never() {
    let (owners, first) = (Registry::new(), owner("eur"));
    owners.enter(&first, 1).unwrap();
    let pending = first.pending();

    assert!(first.dispose(Ending::recycle()));
    assert_eq!(owners.resolve(first.address()), Some(1), "quiescing");
    drop(pending);
    assert!(first.is_refusing());
    assert_eq!(owners.resolve(first.address()), Some(1), "its refusal makes callers re-ask");
    assert_eq!(owners.living().len(), 1);

    first.force();
    assert_eq!(owners.resolve(first.address()), None);
    assert!(owners.living().is_empty());
    assert!(
        owners.remove(first.address(), first.activation()),
        "its entry was still there, and handed nothing out"
    );
}

#[test]
fn who_comes_too_early_loses_nothing_and_hears_who_lives() {
    let (owners, first, second) = (Registry::new(), owner("eur~a"), owner("eur~b"));
    owners.enter(&first, "first".to_owned()).unwrap();
    first.dispose(Ending::recycle());

    let refused = owners.enter(&second, "second".to_owned()).unwrap_err();
    assert_eq!(refused.living().activation(), first.activation());
    let text = refused.to_string();
    assert!(text.contains("eur~a") && text.contains(first.activation().as_str()), "{text}");
    assert_eq!(owners.resolve(first.address()).unwrap(), "first");

    first.force();
    owners.enter(&second, refused.into_owner()).unwrap();
    assert_eq!(owners.resolve(first.address()).unwrap(), "second");
}

#[test]
fn the_same_activation_is_entered_once() {
    let (owners, first) = (Registry::new(), owner("eur"));
    owners.enter(&first, 1).unwrap();
    assert_eq!(owners.enter(&first, 2).unwrap_err().into_owner(), 2);
    assert_eq!(owners.resolve(first.address()), Some(1));
}

#[test]
fn a_predecessor_does_not_remove_its_successor() {
    let (owners, first, second) = (Registry::new(), owner("eur"), owner("eur"));
    owners.enter(&first, 1).unwrap();
    first.force();
    owners.enter(&second, 2).unwrap();

    assert!(!owners.remove(first.address(), first.activation()));
    assert_eq!(owners.resolve(second.address()), Some(2));
    assert!(owners.remove(second.address(), second.activation()));
    assert!(!owners.remove(second.address(), second.activation()));
    assert_eq!(owners.resolve(second.address()), None);
}

#[test]
fn those_that_live_are_listed_by_path() {
    let owners = Registry::new();
    let all: Vec<_> = ["c", "a", "b"].into_iter().map(owner).collect();
    for one in &all {
        owners.enter(one, ()).unwrap();
    }
    all[1].force();
    let listed: Vec<_> = owners.living().iter().map(|one| one.address().to_string()).collect();
    assert_eq!(listed, ["b", "c"]);
}

/// An owner's clone and drop are the user's: they come back in, and find nothing locked.
#[test]
fn users_values_are_cloned_and_dropped_outside_the_lock() {
    struct Nosy {
        owners: Option<Registry<Nosy>>,
        looks: Arc<AtomicUsize>,
    }
    impl Nosy {
        fn look(&self) {
            if let Some(owners) = &self.owners {
                owners.living();
                self.looks.fetch_add(1, Relaxed);
            }
        }
    }
    impl Clone for Nosy {
        fn clone(&self) -> Self {
            self.look();
            Self { owners: None, looks: Arc::clone(&self.looks) }
        }
    }
    impl Drop for Nosy {
        fn drop(&mut self) {
            self.look();
        }
    }

    let (owners, looks) = (Registry::new(), Arc::new(AtomicUsize::new(0)));
    let nosy = || Nosy { owners: Some(owners.clone()), looks: Arc::clone(&looks) };
    let (first, second) = (owner("eur"), owner("eur"));
    owners.enter(&first, nosy()).unwrap();
    assert!(owners.resolve(first.address()).is_some());
    assert_eq!(looks.load(Relaxed), 1, "cloned");

    drop(owners.enter(&second, nosy()).unwrap_err());
    assert_eq!(looks.load(Relaxed), 2, "given back");
    first.force();
    owners.enter(&second, nosy()).unwrap();
    assert_eq!(looks.load(Relaxed), 3, "replaced");
    assert!(owners.remove(second.address(), second.activation()));
    assert_eq!(looks.load(Relaxed), 4, "removed");
}

#[derive(Clone, Debug)]
enum Op {
    Enter(usize),
    Dispose(usize),
    Die(usize),
    Remove(usize),
}

proptest! {
    /// Any order of calls at two paths, against who was entered last and whether it lives.
    #[test]
    fn follows_its_reference(ops in prop::collection::vec(
        (0..4, 0_usize..6).prop_map(|(op, who)| match op {
            0 => Op::Enter(who),
            1 => Op::Dispose(who),
            2 => Op::Die(who),
            _ => Op::Remove(who),
        }),
        0..60,
    )) {
        let paths = ["a", "b"];
        let all: Vec<_> = (0..6).map(|who| owner(paths[who % 2])).collect();
        let owners = Registry::new();
        let (mut entries, mut dead) = (BTreeMap::new(), [false; 6]);
        for op in ops {
            match op {
                Op::Enter(who) => {
                    let there = entries.get(&(who % 2)).copied().filter(|there: &usize| !dead[*there]);
                    let entered = owners.enter(&all[who], who);
                    prop_assert_eq!(entered.is_ok(), there.is_none());
                    if let Err(refused) = entered {
                        prop_assert_eq!(refused.living().born(), all[there.unwrap()].born());
                        prop_assert_eq!(refused.into_owner(), who);
                    } else {
                        entries.insert(who % 2, who);
                    }
                }
                Op::Dispose(who) => _ = all[who].dispose(Ending::recycle()),
                Op::Die(who) => {
                    all[who].force();
                    dead[who] = true;
                }
                Op::Remove(who) => {
                    let is_there = entries.get(&(who % 2)) == Some(&who);
                    prop_assert_eq!(owners.remove(all[who].address(), all[who].activation()), is_there);
                    if is_there {
                        entries.remove(&(who % 2));
                    }
                }
            }
            for (index, path) in paths.into_iter().enumerate() {
                let there = entries.get(&index).copied().filter(|there| !dead[*there]);
                prop_assert_eq!(owners.resolve(&address(path)), there);
            }
        }
    }
}
