//! The reader that rides it out, with an event to wait for and news of the address.

use std::{cell::RefCell, rc::Rc};

use futures::StreamExt;
use rideout::{
    RideOut,
    ledger::{Axis, Charge, Wait},
    refusal::Speaker,
    rider::{Nudger, Phase},
};

use super::events::{Account, Stage};

/// Follows the address until the end, and prints what it meets.
pub(crate) fn follow(stage: &Rc<Stage>) -> (Nudger, impl Future<Output = Account> + use<>) {
    let account = Rc::new(RefCell::new(Account::default()));
    let (asking, asked) = (Rc::clone(stage), Rc::clone(&account));
    let mesh = stage.mesh.clone();
    let rider = RideOut::builder(stage.address.clone(), move |ask| {
        let (stage, mesh, address) =
            (Rc::clone(&asking), asking.mesh.clone(), asking.address.clone());
        asked.borrow_mut().ask(stage.now());
        stage.meet("rider", format_args!("ask {}", ask.attempt));
        async move { mesh.subscribe(&address, ask.stream).await }
    })
    .join(move |activation| mesh.teardown_of(&activation));
    let news = stage.mesh.news(&stage.address, rider.stream_id());
    let rider = rider.news(news).build();

    let nudger = rider.nudger();
    let stage = Rc::clone(stage);
    let following = async move {
        let mut phases = rider.phases();
        loop {
            let phase = tokio::select! {
                biased;
                () = stage.end() => break,
                phase = phases.next() => phase,
            };
            match phase {
                Some(Ok(Phase::Live(item))) => {
                    stage.meet("rider", format_args!("item {}", item.value));
                    let mut account = account.borrow_mut();
                    account.see(item.value);
                    account.end = format!("live, last value {}", item.value);
                }
                Some(Ok(Phase::Answered(activation))) => match activation {
                    Some(activation) => {
                        stage.meet(
                            "rider",
                            format_args!("answered by owner {}", stage.name(&activation)),
                        );
                    }
                    None => stage.meet("rider", "answered"),
                },
                Some(Ok(Phase::RidingOut(charge))) => stage.meet("rider", charged(&stage, &charge)),
                Some(Ok(_)) => {}
                Some(Err(error)) => {
                    stage.meet("rider", &error);
                    account.borrow_mut().end = error.to_string();
                    break;
                }
                None => {
                    account.borrow_mut().end = "completed".into();
                    break;
                }
            }
        }
        account.take()
    };
    (nudger, following)
}

/// Who refused, what that counts as, and what is waited for.
fn charged(stage: &Stage, charge: &Charge) -> String {
    let again = charge.axis() == Some(Axis::Time);
    let who = match charge.rejection().map(|rejection| &rejection.speaker) {
        Some(Speaker::Owner(Some(activation))) if again => {
            format!("owner {} once more (time axis", stage.name(activation))
        }
        Some(Speaker::Owner(Some(activation))) => {
            format!("owner {}, a new one (activation axis", stage.name(activation))
        }
        Some(Speaker::Owner(None)) => "the owner (activation axis".into(),
        Some(Speaker::Route) | None => "the route (time axis".into(),
    };
    let wait = match charge.wait() {
        Wait::Join { .. } => "waits for its teardown".into(),
        Wait::Nothing => "asks at once".into(),
        other => format!("rests {} ms", other.rest().as_millis()),
    };
    format!("refused by {who}, {} of {}): {wait}", charge.count(), charge.budget())
}
