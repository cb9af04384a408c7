//! Who hears that a reader is gone? The route, which keeps it, and the owner that served it, as soon as the
//! route leads there.

use std::sync::{Arc, Weak};

use super::{
    State, World,
    fault::{Away, Part},
    register::Register,
};
use crate::{
    activation::StreamId,
    address::Address,
    owner::LeavingHost,
    refusal::Refusal,
    sync::lock,
    time::{Timer, TokioTimer},
};

/// Says goodbye to a stream when it is dropped, in the name of the ask that it was registered by.
pub(super) struct Goodbye<T> {
    world: Weak<World<T>>,
    register: Weak<Register<T>>,
    address: Address,
    host: LeavingHost,
    pub(super) stream: StreamId,
    attempt: u32,
}

impl<T> Goodbye<T> {
    /// Registers the reader's end of a stream: deliveries find it from here on (`R49`).
    pub(super) fn register(
        world: &Weak<World<T>>,
        register: &Arc<Register<T>>,
        (address, host): (&Address, &LeavingHost),
        stream: StreamId,
        attempt: u32,
    ) -> Self {
        if let Some(world) = world.upgrade() {
            lock(&world.state).targets.register((address.clone(), stream), attempt);
        }
        Self {
            world: Weak::clone(world),
            register: Arc::downgrade(register),
            address: address.clone(),
            host: host.clone(),
            stream,
            attempt,
        }
    }

    /// Leaves without a word to the owner: that has let go of the stream itself, or is not to hear it.
    pub(super) fn leave(&mut self) {
        self.register = Weak::new();
    }

    /// Says it to the owner.
    fn say(&self) {
        if let Some(register) = self.register.upgrade() {
            register.unsubscribe(self.stream, self.attempt);
        }
    }

    /// Returns whether there is still somebody to hear it.
    fn is_owed(&self) -> bool {
        self.register.strong_count() > 0
    }
}

impl<T> Drop for Goodbye<T> {
    fn drop(&mut self) {
        let Some(world) = self.world.upgrade() else { return self.say() };
        let mut state = lock(&world.state);
        let (path, now) = (self.address.path(), TokioTimer.now());
        let target = (self.address.clone(), self.stream);
        if state.faults.has(path, Part::Releases) {
            state.targets.mark_disconnected(&target, &self.attempt, now);
        } else {
            state.targets.release(&target, &self.attempt, now);
        }
        if state.faults.has(path, Part::Goodbyes) || !self.is_owed() {
            return;
        }
        if state.refuses(self) {
            state.owe(Goodbye {
                // It has said to the route what it had to say.
                world: Weak::new(),
                register: Weak::clone(&self.register),
                address: self.address.clone(),
                host: self.host.clone(),
                ..*self
            });
        } else {
            drop(state);
            self.say();
        }
    }
}

impl<T> State<T> {
    fn refuses(&self, goodbye: &Goodbye<T>) -> bool {
        self.faults.has(goodbye.address.path(), Part::Route)
            || self.faults.is_away(goodbye.host.name(), Away::Refused)
    }

    /// Keeps a goodbye that the route refused.
    fn owe(&mut self, goodbye: Goodbye<T>) {
        if self.goodbyes.len() == self.goodbyes.capacity() {
            self.goodbyes.retain(Goodbye::is_owed);
        }
        self.goodbyes.push(goodbye);
    }
}

impl<T> World<T> {
    /// Says the goodbyes that the route refused and refuses no more.
    pub(super) fn say_goodbyes(&self) {
        let goodbyes = {
            let mut state = lock(&self.state);
            let goodbyes = std::mem::take(&mut state.goodbyes);
            let (refused, mut due): (Vec<_>, Vec<_>) =
                goodbyes.into_iter().partition(|goodbye| state.refuses(goodbye));
            state.goodbyes = refused;
            let is_lost = |it: &Goodbye<T>| state.faults.has(it.address.path(), Part::Goodbyes);
            due.iter_mut().filter(|it| is_lost(it)).for_each(Goodbye::leave);
            due
        };
        // Each says it where it is dropped, unless it is lost on its way.
        drop(goodbyes);
    }

    /// Delivers what `owner` sends to the reader of `stream`.
    ///
    /// # Errors
    ///
    /// The route's refusal, where no such reader is there.
    pub(super) fn deliver(
        &self,
        owner: &Address,
        reader: &Address,
        stream: StreamId,
    ) -> Result<(), Refusal> {
        let (target, now) = ((owner.clone(), stream), TokioTimer.now());
        lock(&self.state).targets.deliver(reader, &target, now)
    }
}
