//! Is a refusal a promise, and who gave it (`R1`, `R3`–`R5`)?

use rideout::{
    Activation, Kind, Refusal,
    refusal::{Party, Speaker},
};

const OVER: &str = " is shutting down";
const MARKER: &str = "activation #";
const PROMISE: &str = "he address may reactivate (recycle / restart)";

/// Who gave the promise, or the kind of the verdict.
pub(super) fn ruling(refusal: &Refusal, path: &str) -> Result<Speaker, Kind> {
    let text = refusal.message.as_str();
    match refusal.kind {
        Some(Kind::ShuttingDown) => Ok(speaker(refusal, path)),
        Some(kind) => Err(kind),
        None if text.contains(PROMISE) && after_own_banner(text, path).is_some() => {
            Ok(speaker(refusal, path))
        }
        None if cannot_route(text, path) => Ok(Speaker::Route),
        None => Err(Kind::Unknown),
    }
}

fn speaker(refusal: &Refusal, path: &str) -> Speaker {
    let text = refusal.message.as_str();
    let own = after_own_banner(text, path);
    let others = own.is_none() && has_banner(text);
    let named = || match own {
        Some(after) => tag(after),
        None if others => None,
        None => tag(text),
    };
    let activation = refusal.activation.clone().or_else(named);

    match refusal.speaker {
        Some(Party::Route) => Speaker::Route,
        Some(Party::Owner) => Speaker::Owner(activation),
        None if own.is_some() => Speaker::Owner(activation),
        None if !others && activation.is_some() => Speaker::Owner(activation),
        None => Speaker::Route,
    }
}

/// The subjects of all banners, each with what follows it.
fn banners(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.match_indices("Hub ").filter_map(|(at, hub)| text[at + hub.len()..].split_once(OVER))
}

fn after_own_banner<'t>(text: &'t str, path: &str) -> Option<&'t str> {
    let path_of = |subject: &str| subject.split('~').next() == Some(path);
    banners(text).find(|(subject, _)| path_of(subject)).map(|(_, after)| after)
}

fn has_banner(text: &str) -> bool {
    let routes = ["Host", "Mesh"].map(|who| format!("{who}{OVER}, cannot route to "));
    banners(text).next().is_some() || routes.iter().any(|route| text.contains(route.as_str()))
}

fn cannot_route(text: &str, path: &str) -> bool {
    let routes = ["Host", "Mesh"].map(|who| format!("{who}{OVER}, cannot route to {path}"));
    let ends_here = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '/');
    routes.iter().any(|route| text.split_once(route).is_some_and(|(_, rest)| ends_here(rest)))
}

/// The token after the first marker.
fn tag(text: &str) -> Option<Activation> {
    let (_, after) = text.split_once(MARKER)?;
    let end = after.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(after.len());
    after[..end].parse().ok()
}
