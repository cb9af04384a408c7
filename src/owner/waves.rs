//! How is a set of addresses recycled without recycling what has just come back?
//!
//! What lands on a cluster (a new build, a changed type) recycles all that runs on the old. Each recycle
//! has consequences, other owners' recycles among them, and they meet successors which are new already:
//! recycled again, those would cause the next ones. So a landing is one wave, and what it causes is part
//! of it (`R52`).
//!
//! # Invariants
//!
//! 1. **A wave is of those born before it began**: a place in the order of births, taken before its
//!    members are looked at. While it is on, a recycle of one born before is part of it; one of one born
//!    since changes nothing.
//! 2. **Each activation is told once**: the lifecycle itself says which call was the first.
//! 3. **A wave is over, for good, when the teardown of each of its members is completed**, or when its
//!    handle is dropped. Finding it over and asking outside of it is one step, and so is finding it on and
//!    joining it.
//! 4. **Several waves at a time: the one that began last decides** what counts as a successor, as long as
//!    it is on. So what was born in the first is recycled by the second.
//! 5. **Nobody is told under the lock**: who waits for an end is foreign code.

use std::{
    collections::BTreeMap,
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
};

use super::{Ending, Lifecycle};
use crate::{
    sync::{Arc, Mutex, lock},
    teardown::{Completed, Teardown},
    unwind::FirstPanic,
};

/// The waves of recycles of a process, none or several on at a time.
///
/// Whatever recycles owners for a reason that may come from another recycle asks here and not at the
/// [`Lifecycle`]. Ask while the predecessor's teardown is not completed, in its handlers or its
/// [last words](Lifecycle::on_death): a consequence that is drawn only when a wave is over comes too late
/// for it.
///
/// # Clone
///
/// A handle: clones share the waves.
///
/// # Examples
///
/// ```
/// use rideout::owner::{Ending, Lifecycle, Waves};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (eur, usd) = (Lifecycle::new("eur".parse()?), Lifecycle::new("usd".parse()?));
/// let waves = Waves::new();
/// let wave = waves.land(|| [eur.clone()], Ending::recycle().reason("a new build"));
/// assert!(eur.ending().is_some());
///
/// // It has consequences: for one that lived when it began, and for one that has just come back.
/// let successor = Lifecycle::new("eur".parse()?);
/// assert!(waves.recycle(&usd, Ending::recycle().asked_by("eur")));
/// assert!(!waves.recycle(&successor, Ending::recycle().asked_by("usd")));
/// assert!(successor.ending().is_none());
///
/// // By their drivers, in life.
/// eur.force();
/// usd.force();
/// wave.await;
/// assert!(waves.recycle(&successor, Ending::recycle())); // a recycle by itself
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct Waves {
    open: Arc<Mutex<OpenWaves>>,
}

/// The waves that are on.
#[derive(Default)]
struct OpenWaves {
    next: u64,
    // By number: the last began last.
    waves: BTreeMap<u64, OpenWave>,
}

/// A wave that is on.
struct OpenWave {
    // The place of the first birth that is no part of it.
    began: u64,
    // Whether its members are still being told.
    is_telling: bool,
    // What is left to complete, by birth.
    incomplete: BTreeMap<u64, Teardown>,
}

impl OpenWave {
    fn includes(&self, lifecycle: &Lifecycle) -> bool {
        lifecycle.born() < self.began
    }

    fn wait_for(&mut self, lifecycle: &Lifecycle) {
        self.incomplete.insert(lifecycle.born(), lifecycle.teardown().clone());
    }

    /// Returns the next teardown to be completed, if there is any.
    fn next_incomplete(&mut self) -> Option<&Teardown> {
        // Only the first is looked at: all must be completed, so the order costs nothing.
        while self.incomplete.first_entry().is_some_and(|first| first.get().is_complete()) {
            self.incomplete.pop_first();
        }
        self.incomplete.first_key_value().map(|(_, teardown)| teardown)
    }

    fn is_over(&mut self) -> bool {
        !self.is_telling && self.next_incomplete().is_none()
    }
}

impl OpenWaves {
    /// Forgets the waves that are over (invariant 3), and returns the one that decides.
    fn deciding_wave(&mut self) -> Option<&mut OpenWave> {
        self.waves.retain(|_, wave| !wave.is_over());
        self.waves.last_entry().map(|last| last.into_mut())
    }
}

impl Waves {
    /// Returns a handle to which no wave is known.
    pub fn new() -> Self {
        Self::default()
    }

