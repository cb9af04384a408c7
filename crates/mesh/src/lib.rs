//! An embedded mesh for examples and tests: real owners, real refusals, and faults that last as long as
//! you say, in one process.
//!
//! A [`Mesh`] has hosts, a router, a directory, a store, and one owner at each address that is asked
//! for. An owner is a task with a mailbox. It lives for one activation, refuses from the moment it is told
//! to end, and the next ask starts its successor from what is stored. It is made of the parts of
//! [`rideout::owner`], which you can take for owners of your own.
//!
//! # Contents
//!
//! | you want to | take |
//! |---|---|
//! | set a mesh up | [`Mesh::new`], [`add_host`](Mesh::add_host), [`store`](Mesh::store), [`activate`](Mesh::activate) |
//! | set how long things take | [`set_latency`](Mesh::set_latency), [`set_teardown`](Mesh::set_teardown), [`set_watchdog`](Mesh::set_watchdog), [`set_idle_release`](Mesh::set_idle_release), [`set_lease`](Mesh::set_lease) |
//! | follow a value through everything | [`ride_out`](Mesh::ride_out): a rider that has all of the following |
//! | ask an owner | [`subscribe`](Mesh::subscribe), [`read`](Mesh::read), [`write`](Mesh::write), [`patch`](Mesh::patch), [`beat`](Mesh::beat) |
//! | read what it sends | [`Subscription`], [`Update`], [`Versioned`] |
//! | hear of an address | [`news`](Mesh::news), [`teardown_of`](Mesh::teardown_of), [`changes`](Mesh::changes) |
//! | end an owner | the next table |
//! | make something fail | the table after it |
//! | look at the mesh | [`activation_of`](Mesh::activation_of), [`host_of`](Mesh::host_of), [`subscribers`](Mesh::subscribers), [`streams`](Mesh::streams), [`evictions`](Mesh::evictions), [`asks`](Mesh::asks) |
//!
//! # How owners end
//!
//! | by | what happens | who hears of it |
//! |---|---|---|
//! | [`recycle`](Mesh::recycle) | the owner refuses, tears down, dies | those it served, by news; joiners |
//! | [`land`](Mesh::land) | a set of addresses is recycled as one wave | the same |
//! | [`delete`](Mesh::delete) | the same as a recycle, and nothing is stored any more | the same |
//! | [`dispose`](Mesh::dispose) | the same as a recycle | joiners alone; readers by their beats |
//! | its parent's end | the same as a dispose | the same |
//! | its host's stop | it moves to another host | those it served, by news, at once; joiners |
//! | [`kill`](Mesh::kill) | its process is gone; the route refuses until the lease ends | nobody; readers by their beats |
//!
//! In all of these a live subscription falls silent and never completes: the end of an owner is not
//! the end of what is at the address.
//!
//! # Faults
//!
//! Each is a state that a [`FaultGuard`] holds, and the guard says whether it is in force.
//!
//! | of | fault |
//! |---|---|
//! | a route | [`hold_route`](Mesh::hold_route) at the activation that died, [`refuse_route`](Mesh::refuse_route) |
//! | an owner | [`refuse_door`](Mesh::refuse_door), [`hold_state`](Mesh::hold_state), [`hold_store`](Mesh::hold_store) |
//! | what is sent | [`drop_frames`](Mesh::drop_frames), [`silence_feed`](Mesh::silence_feed), [`drop_goodbyes`](Mesh::drop_goodbyes), [`forget_releases`](Mesh::forget_releases) |
//! | a host | [`refuse_host`](Mesh::refuse_host), [`linger_host`](Mesh::linger_host), [`drain_host`](Mesh::drain_host), [`kill_host`](Mesh::kill_host) |
//!
//! # Time
//!
//! The clock is tokio's, which `tokio::time::pause` makes virtual, and a runtime of one thread suffices.
//! What is said happens at once, or as soon as the owner's task runs; what takes time takes what the mesh
//! is set to.
//!
//! # Examples
//!
//! An owner is recycled, and comes back with what was written:
//!
//! ```
//! use futures::StreamExt;
//! use rideout::{Address, Kind, News, activation::StreamId};
//! use rideout_mesh::Mesh;
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (mesh, address) = (Mesh::new(), "prices/eur".parse::<Address>()?);
//! mesh.store(&address, 108);
//! let stream = StreamId::mint();
//! let prices = mesh.subscribe(&address, stream).await?.into_stream();
//! let mut news = mesh.news(&address, stream);
//!
//! let recycled = mesh.recycle(&address).expect("an owner is there");
//! let refusal = mesh.subscribe(&address, stream).await.unwrap_err();
//! assert_eq!(refusal.activation.as_ref(), Some(&recycled));
//! assert_eq!(refusal.kind, Some(Kind::ShuttingDown));
//!
//! mesh.teardown_of(&recycled).expect("it can be observed").await;
//! assert_eq!(news.next().await, Some(News::Ended(Some(recycled))));
//!
//! let mut prices = mesh.subscribe(&address, stream).await?.into_stream();
//! assert_eq!(prices.next().await.unwrap()?.value, 108);
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod ask;
mod directory;
mod end;
mod farewell;
mod fault;
mod frame;
mod goodbye;
mod guard;
mod host;
mod hub;
mod inject;
mod mesh;
mod news;
mod observe;
mod owner;
mod panics;
mod readers;
mod register;
mod request;
mod ride;
mod router;
mod service;
mod stop;
mod store;
mod subscription;
mod world;

#[doc(inline)]
pub use self::{
    frame::{Update, Versioned},
    guard::FaultGuard,
    mesh::Mesh,
    news::{Changes, NewsStream},
    subscription::Subscription,
};

/// The examples of this package's README, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;

/// The examples of the library's README, run as tests: they use the mesh, on which the library does not depend.
/// The file is a link to it, and a copy in the package, which so passes its own tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/rideout.md")]
pub struct ReadmeOfTheLibrary;
