//! Asking a rider for a re-ask from elsewhere.

use crate::carrier::Carrier;

/// Asks a rider for a re-ask, from any thread. Made by [`RideOut::nudger`](super::RideOut::nudger).
///
/// A nudge while the rider is live is a refresh: the subscription goes on delivering until the new one
/// answers. A nudge during a wait does not shorten the wait; the ask after it serves the nudge. A nudge
/// while an ask is out becomes one more ask. Any number of nudges become one.
///
/// # Examples
///
/// ```
/// use futures::{StreamExt, TryStreamExt, stream};
/// use rideout::{Refusal, RideOut};
///
/// # #[cfg(not(feature = "tokio"))]
/// # fn main() {}
/// # #[cfg(feature = "tokio")]
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut prices = RideOut::new("prices/eur".parse()?, |ask| async move {
///     Ok(stream::iter([Ok::<_, Refusal>(ask.attempt)]).chain(stream::pending()))
/// });
/// let nudger = prices.nudger();
/// assert_eq!(prices.try_next().await?, Some(1));
///
/// std::thread::spawn(move || nudger.nudge());
/// assert_eq!(prices.try_next().await?, Some(2));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Nudger {
    pub(super) carrier: Carrier,
}

impl Nudger {
    /// Asks for a re-ask. After the rider is over, or gone, it does nothing.
    pub fn nudge(&self) {
        self.carrier.nudge();
    }
}
