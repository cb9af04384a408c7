//! `Waves` (R52): a landing recycles each activation that lived when it began once, and no successor.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex},
    task::{Wake, Waker},
};

use crate::support::{
    by_hand::{Task, kept, poll},
    paused::Paused,
};
use proptest::prelude::*;
use rideout::owner::{Ending, Lifecycle, Registry, RunLevel, Wave, Waves};

fn owner(at: &str) -> Lifecycle {
    Lifecycle::new(at.parse().unwrap())
}

fn owners<const N: usize>() -> [Lifecycle; N] {
    std::array::from_fn(|n| owner(&format!("owner/{n}")))
}

fn landing() -> Ending {
    Ending::recycle().asked_by("landing")
}

fn consequence() -> Ending {
    Ending::recycle().asked_by("consequence")
}

#[track_caller]
fn assert_over(wave: &mut Wave, over: bool) {
    assert_eq!(wave.is_over(), over);
    assert_eq!(poll(wave, Waker::noop()).is_ready(), over);
}

#[test]
fn the_face_is_what_a_landing_needs() {
    fn is<T: Send + Sync + Unpin + 'static>() {}
    is::<Waves>();
    is::<Wave>();
}

#[test]
fn a_landing_tells_its_members_once_and_is_over_when_they_are_gone() {
    let (waves, [eur, usd, other]) = (Waves::new(), owners());
    let mut wave = waves.land(|| [eur.clone(), usd.clone(), eur.clone()], landing());
    assert_eq!(eur.ending(), Some(landing()));
    assert_eq!(usd.ending(), Some(landing()));
    assert_eq!(other.ending(), None);
    assert!(!waves.recycle(&eur, consequence()), "it was told");

    let (task, waker) = Task::new();
    assert!(poll(&mut wave, &waker).is_pending());
    usd.force();
    assert_over(&mut wave, false);
    assert!(poll(&mut wave, &waker).is_pending());
    eur.force();
    assert_eq!(task.wakes(), 1, "by the event");
    assert_over(&mut wave, true);
    assert_over(&mut wave, true);
    assert_eq!(kept(&task), 0);
}

#[test]
fn a_landing_on_nobody_is_over_at_once() {
    let (waves, [dead]) = (Waves::new(), owners());
    dead.force();
    assert_over(&mut waves.land(Vec::new, landing()), true);
    assert_over(&mut waves.land(|| [dead.clone()], landing()), true);
    assert_eq!(dead.ending(), None);
}

#[test]
fn a_consequence_joins_the_wave() {
    let (waves, [eur, usd]) = (Waves::new(), owners());
    let mut wave = waves.land(|| [eur.clone()], landing());
    assert!(waves.recycle(&usd, consequence()));
    assert!(!waves.clone().recycle(&usd, consequence()), "once");
    assert_eq!(usd.ending(), Some(consequence()));

    eur.force();
    assert_over(&mut wave, false);
    let successor = owner("owner/0");
    assert!(!waves.recycle(&successor, consequence()), "the wave is on for the one that joined");
    usd.force();
    assert_over(&mut wave, true);
}

#[test]
fn a_successor_is_left_alone_until_the_wave_is_over() {
    let (waves, [eur]) = (Waves::new(), owners());
    let wave = waves.land(|| [eur.clone()], landing());
    let successor = owner("owner/0");
    for _ in 0..2 {
        assert!(!waves.recycle(&successor, consequence()));
        assert_eq!(successor.level(), RunLevel::Starting);
    }

    eur.force(); // Nobody has looked at the wave since.
    assert!(waves.recycle(&successor, consequence()), "a plain recycle");
    assert!(wave.is_over());
    successor.force();
}

#[test]
fn with_no_wave_on_it_is_a_plain_recycle() {
    let (waves, [eur]) = (Waves::new(), owners());
    assert!(waves.recycle(&eur, consequence()));
    assert!(!waves.recycle(&eur, consequence()));
    let successor = owner("owner/0");
    assert!(waves.recycle(&successor, consequence()), "it started no wave");
}

/// What was born during the first landing is what the second is about.
#[test]
fn a_second_landing_recycles_what_came_in_the_first() {
    let (waves, [eur]) = (Waves::new(), owners());
    let mut first = waves.land(|| [eur.clone()], landing());
    let second_eur = owner("owner/0");
    let second = landing().reason("second");
    let mut wave = waves.land(|| [eur.clone(), second_eur.clone()], second.clone());
    assert_eq!(second_eur.ending(), Some(second));
    assert_eq!(eur.ending(), Some(landing()));
    let third = owner("owner/0");
    assert!(!waves.recycle(&third, consequence()));

    second_eur.force();
    assert_over(&mut first, false);
    assert_over(&mut wave, false);
    eur.force();
    assert_over(&mut first, true);
    assert_over(&mut wave, true);
    assert!(waves.recycle(&third, consequence()));
}

