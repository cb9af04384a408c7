//! Reactive-stream combinators that ride out an owner that goes away and may come back.
//!
//! An actor is recycled, a pod is rolled, a partition moves: whoever is subscribed to it is told
//! "shutting down, the address may come back". That refusal is the only failure that is a promise, and
//! a retry loop breaks it: three re-asks meet the same corpse within a millisecond, the budget is gone,
//! and the reader waits for ever on a stream that will never speak again. A rider rides it out:
//!
//! 1. each refusal has an **identity**, so that one owner still draining and a new owner refusing again
//!    are told apart, and bounded on two separate axes;
//! 2. it **joins** the teardown of the one that refused, as an event, and rests only where there is
//!    none;
//! 3. the verdict **travels with its attempt**, and exactly one re-ask is ever outstanding;
//! 4. a give-up is **loud and typed**: one warning that names the cause, an error, and the end.
//!
//! # The golden path
//!
//! ```
//! use futures::{TryStreamExt, stream};
//! use rideout::{Closing, RideOut, Seam};
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let address: rideout::Address = "prices/eur".parse()?;
//! # let owner = Closing::new(address).activation("0A".parse()?).detail("RunLevel=Dead");
//! # let client = std::sync::Arc::new(move |resume: Option<u64>| {
//! #     let from = resume.map_or(1, |last| last + 1);
//! #     let end = Some(owner.refuse(Seam::Mailbox, "Subscribe")).filter(|_| from == 1);
//! #     let items = (from..from + 2).map(Ok).chain(end.map(Err));
//! #     Ok(stream::iter(items.collect::<Vec<_>>()))
//! # });
//! let prices = RideOut::resuming("prices/eur".parse()?, |price: &u64| *price, move |ask| {
//!     let client = client.clone();
//!     async move { client(ask.resume) } // your own: a future of a stream of results
//! });
//! // Its owner goes away after two, and comes back.
//! assert_eq!(prices.try_collect::<Vec<_>>().await?, [1, 2, 3, 4]);
//! # Ok(())
//! # }
//! ```
//!
//! Add [`join`](rider::RideOutBuilder::join) where a teardown can be observed, [`news`](rider::RideOutBuilder::news) where the
//! address can be watched, [`budget`](rider::RideOutBuilder::budget) where the defaults do not fit (a pod that is
//! rolled), and [`re_ask_on_completion`](rider::RideOutBuilder::re_ask_on_completion) where a clean end is what a
//! going owner looks like (a gRPC stream).
//!
//! # The words
//!
//! | word | means |
//! |---|---|
//! | owner | whatever serves an address: an actor, a pod, a partition leader |
//! | activation | one lifetime of an owner at its address |
//! | route | what stands between a reader and the owner, and may refuse by itself |
//! | promise | a refusal that says "the address may come back": the only kind to ride out |
//! | verdict | every other refusal: final |
//!
//! # What to take
//!
//! | you have | take |
//! |---|---|
//! | a long-lived subscription | [`RideOut`] |
//! | one value, and a deadline | [`PointRead`] |
//! | a rider of your own to write | [`Carrier`] and the operators of [`CarrierExt`] |
//! | an owner: a server, an actor, a hub | the parts of [`owner`], each by itself |
//! | a refusal to give by hand | [`Closing`], and a [`Teardown`] for those who wait for the end |
//! | an error type of your own | [`Classify`] |
//! | errors of another crate's type | a function: [`RideOutBuilder::classify`](rider::RideOutBuilder::classify) |
//! | readers and owners in one process, as in a test | the embedded mesh, the crate `rideout-mesh` |
//!
//! # When not to use it
//!
//! Where any error may go away by itself, and asking again costs nothing, a backoff is simpler: see
//! `backon` or `tower::retry`. A rider never retries what is no promise. Where an owner cannot say that
//! it is going away, there is no promise to ride out.
//!
//! # Features
//!
//! | feature | default | brings |
//! |---|---|---|
//! | `tokio` | yes | the default timer, on tokio's clock. Without it riders take one of yours |
//! | `serde` | no | the types that cross a wire as serde types |
//!
//! How it is built, and what may never be true, is in the repository's `docs/architecture.md`. The
//! documentation cites rules as `R12`: they are in [`rules`].

#![forbid(unsafe_code)]

mod monitor;
mod sentence;

mod sync;
mod teardown;
mod unwind;

pub mod activation;
pub mod address;
pub mod budget;
pub mod carrier;
pub mod diagnosis;
pub mod ledger;
pub mod owner;
pub mod refusal;
pub mod rider;
pub mod slot;
#[cfg(doc)]
#[doc = include_str!("../docs/rules.md")]
pub mod rules {}
pub mod classify;
pub mod time;

pub use activation::{Activation, StreamId};
pub use address::Address;
pub use budget::Budget;
pub use carrier::{Carrier, CarrierExt, RideError};
pub use classify::{Classify, Ruling};
pub use ledger::{Axis, Cause, Charge, GaveUp, Key, Ledger, Wait};
pub use refusal::{Closing, Kind, News, Party, Refusal, Rejection, Seam, Speaker};
pub use rider::{Answer, BoxRide, Phase, PointRead, PointReadError, RideOut};
pub use teardown::{Completed, Teardown};
