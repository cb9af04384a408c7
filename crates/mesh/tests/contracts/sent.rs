//! What of the mesh may be sent to another thread, shared with one, and moved once it was polled.

use std::marker::PhantomPinned;

use rideout::{Address, activation::StreamId};
use rideout_mesh::{Changes, Mesh, NewsStream, Subscription};

use crate::support::address;

fn is<T: Send + Sync + Unpin + 'static>() {}
fn is_sent<T: Send>(_: &T) {}
fn is_unpin<T: Unpin>() {}

#[test]
fn handles_and_streams_are_sent_and_shared() {
    is::<Mesh<u64>>();
    is::<Subscription<u64>>();
    is::<NewsStream>();
    is::<Changes>();
}

#[test]
fn no_value_is_pinned_in_a_subscription() {
    is_unpin::<Subscription<PhantomPinned>>();
}

/// A request is the future of an `async fn`: it is sent, and pinned to be polled.
#[test]
fn requests_are_sent() {
    fn requests(mesh: &Mesh<u64>, address: &Address) {
        is_sent(&mesh.ride_out(address));
        is_sent(&mesh.subscribe(address, StreamId::mint()));
        is_sent(&mesh.write(address, 1));
        is_sent(&mesh.patch(address, |it| *it += 1));
        is_sent(&mesh.read(address));
    }
    requests(&Mesh::new(), &address());
}