/// The later wave is over first: the earlier one is still on, and it knows its own successors.
#[test]
fn the_earlier_wave_decides_when_the_later_is_over() {
    let (waves, [eur, usd]) = (Waves::new(), owners());
    let mut first = waves.land(|| [eur.clone()], landing());
    let mut second = waves.land(Vec::new, landing());
    assert_over(&mut second, true);
    let successor = owner("owner/0");
    assert!(!waves.recycle(&successor, consequence()));
    assert!(waves.recycle(&usd, consequence()));
    eur.force();
    assert_over(&mut first, false);
    usd.force();
    assert_over(&mut first, true);
}

/// A killed owner completes nothing: whoever gives up on it ends the wave.
#[test]
fn a_dropped_wave_is_over() {
    let (waves, [killed, usd]) = (Waves::new(), owners());
    let (task, waker) = Task::new();
    let teardown = killed.teardown().clone();
    let mut wave = waves.land(|| [killed], landing());
    assert!(poll(&mut wave, &waker).is_pending());
    let successor = owner("owner/0");
    assert!(!waves.recycle(&successor, consequence()), "it is on");

    drop(wave);
    assert_eq!((kept(&task), teardown.waiters()), (0, 0));
    assert!(waves.recycle(&successor, consequence()));
    assert!(waves.recycle(&usd, consequence()));
}

/// The list is made when the wave has begun: who is born while it is made is a successor, whoever was
/// born before is found.
#[test]
fn the_members_are_listed_in_the_wave() {
    let (waves, registry) = (Waves::new(), Registry::new());
    let [old] = owners();
    registry.enter(&old, ()).unwrap();
    let mut born = None;
    let wave = waves.land(
        || {
            let successor = owner("during");
            assert!(!waves.recycle(&successor, consequence()), "it is on");
            registry.enter(&successor, ()).unwrap();
            born = Some(successor);
            registry.living()
        },
        landing(),
    );
    assert!(old.ending().is_some());
    assert_eq!(born.unwrap().ending(), None);
    assert!(!wave.is_over());
}

/// A child is recycled by itself, and so announced, before its parent would put it away in silence.
#[tokio::test(start_paused = true)]
async fn a_child_is_told_before_its_parent() {
    let waves = Waves::new();
    let parent = owner("prices");
    let child = parent.child("prices/eur".parse().unwrap()).unwrap();
    let told = Arc::new(Mutex::new(Vec::new()));
    struct Told(&'static str, Arc<Mutex<Vec<&'static str>>>);
    impl Wake for Told {
        fn wake(self: Arc<Self>) {
            self.1.lock().unwrap().push(self.0);
        }
    }
    let mut waits = [("parent", &parent), ("child", &child)].map(|(name, it)| {
        let waker = Waker::from(Arc::new(Told(name, Arc::clone(&told))));
        let mut reached = it.reached(RunLevel::Quiescing);
        assert!(poll(&mut reached, &waker).is_pending());
        reached
    });
    let drivers = [&parent, &child].map(|it| tokio::spawn(it.driver_on(Paused, async {})));
    waves.land(|| [parent.clone(), child.clone()], landing()).await;
    assert_eq!(*told.lock().unwrap(), ["child", "parent"]);
    assert!(child.ending().unwrap().is_announced());
    assert!(waits.iter_mut().all(|wait| poll(wait, Waker::noop()).is_ready()));
    for driver in drivers {
        driver.await.unwrap();
    }
}

/// A consequence that is drawn in the last words of the last member is in time.
#[test]
fn last_words_are_in_the_wave() {
    let (waves, [eur]) = (Waves::new(), owners());
    let mut wave = waves.land(|| [eur.clone()], landing());
    let successor = owner("owner/0");
    let (asks, whom) = (waves.clone(), successor.clone());
    eur.on_death(move || assert!(!asks.recycle(&whom, consequence())));
    eur.force();
    assert_over(&mut wave, true);
    assert_eq!(successor.ending(), None);
}

