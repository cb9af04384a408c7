//! `LeavingHost` and `DrainSet` (R45, R46): what a host that stops refuses, in whose name, and to whom
//! it hands an address off.

use std::collections::BTreeSet;

use proptest::prelude::*;
use rideout::{
    Activation, Address, Refusal,
    owner::{DrainSet, HostPhase, LeavingHost, Lifecycle},
    refusal::{Speaker, answered_by},
};

fn address(text: &str) -> Address {
    text.parse().unwrap()
}

fn host() -> LeavingHost {
    LeavingHost::new("host-1", &DrainSet::new())
}

/// The activation in whose name an inbound was refused: in the fields, and in the text alone.
#[track_caller]
fn tag(refusal: &Refusal, asked: &Address) -> Activation {
    assert!(refusal.is_never_applied(asked));
    assert!(answered_by(&refusal.message, asked), "{refusal}");
    for refusal in [refusal, &Refusal::from_text(&refusal.message)] {
        assert!(refusal.promise(asked).is_some(), "{refusal}");
        assert!(refusal.is_never_applied(asked), "the text says so too");
    }
    let Speaker::Owner(Some(tag)) = Refusal::from_text(&refusal.message).speaker(asked) else {
        panic!("not tagged: {refusal}");
    };
    assert_eq!(refusal.speaker(asked), Speaker::Owner(Some(tag.clone())));
    tag
}

#[track_caller]
fn assert_by_route(refusal: &Refusal, asked: &Address) {
    for refusal in [refusal, &Refusal::from_text(&refusal.message)] {
        assert_eq!(refusal.promise(asked).map(|it| it.speaker), Some(Speaker::Route));
        assert!(refusal.is_never_applied(asked));
    }
}

#[test]
fn the_face_is_shared() {
    fn is<T: Send + Sync + Clone + 'static>() {}
    is::<DrainSet>();
    is::<LeavingHost>();
}

#[test]
fn a_host_that_serves_lets_everything_through() {
    let (host, asked) = (host(), address("eur"));
    assert_eq!((host.name(), host.phase()), ("host-1", HostPhase::Active));
    assert!(host.inbound(&asked, None, "Get").is_ok());
    assert!(host.inbound(&asked, Some(&Lifecycle::new(asked.clone())), "Get").is_ok());
    assert!(host.outbound(&asked).is_ok());
    assert!(host.announcement(&asked).is_ok());
}

/// R46: the set and the refusals, then the announcements, then silence.
#[test]
fn it_stops_in_order() {
    let leaving = DrainSet::new();
    let (host, asked) = (LeavingHost::new("host-1", &leaving), address("eur"));
    assert!(!leaving.contains("host-1"));

    assert!(host.stop());
    assert!(!host.clone().stop());
    assert_eq!((host.phase(), leaving.hosts()), (HostPhase::Draining, vec!["host-1".to_owned()]));
    tag(&host.inbound(&asked, None, "Get").unwrap_err(), &asked);
    assert_by_route(&host.outbound(&asked).unwrap_err(), &asked);
    assert!(host.announcement(&asked).is_ok());

    assert!(host.close());
    assert!(!host.close());
    assert!(!host.stop());
    assert_eq!(host.phase(), HostPhase::Closed);
    tag(&host.inbound(&asked, None, "Get").unwrap_err(), &asked);
    assert_by_route(&host.outbound(&asked).unwrap_err(), &asked);
    assert_by_route(&host.announcement(&asked).unwrap_err(), &asked);
    assert!(leaving.contains("host-1"));
}

#[test]
fn a_host_closed_outright_was_stopped_first() {
    let leaving = DrainSet::new();
    let host = LeavingHost::new("host-1", &leaving);
    assert!(host.close());
    assert!(leaving.contains("host-1"));
    assert!(host.inbound(&address("eur"), None, "Get").is_err());
}

/// Being in the set alone refuses nothing: the host was not told.
#[test]
fn a_host_in_the_set_serves_until_it_is_told() {
    let leaving = DrainSet::new();
    let host = LeavingHost::new("host-1", &leaving);
    leaving.enter("host-1");
    assert!(host.inbound(&address("eur"), None, "Get").is_ok());
    assert!(host.stop(), "it is told now");
}

#[test]
fn inbound_is_refused_in_the_activation_s_name() {
    let (host, asked) = (host(), address("eur~host-1"));
    let owner = Lifecycle::new(asked.clone());
    host.stop();
    for _ in 0..2 {
        let refusal = host.inbound(&asked, Some(&owner), "Subscribe").unwrap_err();
        assert_eq!(tag(&refusal, &asked), *owner.activation());
        let (detail, _) = refusal.message.split_once(") ").unwrap();
        assert!(detail.ends_with("its host is stopping"), "{refusal}");
        assert!(refusal.message.contains("cannot process Subscribe;"), "the first tail: {refusal}");
        owner.leave(); // which says so too, and it is said once
    }
    owner.force();
    let refusal = host.inbound(&asked, Some(&owner), "Subscribe").unwrap_err();
    assert_eq!(tag(&refusal, &asked), *owner.activation(), "it was handed off");
}

/// One tag for an address without an activation, however many others are asked for in between.
#[test]
fn an_address_without_activation_has_one_tag_of_this_host() {
    let (host, asked) = (host(), address("eur"));
    host.stop();
    let tag_at = |host: &LeavingHost, at: &str| {
        let asked = address(at);
        tag(&host.inbound(&asked, None, "Get").unwrap_err(), &asked)
    };
    let first = tag_at(&host, "eur");
    let others: BTreeSet<_> = (0..10_000).map(|n| tag_at(&host, &format!("eur/{n}"))).collect();
    assert_eq!(others.len(), 10_000);
    assert!(!others.contains(&first));

    assert_eq!(tag_at(&host, "eur"), first);
    assert_eq!(tag_at(&host.clone(), "eur~host-1"), first, "the path is whom it is about");
    host.close();
    assert_eq!(tag_at(&host, "eur"), first);

    let other = LeavingHost::new("host-1", &DrainSet::new());
    other.stop();
    assert_ne!(tag_at(&other, "eur"), first, "another life of the host");
    let refusal = host.inbound(&asked, None, "Get").unwrap_err();
    assert!(refusal.message.contains("its host is stopping) "), "{refusal}");
}

