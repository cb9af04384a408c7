//! The route's knowledge of readers: who is there, who has gone, and which goodbyes are still to be said to an
//! owner.

use rideout::{
    Address, Refusal,
    activation::StreamId,
    time::{Timer, TokioTimer},
};

use crate::{
    farewell::Farewell,
    fault::{Away, Part},
    world::{State, World},
};

impl<T> World<T> {
    /// Registers the reader's end of a stream: deliveries find it from here on (`R49`).
    pub(crate) fn register_reader(&self, owner: &Address, stream: StreamId, attempt: u32) {
        self.state().targets.register((owner.clone(), stream), attempt);
    }

    /// Delivers what `owner` sends to the reader of `stream`.
    ///
    /// # Errors
    ///
    /// The route's refusal, where no such reader is there.
    pub(crate) fn deliver(
        &self,
        owner: &Address,
        reader: &Address,
        stream: StreamId,
    ) -> Result<(), Refusal> {
        self.state().targets.deliver(reader, &(owner.clone(), stream), TokioTimer.now())
    }

    /// The reader's end of a stream was dropped: the route notes it, and its owner is told, unless the
    /// goodbye is lost on its way.
    pub(crate) fn reader_is_gone(&self, farewell: Farewell<T>) {
        let mut state = self.state();
        let (path, now) = (farewell.owner.path(), TokioTimer.now());
        let target = (farewell.owner.clone(), farewell.stream);
        if state.faults.has(path, Part::Releases) {
            state.targets.mark_disconnected(&target, &farewell.attempt, now);
        } else {
            state.targets.release(&target, &farewell.attempt, now);
        }
        if state.faults.has(path, Part::Goodbyes) {
            return;
        }
        if state.refuses(&farewell) {
            state.owe(farewell);
        } else {
            drop(state);
            farewell.say();
        }
    }

    /// Says the goodbyes that the route refused and refuses no more.
    pub(crate) fn say_goodbyes(&self) {
        let due: Vec<_> = {
            let mut state = self.state();
            let owed = std::mem::take(&mut state.goodbyes);
            let (refused, mut due): (Vec<_>, Vec<_>) =
                owed.into_iter().partition(|farewell| state.refuses(farewell));
            state.goodbyes = refused;
            due.retain(|it| !state.faults.has(it.owner.path(), Part::Goodbyes));
            due
        };
        due.into_iter().for_each(Farewell::say);
    }
}

impl<T> State<T> {
    fn refuses(&self, farewell: &Farewell<T>) -> bool {
        self.faults.has(farewell.owner.path(), Part::Route)
            || self.faults.is_away(farewell.host.name(), Away::Refused)
    }

    /// Keeps a goodbye that the route refused.
    fn owe(&mut self, farewell: Farewell<T>) {
        if self.goodbyes.len() == self.goodbyes.capacity() {
            self.goodbyes.retain(Farewell::is_owed);
        }
        self.goodbyes.push(farewell);
    }
}
