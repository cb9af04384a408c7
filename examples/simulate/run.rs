//! Runs a rider against a world, in virtual time, and writes down what happens.

use std::{cell::RefCell, rc::Rc, time::Duration};

use futures::{Stream, StreamExt, stream};
use rideout::{
    Activation, Address, Classify, News, PointRead, Refusal, Rejection, RideError, RideOut, Ruling,
    ledger::{Axis, GaveUp, Key},
    refusal::Speaker,
    rider::{Answer, Phase, PointReadEnd, PointReadError},
};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};

use super::world::{End, Reply, Rider, Serve, World};

/// Returns the events of `world`'s rider, one JSON object each, in order.
pub(crate) fn run(world: &World) -> std::io::Result<Vec<Value>> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
    Ok(runtime.block_on(async {
        let stage =
            Rc::new(Stage { world: world.clone(), began: Instant::now(), log: Log::default() });
        match world.rider {
            Rider::Subscription => subscribe(&stage).await,
            Rider::Read => read(&stage).await,
        }
        stage.log.take()
    }))
}

type Log = RefCell<Vec<Value>>;

/// The world while it runs.
struct Stage {
    world: World,
    began: Instant,
    log: Log,
}

impl Stage {
    /// Writes down what happens now.
    fn happens(&self, event: &str, mut facts: Value) {
        let at = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        facts["at_ms"] = at.into();
        facts["event"] = event.into();
        self.log.borrow_mut().push(facts);
    }

    fn refused(&self, rejection: &Rejection) {
        let (speaker, activation) = match &rejection.speaker {
            Speaker::Owner(activation) => ("owner", tag(activation)),
            Speaker::Route => ("route", None),
        };
        self.happens("refused", json!({"speaker": speaker, "activation": activation}));
    }

    /// Waits until `at` after the beginning, and not a turn longer where that is over.
    async fn reach(&self, at: Duration) {
        // A moment that no clock reaches never comes.
        match self.began.checked_add(at) {
            None => std::future::pending().await,
            Some(at) if at > Instant::now() => sleep_until(at).await,
            Some(_) => {}
        }
    }

    /// Sends an ask and waits for what the address answers.
    async fn reply(&self) -> Reply {
        self.reach(self.began.elapsed().saturating_add(self.world.latency)).await;
        self.world.reply_at(self.began.elapsed()).clone()
    }

    fn news(self: &Rc<Self>) -> impl Stream<Item = News> + use<> {
        let stage = Rc::clone(self);
        stream::iter(self.world.news.clone()).then(move |heard| {
            let stage = Rc::clone(&stage);
            async move {
                stage.reach(heard.at).await;
                heard.news
            }
        })
    }

    /// The teardown of `activation`, where it can be observed.
    fn teardown(
        self: &Rc<Self>,
        activation: &Activation,
    ) -> Option<impl Future<Output = ()> + use<>> {
        let at = self.world.teardown_of(activation)?;
        let stage = Rc::clone(self);
        Some(async move { stage.reach(at).await })
    }

    /// A stream that opens now.
    fn serve(
        self: &Rc<Self>,
        serve: Serve,
    ) -> Answer<impl Stream<Item = Result<Value, Refusal>> + use<>> {
        let opened = self.began.elapsed();
        let (lives, end) = match serve.end {
            Some((lives, end)) => (lives, Some(end)),
            None => (Duration::MAX, None),
        };
        let items = serve.items.into_iter().map(|item| (item.after, Some(Ok(item.value))));
        let last = match end {
            Some(End::Refuse(refusal)) => Some(Err(refusal)),
            Some(End::Close) | None => None,
        };
        let parts = items.filter(move |(after, _)| *after <= lives).chain([(lives, last)]);
        let stage = Rc::clone(self);
        let items = stream::iter(parts.collect::<Vec<_>>())
            .then(move |(after, part)| {
                let stage = Rc::clone(&stage);
                async move {
                    stage.reach(opened.saturating_add(after)).await;
                    part
                }
            })
            .take_while(|part| std::future::ready(part.is_some()))
            .filter_map(std::future::ready);
        match serve.activation {
            Some(activation) => Answer::new(items).served_by(activation),
            None => Answer::new(items),
        }
    }
}

