//! Every seam at which an owner refuses, called for real: recognised by address and by path, tagged, and
//! nobody else's (R2–R4, R32, R40).

use std::{
    fs,
    path::{Path, PathBuf},
};

use proptest::prelude::*;
use rideout::{
    Activation, Address, Kind, Refusal, Rejection,
    refusal::{Closing, Party, Seam, Speaker, Wording},
};

const TAG: &str = "017DA86C";

fn address(text: &str) -> Address {
    text.parse().unwrap()
}

fn tag() -> Activation {
    TAG.parse().unwrap()
}

fn closing() -> Closing {
    Closing::new(address("x~h")).activation(tag()).detail("RunLevel=Dead, recycle asked for by ops")
}

/// What a seam is to say of `request`: its words, its tail, and whether no handler ran.
///
/// A seam that is added is missed here by the compiler: give it its words, and its place in
/// `Seam::ALL`, which the circle below shows.
fn expected(seam: Seam) -> (&'static str, &'static str, bool) {
    let door = "; the address may reactivate (recycle / restart). Rejecting now.";
    let accepted =
        ". The address may reactivate (recycle / restart); retry to get the authoritative answer.";
    match seam {
        Seam::Door | Seam::Leaving => ("cannot process", door, true),
        Seam::Creation => ("cannot create", door, true),
        Seam::Mailbox | Seam::Gate | Seam::Reassert => ("cannot finish", accepted, true),
        Seam::Handler => ("cannot finish", accepted, false),
    }
}

/// The seam after this one, in a circle: so that one that is added has a place in it.
fn next(seam: Seam) -> Seam {
    match seam {
        Seam::Door => Seam::Creation,
        Seam::Creation => Seam::Leaving,
        Seam::Leaving => Seam::Mailbox,
        Seam::Mailbox => Seam::Gate,
        Seam::Gate => Seam::Handler,
        Seam::Handler => Seam::Reassert,
        Seam::Reassert => Seam::Door,
    }
}

#[test]
fn all_names_every_seam_once() {
    for (place, &seam) in Seam::ALL.iter().enumerate() {
        assert_eq!(seam as usize, place);
        assert_eq!(next(seam), Seam::ALL[(place + 1) % Seam::ALL.len()]);
    }
}

/// `refusal` is the promise of x, by its activation, to one who asked by address or by path, and to no
/// other.
fn is_recognised(refusal: &Refusal, seam: Seam) {
    let promise = Some(Rejection::by_owner(Some(tag())));
    let alone = Refusal::from_text(&*refusal.message);

    assert_eq!(refusal.kind, Some(Kind::ShuttingDown));
    assert_eq!(refusal.speaker, Some(Party::Owner));
    assert_eq!(refusal.activation, Some(tag()));
    for asked in ["x~h", "x", "x~elsewhere"].map(address) {
        for said in [refusal, &alone] {
            assert_eq!(said.promise(&asked), promise, "{seam:?}: {said:?}");
            assert_eq!(said.speaker(&asked), Speaker::Owner(Some(tag())), "{seam:?}");
        }
        assert_eq!(refusal.is_never_applied(&asked), expected(seam).2, "{seam:?}");
    }
    for other in ["x/child", "xy", "y", "h"].map(address) {
        assert_eq!(alone.promise(&other), None, "{seam:?}: {alone:?}");
        assert_eq!(alone.speaker(&other), Speaker::Route, "{seam:?}");
    }
}

#[test]
fn every_seam_refuses_in_its_words_and_is_recognised() {
    for &seam in Seam::ALL {
        let (words, tail, _) = expected(seam);
        let refusal = closing().refuse(seam, "SubscribeRequest");
        let leaving = if seam == Seam::Leaving { ", its host is stopping" } else { "" };
        assert_eq!(
            refusal.message,
            format!(
                "Hub x~h is shutting down (RunLevel=Dead, recycle asked for by ops, \
                 activation #{TAG}{leaving}) — {words} SubscribeRequest{tail}"
            ),
        );
        is_recognised(&refusal, seam);
    }
}

