//! What does an owner need, so that whoever asks it can ride out its end? Parts for servers, actors and
//! hubs, to be taken one at a time.
//!
//! An owner that goes away owes its readers four things: it refuses in words that are recognised, it
//! names itself in each of them by one tag, it completes its teardown where they can wait for it, and it
//! tells those it served, where that is due. Each part does one step of that, knows no transport and
//! no runtime, and needs none of the others but the [`Lifecycle`] that says how far the owner is.
//!
//! | you have | take |
//! |---|---|
//! | something that lives for a while at an address | [`Lifecycle`]: run levels, children, its [`driver`](Lifecycle::driver) with a watchdog |
//! | requests that arrive | [`Message`], and [`admit`](Lifecycle::admit), [`discard`](Lifecycle::discard), [`failed`](Lifecycle::failed): who is refused, how, and who is never answered |
//! | requests that must wait until you are ready | [`Gates`] |
//! | subscribers | [`Subscribers`]: one registration each, numbered frames, held answers, beats, idle release |
//! | deliveries to them that are refused | [`Evictions`]: whom to drop, and what to say |
//! | deliveries that arrive for subscribers | [`DeliveryTargets`]: who is there, and who said goodbye |
//! | many owners in one process | [`Registry`]; [`Waves`], where something new lands on all of them |
//! | a host that is told to stop | [`LeavingHost`] and the cluster's [`DrainSet`] |
//!
//! They are pure or hold one small lock: what is sent, answered or dropped is returned to the owner, or
//! runs outside of it. Time is an argument (`now`), but for the driver of an end, which takes a
//! [`Timer`](crate::time::Timer). The embedded mesh, the crate `rideout-mesh`, is put together from them.
//!
//! # What its readers see
//!
//! A stream whose sender is dropped completes, and completes its rider too, in silence: items and the
//! end of a stream come before news. Where that is what a going owner looks like, readers set
//! [`re_ask_on_completion`](crate::rider::RideOutBuilder::re_ask_on_completion); where it is not, the owner keeps
//! its sinks until it has told them that it ended (`R43`).
//!
//! # Examples
//!
//! The least that an owner does:
//!
//! ```
//! use std::sync::mpsc;
//!
//! use rideout::{Address, Refusal, owner::{Ending, Lifecycle, Message, ReplyPath}};
//!
//! struct Get(mpsc::Sender<Result<u32, Refusal>>);
//!
//! impl Message for Get {
//!     fn name(&self) -> &str {
//!         "GetRequest"
//!     }
//!
//!     fn refuse(self, refusal: Refusal, _: ReplyPath) {
//!         let _ = self.0.send(Err(refusal)); // the asker may be gone
//!     }
//! }
//!
//! # #[cfg(not(feature = "tokio"))]
//! # fn main() {}
//! # #[cfg(feature = "tokio")]
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let address: Address = "prices/eur".parse()?;
//! let owner = Lifecycle::new(address.clone());
//! tokio::spawn(owner.driver(async { /* what is to be done at the end */ }));
//! owner.started();
//!
//! let (reply, answers) = mpsc::channel();
//! let get = owner.admit(Get(reply.clone())).expect("it serves");
//! get.0.send(Ok(101))?;
//! assert_eq!(answers.recv()??, 101);
//!
//! owner.dispose(Ending::recycle().asked_by("ops"));
//! assert!(owner.admit(Get(reply)).is_none()); // refused
//! let refusal = answers.recv()?.unwrap_err();
//! assert!(refusal.promise(&address).is_some());
//!
//! owner.teardown().completed().await; // whoever asks now meets its successor
//! # Ok(())
//! # }
//! ```

mod delivery_targets;
mod disposing;
mod drain_set;
mod eviction;
mod gates;
mod intake;
mod leaving_host;
mod lifecycle;
mod message;
mod registry;
mod subscribers;
mod waves;

pub use self::{
    delivery_targets::DeliveryTargets,
    disposing::Disposing,
    drain_set::DrainSet,
    eviction::{EvictionCounts, Evictions},
    gates::Gates,
    leaving_host::{HostPhase, LeavingHost},
    lifecycle::{Driver, Ending, Lifecycle, PendingReply, Reached, ReplyPath, RunLevel},
    message::{Message, MessageKind},
    registry::{AlreadyServed, Registry},
    subscribers::{Asked, Frame, Released, Subscribers},
    waves::{Wave, Waves},
};
