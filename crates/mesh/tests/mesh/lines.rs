//! What is said of deliveries that are refused (R51), and of those that go on for long.

use crate::*;

/// R51: one line at once, then one a minute that sums up the rest; the refusals go on.
#[tokio::test(start_paused = true)]
async fn a_storm_is_summed_up() {
    let heard = heard::Heard::begin();
    let (mesh, address) = mesh();
    mesh.set_idle_release(Duration::MAX);
    let faults = (mesh.drop_goodbyes(&address), mesh.forget_releases(&address));
    drop((subscribe(&mesh, &address).await, subscribe(&mesh, &address).await));
    for at in 0..600 {
        mesh.write(&address, at).await.unwrap();
        advance(SECOND).await;
    }
    drop(faults);
    let said = heard.all();
    let lines = said.iter().filter(|it| it.message().starts_with("deliveries are refused")).count();
    assert_eq!(lines, 2 * 10, "two readers, ten minutes");
    let each = said.iter().filter(|it| it.message() == "a delivery was refused").count();
    assert_eq!(each, 1200, "and each of them at `DEBUG`");
    assert_eq!(mesh.evictions(&address).promises, 1200);
}

/// R51: one identity at two addresses is two readers in the log: what one owner delivers makes no news of
/// what the other is refused.
#[tokio::test(start_paused = true)]
async fn a_delivery_of_one_owner_clears_no_line_of_another() {
    let heard = heard::Heard::begin();
    let (mesh, here) = mesh();
    let there = address("prices/usd");
    mesh.store(&there, 7);
    let stream = StreamId::mint();
    let gone = mesh.subscribe(&here, stream).await.unwrap().into_stream();
    let _stays = mesh.subscribe(&there, stream).await.unwrap().into_stream();
    let faults = (mesh.drop_goodbyes(&here), mesh.forget_releases(&here));
    drop(gone);
    for at in 0..120 {
        mesh.write(&here, at).await.unwrap();
        mesh.write(&there, at).await.unwrap();
        advance(SECOND).await;
    }
    drop(faults);
    let said = heard.all();
    let lines = said.iter().filter(|it| it.message().starts_with("deliveries are refused"));
    let lines: Vec<_> = lines.map(|it| (it.field("owner"), it.field("swallowed"))).collect();
    assert_eq!(lines, [("prices/eur", "0"), ("prices/eur", "59")]);
    assert_eq!(mesh.evictions(&here).promises, 120);
}

/// R51: a reader that came back was delivered to, by the state that it was answered with, so its next
/// refusal is news; and no storm goes on over it.
#[tokio::test(start_paused = true)]
async fn the_answer_to_an_ask_is_a_delivery() {
    let heard = heard::Heard::begin();
    let (mesh, address) = mesh();
    mesh.set_idle_release(Duration::MAX);
    let mut reader = subscribe(&mesh, &address).await;
    for roll in 1..=2 {
        let faults = (mesh.drop_goodbyes(&address), mesh.forget_releases(&address));
        let stream = reader.stream_id();
        drop(reader);
        mesh.write(&address, 2 * roll).await.unwrap();
        mesh.write(&address, 2 * roll + 1).await.unwrap();
        drop(faults);
        reader = mesh.subscribe(&address, stream).await.unwrap().into_stream();
        // Longer than what is called a storm.
        advance(31 * 60 * SECOND).await;
    }
    advance(SECOND).await;
    let said = heard.all();
    let count = |start| said.iter().filter(|it| it.message().starts_with(start)).count();
    assert_eq!((count("deliveries are refused"), count("storming")), (2, 0));
    let swallowed = said.iter().filter(|it| it.message().starts_with("deliveries are refused"));
    assert!(swallowed.into_iter().all(|it| it.field("swallowed") == "0"), "news each time");
    assert_eq!(value(&mut reader).await, 5);
}

/// R50: one that was refused and then said goodbye is no part of a storm that comes after it.
#[tokio::test(start_paused = true)]
async fn a_storm_is_over_those_that_are_served() {
    let heard = heard::Heard::begin();
    let (mesh, address) = mesh();
    mesh.set_idle_release(Duration::MAX);
    let (leaves, vanishes) = (subscribe(&mesh, &address).await, subscribe(&mesh, &address).await);
    let held = mesh.hold_store(&address);
    let mut write = Box::pin(mesh.write(&address, 2));
    assert!((&mut write).now_or_never().is_none());
    settle().await;
    let (unknown, unreached) = (mesh.forget_releases(&address), mesh.refuse_route(&address));
    drop(leaves);
    drop(held);
    assert_eq!(in_time(write).await, Ok(2));
    assert_eq!(mesh.evictions(&address).promises, 1, "its goodbye is still to come");
    drop(unreached);
    settle().await;
    assert_eq!(mesh.streams(&address), [vanishes.stream_id()]);

    advance(20 * 60 * SECOND).await;
    let unheard = mesh.drop_goodbyes(&address);
    drop(vanishes);
    for minute in 0..40 {
        mesh.write(&address, minute).await.unwrap();
        advance(60 * SECOND).await;
    }
    drop((unknown, unheard));
    let said = heard.all();
    let storms = said.iter().filter(|it| it.message().starts_with("storming"));
    let facts = ["subscribers", "refusals", "lasting"];
    let storms: Vec<_> = storms.map(|it| facts.map(|fact| it.field(fact))).collect();
    assert_eq!(storms, [["1", "31", "1800s"]]);
}