/// An owner that refuses at one seam refuses at the others in the same name (R3).
#[test]
fn every_seam_stamps_the_same_activation() {
    let said = closing();
    for &seam in Seam::ALL {
        assert_eq!(said.refuse(seam, "Get").activation, Some(tag()));
    }
}

#[test]
fn an_owner_that_leaves_with_its_host_says_so_at_every_seam_and_once() {
    let leaving = closing().host_stopping();
    for &seam in Seam::ALL {
        let refusal = leaving.refuse(seam, "Get");
        assert_eq!(refusal.message.matches("its host is stopping)").count(), 1, "{seam:?}");
        is_recognised(&refusal, seam);
    }
}

#[test]
fn without_an_activation_every_seam_is_the_owners_untagged() {
    let bare = Closing::new(address("x"));
    for &seam in Seam::ALL {
        let refusal = bare.refuse(seam, "Get");
        assert_eq!(refusal.promise(&address("x")), Some(Rejection::by_owner(None)));
    }
}

/// The words by which another owner, or another activation, would speak.
fn hostile() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("Hub ".to_owned()),
        Just(" is shutting down".to_owned()),
        Just("Hub y is shutting down (activation #BB)".to_owned()),
        Just("activation #BB".to_owned()),
        Just("Host is shutting down, cannot route to y".to_owned()),
        Just("; the address may reactivate (recycle / restart). Rejecting now.".to_owned()),
        Just("\n".to_owned()),
        Just("y".to_owned()),
        ".{0,6}",
    ];
    prop::collection::vec(part, 0..8).prop_map(|parts| parts.concat())
}

proptest! {
    /// R6: neither what was asked for nor the detail can speak for another.
    #[test]
    fn no_free_text_forges(request in hostile(), detail in hostile()) {
        for &seam in Seam::ALL {
            let said = Closing::new(address("x~h")).activation(tag()).detail(&*detail);
            let refusal = said.refuse(seam, &request);
            is_recognised(&refusal, seam);
            prop_assert_eq!(refusal.message.matches("Hub ").count(), 1);
            prop_assert_eq!(refusal.message.matches(" is shutting down").count(), 1);
            prop_assert_eq!(refusal.message.matches("activation #").count(), 1);
            prop_assert!(!refusal.message.contains(char::is_control));
        }
    }
}

/// Words of one's own are for places that the crate does not have: its own code refuses by name alone, so
/// that the list above is the list of all.
#[test]
fn the_crate_refuses_by_seam_alone() {
    fn sources(folder: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        entries.flat_map(|at| if at.is_dir() { sources(&at) } else { vec![at] }).collect()
    }
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut by_seam = 0;
    for path in sources(&src) {
        let text = fs::read_to_string(&path).unwrap();
        let code: String =
            text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        by_seam += code.matches("refuse(Seam::").count();
        // Where the words of the seams themselves are made.
        let makes_words = path.with_extension("").starts_with(src.join("refusal"));
        assert!(
            makes_words || !code.contains("Wording"),
            "{} refuses in its own words",
            path.display()
        );
    }
    assert!(by_seam > 0, "nothing was found that refuses by seam");
}

/// A place of one's own is recognised like those of the crate, and ends in one of the same two ways.
#[test]
fn words_of_one_s_own_are_recognised() {
    for (wording, seam) in [
        (Wording::turned_away("cannot lease"), Seam::Door),
        (Wording::accepted("cannot flush"), Seam::Mailbox),
    ] {
        let refusal = closing().refuse(wording, "WriteRequest");
        let (_, tail, _) = expected(seam);
        assert!(refusal.message.ends_with(&format!("WriteRequest{tail}")), "{refusal}");
        is_recognised(&refusal, seam);
    }
}
