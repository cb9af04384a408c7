//! To whom does an owner owe frames, and which frame is the next?
//!
//! [`Subscribers`] holds one registration a stream. It sends nothing and reads no clock: each method returns
//! what is now to be sent, answered or refused, and the owner does it, outside of any lock.
//!
//! # Invariants
//!
//! 1. **One registration a key.** An ask for a stream that is served is a refresh: its sink takes the
//!    place of the one before (`R44`).
//! 2. **Frames are consecutive.** The first after an ask is 1 and carries the state; each later one is
//!    one more (`R44b`). Before there is a state no frame has a number.
//! 3. **State first.** An acknowledgement is returned with a frame 1, to be given after it, or to be
//!    refused; one of both, and once. Only without a state is one held.
//! 4. **A stream is due** one `idle_release` after its last ask or beat, and `due` holds each
//!    registration once, under that time. Frames move nothing there.
//! 5. **A goodbye ends the registration that it names**, by key and attempt, or nothing.
//! 6. **After the end** nothing is registered any more: an ask is given back.
//! 7. **All go in the order of their registration**, so that what an owner does is the same in each run.

mod frame;

use std::{
    borrow::Borrow,
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt,
    hash::Hash,
    mem,
    time::{Duration, Instant},
};

use crate::time::later;

pub use frame::{Asked, Frame, Released};

/// How many answers of one stream are held at most. A subscriber has one ask outstanding (`R16`); the
/// others are asks that it gave up, or that its transport repeated.
const MOST_HELD: usize = 16;

/// How long a silent subscriber is served: at most as long as a tombstone tells of it.
const IDLE_RELEASE: Duration = Duration::from_secs(10 * 60);

