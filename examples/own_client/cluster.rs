//! What stands for yours: pods that serve ticks one after the other, and a directory that watches them.

use std::{collections::HashMap, future::pending, io::ErrorKind, sync::Arc, time::Duration};

use futures::{Stream, channel::mpsc, stream};
use rideout::{
    Activation, News,
    teardown::{Completed, Teardown},
};
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

use super::client::{ClientError, activation};

/// A handle: clones are one cluster.
#[derive(Clone)]
pub(crate) struct Cluster {
    began: Instant,
    world: Arc<watch::Sender<World>>,
}

#[derive(Default)]
struct World {
    pod: Option<&'static str>,
    draining: bool,
    completes: bool,
    deleted: bool,
    // Grows where connections die unheard: those made before it are silent.
    cuts: u32,
    // The directory.
    teardowns: HashMap<Activation, Teardown>,
    watchers: Vec<mpsc::UnboundedSender<News>>,
    told: Vec<String>,
}

impl World {
    fn announce(&mut self, news: News) {
        self.watchers.retain(|watcher| watcher.unbounded_send(news.clone()).is_ok());
    }

    /// What a pod refuses with, at its door and in the middle of a subscription.
    fn refusal(&self) -> Option<ClientError> {
        match self.pod {
            _ if self.deleted => Some(ClientError::NotFound),
            Some(uid) => self.draining.then(|| ClientError::ShuttingDown { pod: uid.into() }),
            None => Some(ClientError::Io(ErrorKind::ConnectionRefused.into())),
        }
    }
}

impl Cluster {
    pub(crate) fn new() -> Self {
        Cluster { began: Instant::now(), world: Arc::new(watch::Sender::new(World::default())) }
    }

    /// A pod is told to stop: it refuses from here on, or completes its streams and then refuses.
    pub(crate) fn drain(&self, completes: bool) {
        self.world.send_modify(|world| (world.draining, world.completes) = (true, completes));
    }

    /// A pod is killed: it says nothing to anyone, and whoever connects is refused.
    pub(crate) fn kill(&self) {
        self.world.send_modify(|world| (world.pod, world.cuts) = (None, world.cuts + 1));
    }

    /// All connections die, and nobody is told; the pod lives.
    pub(crate) fn cut(&self) {
        self.world.send_modify(|world| world.cuts += 1);
    }

    /// There are no ticks any more, for good.
    pub(crate) fn delete(&self) {
        self.world.send_modify(|world| world.deleted = true);
    }

    /// A pod starts, and the directory says that it arrives.
    pub(crate) fn start(&self, uid: &'static str) {
        let activation = activation(uid).expect("a UID is hex and dashes");
        self.world.send_modify(|world| {
            (world.pod, world.draining, world.completes) = (Some(uid), false, false);
            world.teardowns.insert(activation.clone(), Teardown::new());
            world.announce(News::Arrived(activation));
        });
    }

    /// The directory sees that a pod is no more, and says so: one that was killed has told nobody.
    pub(crate) fn vanish(&self, uid: &'static str) {
        let activation = activation(uid).expect("a UID is hex and dashes");
        self.world.send_modify(|world| {
            world.pod.take_if(|pod| *pod == uid);
            if let Some(teardown) = world.teardowns.get(&activation) {
                teardown.complete();
            }
            world.announce(News::Ended(Some(activation)));
        });
    }

    /// The directory's watch: arrivals and ends from here on.
    pub(crate) fn watch(&self) -> impl Stream<Item = News> + use<> {
        let (sender, news) = mpsc::unbounded();
        self.world.send_modify(|world| world.watchers.push(sender));
        news
    }

    pub(crate) fn teardown_of(&self, activation: &Activation) -> Option<Completed> {
        self.world.borrow().teardowns.get(activation).map(Teardown::completed)
    }

    /// Subscribes to the ticks from `first` on: tick n comes at 5 × n s, a late one at once.
    pub(crate) async fn subscribe(
        &self,
        first: u64,
    ) -> Result<(String, impl Stream<Item = Result<u64, ClientError>> + use<>), ClientError> {
        let (pod, cuts) = {
            let world = self.world.borrow();
            if let Some(refusal) = world.refusal() {
                return Err(refusal);
            }
            (world.pod.unwrap_or_default().to_owned(), world.cuts)
        };
        let (began, world) = (self.began, self.world.subscribe());
        let ticks = stream::unfold((world, first), move |(mut world, tick)| async move {
            let refused = tokio::select! {
                biased;
                _ = world.wait_for(|it| it.cuts == cuts && it.refusal().is_some()) => true,
                () = sleep_until(began + Duration::from_secs(5 * tick)) => false,
            };
            if world.borrow().cuts != cuts {
                pending::<()>().await;
            }
            let said = match refused {
                true if world.borrow().completes => return None,
                true => Err(world.borrow().refusal()?),
                false => Ok(tick),
            };
            Some((said, (world, tick + 1)))
        });
        Ok((pod, ticks))
    }

    pub(crate) fn tell(&self, what: impl AsRef<str>) {
        let line = format!("{:>3} s  {}", self.began.elapsed().as_secs(), what.as_ref());
        self.world.send_modify(|world| world.told.push(line));
    }

    /// Everything that was told.
    pub(crate) fn told(&self) -> Vec<String> {
        self.world.borrow().told.clone()
    }
}
