//! A subscription that was dropped is forgotten, whether or not anything is ever written; so is a listener,
//! whether or not there is ever news.

use rideout::{Address, activation::StreamId};
use rideout_mesh::Mesh;

const SUBSCRIPTIONS: usize = 20_000;
const BEATS: usize = 100_000;
const OWNERS: usize = 10_000;

fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_time().start_paused(true).build().unwrap()
}

#[test]
fn subscriptions_that_come_and_go_leave_nothing() {
    let runtime = runtime();
    let (mesh, address) = (Mesh::new(), "prices/eur".parse::<Address>().unwrap());
    mesh.store(&address, 1);
    let come_and_go = || {
        runtime.block_on(async {
            drop(mesh.subscribe(&address, StreamId::mint()).await.unwrap());
            // Their goodbyes are remembered for 10 min.
            tokio::time::advance(std::time::Duration::from_secs(6)).await;
        });
    };
    (0..200).for_each(|_| come_and_go());
    let held = allocation_counter::measure(|| (0..SUBSCRIPTIONS).for_each(|_| come_and_go()));
    // Each of them alone is more than a byte.
    assert!(held.bytes_current < SUBSCRIPTIONS as i64, "{} bytes are held", held.bytes_current);
}

/// R49: more readers than are remembered close in one instant, heard late, or not at all and evicted.
#[test]
fn goodbyes_are_remembered_in_a_bounded_number() {
    let runtime = runtime();
    let (mesh, address) = (Mesh::new(), "prices/eur".parse::<Address>().unwrap());
    mesh.store(&address, 1);
    let crowd = || {
        runtime.block_on(async {
            let mut readers = Vec::new();
            for _ in 0..1000 {
                let answer = mesh.subscribe(&address, StreamId::mint()).await.unwrap();
                readers.push(answer.into_stream());
            }
            let fault = mesh.refuse_route(&address);
            readers.truncate(500);
            drop(fault);
            let fault = mesh.drop_goodbyes(&address);
            drop(readers);
            drop(fault);
            mesh.write(&address, 2).await.unwrap();
            assert_eq!(mesh.subscribers(&address), 0);
        });
    };
    (0..70).for_each(|_| crowd());
    let held = allocation_counter::measure(|| (0..6).for_each(|_| crowd()));
    assert!(held.bytes_current < 6_000, "{} bytes are held", held.bytes_current);
    assert_eq!(mesh.evictions(&address).evicted, 38_000);
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

/// C22: over 10^5 beats, to an owner, to nobody, and to nowhere.
#[test]
fn beats_leave_nothing() {
    let runtime = runtime();
    let (mesh, address) = (Mesh::new(), "prices/eur".parse::<Address>().unwrap());
    let nowhere = "prices/usd".parse::<Address>().unwrap();
    mesh.store(&address, 1);
    let (served, stranger) = (StreamId::mint(), StreamId::mint());
    let prices = runtime.block_on(mesh.subscribe(&address, served)).unwrap().into_stream();
    let beat = || {
        runtime.block_on(async {
            mesh.beat(&address, served);
            mesh.beat(&address, stranger);
            mesh.beat(&nowhere, stranger);
            tokio::task::yield_now().await;
        });
    };
    (0..100).for_each(|_| beat());
    let held = allocation_counter::measure(|| (0..BEATS / 3).for_each(|_| beat()));
    assert!(held.bytes_current < 4096, "{} bytes are held", held.bytes_current);
    drop(prices);
}

/// R42: who is dead is forgotten, though nobody asks for its address again.
#[test]
fn owners_that_come_and_go_leave_nothing() {
    let runtime = runtime();
    let mesh = Mesh::new();
    mesh.set_teardown(std::time::Duration::ZERO);
    let come_and_go = |number: usize| {
        runtime.block_on(async {
            let address = format!("prices/{number}").parse::<Address>().unwrap();
            mesh.store(&address, number);
            let owner = mesh.activate(&address).unwrap();
            mesh.delete(&address);
            mesh.teardown_of(&owner).unwrap().await;
        });
    };
    // The teardowns of the last 1,024 are remembered.
    (0..2000).for_each(come_and_go);
    let held = allocation_counter::measure(|| (2000..OWNERS).for_each(come_and_go));
    assert!(held.bytes_current < 10 * OWNERS as i64, "{} bytes are held", held.bytes_current);
}
