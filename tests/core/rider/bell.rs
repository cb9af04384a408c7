//! What has come is looked at before the next item, and a wake-up by the stream alone looks at the stream
//! alone (R20b).

use std::{
    cell::Cell,
    rc::Rc,
    task::{Poll, Waker},
    thread,
};

use crate::support::{
    hand_clock::{Clock, address},
    strict::{next, next_for},
    words::tag,
};
use futures::{
    Stream, StreamExt,
    channel::mpsc::{self, UnboundedReceiver, UnboundedSender},
    executor::block_on,
    stream::{self, FuturesUnordered, select_all},
};
use rideout::{News, Refusal, RideOut, rider::Answer};

type Item = Result<u32, Refusal>;

/// A stream that counts how often it is polled.
fn counted<St: Stream + Unpin>(
    mut stream: St,
    polls: &Rc<Cell<u32>>,
) -> impl Stream<Item = St::Item> {
    let polls = Rc::clone(polls);
    stream::poll_fn(move |cx| {
        polls.set(polls.get() + 1);
        stream.poll_next_unpin(cx)
    })
}

/// A rider of what is sent, served by F0; its second ask says 100.
fn fed(
    items: UnboundedReceiver<Item>,
    news: impl Stream<Item = News>,
) -> impl Stream<Item = Result<u32, rideout::RideError<Refusal>>> + Unpin {
    let mut items = Some(items);
    RideOut::builder(address(), move |_| {
        let first = items.take();
        async move {
            Ok(match first {
                Some(items) => Answer::new(items.boxed_local()).served_by(tag("F0")),
                None => Answer::new(stream::iter([Ok(100)]).chain(stream::pending()).boxed_local()),
            })
        }
    })
    .news(news)
    .timer(Clock::new())
    .build()
}

#[test]
fn a_wake_up_by_the_stream_alone_polls_nothing_else() {
    let polls = Rc::new(Cell::new(0));
    let (send, items) = mpsc::unbounded();
    let mut rider = fed(items, counted(stream::pending::<News>(), &polls));
    send.unbounded_send(Ok(0)).expect("it is read");
    assert!(matches!(next(&mut rider), Poll::Ready(Some(Ok(0)))));
    assert!(next(&mut rider).is_pending());
    let before = polls.get();
    for item in 1..100 {
        send.unbounded_send(Ok(item)).expect("it is read");
        assert!(matches!(next(&mut rider), Poll::Ready(Some(Ok(it))) if it == item));
        assert!(next(&mut rider).is_pending());
    }
    assert_eq!(polls.get(), before, "the news were polled, and nothing rang");
}

#[test]
fn what_has_come_takes_effect_before_the_next_item_however_slowly_it_is_read() {
    let (send, items) = mpsc::unbounded();
    let (tell, news) = mpsc::unbounded();
    let mut rider = fed(items, news);
    for item in 0..3 {
        send.unbounded_send(Ok(item)).expect("it is read");
    }
    assert!(matches!(next(&mut rider), Poll::Ready(Some(Ok(0)))));
    tell.unbounded_send(News::Ended(None)).expect("it listens");
    // What was received is told; what is sent from here on is not its.
    assert!(matches!(next(&mut rider), Poll::Ready(Some(Ok(1)))));
    assert!(send.unbounded_send(Ok(3)).is_err(), "the old subscription is over");
    assert!(matches!(next(&mut rider), Poll::Ready(Some(Ok(2)))));
}

/// Another thread sends to all of them, and ends all of them; the first of two tasks polls them.
#[test]
fn of_two_hundred_riders_in_one_task_none_is_lost() {
    type Senders = Vec<(UnboundedSender<Item>, UnboundedSender<News>)>;
    let riders = || {
        let (mut senders, mut riders): (Senders, Vec<_>) = (Vec::new(), Vec::new());
        for _ in 0..200 {
            let (send, items) = mpsc::unbounded();
            let (tell, news) = mpsc::unbounded();
            senders.push((send, tell));
            riders.push(fed(items, news));
        }
        let sender = thread::spawn(move || {
            for (send, tell) in &senders {
                for item in 0..5 {
                    let _ = send.unbounded_send(Ok(item));
                }
                // The last one is read, or the end has come before it.
                tell.unbounded_send(News::Arrived(tag("E0"))).expect("it listens");
            }
            senders
        });
        (riders, sender)
    };
    let (selected, sender) = riders();
    let all = block_on(select_all(selected).take(1_000).collect::<Vec<_>>());
    assert_eq!(all.iter().filter(|item| matches!(item, Ok(0..5))).count(), 1_000);
    drop(sender.join().expect("it sends"));

    let (unordered, sender) = riders();
    let each = unordered.into_iter().map(|rider| rider.take(5).collect::<Vec<_>>());
    let all: Vec<_> = block_on(each.collect::<FuturesUnordered<_>>().collect());
    assert!(all.len() == 200 && all.iter().all(|items| items.len() == 5));
    drop(sender.join().expect("it sends"));
}

/// News that is at hand without ever waking anybody: a bounded number is heard in each poll, and items
/// go on between.
#[test]
fn a_thousand_news_at_hand_and_a_stream_that_never_pauses_starve_neither() {
    let heard = Rc::new(Cell::new(0_u32));
    let news = stream::repeat(News::Ended(Some(tag("EE")))).take(1_000);
    let news = counted(news, &heard);
    let (send, items) = mpsc::unbounded();
    for item in 0..100 {
        send.unbounded_send(Ok(item)).expect("it is read");
    }
    let mut rider = fed(items, news);
    let mut most = 0;
    for item in 0..100 {
        let before = heard.get();
        while !matches!(next_for(&mut rider, Waker::noop()), Poll::Ready(Some(Ok(it))) if it == item)
        {
            assert!(heard.get() - before < 1_001, "no item comes");
        }
        most = most.max(heard.get() - before);
    }
    assert!(most <= 64, "{most} of the news beside one item");
    assert!(heard.get() >= 1_000, "only {} of the news were heard beside 100 items", heard.get());
}
