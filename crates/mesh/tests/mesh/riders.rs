//! A rider on the mesh: it rides out what the mesh does to its owner.

use crate::*;

/// A rider of `address` with everything that a mesh gives one.
fn rider(
    mesh: &Mesh<u64>,
    address: &Address,
) -> impl FusedStream<Item = Result<u64, RideError<Refusal>>> + Unpin + Send + use<> {
    mesh.ride_out(address).map_ok(|item| item.value)
}

/// C19: a live reader hears of a recycle by the announcement alone, and ends up on the successor,
/// although the first re-ask still finds the corpse.
#[tokio::test(start_paused = true)]
async fn a_rider_is_live_again_after_a_recycle() {
    let (mesh, address) = mesh();
    let mut prices = rider(&mesh, &address);
    assert_eq!(in_time(prices.try_next()).await.unwrap(), Some(1));

    let fault = mesh.hold_route(&address).unwrap();
    let recycled = mesh.recycle(&address).unwrap();
    let mut next = prices.try_next();
    let began = Instant::now();
    while mesh.asks(&address) < 3 {
        assert!(began.elapsed() < 60 * SECOND, "not asked again");
        assert!((&mut next).now_or_never().is_none());
        settle().await;
        advance(SECOND / 100).await;
    }
    assert!(fault.is_in_force() && mesh.activation_of(&address).is_none());
    drop(fault);
    assert_eq!(in_time(next).await.unwrap(), Some(1));
    assert_ne!(mesh.activation_of(&address), Some(recycled));

    mesh.write(&address, 2).await.unwrap();
    assert_eq!(in_time(prices.try_next()).await.unwrap(), Some(2));
    assert_eq!((mesh.asks(&address), mesh.subscribers(&address)), (4, 1));
    drop(prices);
    settle().await;
    assert_eq!(mesh.subscribers(&address), 0);
}

/// C26: what is written while the rider has nothing live is in the state that it comes back to, and no
/// guard takes it for old.
#[tokio::test(start_paused = true)]
async fn a_rider_sees_what_was_written_while_it_rode() {
    let (mesh, address) = mesh();
    mesh.store(&address, 5);
    let mut prices = rider(&mesh, &address);
    assert_eq!(in_time(prices.try_next()).await.unwrap(), Some(5));

    let route = mesh.refuse_route(&address);
    mesh.recycle(&address);
    assert!(timeout(3 * SECOND, prices.try_next()).await.is_err());
    mesh.store(&address, 6);
    drop(route);
    assert_eq!(in_time(prices.try_next()).await.unwrap(), Some(6));
}

/// C3: no ask while the teardown of the one that refused is pending, then exactly one.
#[tokio::test(start_paused = true)]
async fn a_rider_joins_the_teardown() {
    let (mesh, address) = mesh();
    mesh.set_teardown(7 * SECOND);
    mesh.activate(&address).unwrap();
    mesh.dispose(&address);
    let began = Instant::now();
    let mut prices = rider(&mesh, &address);
    assert_eq!(in_time(prices.try_next()).await.unwrap(), Some(1));
    assert_eq!((began.elapsed(), mesh.asks(&address)), (7 * SECOND, 2));
}

/// C4 and its like: a fault that stays is given up on by its cause, after exactly so many asks.
#[tokio::test(start_paused = true)]
async fn a_rider_gives_up_on_a_fault_that_stays() {
    async fn gives_up(mesh: &Mesh<u64>, address: &Address) -> (Key, usize) {
        let mut prices = rider(mesh, address);
        let error = in_time(prices.next()).await.and_then(Result::err).expect("it gives up");
        assert!(in_time(prices.next()).await.is_none());
        (error.gave_up().expect("no verdict").key.clone(), mesh.asks(address))
    }

    let (mesh, address) = mesh();
    let fault = mesh.refuse_route(&address);
    assert_eq!(gives_up(&mesh, &address).await, (Key::Route, 17));
    drop(fault);

    let corpse = mesh.activate(&address).unwrap();
    let fault = mesh.hold_route(&address).unwrap();
    mesh.recycle(&address);
    assert_eq!(gives_up(&mesh, &address).await, (Key::Activation(corpse), 17 + 18));
    drop(fault);
    assert_eq!(in_time(rider(&mesh, &address).try_next()).await.unwrap(), Some(1));
}

/// R18b: an arrival ends a rest at once.
#[tokio::test(start_paused = true)]
async fn a_rider_recovers_at_the_speed_of_an_arrival() {
    let (mesh, address) = mesh();
    let fault = mesh.refuse_route(&address);
    let began = Instant::now();
    let mut prices = rider(&mesh, &address);
    assert!(prices.next().now_or_never().is_none());

    drop(fault);
    mesh.activate(&address).unwrap();
    assert_eq!(in_time(prices.try_next()).await.unwrap(), Some(1));
    assert_eq!((began.elapsed(), mesh.asks(&address)), (Duration::ZERO, 2));
}
