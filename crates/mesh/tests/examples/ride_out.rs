//! What the example `ride_out` shows must be so: the rider sees every value, the retry loop goes silent.

#[path = "../../../../examples/ride_out/events.rs"]
mod events;
#[path = "../../../../examples/ride_out/retry.rs"]
mod retry;
#[path = "../../../../examples/ride_out/rider.rs"]
mod rider;

use std::rc::Rc;

use events::Stage;

#[tokio::test(flavor = "current_thread", start_paused = true)]
async fn the_rider_sees_every_value_and_the_retry_loop_goes_silent() {
    let local = tokio::task::LocalSet::new();
    let (rider, retry) = local
        .run_until(async {
            let stage = Rc::new(Stage::new("prices/eur".parse().unwrap()));
            let (nudger, riding) = rider::follow(&stage);
            let riding = tokio::task::spawn_local(riding);
            let retrying = tokio::task::spawn_local(retry::follow(Rc::clone(&stage)));
            stage.play(nudger).await.unwrap();
            (riding.await.unwrap(), retrying.await.unwrap())
        })
        .await;
    assert_eq!(rider.seen(), "100 101 102 103 104");
    assert_eq!(rider.end, "live, last value 104");
    assert_eq!(rider.in_a_burst(), 1);
    assert_eq!(retry.seen(), "100 101 102");
    assert!(retry.end.starts_with("silent since"), "{}", retry.end);
    assert_eq!(retry.in_a_burst(), 4);
}
