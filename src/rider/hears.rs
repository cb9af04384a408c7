//! What news does to a subscription: one pure function from its situation and the news to the effect.
//!
//! | the rider is | news | effect |
//! |---|---|---|
//! | live on X | the end of X, or of nobody in particular, or X is unknown | the subscription is over |
//! | live on X | the end of another; or X is unknown, and the other refused before it opened | none: late |
//! | live on X | an answer to a beat, by Y | the subscription is over, and Y arrives if it is not X |
//! | asking | the end of one that has not refused in this ride-out | it stands for the answer that will not come |
//! | asking, or waiting | any other end, any answer to a beat | none: an attempt is coming, or running, anyway |
//! | any | an arrival | it may end a wait, see [`ride_out`](super::ride_out) |

use crate::{
    activation::Activation,
    refusal::{News, Rejection},
};

/// What a rider does when it hears news.
#[derive(Clone, Copy, Debug)]
pub(super) struct Situation<'a> {
    /// Whom it is live on.
    pub(super) live: Option<LiveOn<'a>>,
    /// What its attempt does: beside a live subscription, that of a refresh.
    pub(super) attempt: Attempting,
    /// Whose subscription has ended, uncharged, while its refresh was under way (`R25`).
    pub(super) ended_during_refresh: Option<&'a Activation>,
}

/// A live subscription, as news sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct LiveOn<'a> {
    pub(super) by: Option<&'a Activation>,
    /// Who refused in the ride-out that led to it.
    pub(super) refused_before: &'a [Activation],
    /// Whether it counts as an answer.
    pub(super) proven: bool,
}

/// What a rider's attempt does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attempting {
    /// There is none.
    Nothing,
    /// It waits, or is about to.
    Waiting,
    /// Its ask is out.
    Asking,
}

/// What news comes to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Effect {
    Nothing,
    /// The live subscription is over, by this rejection.
    Lost(Rejection),
    /// The live subscription, whose refresh is under way, is over; nothing is charged (`R25`).
    LostDuringRefresh(Rejection),
    /// As [`Lost`](Effect::Lost), by an answer to a beat of another activation, which arrives thereafter.
    Superseded(Rejection, Activation),
    /// The ask that is out will not be answered.
    AskLost(Rejection),
    /// An activation arrives.
    Arrived(Activation),
}

impl Effect {
    /// Whether the live subscription is over by it.
    pub(super) fn ends_the_live(&self) -> bool {
        match self {
            Effect::Lost(_) | Effect::LostDuringRefresh(_) | Effect::Superseded(..) => true,
            Effect::Nothing | Effect::AskLost(_) | Effect::Arrived(_) => false,
        }
    }
}

/// Returns what `news` does to a rider in this situation. `has_refused` says who has, in this ride-out.
pub(super) fn hears(
    situation: Situation<'_>,
    news: News,
    has_refused: impl Fn(&Activation) -> bool,
) -> Effect {
    let Situation { live, attempt, ended_during_refresh } = situation;
    match (news, live) {
        (News::Arrived(tag), live) => {
            let is_here = live.is_some_and(|live| live.by == Some(&tag));
            if is_here || has_refused(&tag) { Effect::Nothing } else { Effect::Arrived(tag) }
        }
        (News::Ended(tag), Some(live)) => match live.end(tag, has_refused) {
            None => Effect::Nothing,
            Some(rejection) if attempt == Attempting::Nothing => Effect::Lost(rejection),
            Some(rejection) => Effect::LostDuringRefresh(rejection),
        },
        (News::NotServing(tag), Some(live)) => {
            let rejection = Rejection::by_owner(live.by.cloned());
            match tag.filter(|tag| Some(tag) != live.by) {
                Some(tag) => Effect::Superseded(rejection, tag),
                None => Effect::Lost(rejection),
            }
        }
        (News::Ended(Some(tag)), None)
            if attempt == Attempting::Asking
                && !has_refused(&tag)
                && ended_during_refresh != Some(&tag) =>
        {
            Effect::AskLost(Rejection::by_owner(Some(tag)))
        }
        (News::Ended(_) | News::NotServing(_), None) => Effect::Nothing,
    }
}

