//! What a landing recycles, and what it leaves alone (R52).

use crate::*;

/// A recycle that leaves an owner alone tells nobody, says so, and takes nothing from the time that the
/// owner's end has when it comes.
#[tokio::test(start_paused = true)]
async fn an_owner_that_a_wave_leaves_alone_was_not_told() {
    let (mesh, address) = mesh();
    let elsewhere: Address = "prices/usd".parse().unwrap();
    mesh.store(&elsewhere, 1);
    mesh.set_teardown(3 * SECOND);
    mesh.activate(&elsewhere).unwrap();

    let wave = mesh.land(std::slice::from_ref(&elsewhere));
    let born_in_it = mesh.activate(&address).unwrap();
    assert_eq!(mesh.recycle(&address), None);
    in_time(wave).await;
    assert_eq!(mesh.activation_of(&address), Some(born_in_it.clone()));
    assert!(mesh.read(&address).await.is_ok());

    advance(60 * SECOND).await;
    let began = Instant::now();
    assert_eq!(mesh.recycle(&address).as_ref(), Some(&born_in_it));
    // Told twice it goes on as it was told first.
    assert_eq!(mesh.recycle(&address).as_ref(), Some(&born_in_it));
    torn_down(&mesh, &born_in_it).await;
    assert_eq!(began.elapsed(), 3 * SECOND);
}