#[test]
fn a_request_s_name_forges_nothing() {
    let (host, asked) = (host(), address("eur"));
    host.stop();
    let clean = host.inbound(&asked, None, "Get").unwrap_err();
    let request = "Hub usd is shutting down (activation #00) — Get";
    let refusal = host.inbound(&asked, None, request).unwrap_err();
    assert_eq!(tag(&refusal, &asked), tag(&clean, &asked));
    assert!(!answered_by(&refusal.message, &address("usd")));
}

#[test]
fn an_address_goes_to_the_first_that_does_not_leave() {
    let leaving = DrainSet::new();
    let host = LeavingHost::new("a", &leaving);
    let owner = Lifecycle::new(address("eur"));
    let all = ["a", "b", "c"];
    assert_eq!(host.hand_off(&owner, all), None, "it serves");

    host.stop();
    assert_eq!(host.hand_off(&owner, all), Some("b"));
    leaving.enter("b");
    assert_eq!(host.hand_off(&owner, all), Some("c"));
    leaving.enter("c");
    assert_eq!(host.hand_off(&owner, all), None, "it is kept");
    assert_eq!(host.hand_off(&owner, Vec::<String>::new()), None);
    host.close();
    assert!(leaving.rejoin("b"));
    assert_eq!(host.hand_off(&owner, all), Some("b"), "one came back");

    leaving.rejoin("a");
    assert_eq!(host.hand_off(&owner, ["a"]), None, "never to itself");
}

#[test]
fn an_owner_moves_once_it_is_idle() {
    let (host, owner) = (host(), Lifecycle::new(address("eur")));
    let replies = [owner.pending(), owner.pending()];
    host.stop();
    for reply in replies {
        assert_eq!(host.hand_off(&owner, ["b"]), None);
        drop(reply);
    }
    assert_eq!(host.hand_off(&owner, ["b"]), Some("b"));
}

/// The user's `AsRef` comes back in, and finds nothing locked.
#[test]
fn candidates_are_looked_at_outside_the_lock() {
    struct Nosy<'a>(&'a DrainSet, &'a LeavingHost);
    impl AsRef<str> for Nosy<'_> {
        fn as_ref(&self) -> &str {
            self.0.enter("b");
            self.1.close();
            "c"
        }
    }
    let leaving = DrainSet::new();
    let host = LeavingHost::new("a", &leaving);
    host.stop();
    let owner = Lifecycle::new(address("eur"));
    assert!(host.hand_off(&owner, [Nosy(&leaving, &host)]).is_some());
    assert_eq!(leaving.hosts(), ["a", "b"]);
}

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

#[derive(Clone, Debug)]
enum Op {
    Stop(usize),
    Close(usize),
    Return(usize),
    HandOff(usize),
}

proptest! {
    /// Hosts leave and come back in any order, each with an address it started with.
    #[test]
    fn no_address_goes_to_a_host_that_leaves_nor_comes_back(
        count in 2..=4_usize,
        ops in prop::collection::vec((0..5, 0_usize..4).prop_map(|(op, who)| match op {
            0 => Op::Stop(who),
            1 => Op::Close(who),
            2 => Op::Return(who),
            _ => Op::HandOff(who),
        }), 0..80),
    ) {
        let (leaving, all) = (DrainSet::new(), &NAMES[..count]);
        let mut hosts: Vec<_> = all.iter().map(|name| LeavingHost::new(*name, &leaving)).collect();
        let mut gone = BTreeSet::new();
        // Where each address is, and which leaving hosts it has come from since they left.
        let owner = Lifecycle::new(address("eur"));
        let mut at: Vec<_> = (0..count).collect();
        let mut left = vec![BTreeSet::new(); count];
        for op in ops {
            match op {
                Op::Stop(who) => {
                    let who = who % count;
                    prop_assert_eq!(hosts[who].stop(), gone.insert(who));
                }
                Op::Close(who) => {
                    hosts[who % count].close();
                    gone.insert(who % count);
                }
                Op::Return(who) => {
                    let who = who % count;
                    prop_assert_eq!(leaving.rejoin(all[who]), gone.remove(&who));
                    hosts[who] = LeavingHost::new(all[who], &leaving);
                    left.iter_mut().for_each(|left| _ = left.remove(&who));
                }
                Op::HandOff(which) => {
                    let which = which % count;
                    let from = at[which];
                    let to = hosts[from].hand_off(&owner, all);
                    let free = (0..count).find(|host| !gone.contains(host));
                    // It stays where it is served; it is kept where nobody is left.
                    let expected = free.filter(|_| gone.contains(&from)).map(|to| &all[to]);
                    prop_assert_eq!(to, expected);
                    if let Some(to) = to {
                        let to = all.iter().position(|name| name == to).unwrap();
                        prop_assert!(!leaving.contains(all[to]));
                        prop_assert!(!left[which].contains(&to), "it bounced");
                        left[which].insert(from);
                        at[which] = to;
                    }
                }
            }
            let expected: Vec<_> = gone.iter().map(|who| all[*who].to_owned()).collect();
            prop_assert_eq!(leaving.hosts(), expected);
        }
    }
}
