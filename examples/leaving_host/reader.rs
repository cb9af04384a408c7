//! A live reader, and what it sees.

use std::sync::{Arc, Mutex, MutexGuard};

use futures::StreamExt;
use rideout::{Address, ledger::Axis, rider::Phase};
use rideout_mesh::Mesh;

/// What one reader has seen. Clones are one account.
#[derive(Clone, Default)]
pub(crate) struct Account(Arc<Mutex<Seen>>);

#[derive(Clone, Default)]
pub(crate) struct Seen {
    /// The hosts that served it, one after the other.
    pub(crate) served_on: Vec<String>,
    /// How often it asked: once, and once for each refusal.
    pub(crate) asks: usize,
    /// How many refusals were charged to the activation axis, and to the time axis.
    pub(crate) charges: [usize; 2],
    /// The last value.
    pub(crate) last: Option<u64>,
    /// Why it ended, where it did.
    pub(crate) end: Option<End>,
}

#[derive(Clone, Debug)]
pub(crate) enum End {
    /// On this axis the budget was spent.
    GaveUp(Axis),
    Verdict(String),
    /// The stream completed: no owner of a mesh does that.
    Completed,
}

impl Account {
    pub(crate) fn seen(&self) -> Seen {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().expect("nothing panics under it")
    }
}

/// Follows `address`, for ever where nothing goes wrong.
pub(crate) async fn follow(mesh: Mesh<u64>, address: Address, account: Account) {
    let mut phases = mesh.ride_out(&address).phases();
    account.lock().asks = 1;
    loop {
        let end = match phases.next().await {
            Some(Ok(Phase::Live(item))) => {
                account.lock().last = Some(item.value);
                continue;
            }
            Some(Ok(Phase::Answered(_))) => {
                account.lock().served_on.extend(mesh.host_of(&address));
                continue;
            }
            Some(Ok(Phase::RidingOut(charge))) => {
                let mut seen = account.lock();
                seen.asks += 1;
                seen.charges[usize::from(charge.axis() == Some(Axis::Time))] += 1;
                continue;
            }
            Some(Ok(_)) => continue,
            Some(Err(error)) => match error.gave_up() {
                Some(report) => End::GaveUp(report.axis),
                None => End::Verdict(error.to_string()),
            },
            None => End::Completed,
        };
        account.lock().end = Some(end);
        return;
    }
}
