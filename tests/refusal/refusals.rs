//! Structured first, text as fallback (R1, R4, R5, R32).

use std::error::Error;

use rideout::{
    Activation, Address, Kind, Refusal, Rejection,
    refusal::{Closing, Party, Seam, Speaker, answered_by},
};

fn address(text: &str) -> Address {
    text.parse().unwrap()
}

fn activation(digits: &str) -> Activation {
    digits.parse().unwrap()
}

/// A refusal at x's door, by its activation AA, as text.
fn sentence() -> String {
    Closing::new(address("x")).activation(activation("AA")).refuse(Seam::Door, "what").message
}

// --- Kinds (R1) ---

#[test]
fn one_kind_alone_is_a_promise() {
    let names = "Unknown Exception NotFound Rejected Ignored Failed RoutingLoop Unauthorized \
                 Forbidden ShuttingDown";
    let kinds: Vec<_> =
        names.split(' ').map(|name| (name, name.parse::<Kind>().unwrap())).collect();

    assert!(kinds.iter().map(|(_, kind)| kind).eq(Kind::ALL));
    for (name, kind) in kinds {
        assert_eq!(kind.is_promise(), name == "ShuttingDown");
        assert_eq!(kind.to_string(), name);
    }
}

#[cfg(feature = "serde")]
#[test]
fn a_kind_is_its_name_in_json() {
    for &kind in Kind::ALL {
        let name = serde_json::json!(kind.to_string());
        assert_eq!(serde_json::to_value(kind).unwrap(), name);
        assert_eq!(serde_json::from_value::<Kind>(name).unwrap(), kind);
    }
}

// --- Who spoke, by the fields (R4, R5) ---

#[test]
fn fields_win_over_the_text_and_a_route_has_no_activation() {
    use Party::{Owner, Route};
    let (own, by) = (sentence(), |digits| Speaker::Owner(Some(activation(digits))));
    let child = own.replace("Hub x", "Hub x/child");
    let host = "Host is shutting down, cannot route to x (activation #AA)".to_owned();
    let tagged = "gone (activation #AA)".to_owned();
    let silent = String::new();

    for (message, speaker, named, spoke) in [
        (&own, None, Some("BB"), by("BB")),
        (&own, Some(Owner), None, by("AA")),
        (&own, Some(Owner), Some("BB"), by("BB")),
        (&own, Some(Route), None, Speaker::Route),
        (&own, Some(Route), Some("BB"), Speaker::Route),
        (&child, None, Some("BB"), Speaker::Route),
        (&child, Some(Owner), None, Speaker::Owner(None)),
        (&child, Some(Owner), Some("BB"), by("BB")),
        (&host, None, Some("BB"), Speaker::Route),
        (&host, Some(Owner), None, Speaker::Owner(None)),
        (&tagged, None, Some("BB"), by("BB")),
        (&tagged, Some(Owner), None, by("AA")),
        (&tagged, Some(Route), None, Speaker::Route),
        (&silent, None, None, Speaker::Route),
        (&silent, None, Some("BB"), by("BB")),
        (&silent, Some(Owner), None, Speaker::Owner(None)),
        (&silent, Some(Route), Some("BB"), Speaker::Route),
    ] {
        let mut refusal = Refusal::new(Kind::ShuttingDown, message);
        refusal.speaker = speaker;
        refusal.activation = named.map(activation);
        assert_eq!(refusal.speaker(&address("x")), spoke, "{refusal:?}");
        assert_eq!(refusal.promise(&address("x")).unwrap().speaker, spoke);
    }
}

// --- Text alone (R5) ---

#[test]
fn text_alone_promises_by_the_banner_with_the_promise_or_by_the_route() {
    let owner = Some(Rejection::by_owner(Some(activation("AA"))));
    let route = Some(Rejection::by_route());
    let promise = "The address may reactivate (recycle / restart)";

    for (message, made) in [
        (sentence(), owner.clone()),
        (format!("Delivery to 'x' failed: {}", sentence()), owner.clone()),
        (format!("Hub x is shutting down (activation #AA). {promise}"), owner.clone()),
        (format!("{promise}. Hub x is shutting down (activation #AA)"), owner.clone()),
        ("Host is shutting down, cannot route to x".into(), route.clone()),
        ("Mesh is shutting down, cannot route to x".into(), route.clone()),
        ("Mesh is shutting down, cannot route to x~h".into(), route.clone()),
        ("Host is shutting down, cannot route to x (activation #AA)".into(), route.clone()),
        ("'Host is shutting down, cannot route to x'. Sorry".into(), route.clone()),
        (
            "Host is shutting down, cannot route to y; Mesh is shutting down, cannot route to x"
                .into(),
            route.clone(),
        ),
        ("Host is shutting down, cannot route to x: Hub x is shutting down".into(), route.clone()),
        ("Host is shutting down, cannot route to x/child".into(), None),
        ("Host is shutting down, cannot route to xy".into(), None),
        ("Host is shutting down, cannot route to x.y".into(), None),
        ("Host is shutting down, cannot route to y".into(), None),
        ("Host is shutting down, cannot route to ".into(), None),
        ("Host is shutting down".into(), None),
        ("Node is shutting down, cannot route to x".into(), None),
        ("host is shutting down, cannot route to x".into(), None),
        ("Hub x is shutting down (activation #AA)".into(), None),
        (format!("Hub y is shutting down. {promise}"), None),
        (format!("gone (activation #AA). {promise}"), None),
        (promise.into(), None),
        ("Hub x is shutting down. The address may reactivate".into(), None),
        ("No route to 'x'".into(), None),
        ("No node found at 'x'".into(), None),
        (String::new(), None),
    ] {
        assert_eq!(Refusal::from_text(&*message).promise(&address("x")), made, "{message}");
    }
}

