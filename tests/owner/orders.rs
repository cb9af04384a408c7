//! Any order of calls on a lifetime (R37, R38), against a model of a few lines.

use std::{
    future::ready,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use crate::support::driven::{Driven, owner};
use proptest::prelude::*;
use rideout::owner::{Ending, Lifecycle, PendingReply, RunLevel};

#[derive(Clone, Copy, Debug)]
enum Op {
    Started,
    Pending,
    Reply,
    Dispose(bool),
    Child,
    DropChild,
    ForceChild,
    DisposeChild,
    Leave,
    Force,
    Drive,
    DropDriver,
    Skip,
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        2 => Just(Op::Started),
        3 => Just(Op::Pending),
        3 => Just(Op::Reply),
        2 => any::<bool>().prop_map(Op::Dispose),
        4 => Just(Op::Child),
        2 => Just(Op::DropChild),
        1 => Just(Op::ForceChild),
        1 => Just(Op::DisposeChild),
        1 => Just(Op::Leave),
        1 => Just(Op::Force),
        6 => Just(Op::Drive),
        1 => Just(Op::DropDriver),
        2 => Just(Op::Skip),
    ];
    prop::collection::vec(op, 0..60)
}

proptest! {
    #[test]
    fn the_level_never_falls_and_the_end_comes_once(ops in ops()) {
        let life = owner();
        let words = Arc::new(AtomicUsize::new(0));
        let (said, at_death) = (Arc::clone(&words), life.clone());
        life.on_death(move || {
            assert!(at_death.level() == RunLevel::Dead && !at_death.teardown().is_complete());
            said.fetch_add(1, Relaxed);
        });
        let drive = || Driven::new(&life, ready(()));
        let mut driven = drive();
        let (mut replies, mut children) = (Vec::<PendingReply>::new(), Vec::<Lifecycle>::new());
        let (mut ending, mut forced, mut leaving) = (None, false, false);
        let (mut level, mut timed_out) = (RunLevel::Starting, false);
        for op in ops {
            let told = level >= RunLevel::Quiescing;
            match op {
                Op::Started => life.started(),
                Op::Pending => replies.push(life.pending()),
                Op::Reply => drop(replies.pop()),
                Op::Dispose(recycle) => {
                    let how = if recycle { Ending::recycle() } else { Ending::dispose() };
                    prop_assert_eq!(life.dispose(how.clone()), !told);
                    if !told {
                        ending = Some(how);
                    }
                }
                Op::Child => match life.child("prices/x".parse().unwrap()) {
                    Ok(born) => {
                        prop_assert!(!told && !leaving);
                        children.push(born);
                    }
                    Err(refusal) => {
                        prop_assert!(told || leaving);
                        prop_assert!(refusal.promise(life.address()).is_some());
                    }
                },
                Op::DropChild => drop(children.pop()),
                Op::ForceChild => if let Some(child) = children.pop() { child.force() },
                Op::DisposeChild => {
                    if let Some(child) = children.first() {
                        child.dispose(Ending::dispose());
                    }
                }
                Op::Leave => {
                    life.leave();
                    leaving = true;
                }
                Op::Force => {
                    forced |= level < RunLevel::Dead;
                    life.force();
                }
                Op::Drive => {
                    let over = driven.poll();
                    prop_assert_eq!(over, life.level() == RunLevel::Dead);
                }
                Op::DropDriver => {
                    let clock = driven.clock.clone();
                    driven = drive();
                    prop_assert_eq!(clock.sleeps(), 0);
                }
                Op::Skip => _ = driven.clock.skip(),
            }
            let now = life.level();
            prop_assert!(now >= level, "{level:?} fell to {now:?} by {op:?}");
            level = now;
            prop_assert!(level < RunLevel::DisposeHosted || ending.is_some() || forced);
            prop_assert!(level != RunLevel::Quiescing || !life.is_idle());
            prop_assert_eq!(life.is_idle(), replies.is_empty());
            prop_assert_eq!(life.ending(), ending.clone());
            prop_assert_eq!(life.was_forced(), forced);
            prop_assert_eq!(life.is_refusing(), leaving || level >= RunLevel::DisposeHosted);
            prop_assert_eq!(life.teardown().is_complete(), level == RunLevel::Dead);
            prop_assert_eq!(words.load(Relaxed), usize::from(level == RunLevel::Dead));
            prop_assert!(!timed_out || life.quiesce_timed_out(), "it is sticky");
            timed_out = life.quiesce_timed_out();
            if level == RunLevel::Dead && !forced {
                prop_assert!(children.iter().all(|child| child.ending().is_some()));
            }
        }
        life.dispose(Ending::dispose());
        driven.ends();
        prop_assert_eq!(words.load(Relaxed), 1);
    }
}
