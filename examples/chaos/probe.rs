//! When all is calm again: does each way back take no longer than it should?
//!
//! A reader that nobody told finds its owner by a beat, sooner or later, and so would hide that it was
//! not told. Here one thing is done at a time, and the way that the rules give is timed.

use std::time::Duration;

use futures::StreamExt;
use tokio::time::sleep;

use super::run::Run;

/// Behind the first beat of all that were opened just now, and far before the next (`R26`).
const BETWEEN_BEATS: Duration = Duration::from_secs(10);
/// As long as any ending here may take: three levels of a second each, a pace, and what is on its way.
const EVENT: Duration = Duration::from_secs(5);

impl Run {
    pub(crate) async fn probe(&mut self) {
        self.mesh.set_teardown(Duration::from_secs(1));
        for at in 0..self.writers.len() {
            self.lose_a_frame(at).await;
            self.recycle(at).await;
            if self.hosts.len() > 1 {
                self.drain(at).await;
            }
            self.hold_state(at).await;
            self.come_and_go(at).await;
            // Nobody tells of it: the beats find the way.
            self.mesh.kill(&self.addresses[at]);
            self.settle("after a kill").await;
        }
    }

    /// A gap is filled within a pace (`R44b`), though a patch alone would not.
    async fn lose_a_frame(&mut self, at: usize) {
        let fault = self.mesh.drop_frames(&self.addresses[at]);
        self.write(at, "without frames").await;
        drop(fault);
        self.write(at, "after a lost frame").await;
        sleep(Duration::from_secs(1)).await;
        self.look("after a lost frame");
        self.is_served(at, "after a lost frame");
    }

    /// Answers that were held back are given when what held them ends (`R44`).
    async fn hold_state(&mut self, at: usize) {
        let held = self.mesh.hold_state(&self.addresses[at]);
        self.mesh.recycle(&self.addresses[at]);
        sleep(EVENT).await;
        drop(held);
        sleep(Duration::from_secs(1)).await;
        self.is_served(at, "after a state was held");
    }

    /// One more is served until it says goodbye, and then no longer (`R44`).
    async fn come_and_go(&mut self, at: usize) {
        let mut guest = self.mesh.ride_out(&self.addresses[at]);
        let came = guest.next().await.is_some_and(|item| item.is_ok());
        let served = self.mesh.subscribers(&self.addresses[at]);
        if !came || served != self.readers_of(at) + 1 {
            self.outcome.lost.push(format!("{}: a guest is not served", self.addresses[at]));
        }
        drop(guest);
        // Its owner hears it.
        sleep(Duration::from_millis(1)).await;
        self.is_served(at, "after a goodbye");
    }

    /// The readers of a recycled owner are told (`R43`), and then live on its successor.
    async fn recycle(&mut self, at: usize) {
        sleep(BETWEEN_BEATS).await;
        let address = self.addresses[at].clone();
        let Some(recycled) = self.mesh.recycle(&address) else {
            return self.outcome.stuck.push(format!("{address}: no owner is told to recycle"));
        };
        sleep(EVENT).await;
        self.is_served(at, "after a recycle");
        self.ended(&[(address, recycled)]);
    }

    /// Those that a leaving host served are told (`R46`), and then live where the address went (`R45`).
    async fn drain(&mut self, at: usize) {
        sleep(BETWEEN_BEATS).await;
        let Some(host) = self.mesh.host_of(&self.addresses[at]) else { return };
        let drained = self.mesh.drain_host(&host);
        sleep(EVENT).await;
        self.is_served(at, "in a drain");
        if self.mesh.host_of(&self.addresses[at]).is_none_or(|now| now == host) {
            self.outcome.stuck.push(format!("{}: not handed off", self.addresses[at]));
        }
        drop(drained);
    }

    fn is_served(&mut self, at: usize, when: &str) {
        let (found, readers) = (self.mesh.subscribers(&self.addresses[at]), self.readers_of(at));
        let riding = self.readers.iter().filter(|reader| reader.at == at && reader.seen().riding);
        for reader in riding {
            let told = format!("{}: a {:?} reader rides, {when}", self.addresses[at], reader.kind);
            self.outcome.lost.push(told);
        }
        if found != readers {
            let told = format!(
                "{}: {found} registrations of {readers} readers, {when}",
                self.addresses[at]
            );
            let to =
                if found < readers { &mut self.outcome.lost } else { &mut self.outcome.doubled };
            to.push(told);
        }
    }
}
