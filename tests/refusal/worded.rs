//! Who spoke, and whether it is a promise, as the rules are worded (R3–R5, R32): at any cost, and with
//! nothing of the parser that is compared against it.

use rideout::{
    Activation, Address, Kind, Refusal,
    refusal::{Party, Speaker},
};

/// Every banner: its subject, and what follows it.
pub(crate) fn banners(message: &str) -> Vec<(&str, &str)> {
    let starts = message.match_indices("Hub ").map(|(at, hub)| &message[at + hub.len()..]);
    starts.filter_map(|rest| rest.split_once(" is shutting down")).collect()
}

/// What follows the owner's first banner.
fn own<'a>(message: &'a str, owner: &Address) -> Option<&'a str> {
    let path = |subject: &'a str| subject.split('~').next();
    let mut own = banners(message).into_iter().filter(|(it, _)| path(it) == Some(owner.path()));
    own.next().map(|(_, rest)| rest)
}

pub(crate) fn answered_by(message: &str, owner: &Address) -> bool {
    own(message, owner).is_some()
}

/// What follows each sentence of a host or mesh.
fn unrouted(message: &str) -> impl Iterator<Item = &str> {
    ["Host", "Mesh"].into_iter().flat_map(move |side| {
        let sentence = format!("{side} is shutting down, cannot route to ");
        let rests = message.match_indices(&sentence).map(|(at, it)| &message[at + it.len()..]);
        rests.collect::<Vec<_>>()
    })
}

fn cannot_route_to(message: &str, asked: &Address) -> bool {
    unrouted(message).filter_map(|rest| rest.strip_prefix(asked.path())).any(|rest| {
        // A host, or the end of a phrase: its punctuation, then a space unless nothing follows. Without
        // punctuation no more than a remark may follow, in brackets or behind a dash.
        let mark = |it: char| ".,;:!?'\")]".contains(it);
        let marks = rest.chars().take_while(|it| mark(*it)).count();
        let (remark, spaced) =
            (rest[marks..].trim_start(), rest[marks..].starts_with(char::is_whitespace));
        rest.starts_with('~')
            || rest[marks..].is_empty()
            || spaced && (marks > 0 || remark.is_empty() || remark.starts_with(['(', '—']))
    })
}

/// The first marker's digits, where it has 1 to 64.
fn tag(text: &str) -> Option<Activation> {
    let (_, rest) = text.split_once("activation #")?;
    let digits: String = rest.chars().take_while(char::is_ascii_hexdigit).collect();
    (1..=64).contains(&digits.len()).then(|| digits.parse().expect("hex digits"))
}

pub(crate) fn speaker(refusal: &Refusal, asked: &Address) -> Speaker {
    let message = refusal.message.as_str();
    let own = own(message, asked);
    let another =
        own.is_none() && (!banners(message).is_empty() || unrouted(message).next().is_some());

    let said = own.or((!another).then_some(message)).and_then(tag);
    let activation = refusal.activation.clone().or(said);
    let by_owner = match refusal.speaker {
        Some(party) => party == Party::Owner,
        None => own.is_some() || activation.is_some() && !another,
    };
    if by_owner { Speaker::Owner(activation) } else { Speaker::Route }
}

/// Who makes the promise, where it is one.
pub(crate) fn promise(refusal: &Refusal, asked: &Address) -> Option<Speaker> {
    let message = refusal.message.as_str();
    let by_owner = answered_by(message, asked)
        && message.contains("he address may reactivate (recycle / restart)");

    match refusal.kind {
        Some(Kind::ShuttingDown) => Some(speaker(refusal, asked)),
        Some(_) => None,
        None if by_owner => Some(speaker(refusal, asked)),
        None if !cannot_route_to(message, asked) => None,
        // The route's, whoever's banner stands beside it, unless the owner's field says otherwise.
        None if refusal.speaker == Some(Party::Owner) => Some(speaker(refusal, asked)),
        None => Some(Speaker::Route),
    }
}

pub(crate) fn never_applied(refusal: &Refusal, asked: &Address) -> bool {
    let tails = [
        "; the address may reactivate (recycle / restart). Rejecting now.",
        ". The address may reactivate (recycle / restart); retry to get the authoritative answer.",
    ];
    let message = refusal.message.as_str();
    let said = own(message, asked).is_some_and(|rest| tails.iter().any(|it| rest.contains(it)));

    promise(refusal, asked).is_some()
        && refusal.never_applied.unwrap_or(said || cannot_route_to(message, asked))
}
