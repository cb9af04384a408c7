//! A subscription that was dropped is forgotten, whether or not anything is ever written; so is a listener,
//! whether or not there is ever news.

use rideout::{Address, StreamId, mesh::Mesh};

const SUBSCRIPTIONS: usize = 20_000;

#[test]
fn subscriptions_that_come_and_go_leave_nothing() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    let (mesh, address) = (Mesh::new(), "prices/eur".parse::<Address>().unwrap());
    mesh.store(&address, 1);
    let come_and_go = || {
        runtime.block_on(async {
            drop(mesh.subscribe(&address, StreamId::mint()).await.unwrap());
        });
    };
    come_and_go();
    let held = allocation_counter::measure(|| (0..SUBSCRIPTIONS).for_each(|_| come_and_go()));
    // Each of them alone is more than a byte.
    assert!(held.bytes_current < SUBSCRIPTIONS as i64, "{} bytes are held", held.bytes_current);
}

#[test]
fn listeners_that_come_and_go_leave_nothing() {
    let (mesh, address) = (Mesh::<u64>::new(), "prices/eur".parse::<Address>().unwrap());
    let staying = mesh.news(&address, StreamId::mint());
    let come_and_go = || {
        drop(mesh.news(&address, StreamId::mint()));
        drop(mesh.changes(&address));
    };
    come_and_go();
    let held = allocation_counter::measure(|| (0..SUBSCRIPTIONS).for_each(|_| come_and_go()));
    assert!(held.bytes_current < SUBSCRIPTIONS as i64, "{} bytes are held", held.bytes_current);
    drop(staying);
}
