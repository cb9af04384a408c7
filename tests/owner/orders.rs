//! Any order of calls on a lifetime (R37, R38), against a model of a few lines.

use std::{
    future::{Ready, ready},
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

/// A lifetime, and what is known of it.
struct Life<'a> {
    life: &'a Lifecycle,
    driven: Driven<Ready<()>>,
    replies: Vec<PendingReply>,
    children: Vec<Lifecycle>,
    ending: Option<Ending>,
    forced: bool,
    leaving: bool,
    level: RunLevel,
    timed_out: bool,
}

impl<'a> Life<'a> {
    fn new(life: &'a Lifecycle) -> Self {
        Life {
            life,
            driven: Driven::new(life, ready(())),
            replies: Vec::new(),
            children: Vec::new(),
            ending: None,
            forced: false,
            leaving: false,
            level: RunLevel::Starting,
            timed_out: false,
        }
    }

    /// Makes a call.
    fn call(&mut self, op: Op) -> Result<(), TestCaseError> {
        let (life, told) = (self.life, self.level >= RunLevel::Quiescing);
        match op {
            Op::Started => life.started(),
            Op::Pending => self.replies.push(life.pending()),
            Op::Reply => drop(self.replies.pop()),
            Op::Dispose(recycle) => {
                let how = if recycle { Ending::recycle() } else { Ending::dispose() };
                prop_assert_eq!(life.dispose(how.clone()), !told);
                if !told {
                    self.ending = Some(how);
                }
            }
            Op::Child => match life.child("prices/x".parse().unwrap()) {
                Ok(born) => {
                    prop_assert!(!told && !self.leaving);
                    self.children.push(born);
                }
                Err(refusal) => {
                    prop_assert!(told || self.leaving);
                    prop_assert!(refusal.promise(life.address()).is_some());
                }
            },
            Op::DropChild => drop(self.children.pop()),
            Op::ForceChild => self.children.pop().into_iter().for_each(|child| child.force()),
            Op::DisposeChild => {
                if let Some(child) = self.children.first() {
                    child.dispose(Ending::dispose());
                }
            }
            Op::Leave => {
                life.leave();
                self.leaving = true;
            }
            Op::Force => {
                self.forced |= self.level < RunLevel::Dead;
                life.force();
            }
            Op::Drive => {
                let over = self.driven.poll();
                prop_assert_eq!(over, life.level() == RunLevel::Dead);
            }
            Op::DropDriver => {
                let clock = self.driven.clock.clone();
                self.driven = Driven::new(life, ready(()));
                prop_assert_eq!(clock.sleeps(), 0);
            }
            Op::Skip => _ = self.driven.clock.skip(),
        }
        Ok(())
    }

    /// Looks at what it says of itself after `op`.
    fn is_as_known(&mut self, op: Op) -> Result<(), TestCaseError> {
        let (life, now) = (self.life, self.life.level());
        prop_assert!(now >= self.level, "{:?} fell to {now:?} by {op:?}", self.level);
        self.level = now;
        let is_told = self.ending.is_some() || self.forced;
        prop_assert!(now < RunLevel::DisposeHosted || is_told);
        prop_assert!(now != RunLevel::Quiescing || !life.is_idle());
        prop_assert_eq!(life.is_idle(), self.replies.is_empty());
        prop_assert_eq!(life.ending(), self.ending.clone());
        prop_assert_eq!(life.was_forced(), self.forced);
        prop_assert_eq!(life.is_refusing(), self.leaving || now >= RunLevel::DisposeHosted);
        prop_assert_eq!(life.teardown().is_complete(), now == RunLevel::Dead);
        prop_assert!(!self.timed_out || life.quiesce_timed_out(), "it is sticky");
        self.timed_out = life.quiesce_timed_out();
        if now == RunLevel::Dead && !self.forced {
            prop_assert!(self.children.iter().all(|child| child.ending().is_some()));
        }
        Ok(())
    }
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
        let mut known = Life::new(&life);
        for op in ops {
            known.call(op)?;
            known.is_as_known(op)?;
            prop_assert_eq!(words.load(Relaxed), usize::from(known.level == RunLevel::Dead));
        }
        life.dispose(Ending::dispose());
        known.driven.ends();
        prop_assert_eq!(words.load(Relaxed), 1);
    }
}
