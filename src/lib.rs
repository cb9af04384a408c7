//! Reactive-stream combinators that ride out an owner that goes away and may come back.
//!
//! Most errors are final. One is not: "I am shutting down, a successor may start here." It comes from an
//! actor that is recycled, a pod that is rolled, a partition that moves. A plain retry asks the same dying
//! server three times within milliseconds and gives up. A rider does better:
//!
//! 1. each refusal has an **identity**, so one owner that still drains and a new owner that refuses again
//!    are counted apart;
//! 2. it **waits for the teardown** of the owner that refused, as an event, and rests only where there is
//!    no event;
//! 3. the charge for a refusal **travels with its attempt**, and exactly one re-ask is ever outstanding;
//! 4. a give-up is **loud and typed**: one warning that names the cause, an error, and the end.
//!
//! # A subscription
//!
//! Pass a closure that subscribes. [`RideOut`] yields its items, and subscribes again when the owner
//! restarts:
//!
//! ```
//! # #[cfg(feature = "tokio")] {
//! use futures::TryStreamExt;
//! use rideout::RideOut;
//!
//! # use futures::stream;
//! # use rideout::{Address, refusal::{Closing, Seam}};
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let address: Address = "prices/eur".parse()?;
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
//! # main().unwrap();
//! # }
//! ```
//!
//! Everything else is optional, and set on the [builder](RideOut::builder): [`join`] where a teardown can
//! be observed, [`news`] where the address can be watched, [`budget`] where the defaults do not fit (a pod
//! that drains for half a minute), [`re_ask_on_completion`] where a server that stops closes its streams
//! (gRPC).
//!
//! [`join`]: rider::RideOutBuilder::join
//! [`news`]: rider::RideOutBuilder::news
//! [`budget`]: rider::RideOutBuilder::budget
//! [`re_ask_on_completion`]: rider::RideOutBuilder::re_ask_on_completion
//!
//! # What to take
//!
//! | you have | take |
//! |---|---|
//! | a long-lived subscription | [`RideOut`]; [`rider::BoxRide`] where its type must be named |
//! | one value, and a deadline | [`PointRead`] |
//! | an error type of your own | [`Classify`] |
//! | an error type of another crate | a function: [`RideOutBuilder::classify`](rider::RideOutBuilder::classify) |
//! | a rider of your own to write | [`Carrier`] and the operators of [`CarrierExt`] |
//! | an owner: a server, an actor, a hub | the parts of [`owner`], each by itself |
//! | a refusal to compose by hand | [`refusal::Closing`], and a [`teardown::Teardown`] for those who wait for the end |
//! | readers and owners in one process, as in a test | the embedded mesh, the crate `rideout-mesh` |
//!
//! # The modules
//!
//! | module | holds |
//! |---|---|
//! | [`rider`] | the subscription and the point read, with their builders and errors |
//! | [`carrier`] | the operators that riders are made of |
//! | [`classify`] | whether an error is a promise or a verdict |
//! | [`budget`], [`ledger`] | what bounds a ride-out, and what is counted |
//! | [`refusal`] | refusals, their text, and news of an address |
//! | [`address`], [`activation`] | who is asked, and which lifetime of it answers |
//! | [`owner`] | the side that refuses |
//! | [`slot`], [`teardown`] | one outstanding re-ask; a teardown that can be waited for |
//! | [`diagnosis`] | what a series of refusals looks like |
//! | [`time`] | the timer that riders and owners are given |
//! | [`rules`] | the behaviour, rule by rule |
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
//! | `tokio` | yes | the default timer, on tokio's clock, and with it `RideOut::new`, `RideOut::resuming` and `PointRead::new`. Without it a builder is given a timer of yours |
//! | `serde` | no | the types that cross a wire as serde types |

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod monitor;
mod sentence;
mod sync;
mod unwind;

pub mod activation;
pub mod address;
pub mod budget;
pub mod carrier;
pub mod classify;
pub mod diagnosis;
pub mod ledger;
pub mod owner;
pub mod refusal;
pub mod rider;
#[cfg(doc)]
#[doc = include_str!("../docs/rules.md")]
pub mod rules {}
pub mod slot;
pub mod teardown;
pub mod time;

#[doc(inline)]
pub use self::{
    activation::Activation,
    address::Address,
    budget::Budget,
    carrier::{Carrier, CarrierExt, RideError},
    classify::{Classify, Ruling},
    refusal::{Kind, News, Refusal, Rejection},
    rider::{PointRead, RideOut},
};
