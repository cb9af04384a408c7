//! A world as a script, and what the model says of it as the events of a world.

use std::{collections::BTreeMap, time::Duration};

use rideout::{Activation, ledger::Key, refusal::Speaker};
use serde_json::{Value, json};

use super::super::world::{self, Reply, Rider, World};
use super::{
    model::{self, End},
    read::{Happened, read},
    run::{Asked, Counted, Seen},
    script::{Answers, Limits, NEVER, Part, Says, Script},
};

/// What the model says of the world whose file is `text`.
pub(crate) fn events(text: &str) -> Vec<Value> {
    let world = &World::parse(text).expect("a world");
    let mut values = Vec::new();
    let script = script(world, limits(text), &mut values);
    match world.rider {
        Rider::Read => {
            let all = read(&script, millis(world.deadline));
            all.into_iter().map(|(at, what)| happened(at, what, &values)).collect()
        }
        Rider::Subscription => subscription(&script, &values),
    }
}

fn subscription(script: &Script, values: &[Value]) -> Vec<Value> {
    let (run, end) = model::run(script).expect("a world says what comes first");
    let asks = run.asks.into_iter().map(|(at, asked)| (at, Ok(asked)));
    let seen = run.seen.into_iter().map(|(at, seen)| (at, Err(seen)));
    let last = [End::Live, End::Riding].into_iter().find(|it| *it == end);
    let mut events = Vec::new();
    for (at, one) in in_turn(asks.collect(), seen.collect()) {
        match one {
            Ok(asked) => events.push(event(at, "ask", json!({"ask": asked.attempt}))),
            Err(seen) => events.extend(shown(at, seen, values)),
        }
    }
    events.extend(last.map(|end| {
        event(script.until, if end == End::Live { "live" } else { "riding" }, json!({}))
    }));
    events
}

type Either = (u64, Result<Asked, Seen>);

/// Both in one list: at one instant a charge is before its ask, and an ask before its answer.
fn in_turn(asks: Vec<Either>, mut seen: Vec<Either>) -> Vec<Either> {
    let mut all = Vec::new();
    for (at, ask) in asks {
        let charge = ask.as_ref().ok().and_then(|asked| asked.charge.clone());
        let charged = |it: &Either| match &it.1 {
            Err(Seen::Charged(counted)) => Some(counted) == charge.as_ref(),
            _ => false,
        };
        let before = seen.iter().take_while(|it| it.0 < at).count();
        let by_charge = seen.iter().position(charged).map_or(0, |index| index + 1);
        all.extend(seen.drain(..before.max(by_charge)));
        all.push((at, ask));
    }
    all.extend(seen);
    all
}

fn shown(at: u64, seen: Seen, values: &[Value]) -> Vec<Value> {
    match seen {
        Seen::Charged(counted) => {
            vec![refused(at, &counted.speaker), event(at, "charged", facts(&counted))]
        }
        Seen::GaveUp { counted, asks, .. } => {
            let mut gave_up = facts(&counted);
            gave_up["asks"] = asks.into();
            vec![refused(at, &counted.speaker), event(at, "gave_up", gave_up)]
        }
        Seen::Answered(by) => vec![happened(at, Happened::Answered(by), values)],
        Seen::Item(item) => vec![happened(at, Happened::Item(item), values)],
        Seen::Verdict(kind) => vec![happened(at, Happened::Verdict(kind), values)],
        Seen::Completed => vec![event(at, "completed", json!({}))],
    }
}

fn happened(at: u64, what: Happened, values: &[Value]) -> Value {
    match what {
        Happened::Ask(number) => event(at, "ask", json!({"ask": number})),
        Happened::Refused(speaker) => refused(at, &speaker),
        Happened::Answered(by) => event(at, "answered", json!({"activation": tag(by.as_ref())})),
        Happened::Item(item) => {
            let index = usize::try_from(item).expect("few items");
            event(at, "item", json!({"value": values[index]}))
        }
        Happened::Verdict(kind) => event(at, "verdict", json!({"kind": kind.to_string()})),
        Happened::Recycling { asks, refusals, owners } => {
            let facts = json!({"asks": asks, "refusals": refusals, "owners": owners});
            event(at, "recycling", facts)
        }
        Happened::TimedOut { asks } => event(at, "timed_out", json!({"asks": asks})),
    }
}

fn event(at: u64, name: &str, mut facts: Value) -> Value {
    facts["at_ms"] = at.into();
    facts["event"] = name.into();
    facts
}

fn refused(at: u64, speaker: &Speaker) -> Value {
    let who =
        json!({"speaker": speaker.party().to_string(), "activation": tag(speaker.activation())});
    event(at, "refused", who)
}

fn facts(counted: &Counted) -> Value {
    let Counted { axis, key, count, budget, .. } = counted;
    let key = Some(key).filter(|key| **key != Key::Untagged).map(ToString::to_string);
    json!({"axis": axis.to_string(), "key": key, "count": count, "budget": budget})
}

fn tag(activation: Option<&Activation>) -> Option<&str> {
    activation.map(Activation::as_str)
}

/// `world` as a script. Its items stand in `values`, and a script's are their places there.
fn script(world: &World, limits: Limits, values: &mut Vec<Value>) -> Script {
    let says = world.answers.iter().map(|it| (millis(it.from), says(&it.reply, values))).collect();
    let mut teardowns = BTreeMap::new();
    for it in &world.teardowns {
        let at = teardowns.entry(it.activation.to_string()).or_insert(NEVER);
        *at = millis(it.at).min(*at);
    }
    Script {
        address: world.owner.clone(),
        limits,
        re_ask: false,
        versioned: false,
        answers: Answers::ByTime { latency: millis(world.latency), says },
        teardowns,
        news: world.news.iter().map(|it| (millis(it.at), it.news.clone())).collect(),
        nudges: Vec::new(),
        until: millis(world.until),
    }
}

/// The budget, from the file: a `Budget` does not tell what it was made of.
fn limits(text: &str) -> Limits {
    let world: Value = serde_json::from_str(text).expect("a world");
    let set = |key: &str| world["budget"][key].as_u64();
    let count = |key: &str| set(key).map(|it| u32::try_from(it).expect("it was read before"));
    let default = Limits::default();
    Limits {
        activations: count("activations").unwrap_or(default.activations),
        re_asks: count("re_asks").unwrap_or(default.re_asks),
        pace: set("pace_ms").unwrap_or(default.pace),
        join_limit: set("join_limit_ms").unwrap_or(default.join_limit),
        ask_limit: set("ask_limit_ms").unwrap_or(default.ask_limit),
        ..default
    }
}

fn says(reply: &Reply, values: &mut Vec<Value>) -> Says {
    let serve = match reply {
        Reply::Silent => return Says::Silent,
        Reply::Refuse(refusal) => return Says::Refuses(refusal.clone()),
        Reply::Serve(serve) => serve,
    };
    let mut parts = Vec::new();
    for item in &serve.items {
        if serve.end.as_ref().is_none_or(|(lives, _)| item.after <= *lives) {
            let place = u64::try_from(values.len()).expect("few items");
            parts.push((millis(item.after), Part::Item(place)));
        }
        values.push(item.value.clone());
    }
    parts.extend(serve.end.as_ref().map(|(lives, end)| match end {
        world::End::Close => (millis(*lives), Part::Completes),
        world::End::Refuse(refusal) => (millis(*lives), Part::Fails(refusal.clone())),
    }));
    Says::Serves { by: serve.activation.clone(), parts }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(NEVER)
}