/// Nothing is held while a line is written: whoever writes it may use the mesh, and even end what it is
/// told of.
#[tokio::test(start_paused = true)]
async fn whoever_writes_a_line_may_use_the_mesh() {
    let (mesh, address) = mesh();
    mesh.set_idle_release(Duration::MAX);
    let closed = subscribe(&mesh, &address).await;
    let rolled = subscribe(&mesh, &address).await;
    let stays = subscribe(&mesh, &address).await;
    let unheard = mesh.drop_goodbyes(&address);
    drop(closed);
    let unknown = mesh.forget_releases(&address);
    drop(rolled);
    drop((unheard, unknown));

    let mut left = vec![subscribe(&mesh, &address).await];
    let (inner, here, stream) = (mesh.clone(), address.clone(), stays.stream_id());
    let _calling = back::calls_back(move || {
        inner.streams(&here);
        inner.evictions(&here);
        drop(inner.refuse_route(&here));
        drop(inner.refuse_host("host-1"));
        inner.beat(&here, stream);
        _ = inner.subscribe(&here, StreamId::mint()).now_or_never();
        _ = inner.write(&here, 9).now_or_never();
        _ = format!("{inner:?}");
        left.pop(); // its goodbye
    });
    mesh.write(&address, 2).await.unwrap();
    settle().await;
    assert!(back::calls() > 2, "lines were written");
    // The one that was closed, and the one whose frame was under way when it said goodbye.
    assert_eq!(mesh.evictions(&address).evicted, 2);
    assert!(mesh.streams(&address).contains(&stays.stream_id()));

    // And recycles the owner that has it written.
    let (inner, here) = (mesh.clone(), address.clone());
    let _ending = back::calls_back(move || _ = inner.recycle(&here));
    let fault = (mesh.drop_goodbyes(&address), mesh.forget_releases(&address));
    drop(stays);
    // One of the writes above may be before it, and its lines then end the owner.
    _ = in_time(mesh.write(&address, 3)).await;
    drop(fault);
    advance(5 * SECOND).await;
    settle().await;
    assert_eq!(mesh.activation_of(&address), None);
}

/// R51: what was swallowed until a delivery arrives again is told then.
#[tokio::test(start_paused = true)]
async fn what_was_swallowed_is_told_when_deliveries_arrive_again() {
    let heard = heard::Heard::begin();
    let (mesh, address) = mesh();
    let rolled = subscribe(&mesh, &address).await;
    let stream = rolled.stream_id();
    let faults = (mesh.drop_goodbyes(&address), mesh.forget_releases(&address));
    drop(rolled);
    for at in 0..5 {
        mesh.write(&address, at).await.unwrap();
    }
    drop(faults);
    let told = || {
        let said = heard.all();
        let again = said.into_iter().filter(|it| it.message() == "deliveries arrive again");
        again.map(|it| it.field("swallowed").to_owned()).collect::<Vec<_>>()
    };
    assert!(told().is_empty());
    let back = mesh.subscribe(&address, stream).await.unwrap().into_stream();
    mesh.write(&address, 9).await.unwrap();
    assert_eq!(told(), ["4"]);
    drop(back);
}

/// A subscriber that runs code of the test's own for each event, one at a time.
mod back {
    use std::{
        cell::{Cell, RefCell},
        fmt::Debug,
    };

    use tracing::{Event, Metadata, Subscriber, field, span, subscriber::DefaultGuard};

    type Code = Box<dyn FnMut()>;

    thread_local! {
        static CODE: RefCell<Option<Code>> = const { RefCell::new(None) };
        static CALLS: Cell<u32> = const { Cell::new(0) };
    }

    pub(super) fn calls() -> u32 {
        CALLS.get()
    }

    pub(super) fn calls_back(code: impl FnMut() + 'static) -> DefaultGuard {
        CODE.set(Some(Box::new(code)));
        tracing::subscriber::set_default(Back)
    }

    struct Back;

    impl Subscriber for Back {
        fn enabled(&self, of: &Metadata<'_>) -> bool {
            of.target().starts_with("rideout")
        }

        fn event(&self, event: &Event<'_>) {
            // Its fields are written, as a subscriber that keeps them would.
            event.record(&mut |_: &field::Field, value: &dyn Debug| _ = format!("{value:?}"));
            let Some(mut code) = CODE.take() else { return };
            CALLS.set(CALLS.get() + 1);
            code();
            CODE.set(Some(code));
        }

        fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
            span::Id::from_u64(1)
        }

        fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

        fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

        fn enter(&self, _: &span::Id) {}

        fn exit(&self, _: &span::Id) {}
    }
}
