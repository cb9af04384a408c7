//! What every refusal by an owner must be, whoever gave it: recognised (R3, R4) by its fields and by its text.

use rideout::{
    Activation, Address, Kind, Refusal, Rejection,
    refusal::{Party, Seam, Speaker, answered_by},
};

/// What somebody was told: by which owner, and when that one had been asked.
pub(crate) struct Said {
    pub(crate) by: &'static str,
    pub(crate) refusal: Refusal,
    pub(crate) owner: Address,
    pub(crate) activation: Activation,
}

fn address(text: &str) -> Address {
    text.parse().unwrap()
}

/// The words that a seam is to have: those of its place, and its tail.
fn words(seam: Seam) -> (&'static str, &'static str) {
    let door = "; the address may reactivate (recycle / restart). Rejecting now.";
    let accepted =
        ". The address may reactivate (recycle / restart); retry to get the authoritative answer.";
    match seam {
        Seam::Door | Seam::Leaving => (" — cannot process ", door),
        Seam::Creation => (" — cannot create ", door),
        Seam::Mailbox | Seam::Gate | Seam::Handler | Seam::Reassert => {
            (" — cannot finish ", accepted)
        }
    }
}

/// A refusal whose sender knew less.
fn but(refusal: &Refusal, unknown: impl FnOnce(&mut Refusal)) -> Refusal {
    let mut refusal = refusal.clone();
    unknown(&mut refusal);
    refusal
}

/// Requires R4 and R3 to recognise what was said, by address and by path, from the fields and from the
/// text alone; and to find nobody else in it.
pub(crate) fn is_recognised(seam: Seam, Said { by, refusal, owner, activation }: &Said) {
    let case = format!("{seam:?} by {by}: {refusal:?}");
    let (place, tail) = words(seam);
    assert!(refusal.message.contains(place) && refusal.message.ends_with(tail), "{case}");
    assert_eq!(refusal.kind, Some(Kind::ShuttingDown), "{case}");
    assert_eq!(refusal.speaker, Some(Party::Owner), "{case}");
    assert_eq!(refusal.activation.as_ref(), Some(activation), "{case}");

    let in_fields = refusal.clone();
    let by_banner = but(refusal, |it| (it.speaker, it.activation) = (None, None));
    let text_alone = Refusal::from_text(&*refusal.message);
    let relayed = Refusal::from_text(format!("Delivery to 'y' failed: {}", refusal.message));
    let promise = Some(Rejection::by_owner(Some(activation.clone())));
    let path = owner.path();
    for asked in [path.to_owned(), format!("{path}~host-1"), format!("{path}~elsewhere")] {
        let asked = address(&asked);
        assert!(answered_by(&refusal.message, &asked), "{case}");
        for form in [&in_fields, &by_banner, &text_alone, &relayed] {
            assert_eq!(form.promise(&asked), promise, "{case} as {form:?}");
            assert_eq!(form.speaker(&asked), Speaker::Owner(Some(activation.clone())), "{case}");
            let is_never_applied = match seam {
                Seam::Handler if form.never_applied.is_some() => false,
                _ => seam != Seam::Handler || form.never_applied.is_none(),
            };
            assert_eq!(form.is_never_applied(&asked), is_never_applied, "{case} as {form:?}");
        }
    }

    let others = ["y", "host-1", "prices", &format!("{path}/child"), &path[..path.len() - 1]];
    for other in others.map(address) {
        assert!(!answered_by(&refusal.message, &other), "{case} to {other}");
        assert_eq!(text_alone.promise(&other), None, "{case} to {other}");
        let without = but(refusal, |it| it.speaker = None);
        for form in [&text_alone, &by_banner, &without] {
            assert_eq!(form.speaker(&other), Speaker::Route, "{case} to {other} as {form:?}");
        }
    }
}
