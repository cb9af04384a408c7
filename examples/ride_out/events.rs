//! What happens to the owner, and what each reader makes of it.

use std::{cell::RefCell, error::Error, fmt, time::Duration};

use rideout::{Activation, Address, rider::Nudger};
use rideout_mesh::Mesh;
use tokio::time::{Instant, sleep_until};

/// The mesh, the address that is followed, and the clock.
pub(crate) struct Stage {
    pub(crate) mesh: Mesh<u32>,
    pub(crate) address: Address,
    began: Instant,
    // Activations have long names; here they are A, B, C in the order in which they are met.
    met: RefCell<Vec<Activation>>,
}

impl Stage {
    pub(crate) const END: Duration = Duration::from_millis(6000);

    pub(crate) fn new(address: Address) -> Self {
        let mesh = Mesh::new();
        mesh.set_latency(Duration::from_millis(1));
        mesh.store(&address, 100);
        Stage { mesh, address, began: Instant::now(), met: RefCell::default() }
    }

    /// Recycles the owner three ways, and writes a new value after each.
    pub(crate) async fn play(&self, nudger: Nudger) -> Result<(), Box<dyn Error>> {
        let Stage { mesh, address, .. } = self;
        self.at(300).await;
        self.write(101).await?;

        self.at(600).await;
        self.tell("1. the owner is recycled; its teardown takes half a second");
        mesh.set_teardown(Duration::from_millis(500));
        mesh.recycle(address);
        self.at(700).await;
        self.tell(
            "   the rider is nudged meanwhile, and its ask meets the owner that is still going",
        );
        nudger.nudge();
        self.at(1100).await;
        self.tell("   its teardown is over, and it says goodbye");
        self.at(1400).await;
        self.write(102).await?;

        self.at(1700).await;
        self.tell("2. the owner is recycled, and the route goes on pointing at the dead one");
        mesh.set_teardown(Duration::from_millis(100));
        let held = mesh.hold_route(address);
        mesh.recycle(address);
        self.at(1800).await;
        self.tell("   it says goodbye");
        self.at(3000).await;
        self.tell("   the route lets go of it");
        drop(held);
        self.at(3500).await;
        self.write(103).await?;

        self.at(3800).await;
        self.tell("3. the owner is recycled, and the router refuses whoever asks");
        let refusing = mesh.refuse_route(address);
        mesh.recycle(address);
        self.at(3900).await;
        self.tell("   it says goodbye");
        self.at(5100).await;
        self.tell("   the router serves again");
        drop(refusing);
        self.at(5600).await;
        self.write(104).await?;
        Ok(())
    }

    async fn write(&self, value: u32) -> Result<(), Box<dyn Error>> {
        self.tell(&format!("   {value} is written"));
        self.mesh.write(&self.address, value).await?;
        Ok(())
    }

    async fn at(&self, ms: u64) {
        sleep_until(self.began + Duration::from_millis(ms)).await;
    }

    /// Resolves when all is over.
    pub(crate) async fn end(&self) {
        sleep_until(self.began + Self::END).await;
    }

    pub(crate) fn now(&self) -> Duration {
        self.began.elapsed()
    }

    /// Prints what happens around the reader.
    fn tell(&self, what: &str) {
        println!("{:>5} ms  {what}", self.now().as_millis());
    }

    /// Prints what a reader meets.
    pub(crate) fn meet(&self, reader: &str, what: impl fmt::Display) {
        println!("{:>5} ms        {reader}: {what}", self.now().as_millis());
    }

    /// The short name of an activation.
    pub(crate) fn name(&self, activation: &Activation) -> char {
        let mut met = self.met.borrow_mut();
        let at = met.iter().position(|it| it == activation).unwrap_or_else(|| {
            met.push(activation.clone());
            met.len() - 1
        });
        ('A'..='Z').cycle().nth(at).unwrap_or('?')
    }
}

/// What a reader did, and what it saw.
#[derive(Debug, Default)]
pub(crate) struct Account {
    pub(crate) asks: u32,
    asked_at: Vec<Duration>,
    values: Vec<u32>,
    pub(crate) end: String,
}

impl Account {
    pub(crate) fn ask(&mut self, now: Duration) {
        self.asks += 1;
        self.asked_at.push(now);
    }

    /// A value that was seen before is the state that a new subscription begins with.
    pub(crate) fn see(&mut self, value: u32) {
        if self.values.last() != Some(&value) {
            self.values.push(value);
        }
    }

    pub(crate) fn seen(&self) -> String {
        let values: Vec<_> = self.values.iter().map(u32::to_string).collect();
        values.join(" ")
    }

    /// The most asks that went out within 10 ms.
    pub(crate) fn in_a_burst(&self) -> usize {
        let burst = Duration::from_millis(10);
        let from = |start: &Duration| {
            self.asked_at.iter().filter(|at| (*start..*start + burst).contains(at)).count()
        };
        self.asked_at.iter().map(from).max().unwrap_or(0)
    }
}