/// The streams that one owner serves, and to whom.
///
/// `K` names the stream of a subscriber, for the whole life of its rider: a
/// [`StreamId`](crate::StreamId), or an address and a stream. `S` is where its frames go: a channel's
/// sender, an address. `A` is the answer that its ask still waits for. An owner with several kinds of
/// state keeps one of these for each.
///
/// Made without a state. Where the owner has one from its start, it calls
/// [`publish`](Subscribers::publish) once.
///
/// # Order
///
/// Frames have their numbers from the call that returned them: what two calls return must be sent in the
/// order of the calls, or a reader takes it for a gap. An owner's own task does so by itself.
///
/// # Memory
///
/// A registration a stream, and at most 16 held answers each. Sinks and answers that come out are
/// returned, never dropped inside; keys are identities, and are. Sinks are cloned, one for each frame.
///
/// # Examples
///
/// A small owner, with channels for everything:
///
/// ```
/// use std::future::pending;
///
/// use rideout::{Activation, Closing, News, Refusal, Seam, StreamId, owner::Subscribers};
/// use tokio::{select, sync::{mpsc, oneshot}, time::{Instant, sleep_until}};
///
/// type Sink = mpsc::UnboundedSender<(u64, u32)>; // a number, and a price
/// type Reply = oneshot::Sender<Result<Activation, Refusal>>;
///
/// enum Message {
///     Ask { stream: StreamId, attempt: u32, sink: Sink, reply: Reply },
///     Beat { stream: StreamId, news: mpsc::UnboundedSender<News> },
///     Goodbye { stream: StreamId, attempt: u32 },
///     Price(u32),
/// }
///
/// /// Serves until its mailbox is closed; returns whom to tell that it ended.
/// async fn owner(mut mailbox: mpsc::Receiver<Message>, own: Activation, end: Closing) -> Vec<Sink> {
///     let mut served = Subscribers::<StreamId, Sink, Reply>::new();
///     let mut price = 0;
///     let refuse = |held: Vec<Reply>| for reply in held {
///         let _ = reply.send(Err(end.refuse(Seam::Reassert, "Subscribe")));
///     };
///     loop {
///         let next_release = served.next_release();
///         let idle = async move {
///             match next_release {
///                 Some(at) => sleep_until(at.into()).await,
///                 None => pending().await,
///             }
///         };
///         // Frames that have come due, each with the answers that wait for it.
///         let frames = select! {
///             message = mailbox.recv() => match message {
///                 Some(Message::Ask { stream, attempt, sink, reply }) => {
///                     let asked = served.ask(stream, attempt, sink, reply, Instant::now().into_std());
///                     refuse(asked.refused.into_iter().collect());
///                     asked.frame.into_iter().collect()
///                 }
///                 Some(Message::Beat { stream, news }) => {
///                     if !served.beat(&stream, Instant::now().into_std()) {
///                         let _ = news.send(News::NotServing(Some(own.clone())));
///                     }
///                     vec![]
///                 }
///                 Some(Message::Goodbye { stream, attempt }) => {
///                     served.unsubscribe(&stream, attempt).into_iter().for_each(|it| refuse(it.held));
///                     vec![]
///                 }
///                 Some(Message::Price(it)) => {
///                     price = it;
///                     served.publish()
///                 }
///                 None => break,
///             },
///             () = idle => {
///                 let now = Instant::now().into_std();
///                 served.release_idle(now).into_iter().for_each(|it| refuse(it.held));
///                 vec![]
///             }
///         };
///         for frame in frames {
///             // The state first.
///             if frame.sink.send((frame.number, price)).is_err() {
///                 served.unsubscribe(&frame.key, frame.attempt); // its reader is gone
///             }
///             for reply in frame.acknowledgements {
///                 let _ = reply.send(Ok(own.clone()));
///             }
///         }
///     }
///     let ended = served.end().into_iter();
///     ended.map(|it| { refuse(it.held); it.sink }).collect()
/// }
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let own = Activation::mint();
/// let end = Closing::new("prices/eur".parse()?).activation(own.clone());
/// let (to_owner, mailbox) = mpsc::channel(8);
/// let owner = tokio::spawn(owner(mailbox, own.clone(), end));
///
/// let stream = StreamId::mint();
/// let (sink, mut prices) = mpsc::unbounded_channel();
/// let (reply, answer) = oneshot::channel();
/// to_owner.send(Message::Ask { stream, attempt: 1, sink, reply }).await?; // held: no price yet
/// to_owner.send(Message::Price(101)).await?;
/// to_owner.send(Message::Price(102)).await?;
/// assert_eq!(answer.await??, own);
/// assert_eq!(prices.recv().await, Some((1, 101)));
/// assert_eq!(prices.recv().await, Some((2, 102)));
///
/// // The same stream asks again: the state, on its newest sink alone.
/// let (sink, mut again) = mpsc::unbounded_channel();
/// let (reply, answer) = oneshot::channel();
/// to_owner.send(Message::Ask { stream, attempt: 2, sink, reply }).await?;
/// assert_eq!(answer.await??, own);
/// assert_eq!(again.recv().await, Some((1, 102)));
/// assert_eq!(prices.recv().await, None);
///
/// to_owner.send(Message::Goodbye { stream, attempt: 1 }).await?; // a late one: names nothing served
/// let (news, mut heard) = mpsc::unbounded_channel();
/// to_owner.send(Message::Beat { stream, news }).await?;
/// assert_eq!(heard.recv().await, None); // served
///
/// tokio::time::sleep(std::time::Duration::from_secs(11 * 60)).await; // no sign of life
/// let (news, mut heard) = mpsc::unbounded_channel();
/// to_owner.send(Message::Beat { stream, news }).await?;
/// assert_eq!(heard.recv().await, Some(News::NotServing(Some(own))));
///
/// drop(to_owner);
/// assert!(owner.await?.is_empty());
/// # Ok(())
/// # }
/// ```
pub struct Subscribers<K, S, A> {
    // Invariant 1: the number of each registration, the one key of `streams`.
    numbers: HashMap<K, u64>,
    // Invariant 7: by number.
    streams: BTreeMap<u64, Stream<K, S, A>>,
    // Invariant 4: when, and the number.
    due: BTreeSet<(Instant, u64)>,
    registered: u64,
    idle_release: Duration,
    has_state: bool,
    is_over: bool,
}