/// Whoever is woken by an end comes back in and finds nothing locked; one that panics loses nobody.
#[test]
fn wakers_run_outside_the_lock_and_lose_nobody() {
    struct Nosy(Waves, Lifecycle);
    impl Wake for Nosy {
        fn wake(self: Arc<Self>) {
            assert!(!self.0.recycle(&self.1, consequence()));
            panic!("a waker");
        }
    }
    let (waves, [first, second]) = (Waves::new(), owners());
    let successor = Arc::new(Mutex::new(None));
    let waits = [&first, &second].map(|it| {
        let mut reached = it.reached(RunLevel::Quiescing);
        let waker = Waker::from(Arc::new(Nosy(waves.clone(), it.clone())));
        assert!(poll(&mut reached, &waker).is_pending());
        reached
    });
    let landed = catch_unwind(AssertUnwindSafe(|| {
        let members = || {
            *successor.lock().unwrap() = Some(owner("owner/0"));
            [first.clone(), second.clone()]
        };
        waves.land(members, landing())
    }));
    assert!(landed.is_err());
    assert!(first.ending().is_some() && second.ending().is_some());
    let successor = successor.lock().unwrap().take().unwrap();
    assert!(waves.recycle(&successor, consequence()), "the wave is over");
    drop(waits);
}

#[test]
fn members_that_panic_leave_no_wave() {
    let (waves, [eur]) = (Waves::new(), owners());
    let members = || -> Vec<Lifecycle> { panic!("a list") };
    assert!(catch_unwind(AssertUnwindSafe(|| waves.land(members, landing()))).is_err());
    assert_eq!(eur.ending(), None);
    let successor = owner("owner/0");
    assert!(waves.recycle(&successor, consequence()));
}

#[test]
fn debug_tells_the_state() {
    let (waves, [eur]) = (Waves::new(), owners());
    let wave = waves.land(|| [eur.clone()], landing());
    assert_eq!(format!("{waves:?} {wave:?}"), "Waves { on: true, .. } Wave { over: false, .. }");
    eur.force();
    assert_eq!(format!("{waves:?} {wave:?}"), "Waves { on: false, .. } Wave { over: true, .. }");
}

#[derive(Clone, Debug)]
enum Op {
    Born,
    Land(usize),
    Recycle(usize),
    Die(usize),
    Drop(usize),
}

/// What is to be true of a wave that has not been dropped.
struct Expected {
    handle: Wave,
    // How many had been born when it began.
    began: usize,
    members: Vec<usize>,
    over: bool,
}

proptest! {
    /// Any order of births, landings, consequences and deaths, against a plain reckoning.
    #[test]
    fn follows_its_reference(ops in prop::collection::vec(prop_oneof![
        4 => Just(Op::Born),
        2 => any::<usize>().prop_map(Op::Land),
        6 => any::<usize>().prop_map(Op::Recycle),
        4 => any::<usize>().prop_map(Op::Die),
        1 => any::<usize>().prop_map(Op::Drop),
    ], 0..80)) {
        let (waves, mut expected) = (Waves::new(), Vec::<Expected>::new());
        // Each with who told it, and whether it lives.
        let mut all: Vec<(Lifecycle, Option<Ending>, bool)> = Vec::new();
        for op in ops {
            match op {
                Op::Born => all.push((owner("eur"), None, true)),
                // Every other one, or every third: a landing is of a set.
                Op::Land(step) => {
                    let named = (0..all.len()).step_by(step % 3 + 1).collect::<Vec<_>>();
                    let listed: Vec<_> = named.iter().map(|who| all[*who].0.clone()).collect();
                    let ending = landing().reason(expected.len().to_string());
                    let handle = waves.land(|| listed, ending.clone());
                    let members: Vec<_> = named.into_iter().filter(|who| all[*who].2).collect();
                    for who in &members {
                        all[*who].1.get_or_insert(ending.clone());
                    }
                    expected.push(Expected { handle, began: all.len(), members, over: false });
                }
                Op::Recycle(who) if !all.is_empty() => {
                    let who = who % all.len();
                    let wave = expected.iter_mut().rev().find(|wave| !wave.over);
                    let is_left_alone = wave.as_ref().is_some_and(|wave| who >= wave.began);
                    let tells = !is_left_alone && all[who].1.is_none() && all[who].2;
                    prop_assert_eq!(waves.recycle(&all[who].0, consequence()), tells);
                    if tells {
                        all[who].1 = Some(consequence());
                    }
                    if let Some(wave) = wave.filter(|_| !is_left_alone) {
                        wave.members.push(who);
                    }
                }
                Op::Die(who) if !all.is_empty() => {
                    let who = who % all.len();
                    all[who].0.force();
                    all[who].2 = false;
                }
                Op::Drop(which) if !expected.is_empty() => {
                    let which = which % expected.len();
                    expected.remove(which);
                }
                Op::Recycle(_) | Op::Die(_) | Op::Drop(_) => {}
            }
            for wave in &mut expected {
                wave.over |= wave.members.iter().all(|who| !all[*who].2);
                prop_assert_eq!(wave.handle.is_over(), wave.over);
                prop_assert_eq!(poll(&mut wave.handle, Waker::noop()).is_ready(), wave.over);
            }
            for (lifecycle, told, _) in &all {
                prop_assert_eq!(&lifecycle.ending(), told);
            }
        }
    }
}