impl LiveOn<'_> {
    /// Whether an end that is announced with `tag` is that of this subscription, and who is charged.
    fn end(
        self,
        tag: Option<Activation>,
        has_refused: impl Fn(&Activation) -> bool,
    ) -> Option<Rejection> {
        // Of the ride-out that led here. One that its refresh is ridden out by is another, unless this
        // one has not been an answer yet.
        let refused = |tag: &Activation| {
            self.refused_before.contains(tag) || (!self.proven && has_refused(tag))
        };
        match (self.by, tag) {
            (Some(by), Some(tag)) if *by != tag => None,
            (None, Some(tag)) if refused(&tag) => None,
            (by, tag) => Some(Rejection::by_owner(by.cloned().or(tag))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        Attempting::{Asking, Nothing, Waiting},
        *,
    };

    fn tag(digits: &str) -> Activation {
        digits.parse().expect("hex digits")
    }

    fn by(digits: Option<&str>) -> Rejection {
        Rejection::by_owner(digits.map(tag))
    }

    fn ended(digits: Option<&str>) -> News {
        News::Ended(digits.map(tag))
    }

    fn not_serving(digits: Option<&str>) -> News {
        News::NotServing(digits.map(tag))
    }

    const NEVER: fn(&Activation) -> bool = |_| false;

    /// What `news` does to a rider that is live on `by`, beside `attempt`.
    fn live(digits: Option<&str>, attempt: Attempting, news: News) -> Effect {
        let by = digits.map(tag);
        let live = LiveOn { by: by.as_ref(), refused_before: &[], proven: true };
        hears(Situation { live: Some(live), attempt, ended_during_refresh: None }, news, NEVER)
    }

    fn riding(attempt: Attempting, news: News) -> Effect {
        hears(Situation { live: None, attempt, ended_during_refresh: None }, news, NEVER)
    }

    #[test]
    fn the_end_of_the_live_one_is_charged_to_it() {
        let a = || Some("A");
        assert_eq!(live(a(), Nothing, ended(a())), Effect::Lost(by(a())));
        assert_eq!(live(a(), Nothing, ended(None)), Effect::Lost(by(a())));
        assert_eq!(live(None, Nothing, ended(a())), Effect::Lost(by(a())));
        assert_eq!(live(None, Nothing, ended(None)), Effect::Lost(by(None)));
    }

    #[test]
    fn the_end_of_another_is_late() {
        for attempt in [Nothing, Waiting, Asking] {
            assert_eq!(live(Some("A"), attempt, ended(Some("B"))), Effect::Nothing);
        }
    }

    #[test]
    fn beside_a_refresh_the_old_one_ends_uncharged() {
        for attempt in [Waiting, Asking] {
            let effect = live(Some("A"), attempt, ended(Some("A")));
            assert_eq!(effect, Effect::LostDuringRefresh(by(Some("A"))));
        }
    }

    #[test]
    fn where_nobody_is_named_who_refused_before_is_late() {
        let a = tag("A");
        let goodbye = |refused_before: &[Activation], proven, refuses: bool| {
            let live = LiveOn { by: None, refused_before, proven };
            let situation =
                Situation { live: Some(live), attempt: Nothing, ended_during_refresh: None };
            hears(situation, ended(Some("A")), |_| refuses)
        };
        assert_eq!(goodbye(std::slice::from_ref(&a), true, false), Effect::Nothing);
        assert_eq!(goodbye(&[], false, true), Effect::Nothing);
        // Of the ride-out of its own refresh: another one.
        assert_eq!(goodbye(&[], true, true), Effect::Lost(by(Some("A"))));
    }

    #[test]
    fn an_answer_to_a_beat_is_never_late() {
        for attempt in [Nothing, Waiting, Asking] {
            assert_eq!(
                live(Some("A"), attempt, not_serving(Some("A"))),
                Effect::Lost(by(Some("A")))
            );
            assert_eq!(live(Some("A"), attempt, not_serving(None)), Effect::Lost(by(Some("A"))));
            let superseded = Effect::Superseded(by(Some("A")), tag("B"));
            assert_eq!(live(Some("A"), attempt, not_serving(Some("B"))), superseded);
            let superseded = Effect::Superseded(by(None), tag("B"));
            assert_eq!(live(None, attempt, not_serving(Some("B"))), superseded);
        }
    }

    #[test]
    fn an_end_while_asking_stands_for_the_answer() {
        assert_eq!(riding(Asking, ended(Some("A"))), Effect::AskLost(by(Some("A"))));
        assert_eq!(riding(Asking, ended(None)), Effect::Nothing);
        let gone = tag("A");
        let situation =
            Situation { live: None, attempt: Asking, ended_during_refresh: Some(&gone) };
        assert_eq!(hears(situation, ended(Some("A")), NEVER), Effect::Nothing);
        let situation = Situation { ended_during_refresh: None, ..situation };
        assert_eq!(hears(situation, ended(Some("A")), |_| true), Effect::Nothing);
    }

    #[test]
    fn while_it_waits_no_end_is_news() {
        for attempt in [Nothing, Waiting] {
            assert_eq!(riding(attempt, ended(Some("A"))), Effect::Nothing);
        }
        for attempt in [Nothing, Waiting, Asking] {
            assert_eq!(riding(attempt, not_serving(Some("A"))), Effect::Nothing);
        }
    }

    #[test]
    fn an_arrival_counts_unless_it_is_here_or_has_refused() {
        let arrives = || News::Arrived(tag("A"));
        for attempt in [Nothing, Waiting, Asking] {
            assert_eq!(riding(attempt, arrives()), Effect::Arrived(tag("A")));
            assert_eq!(live(Some("B"), attempt, arrives()), Effect::Arrived(tag("A")));
            assert_eq!(live(None, attempt, arrives()), Effect::Arrived(tag("A")));
            assert_eq!(live(Some("A"), attempt, arrives()), Effect::Nothing);
            let situation = Situation { live: None, attempt, ended_during_refresh: None };
            assert_eq!(hears(situation, arrives(), |_| true), Effect::Nothing);
        }
    }
}