/// A registration.
struct Stream<K, S, A> {
    key: K,
    sink: S,
    attempt: u32,
    // Of the last frame; 0 before the first.
    number: u64,
    // Empty wherever there is a state.
    held: Vec<A>,
    due: (Instant, u64),
}

impl<K, S, A> Subscribers<K, S, A> {
    /// Returns an owner's streams: none yet, and no state.
    pub fn new() -> Self {
        Self {
            numbers: HashMap::new(),
            streams: BTreeMap::new(),
            due: BTreeSet::new(),
            registered: 0,
            idle_release: IDLE_RELEASE,
            has_state: false,
            is_over: false,
        }
    }

    /// Sets how long a stream is served whose subscriber gives no sign of life: 10 min by default.
    ///
    /// Longer than a subscriber's goodbye is remembered at its address, frames would meet a promise there
    /// where a verdict is due (`R49`). Much shorter than two beats, a live subscriber is released. It
    /// counts for signs of life from here on.
    #[must_use]
    pub fn idle_release(mut self, idle_release: Duration) -> Self {
        self.idle_release = idle_release;
        self
    }

    /// Returns how many streams are served.
    pub fn len(&self) -> usize {
        self.streams.len()
    }

    /// Returns whether no stream is served.
    pub fn is_empty(&self) -> bool {
        self.streams.is_empty()
    }

    /// Returns what is served, and to whom, in the order of registration.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &S)> {
        self.streams.values().map(|stream| (&stream.key, &stream.sink))
    }

    /// Returns when the next stream falls due to be released, if nothing is heard of its subscriber.
    ///
    /// A sign of life only ever moves it away, so an owner that sleeps until then looks again when it
    /// wakes, and when there was none and a stream is asked for.
    pub fn next_release(&self) -> Option<Instant> {
        self.due.first().map(|&(at, _)| at)
    }
}

impl<K: Clone + Eq + Hash, S: Clone, A> Subscribers<K, S, A> {
    /// Registers an ask, or refreshes the stream that it is for (`R44`): a sign of life.
    ///
    /// There is a state: it is to be sent as frame 1, to this sink, and then the answer given. There is
    /// none yet: the answer is held until the first one comes, or the stream ends. Every such ask's is;
    /// the state goes to the newest sink, before any of them.
    ///
    /// `attempt` is the number that the subscriber gives its ask, such as
    /// [`Ask::attempt`](crate::rider::Ask::attempt): with the key it names the registration. Where there
    /// is none, any figure will do, and [`release`](Subscribers::release) takes the place of
    /// [`unsubscribe`](Subscribers::unsubscribe).
    ///
    /// The ask that arrives last counts as the newest. Where its subscriber had given it up, its sink leads
    /// nowhere, and the stream ends when a frame cannot be sent ([`unsubscribe`](Subscribers::unsubscribe),
    /// [`retain`](Subscribers::retain)); the next beat finds that out.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Instant;
    ///
    /// use rideout::owner::Subscribers;
    ///
    /// let (mut served, now) = (Subscribers::new(), Instant::now());
    /// let asked = served.ask("eur", 1, "inbox 7", "reply 1", now);
    /// assert_eq!((asked.frame, asked.replaced), (None, None)); // held
    ///
    /// let first = served.publish().pop().expect("one stream is served");
    /// assert_eq!((first.number, first.acknowledgements), (1, vec!["reply 1"]));
    ///
    /// let refresh = served.ask("eur", 2, "inbox 8", "reply 2", now);
    /// assert_eq!(refresh.replaced, Some("inbox 7"));
    /// let state = refresh.frame.expect("there is a state");
    /// assert_eq!((state.sink, state.number, state.acknowledgements), ("inbox 8", 1, vec!["reply 2"]));
    /// assert_eq!(served.len(), 1);
    /// ```
    pub fn ask(
        &mut self,
        key: K,
        attempt: u32,
        sink: S,
        acknowledgement: A,
        now: Instant,
    ) -> Asked<K, S, A> {
        if self.is_over {
            // Invariant 6.
            return Asked { frame: None, replaced: Some(sink), refused: Some(acknowledgement) };
        }

        let at = later(now, self.idle_release);
        let served = self.numbers.get(&key).and_then(|number| self.streams.get_mut(number));
        let (stream, replaced) = if let Some(stream) = served {
            stream.postpone(at, &mut self.due);
            (stream.attempt, stream.number) = (attempt, 0);
            let replaced = mem::replace(&mut stream.sink, sink);
            (stream, Some(replaced))
        } else {
            self.registered += 1;
            let due = (at, self.registered);
            self.numbers.insert(key.clone(), self.registered);
            self.due.insert(due);
            let stream = Stream { key, sink, attempt, number: 0, held: Vec::new(), due };
            (self.streams.entry(self.registered).or_insert(stream), None)
        };

        let refused = (stream.held.len() == MOST_HELD).then(|| stream.held.remove(0));
        stream.held.push(acknowledgement);
        let frame = self.has_state.then(|| stream.next());
        Asked { frame, replaced, refused }
    }

