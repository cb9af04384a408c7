//! What the example `owner` shows must be so: it parks, refuses and announces, and its readers ride it out.

#[path = "../examples/owner/main.rs"]
#[expect(dead_code, reason = "`main` is the example's own")]
mod example;

/// By the virtual clock, far longer than the story.
const LONG: std::time::Duration = std::time::Duration::from_secs(3600);

async fn told() -> Vec<String> {
    tokio::time::timeout(LONG, example::run()).await.expect("it ends").unwrap()
}

#[tokio::test(start_paused = true)]
async fn an_owner_of_ones_own_is_ridden_out() {
    let told = told().await;
    let told: Vec<_> =
        told.iter().map(|it| it.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let expected = [
        // Parked while it loads, in the order of arrival.
        "100 ms writer sets 101",
        "300 ms reader 1 served by activation A",
        "300 ms reader 1 price 100",
        "300 ms reader 1 price 101",
        "300 ms writer it is set, by activation A",
        // Refused at the door.
        "1000 ms ops recycles",
        "1000 ms writer sets 102",
        "1000 ms writer Hub prices/eur is shutting down (RunLevel=DisposeHosted, recycle asked for by ops, activation #A) — cannot process SetRequest;",
        "1200 ms reader 2 refused by activation A, charged to the activation axis (1 of 3), joins",
        // Announced when it is dead; its successor loads.
        "1500 ms reader 1 refused by activation A, charged to the activation axis (1 of 3), joins",
        "1800 ms reader 2 served by activation B",
        "1800 ms reader 2 price 101",
        "1800 ms reader 1 served by activation B",
        "1800 ms reader 1 price 101",
        "2000 ms reader 2 leaves",
        "2000 ms writer sets 102",
        "2000 ms reader 1 price 102",
        "2000 ms writer it is set, by activation B",
    ];
    assert_eq!(told.len(), expected.len(), "{told:#?}");
    for (line, expected) in told.iter().zip(expected) {
        assert!(line.starts_with(expected), "not {expected}: {told:#?}");
    }
}

#[tokio::test(start_paused = true)]
async fn every_run_tells_the_same() {
    assert_eq!(told().await, told().await);
}
