//! What does a point read do, by the rules alone (`R28`, `R29`)? Without arrivals: no world has them.

use rideout::{Activation, Kind, refusal::Speaker};

use super::{
    script::{Part, Says, Script},
    speaker::ruling,
};

/// What happens to a read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Happened {
    Ask(u32),
    Refused(Speaker),
    Answered(Option<Activation>),
    Item(u64),
    Verdict(Kind),
    Recycling { asks: u32, refusals: u32, owners: usize },
    TimedOut { asks: u32 },
}

/// What the rules say of a read of `script` within `deadline`.
pub(crate) fn read(script: &Script, deadline: u64) -> Vec<(u64, Happened)> {
    let (mut now, mut asks, mut refusals) = (0, 0, 0);
    let (mut owners, mut all) = (Vec::new(), Vec::new());
    while now < deadline {
        asks += 1;
        all.push((now, Happened::Ask(asks)));
        let answer = script.answer(asks, now);
        now = now.saturating_add(answer.late);
        if now >= deadline {
            break;
        }
        let refusal = match answer.says {
            Says::Silent => break,
            Says::Serves { by, parts } => {
                all.push((now, Happened::Answered(by)));
                let first = parts.iter().find_map(|(_, part)| match part {
                    Part::Item(item) => Some(*item),
                    _ => None,
                });
                all.extend(first.map(|item| (now, Happened::Item(item))));
                return all;
            }
            Says::Refuses(refusal) => refusal,
        };
        match ruling(&refusal, script.address.path()) {
            Err(kind) => {
                all.push((now, Happened::Verdict(kind)));
                return all;
            }
            Ok(speaker) => {
                refusals += 1;
                all.push((now, Happened::Refused(speaker.clone())));
                owners.extend(speaker.activation().cloned());
                // The first promise of all, by the owner, is asked again at once.
                if refusals > 1 || speaker == Speaker::Route {
                    now = now.saturating_add(script.limits.rest(refusal.retry_after));
                }
            }
        }
    }
    owners.sort_by_key(ToString::to_string);
    owners.dedup();
    let owners = owners.len();
    all.push(match refusals {
        0 => (deadline, Happened::TimedOut { asks }),
        _ => (deadline, Happened::Recycling { asks, refusals, owners }),
    });
    all
}