async fn subscribe(stage: &Rc<Stage>) {
    let (asked, joined) = (Rc::clone(stage), Rc::clone(stage));
    let rider = RideOut::builder(stage.world.owner.clone(), move |ask| {
        let stage = Rc::clone(&asked);
        stage.happens("ask", json!({"ask": ask.attempt}));
        async move {
            match stage.reply().await {
                Reply::Refuse(refusal) => Err(refusal),
                Reply::Silent => std::future::pending().await,
                Reply::Serve(serve) => Ok(stage.serve(serve)),
            }
        }
    })
    .budget(stage.world.budget)
    .join(move |activation| joined.teardown(&activation))
    .news(stage.news())
    .build();

    let mut phases = rider.phases();
    let mut live = false;
    loop {
        let phase = tokio::select! {
            biased;
            () = stage.reach(stage.world.until) => {
                return stage.happens(if live { "live" } else { "riding" }, json!({}));
            }
            phase = phases.next() => phase,
        };
        live = matches!(phase, Some(Ok(Phase::Answered(_) | Phase::Live(_))));
        match phase {
            Some(Ok(Phase::Live(value))) => stage.happens("item", json!({"value": value})),
            Some(Ok(Phase::Answered(activation))) => {
                stage.happens("answered", json!({"activation": tag(&activation)}));
            }
            Some(Ok(Phase::RidingOut(charge))) => {
                if let (Some(rejection), Some(axis), Some(key)) =
                    (charge.rejection(), charge.axis(), charge.key())
                {
                    stage.refused(rejection);
                    let counted = counted(axis, &key, charge.count(), charge.budget());
                    stage.happens("charged", counted);
                }
            }
            Some(Ok(_)) => {}
            Some(Err(error)) => return ended(stage, &error),
            None => return stage.happens("completed", json!({})),
        }
    }
}

fn ended(stage: &Stage, error: &RideError<Refusal>) {
    if let Some(report) = error.gave_up() {
        gave_up(stage, report);
    }
    if let Some(refusal) = error.verdict() {
        verdict(stage, refusal);
    }
}

async fn read(stage: &Rc<Stage>) {
    let asked = Rc::clone(stage);
    let value = PointRead::builder(stage.world.owner.clone(), move |ask| {
        let stage = Rc::clone(&asked);
        stage.happens("ask", json!({"ask": ask.attempt}));
        async move {
            match stage.reply().await {
                Reply::Silent => std::future::pending().await,
                Reply::Serve(serve) => Ok(serve),
                Reply::Refuse(refusal) => {
                    if let Ruling::Promise(rejection) = refusal.classify(&stage.world.owner) {
                        stage.refused(&rejection);
                    }
                    Err(refusal)
                }
            }
        }
    })
    .deadline(stage.world.deadline)
    .budget(stage.world.budget)
    .news(stage.news())
    .build();

    match value.await.map_err(PointReadError::into_end) {
        Ok(Serve { activation, items, .. }) => {
            stage.happens("answered", json!({"activation": tag(&activation)}));
            if let Some(item) = items.into_iter().next() {
                stage.happens("item", json!({"value": item.value}));
            }
        }
        Err(PointReadEnd::Absent(refusal) | PointReadEnd::Verdict(refusal)) => {
            verdict(stage, &refusal)
        }
        Err(PointReadEnd::Recycling(spent)) => stage.happens(
            "recycling",
            json!({"asks": spent.asks, "refusals": spent.refusals, "owners": spent.owners}),
        ),
        Err(PointReadEnd::TimedOut { asks, .. }) => {
            stage.happens("timed_out", json!({"asks": asks}))
        }
        Err(_) => unreachable!("a read ends in no other way"),
    }
}

/// The tag of an activation, null where none is named.
fn tag(activation: &Option<Activation>) -> Option<&str> {
    activation.as_ref().map(Activation::as_str)
}

fn counted(axis: Axis, key: &Key, count: u32, budget: u32) -> Value {
    let key = match key {
        Key::Untagged => None,
        key => Some(key.to_string()),
    };
    json!({"axis": axis.to_string(), "key": key, "count": count, "budget": budget})
}

fn gave_up(stage: &Stage, report: &GaveUp) {
    stage.refused(&report.rejection);
    let mut facts = counted(report.axis, &report.key, report.count, report.budget);
    facts["asks"] = report.asks.into();
    stage.happens("gave_up", facts);
}

fn verdict(stage: &Stage, refusal: &Refusal) {
    let asked: &Address = &stage.world.owner;
    if let Ruling::Verdict(kind) = refusal.classify(asked) {
        stage.happens("verdict", json!({"kind": kind.to_string()}));
    }
}
