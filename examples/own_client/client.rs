//! What to take along: an error that takes part, an activation, a budget, and a reader that begins again.

use std::{
    error::Error,
    fmt,
    io::{self, ErrorKind},
    time::Duration,
};

use futures::{Stream, StreamExt, channel::mpsc};
use rideout::{
    Activation, Address, Budget, Classify, Kind, Rejection, RideOut, Ruling,
    rider::{Answer, Phase},
};

use super::cluster::Cluster;

/// A budget that fits the roll of a pod; the default one fits an actor that is back within seconds.
pub(crate) const BUDGET: Budget = Budget::new()
    // `terminationGracePeriodSeconds`: what is not gone by then is killed.
    .watchdog(Duration::from_secs(60))
    // The grace period, and 15 s for its end to be seen in the directory.
    .join_limit(Duration::from_secs(75))
    // 40 × 3 s: two minutes of refused connections, while a successor is scheduled and becomes ready.
    // An arrival ends a rest, so a long pace makes nobody late.
    .pace(Duration::from_secs(3))
    .re_asks(40)
    // Nothing that serves takes so long to open a subscription.
    .ask_limit(Duration::from_secs(10))
    // A drain, two minutes without a pod, and a margin: what takes longer is no roll any more.
    .longest(Duration::from_secs(300));

/// Ticks come every 5 s. Two that do not come are chance, three are a connection that is dead.
const SILENCE: Duration = Duration::from_secs(15);

/// How long the reader waits after a give-up before it begins again.
const AFTER_GIVE_UP: Duration = Duration::from_secs(60);

/// The errors of the client.
#[derive(Debug)]
pub(crate) enum ClientError {
    /// A pod is going away: at its door, or in the middle of a subscription.
    ShuttingDown { pod: String },
    /// There is no such thing.
    NotFound,
    /// The connection failed.
    Io(io::Error),
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClientError::ShuttingDown { pod } => write!(f, "pod {pod} is shutting down"),
            ClientError::NotFound => f.write_str("not found"),
            ClientError::Io(error) => write!(f, "connection failed: {error}"),
        }
    }
}

// What is displayed has the cause in it, so there is no source beside it.
impl Error for ClientError {}

impl Classify for ClientError {
    fn classify(&self, _asked: &Address) -> Ruling {
        match self {
            ClientError::ShuttingDown { pod } => {
                Ruling::Promise(Rejection::by_owner(activation(pod)))
            }
            ClientError::NotFound => Ruling::Verdict(Kind::NotFound),
            ClientError::Io(error) => match error.kind() {
                // No owner spoke, so the way to it is charged and no activation is.
                ErrorKind::ConnectionRefused
                | ErrorKind::ConnectionReset
                | ErrorKind::UnexpectedEof
                | ErrorKind::TimedOut => Ruling::Promise(Rejection::by_route()),
                _ => Ruling::Verdict(Kind::Failed),
            },
        }
    }
}

/// The activation of a pod: its UID, without the dashes. Its name is none: `prices-0` is called so again
/// after a roll, and a successor would be taken for the pod that refused.
pub(crate) fn activation(uid: &str) -> Option<Activation> {
    uid.replace('-', "").parse().ok()
}

/// Sends the ticks of `address` on, until a verdict says that there are none, or nobody takes them.
pub(crate) async fn follow(address: Address, cluster: Cluster, ticks: mpsc::UnboundedSender<u64>) {
    // The resume point outlives each rider. One that must outlive the process would be on disk.
    let mut last = None;
    let tell = |what: &dyn fmt::Display| cluster.tell(format!("        reader: {what}"));
    // A figure that cannot do its work is told, once. Those above can.
    BUDGET.concerns().iter().for_each(|concern| tell(concern));
    loop {
        let (client, directory) = (cluster.clone(), cluster.clone());
        let mut builder = RideOut::builder_resuming(
            address.clone(),
            |tick: &u64| *tick,
            move |ask| subscribe(client.clone(), ask.resume),
        )
        .join(move |activation| directory.teardown_of(&activation))
        .news(cluster.watch()) // before the first ask, so that nothing falls in between
        .budget(BUDGET)
        // A server that stops cleanly completes its streams: here that is no end.
        .re_ask_on_completion();
        if let Some(last) = last {
            tell(&format_args!("begins again behind tick {last}"));
            builder = builder.resume_from(last);
        }

        let mut phases = builder.build().phases();
        while let Some(phase) = phases.next().await {
            match phase {
                Ok(Phase::Live(tick)) => {
                    if ticks.unbounded_send(tick).is_err() {
                        return;
                    }
                    last = Some(tick);
                }
                Ok(Phase::Answered(Some(pod))) => tell(&format_args!("served by activation {pod}")),
                Ok(Phase::Answered(None)) => tell(&"served"),
                // Of forty refusals by the route the first is enough to read.
                Ok(Phase::RidingOut(charge)) if charge.count() > 1 => {}
                Ok(Phase::RidingOut(charge)) => tell(&charge),
                // The phases end with it, and the loop begins again.
                Err(error) if error.gave_up().is_some() => tell(&error),
                Err(error) => return tell(&error),
                Ok(_) => {}
            }
        }
        tokio::time::sleep(AFTER_GIVE_UP).await;
    }
}

/// Asks for the ticks behind `last`, and names the pod that serves them.
async fn subscribe(
    client: Cluster,
    last: Option<u64>,
) -> Result<Answer<impl Stream<Item = Result<u64, ClientError>>>, ClientError> {
    let (pod, ticks) = client.subscribe(last.map_or(1, |last| last + 1)).await?;
    // Around each inner stream and not around the rider, which is silent for a reason in a ride-out.
    let ticks = tokio_stream::StreamExt::timeout(ticks, SILENCE)
        .map(|tick| tick.unwrap_or_else(|silence| Err(ClientError::Io(silence.into()))));
    Ok(Answer::new(ticks).served_by(activation(&pod)))
}
