//! How the registration of a stream ends (invariants 5 and 6).

use std::{borrow::Borrow, hash::Hash, mem, time::Instant};

use super::{Released, Subscribers, registration::Registration};

impl<K: Clone + Eq + Hash, S: Clone, A> Subscribers<K, S, A> {
    /// Ends the registration that a subscriber says goodbye to, or that cannot be delivered to: named by
    /// the key and the attempt that it was asked for by.
    ///
    /// A goodbye that is late, and meets a newer registration of its stream, ends nothing: a stream that
    /// is replaced by a refresh is dropped after its successor is served. What a goodbye
    /// misses, because its ask comes after it, goes when it is idle.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Instant;
    ///
    /// use rideout::owner::Subscribers;
    ///
    /// let mut subscribers = Subscribers::new();
    /// let _ = subscribers.ask("eur", 1, "inbox 7", "reply 1", Instant::now());
    /// let _ = subscribers.ask("eur", 2, "inbox 8", "reply 2", Instant::now());
    ///
    /// assert_eq!(subscribers.unsubscribe(&"eur", 1), None); // late
    /// let ended = subscribers.unsubscribe(&"eur", 2).expect("it is served");
    /// assert_eq!(ended.held, ["reply 1", "reply 2"]); // to be refused
    /// ```
    pub fn unsubscribe<Q>(&mut self, key: &Q, attempt: u32) -> Option<Released<K, S, A>>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let number = *self.numbers.get(key)?;
        self.streams.get(&number).filter(|stream| stream.attempt == attempt)?;
        self.remove(number)
    }

    /// Ends a stream, whichever ask it was registered by: the owner's own decision, which it announces
    /// itself (`R43`).
    pub fn release<Q>(&mut self, key: &Q) -> Option<Released<K, S, A>>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let number = *self.numbers.get(key)?;
        self.remove(number)
    }

    fn remove(&mut self, number: u64) -> Option<Released<K, S, A>> {
        self.numbers.remove(&self.streams.get(&number)?.key);
        let stream = self.streams.remove(&number)?;
        self.due.remove(&stream.due);
        Some(stream.released())
    }

    /// Ends every stream whose subscriber gave no sign of life for
    /// [`idle_release`](Subscribers::idle_release), the longest silent first. The owner lives, and announces
    /// these ends itself (`R43`).
    pub fn release_idle(&mut self, now: Instant) -> Vec<Released<K, S, A>> {
        let mut released = Vec::new();
        while let Some(&(at, number)) = self.due.first()
            && at <= now
        {
            self.due.pop_first();
            released.extend(self.remove(number));
        }
        released
    }

    /// Ends every stream for which `keep` returns false: those whose sink is known to be closed.
    ///
    /// It looks at the sinks in use now, so it hits no successor. Where `keep` panics, nothing is ended.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Instant;
    ///
    /// use rideout::owner::Subscribers;
    /// use tokio::sync::mpsc;
    ///
    /// let mut subscribers = Subscribers::new();
    /// let (sink, frames) = mpsc::unbounded_channel::<u64>();
    /// let _ = subscribers.ask("eur", 1, sink, (), Instant::now());
    /// assert!(subscribers.retain(|_, sink| !sink.is_closed()).is_empty());
    ///
    /// drop(frames);
    /// assert_eq!(subscribers.retain(|_, sink| !sink.is_closed()).len(), 1);
    /// ```
    pub fn retain(&mut self, mut keep: impl FnMut(&K, &S) -> bool) -> Vec<Released<K, S, A>> {
        let closed = self.streams.iter().filter(|(_, stream)| !keep(&stream.key, &stream.sink));
        let closed: Vec<_> = closed.map(|(number, _)| *number).collect();
        closed.into_iter().filter_map(|number| self.remove(number)).collect()
    }

    /// Ends every stream, for good: the owner is torn down.
    ///
    /// Held answers are refused at once. The sinks are told that their stream ended when the teardown has
    /// completed, and only where the end is one to be announced (`R43`). Asks that still come are given
    /// back.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Instant;
    ///
    /// use rideout::owner::{Ending, Subscribers};
    ///
    /// let mut subscribers = Subscribers::new();
    /// let _ = subscribers.ask("eur", 1, "inbox 7", "reply 1", Instant::now());
    ///
    /// let (ended, ending) = (subscribers.end(), Ending::recycle());
    /// assert_eq!(ended[0].held, ["reply 1"]); // to be refused
    /// let to_tell: Vec<_> = ended.iter().filter(|_| ending.is_announced()).map(|it| it.sink).collect();
    /// assert_eq!(to_tell, ["inbox 7"]);
    ///
    /// let late = subscribers.ask("eur", 2, "inbox 8", "reply 2", Instant::now());
    /// assert_eq!((late.frame, late.refused), (None, Some("reply 2")));
    /// ```
    pub fn end(&mut self) -> Vec<Released<K, S, A>> {
        self.is_over = true;
        self.numbers.clear();
        self.due.clear();
        mem::take(&mut self.streams).into_values().map(Registration::released).collect()
    }
}
