//! The change feed, and its silence (R25, R59).

use rideout_mesh::Changes;

use crate::*;

/// What came so far.
fn heard(changes: &mut Changes) -> Vec<u64> {
    std::iter::from_fn(|| changes.next().now_or_never().flatten()).collect()
}

#[tokio::test(start_paused = true)]
async fn the_feed_tells_of_each_write_of_its_address_alone() {
    let (mesh, address) = mesh();
    let other = self::address("rates/usd");
    mesh.store(&other, 1);
    let mut early = mesh.changes(&self::address("prices/eur~host-3"));
    mesh.write(&address, 2).await.unwrap();
    mesh.write(&other, 2).await.unwrap();
    let mut late = mesh.changes(&address);
    mesh.patch(&address, |it| *it += 1).await.unwrap();
    mesh.read(&address).await.unwrap();
    mesh.beat(&address, StreamId::mint());
    mesh.patch(&address, |_| panic!("a patch that panics")).await.unwrap_err();
    assert_eq!((heard(&mut early), heard(&mut late)), (vec![2, 3], vec![3]));

    let owner = mesh.recycle(&address).unwrap();
    torn_down(&mesh, &owner).await;
    assert_eq!(mesh.write(&address, 4).await, Ok(4));
    assert_eq!((heard(&mut early), heard(&mut late)), (vec![4], vec![4]));
    drop(mesh);
    assert_eq!((early.next().await, late.next().await), (None, None));
}

#[tokio::test(start_paused = true)]
async fn a_silent_feed_loses_what_is_written_meanwhile() {
    let (mesh, address) = mesh();
    let other = self::address("rates/usd");
    mesh.store(&other, 1);
    let (mut changes, mut others) = (mesh.changes(&address), mesh.changes(&other));
    let mut prices = subscribe(&mesh, &address).await;
    let (first, second) = (mesh.silence_feed(&address), mesh.silence_feed(&address));
    assert!(first.is_in_force() && second.is_in_force());
    mesh.write(&address, 2).await.unwrap();
    drop(first);
    mesh.write(&address, 3).await.unwrap();
    mesh.write(&other, 2).await.unwrap();
    assert_eq!((heard(&mut changes), heard(&mut others)), (vec![], vec![2]));
    for expected in [1, 2, 3] {
        assert_eq!(value(&mut prices).await, expected); // frames are not the feed
    }
    drop(second);
    assert!(heard(&mut changes).is_empty());
    mesh.write(&address, 4).await.unwrap();
    assert_eq!(heard(&mut changes), [4]);
}