    /// Recycles `members` as one wave: each of them that was born before it began is told to end so,
    /// unless it was told before.
    ///
    /// `members` is called when the wave has begun, and best lists a [registry](super::Registry::living):
    /// a list made before might miss one that came meanwhile. Those born last are told first, so that a
    /// child is recycled by itself and not put away with its parent, in silence.
    ///
    /// # Panics
    ///
    /// Where `members` does, or somebody's waker: all are told first. The wave is over then.
    ///
    /// # Examples
    ///
    /// See [`Waves`].
    pub fn land<I>(&self, members: impl FnOnce() -> I, ending: Ending) -> Wave
    where
        I: IntoIterator<Item = Lifecycle>,
    {
        let wave = self.begin();
        let mut members: Vec<_> = members().into_iter().collect();
        members.sort_unstable_by_key(|member| std::cmp::Reverse(member.born()));
        self.with_wave(wave.number, |wave| {
            members.retain(|member| wave.includes(member));
            members.iter().for_each(|member| wave.wait_for(member));
        });

        // Invariant 5.
        FirstPanic::run_all(members.iter().map(|member| || _ = member.dispose(ending.clone())));
        self.with_wave(wave.number, |wave| wave.is_telling = false);
        wave
    }

    fn begin(&self) -> Wave {
        let mut open = lock(&self.open);
        let number = open.next;
        open.next += 1;
        // Under the lock, so that the order of the waves is that of their beginnings.
        let began = Lifecycle::births();
        open.waves
            .insert(number, OpenWave { began, is_telling: true, incomplete: BTreeMap::new() });
        drop(open);
        Wave { waves: self.clone(), number, joined: None }
    }

    fn with_wave<R>(&self, number: u64, f: impl FnOnce(&mut OpenWave) -> R) -> Option<R> {
        lock(&self.open).waves.get_mut(&number).map(f)
    }

    /// Recycles `lifecycle`, as part of the wave that is on or else by itself; returns true for the one
    /// call that told it to end.
    ///
    /// A successor, born since the wave began, is left alone.
    ///
    /// # Examples
    ///
    /// See [`Waves`].
    pub fn recycle(&self, lifecycle: &Lifecycle, ending: Ending) -> bool {
        let is_left_alone = match lock(&self.open).deciding_wave() {
            Some(wave) if wave.includes(lifecycle) => {
                // Before it is told, so that the wave cannot be over in between.
                wave.wait_for(lifecycle);
                false
            }
            Some(_) => true,
            None => false,
        };
        !is_left_alone && lifecycle.dispose(ending)
    }
}

impl fmt::Debug for Waves {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_on = lock(&self.open).deciding_wave().is_some();
        f.debug_struct("Waves").field("on", &is_on).finish_non_exhaustive()
    }
}

/// One landing's recycles, from [`Waves::land`]: a future that is ready when the wave is over.
///
/// That is when the teardown of each that is part of it is completed, of one that was told before too.
/// One that was killed never completes its own, so who waits must also be able to give up: dropped, the
/// handle ends the wave, and what is asked for from there on is a recycle by itself. Once ready it stays
/// ready: it may be polled again.
///
/// # Cancel safety
///
/// Dropped before it is ready, it ends the wave and undoes nothing: all who were told end all the same.
/// To wait and keep the wave, poll it by reference.
///
/// # Examples
///
/// ```
/// use rideout::owner::{Ending, Lifecycle, Waves};
///
/// let killed = Lifecycle::new("eur".parse()?);
/// let waves = Waves::new();
/// let wave = waves.land(|| [killed], Ending::recycle());
/// let successor = Lifecycle::new("eur".parse()?);
/// assert!(!waves.recycle(&successor, Ending::recycle()));
///
/// drop(wave);
/// assert!(waves.recycle(&successor, Ending::recycle()));
/// # Ok::<_, rideout::address::InvalidAddress>(())
/// ```
#[must_use = "a wave is over when its handle is dropped"]
pub struct Wave {
    waves: Waves,
    number: u64,
    joined: Option<Completed>,
}

impl Wave {
    /// Returns whether the wave is over.
    pub fn is_over(&self) -> bool {
        let open = &mut lock(&self.waves.open);
        open.deciding_wave();
        !open.waves.contains_key(&self.number)
    }
}

impl Future for Wave {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        loop {
            if let Some(join) = &mut this.joined {
                ready!(Pin::new(join).poll(cx));
                this.joined = None;
            }
            if this.is_over() {
                return Poll::Ready(());
            }
            let next = |wave: &mut OpenWave| wave.next_incomplete().map(Teardown::completed);
            this.joined = this.waves.with_wave(this.number, next).flatten();
        }
    }
}

impl Drop for Wave {
    fn drop(&mut self) {
        let ended = lock(&self.waves.open).waves.remove(&self.number);
        drop(ended);
    }
}

impl fmt::Debug for Wave {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wave").field("over", &self.is_over()).finish_non_exhaustive()
    }
}