#[test]
fn a_field_says_who_made_the_promise_of_the_text() {
    let x = address("x");
    let by_route = Refusal::from_text(sentence()).with_speaker(Party::Route);
    assert_eq!(by_route.promise(&x), Some(Rejection::by_route()));

    let named = Refusal::from_text(sentence()).with_activation(activation("BB"));
    assert_eq!(named.promise(&x), Some(Rejection::by_owner(Some(activation("BB")))));

    let host =
        Refusal::from_text(Refusal::host_cannot_route(&x).message).with_speaker(Party::Owner);
    assert_eq!(host.promise(&x), Some(Rejection::by_owner(None)));
}

#[test]
fn every_constructor_is_recognised_and_no_other_address_answers() {
    let (x, y) = (address("x~h"), address("x/child"));
    let closing = Closing::new(x.clone()).activation(activation("AA"));
    let owner = Some(Rejection::by_owner(Some(activation("AA"))));
    let route = Some(Rejection::by_route());

    for (refusal, made) in [
        (closing.refuse(Seam::Door, "what"), owner.clone()),
        (closing.refuse(Seam::Mailbox, "what"), owner),
        (Refusal::host_cannot_route(&x), route.clone()),
        (Refusal::mesh_cannot_route(&x), route),
        (Refusal::no_route(&x), None),
        (Refusal::no_node(&x), None),
    ] {
        assert_eq!(refusal.promise(&x), made);
        assert_eq!(refusal.promise(&address("x")), made);
        assert_eq!(Refusal::from_text(&*refusal.message).promise(&x), made);
        assert_eq!(Refusal::from_text(&*refusal.message).promise(&y), None);
        assert_eq!(answered_by(&refusal.message, &x), refusal.speaker == Some(Party::Owner));
        assert!(!answered_by(&refusal.message, &y));
        assert_eq!(refusal.is_never_applied(&x), made.is_some());
    }
    assert_eq!(Refusal::no_node(&x).kind, Some(Kind::NotFound));
    assert_eq!(Refusal::no_route(&x).kind, Some(Kind::Failed));
}

// --- Never applied (R32) ---

#[test]
fn only_a_promise_was_never_applied_and_its_field_decides() {
    let x = address("x");
    let accepted = Closing::new(x.clone()).refuse(Seam::Mailbox, "what").message;
    let banner = "Hub x is shutting down (activation #AA)".to_owned();
    let tail = sentence().replace(&banner, "");

    for (message, by_text) in [
        (sentence(), true),
        (accepted, true),
        (format!("Delivery to 'x' failed: {}", sentence()), true),
        (Refusal::host_cannot_route(&x).message, true),
        (Refusal::mesh_cannot_route(&x).message, true),
        (Refusal::host_cannot_route(&address("y")).message, false),
        (Closing::new(address("x/child")).refuse(Seam::Door, "what").message, false),
        (banner.clone(), false),
        (tail.clone(), false),
        // The tail is a child's; this owner's sentence was cut short.
        (format!("Hub x/child is shutting down{tail} {banner}"), false),
        (format!("{banner}. The address may reactivate (recycle / restart)"), false),
        ("the connection was cut (activation #AA)".into(), false),
        (String::new(), false),
    ] {
        let refusal = Refusal::new(Kind::ShuttingDown, &*message);
        assert_eq!(refusal.is_never_applied(&x), by_text, "{message}");
        assert!(refusal.clone().with_never_applied(true).is_never_applied(&x));
        assert!(!refusal.with_never_applied(false).is_never_applied(&x));

        let verdict = Refusal::new(Kind::Failed, &*message).with_never_applied(true);
        assert!(!verdict.is_never_applied(&x));
    }
}

#[test]
fn a_refusal_is_an_error_that_says_its_message_or_its_kind() {
    let said = |refusal: Refusal| (Box::new(refusal) as Box<dyn Error + Send + Sync>).to_string();
    assert_eq!(said(Refusal::new(Kind::Failed, "no luck")), "no luck");
    assert_eq!(said(Refusal::new(Kind::Failed, "")), "Failed");
    assert_eq!(said(Refusal::default()), "Unknown");
}

#[test]
fn a_route_s_text_about_a_longer_name_is_not_about_this_one() {
    // R5, R6: an address may hold a space, and the text names the whole of it.
    let asked: Address = "prices".parse().unwrap();
    for (goes_on, ours) in [
        ("", true),
        (".", true),
        (". Retry later", true),
        ("~host-1", true),
        (" (activation #AA)", true),
        (" — stopping", true),
        (" eur", false),
        ("/eur", false),
        ("-eur", false),
    ] {
        let text = Refusal::host_cannot_route(&asked).message + goes_on;
        let promise = Refusal::from_text(text.clone()).promise(&asked);
        assert_eq!(promise.is_some(), ours, "{text}");
    }
}

#[test]
fn a_route_s_sentence_may_begin_where_a_path_ends() {
    let asked: Address = "prices/Host".parse().unwrap();
    let cut_off = " is shutting down, cannot route to prices/Host";
    let text = format!("Host{cut_off}{cut_off}");
    assert_eq!(Refusal::from_text(text).promise(&asked), Some(Rejection::by_route()));
}