    /// Returns the next frame of every stream, in the order of registration: there is a state, for the first time or a
    /// new one.
    ///
    /// For those that were asked for before there was a state it is frame 1, and their held answers come
    /// with it. It is no sign of life.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Instant;
    ///
    /// use rideout::owner::Subscribers;
    ///
    /// let mut served = Subscribers::new();
    /// for (key, reply) in [("eur", "reply 1"), ("usd", "reply 2")] {
    ///     let _ = served.ask(key, 1, "inbox 7", reply, Instant::now());
    /// }
    /// for frame in served.publish() {
    ///     assert_eq!((frame.number, frame.acknowledgements.len()), (1, 1)); // the state, the answer
    /// }
    /// for frame in served.publish() {
    ///     assert_eq!((frame.number, frame.acknowledgements.len()), (2, 0)); // a change
    /// }
    /// ```
    pub fn publish(&mut self) -> Vec<Frame<K, S, A>> {
        self.has_state = true;
        // All are cloned first: where a clone panics, no number and no held answer goes with it.
        let copies: Vec<_> = self.streams.values().map(Stream::copy).collect();
        let streams = self.streams.values_mut().zip(copies);
        streams.map(|(stream, (key, sink))| stream.advance(key, sink)).collect()
    }

    /// Returns the next frame of one stream alone, such as a resync: `None` where it is not served, or
    /// there is no state yet. It is no sign of life.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Instant;
    ///
    /// use rideout::owner::Subscribers;
    ///
    /// let mut served = Subscribers::new();
    /// let _ = served.publish(); // a state, and nobody to send it to
    /// let first = served.ask("eur", 1, "inbox 7", "reply 1", Instant::now()).frame;
    /// assert_eq!(first.expect("there is a state").number, 1);
    /// assert_eq!(served.push(&"eur").expect("it is served").number, 2);
    /// assert_eq!(served.push(&"usd"), None);
    /// ```
    pub fn push<Q>(&mut self, key: &Q) -> Option<Frame<K, S, A>>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        if !self.has_state {
            return None;
        }
        let number = self.numbers.get(key)?;
        self.streams.get_mut(number).map(Stream::next)
    }

    /// Returns whether a stream is served: a sign of life where it is (`R26`).
    ///
    /// Where it is not, the owner answers [`News::NotServing`](crate::News::NotServing) with its own
    /// activation.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    ///
    /// use rideout::owner::Subscribers;
    ///
    /// let (mut served, now) = (Subscribers::new(), Instant::now());
    /// let _ = served.ask("eur", 1, "inbox 7", "reply 1", now);
    /// assert!(!served.beat(&"usd", now));
    ///
    /// let ten_minutes = Duration::from_secs(10 * 60);
    /// assert_eq!(served.next_release(), Some(now + ten_minutes));
    /// let beat = now + Duration::from_secs(45);
    /// assert!(served.beat(&"eur", beat));
    /// assert_eq!(served.next_release(), Some(beat + ten_minutes));
    ///
    /// assert!(served.release_idle(now + ten_minutes).is_empty());
    /// assert_eq!(served.release_idle(beat + ten_minutes)[0].held, ["reply 1"]);
    /// ```
    pub fn beat<Q>(&mut self, key: &Q, now: Instant) -> bool
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let number = self.numbers.get(key);
        let Some(stream) = number.and_then(|number| self.streams.get_mut(number)) else {
            return false;
        };
        stream.postpone(later(now, self.idle_release), &mut self.due);
        true
    }

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
    /// let mut served = Subscribers::new();
    /// let _ = served.ask("eur", 1, "inbox 7", "reply 1", Instant::now());
    /// let _ = served.ask("eur", 2, "inbox 8", "reply 2", Instant::now());
    ///
    /// assert_eq!(served.unsubscribe(&"eur", 1), None); // late
    /// let ended = served.unsubscribe(&"eur", 2).expect("it is served");
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
    /// let mut served = Subscribers::new();
    /// let (sink, frames) = mpsc::unbounded_channel::<u64>();
    /// let _ = served.ask("eur", 1, sink, (), Instant::now());
    /// assert!(served.retain(|_, sink| !sink.is_closed()).is_empty());
    ///
    /// drop(frames);
    /// assert_eq!(served.retain(|_, sink| !sink.is_closed()).len(), 1);
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
    /// let mut served = Subscribers::new();
    /// let _ = served.ask("eur", 1, "inbox 7", "reply 1", Instant::now());
    ///
    /// let (ended, ending) = (served.end(), Ending::recycle());
    /// assert_eq!(ended[0].held, ["reply 1"]); // to be refused
    /// let to_tell: Vec<_> = ended.iter().filter(|_| ending.is_announced()).map(|it| it.sink).collect();
    /// assert_eq!(to_tell, ["inbox 7"]);
    ///
    /// let late = served.ask("eur", 2, "inbox 8", "reply 2", Instant::now());
    /// assert_eq!((late.frame, late.refused), (None, Some("reply 2")));
    /// ```
    pub fn end(&mut self) -> Vec<Released<K, S, A>> {
        self.is_over = true;
        self.numbers.clear();
        self.due.clear();
        mem::take(&mut self.streams).into_values().map(Stream::released).collect()
    }
}

