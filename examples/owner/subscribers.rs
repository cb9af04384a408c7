//! An owner that hears whom it serves: beats, goodbyes, and the silence of who is gone without one.
//!
//! Its owner serves from a task with channels for everything. `owner.rs` has what is left out here: how it
//! begins, refuses and ends.

use std::{future::pending, time::Duration};

use rideout::{
    Activation, News, Refusal,
    activation::StreamId,
    owner::Subscribers,
    refusal::{Closing, Seam},
};
use tokio::{
    select,
    sync::{mpsc, oneshot},
    time::{Instant, sleep, sleep_until},
};

type Sink = mpsc::UnboundedSender<(u64, u32)>; // a frame's number, and a price
type Reply = oneshot::Sender<Result<Activation, Refusal>>;

enum Message {
    Ask { stream: StreamId, attempt: u32, sink: Sink, reply: Reply },
    Beat { stream: StreamId, news: mpsc::UnboundedSender<News> },
    Goodbye { stream: StreamId, attempt: u32 },
    Price(u32),
}

struct Owner {
    activation: Activation,
    closing: Closing,
    subscribers: Subscribers<StreamId, Sink, Reply>,
    price: u32,
}

impl Owner {
    fn new() -> Self {
        let activation = Activation::mint();
        let closing = Closing::new("prices/eur".parse().expect("an address"));
        Self {
            closing: closing.activation(activation.clone()),
            activation,
            subscribers: Subscribers::new(), // no price yet: asks are held
            price: 0,
        }
    }

    /// Serves until its mailbox is closed; returns whom to tell that it ended.
    async fn run(mut self, mut mailbox: mpsc::Receiver<Message>) -> Vec<Sink> {
        loop {
            let next_release = self.subscribers.next_release();
            let idle = async move {
                match next_release {
                    Some(at) => sleep_until(at.into()).await,
                    None => pending().await,
                }
            };
            select! {
                message = mailbox.recv() => match message {
                    Some(message) => self.handle(message, Instant::now()),
                    None => break,
                },
                () = idle => {
                    let released = self.subscribers.release_idle(Instant::now().into_std());
                    released.into_iter().for_each(|it| self.refuse(it.held));
                }
            }
        }
        let ended = self.subscribers.end().into_iter();
        ended.map(|it| (self.refuse(it.held), it.sink).1).collect()
    }

    fn handle(&mut self, message: Message, now: Instant) {
        let now = now.into_std();
        // Frames that are due, each with the answers that wait for it.
        let frames = match message {
            Message::Ask { stream, attempt, sink, reply } => {
                let asked = self.subscribers.ask(stream, attempt, sink, reply, now);
                self.refuse(asked.refused);
                asked.frame.into_iter().collect()
            }
            Message::Beat { stream, news } => {
                if !self.subscribers.beat(&stream, now) {
                    _ = news.send(News::NotServing(Some(self.activation.clone())));
                }
                vec![]
            }
            Message::Goodbye { stream, attempt } => {
                let released = self.subscribers.unsubscribe(&stream, attempt);
                released.into_iter().for_each(|it| self.refuse(it.held));
                vec![]
            }
            Message::Price(price) => {
                self.price = price;
                self.subscribers.publish()
            }
        };
        for frame in frames {
            // The state first, then the answer.
            if frame.sink.send((frame.number, self.price)).is_err() {
                self.subscribers.unsubscribe(&frame.key, frame.attempt); // its reader is gone
            }
            for reply in frame.acknowledgements {
                _ = reply.send(Ok(self.activation.clone()));
            }
        }
    }

    /// Refuses answers that were held until there would be a price.
    fn refuse(&self, held: impl IntoIterator<Item = Reply>) {
        for reply in held {
            _ = reply.send(Err(self.closing.refuse(Seam::Reassert, "SubscribeRequest")));
        }
    }
}

/// What a subscriber sends to the owner.
struct Subscriber {
    to_owner: mpsc::Sender<Message>,
    stream: StreamId,
}

impl Subscriber {
    async fn send(&self, message: Message) {
        assert!(self.to_owner.send(message).await.is_ok(), "the owner serves");
    }

    async fn ask(&self, attempt: u32) -> (mpsc::UnboundedReceiver<(u64, u32)>, Answer) {
        let (sink, prices) = mpsc::unbounded_channel();
        let (reply, answer) = oneshot::channel();
        self.send(Message::Ask { stream: self.stream, attempt, sink, reply }).await;
        (prices, answer)
    }

    /// Returns whether the owner knows the stream.
    async fn is_served(&self) -> bool {
        let (news, mut heard) = mpsc::unbounded_channel();
        self.send(Message::Beat { stream: self.stream, news }).await;
        heard.recv().await.is_none()
    }
}

type Answer = oneshot::Receiver<Result<Activation, Refusal>>;

/// Plays the story of one subscriber; returns what there is to tell.
pub(crate) async fn run() -> Vec<String> {
    let (to_owner, mailbox) = mpsc::channel(8);
    let owner = tokio::spawn(Owner::new().run(mailbox));
    let subscriber = Subscriber { to_owner, stream: StreamId::mint() };
    let mut told = Vec::new();

    let (mut prices, answer) = subscriber.ask(1).await; // held: no price yet
    subscriber.send(Message::Price(101)).await;
    subscriber.send(Message::Price(102)).await;
    told.push(format!("asks, and is answered: {}", matches!(answer.await, Ok(Ok(_)))));
    told.push(format!("hears {:?} and {:?}", prices.recv().await, prices.recv().await));

    let (mut again, answer) = subscriber.ask(2).await;
    told.push(format!("asks again, and is answered: {}", matches!(answer.await, Ok(Ok(_)))));
    told.push(format!("hears {:?}, and no more of the first", again.recv().await));
    assert_eq!(prices.recv().await, None);

    subscriber.send(Message::Goodbye { stream: subscriber.stream, attempt: 1 }).await;
    told.push(format!("is served after a late goodbye: {}", subscriber.is_served().await));

    sleep(Duration::from_secs(11 * 60)).await;
    told.push(format!("is served after 11 silent minutes: {}", subscriber.is_served().await));

    drop(subscriber);
    let left = owner.await.expect("it ends");
    told.push(format!("is gone, and {} are to be told of the end", left.len()));
    told
}