impl<K: Clone, S: Clone, A> Stream<K, S, A> {
    fn next(&mut self) -> Frame<K, S, A> {
        let (key, sink) = self.copy();
        self.advance(key, sink)
    }

    fn copy(&self) -> (K, S) {
        (self.key.clone(), self.sink.clone())
    }

    /// Invariants 2 and 3.
    fn advance(&mut self, key: K, sink: S) -> Frame<K, S, A> {
        self.number = self.number.saturating_add(1);
        let acknowledgements = mem::take(&mut self.held);
        Frame { key, attempt: self.attempt, sink, number: self.number, acknowledgements }
    }
}

impl<K, S, A> Stream<K, S, A> {
    /// Invariant 4. An older reading of the clock takes nothing back.
    fn postpone(&mut self, at: Instant, due: &mut BTreeSet<(Instant, u64)>) {
        let moved = (at, self.due.1);
        if moved > self.due && due.remove(&self.due) {
            due.insert(moved);
            self.due = moved;
        }
    }

    fn released(self) -> Released<K, S, A> {
        Released { key: self.key, attempt: self.attempt, sink: self.sink, held: self.held }
    }
}

impl<K, S, A> Default for Subscribers<K, S, A> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K, S, A> fmt::Debug for Subscribers<K, S, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscribers")
            .field("streams", &self.streams.len())
            .field("has_state", &self.has_state)
            .field("is_over", &self.is_over)
            .finish_non_exhaustive()
    }
}
