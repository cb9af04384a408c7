//! What does a rider do, by the rules alone? One happening after the other, each to its end.
//!
//! # What the rules leave open
//!
//! A script in which one of these matters is left out:
//!
//! - which is first at one instant: a nudge and anything else; the answer of a refresh and what the old
//!   one says; `ask_limit` and `longest`; a refresh that is owed when a subscription opens and what is
//!   to happen then;
//! - who has refused, and how many waits have been cut, between a life of one pace and the rejection
//!   that judges it (`R9`);
//! - a second goodbye of an old one whose end beside a refresh was not charged (`R22`, `R25`).
//!
//! And these are read so: a short life is held back from its end, whether that is charged or not
//! (`R11`); a charge is shown when its attempt begins (`R27`); a re-ask with nothing to wait for that is
//! held back uses up no arrival that came before (`R18b`); a refresh that was answered is no ride-out
//! (`R22`).

mod attempts;
mod life;
mod news;

use std::{collections::VecDeque, time::Duration};

use rideout::{Activation, News, Rejection, ledger::Cause};

use super::{
    accounts::{Accounts, Charge},
    run::{Counted, Run, Seen},
    script::{NEVER, Part, Says, Script},
};

/// In which order what happens at one instant is looked at (`R21`, and the worlds).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    World,
    Answer,
    Item,
    End,
    News,
    // News that is at hand has ended it (R21).
    Completion,
    Nudge,
    Timer,
}

#[derive(Clone, Debug)]
enum Happens {
    /// The ask that is out is answered.
    Answer(Says),
    /// It had its time.
    AskLimit,
    /// The subscription says something.
    Says(Part),
    News(News),
    Nudge,
    /// Wait and hold of the attempt are over.
    WaitIsOver,
    /// The ride-out had its time.
    Outlasted,
}

struct Due {
    at: u64,
    rank: Rank,
    happens: Happens,
}

/// A subscription, from its opening until it is known whether it answered its ask.
struct Life {
    by: Option<Activation>,
    opened: u64,
    /// When it ended; none while it lives.
    ended: Option<u64>,
    /// R9: it has answered its ask, and the ride-out that led to it is over.
    answered: bool,
    /// Its first item has passed (`R24`).
    spoke: bool,
    /// Who refused in the ride-out that led here (`R22`).
    led_here: Vec<Activation>,
}

/// What stands between a rejection, or a trigger, and its answer.
enum Attempt {
    /// Over at `over`, unless the hold lasts longer; by the teardown's event, or by a timer.
    Waiting {
        charge: Charge,
        over: u64,
        rank: Rank,
    },
    Asking,
}

/// What the rules say of `script`; none where they leave it open.
pub(crate) fn run(script: &Script) -> Option<(Run, End)> {
    let mut model = Model::new(script);
    model.ask(None);
    while model.end.is_none() {
        let Some(due) = model.next() else { break };
        model.now = due.at;
        model.happens(due.happens);
    }
    let end = match (model.end.take(), model.is_live() && model.attempt.is_none()) {
        (Some(end), _) => end,
        (None, true) => End::Live,
        (None, false) => End::Riding,
    };
    (!model.undecided).then_some((model.run, end))
}

/// How a run ends, or stands at its last instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Over,
    Live,
    Riding,
}

struct Model<'s> {
    script: &'s Script,
    now: u64,
    /// What will happen, if nothing comes between.
    future: Vec<Due>,
    accounts: Accounts,
    /// The subscription that lives, or the last one that did.
    life: Option<Life>,
    attempt: Option<Attempt>,
    /// R14: charges whose attempts have not begun.
    queue: VecDeque<Charge>,
    /// R16: a trigger that no ask has covered.
    owed: bool,
    /// R11: no ask before this.
    hold: u64,
    /// R18b: the newest unused arrival.
    arrival: Option<Activation>,
    asks: u32,
    last_item: Option<u64>,
    run: Run,
    end: Option<End>,
    /// The rules leave open what comes of it.
    undecided: bool,
}

impl<'s> Model<'s> {
    fn new(script: &'s Script) -> Self {
        let mut model = Model {
            script,
            now: 0,
            future: Vec::new(),
            accounts: Accounts::new(script.limits),
            life: None,
            attempt: None,
            queue: VecDeque::new(),
            owed: false,
            hold: 0,
            arrival: None,
            asks: 0,
            last_item: None,
            run: Run::default(),
            end: None,
            undecided: false,
        };
        for (at, news) in &script.news {
            model.later(*at, Rank::News, Happens::News(news.clone()));
        }
        for at in &script.nudges {
            model.later(*at, Rank::Nudge, Happens::Nudge);
        }
        model
    }

    // What happens, in order.

    fn later(&mut self, at: u64, rank: Rank, happens: Happens) {
        if at != NEVER {
            self.future.push(Due { at, rank, happens });
            // Stable: what is equal stays in order.
            self.future.sort_by_key(|due| (due.at, due.rank));
        }
    }

    fn no_longer(&mut self, what: impl Fn(&Happens) -> bool) {
        self.future.retain(|due| !what(&due.happens));
    }

    fn next(&mut self) -> Option<Due> {
        if self.future.is_empty() || self.future[0].at >= self.script.until {
            return None;
        }
        let due = self.future.remove(0);
        let mut beside = self.future.iter().take_while(|other| other.at == due.at);
        self.undecided |= beside.any(|other| is_left_open(&due, other));
        Some(due)
    }

    /// Whether something else is to happen at this instant.
    fn is_more_now(&self) -> bool {
        self.future.first().is_some_and(|due| due.at == self.now)
    }

    fn happens(&mut self, happens: Happens) {
        match happens {
            Happens::Answer(says) => self.answered(says),
            Happens::AskLimit => self.ask_limit(),
            Happens::Says(part) => self.says(part),
            Happens::News(News::Ended(tag)) => self.ended(tag),
            Happens::News(News::NotServing(tag)) => self.not_serving(tag),
            Happens::News(News::Arrived(tag)) => self.arrived(tag),
            Happens::News(_) => unreachable!("no other news"),
            Happens::Nudge => self.nudge(),
            Happens::WaitIsOver => self.wait_is_over(),
            Happens::Outlasted => self.outlasted(),
        }
    }

    fn see(&mut self, seen: Seen) {
        self.run.seen.push((self.now, seen));
    }

    // R7, R8, R12: a rejection.

    fn rejected(&mut self, rejection: Rejection) {
        self.charge(rejection);
        if self.end.is_none() {
            self.begin_the_next();
        }
    }

    fn charge(&mut self, rejection: Rejection) {
        self.judge();
        let began = self.accounts.began.is_some();
        match self.accounts.charge(&rejection, self.now) {
            Err((counted, cause)) => self.gives_up(counted, cause),
            Ok(charge) => {
                if !began && let Some(longest) = self.script.limits.longest {
                    let at = self.now.saturating_add(longest);
                    self.later(at, Rank::Timer, Happens::Outlasted);
                }
                self.queue.push_back(charge);
            }
        }
    }

    /// R9: the ride-out had its time, and no answer has ended it.
    fn has_outlasted(&mut self) -> bool {
        let Some(longest) = self.script.limits.longest else { return false };
        self.judge();
        self.accounts.began.is_some_and(|began| self.now >= began.saturating_add(longest))
    }

    fn outlasted(&mut self) {
        // While it is live alone, there is nothing to cut short.
        if self.attempt.is_some() && self.has_outlasted() {
            self.cut_short();
        }
    }

    /// R9: cuts short a running wait or ask.
    fn cut_short(&mut self) {
        let Some(longest) = self.script.limits.longest else { return };
        let longest = Duration::from_millis(longest);
        let last = self.accounts.last.clone().expect("it began with a charge");
        self.gives_up(last, Cause::Outlasted { longest });
    }

    fn gives_up(&mut self, counted: Counted, cause: Cause) {
        self.run.warnings += 1;
        self.ends(Seen::GaveUp { counted, cause, asks: self.asks });
    }

    fn ends(&mut self, seen: Seen) {
        self.see(seen);
        self.end = Some(End::Over);
    }
}

/// Whether the rules leave open which of two comes first at one instant.
fn is_left_open(one: &Due, other: &Due) -> bool {
    use Happens::{AskLimit, Outlasted};
    use Rank::{Answer, End, Item, Nudge};

    let ranks = [one.rank, other.rank];
    let nudged = one.rank != other.rank && ranks.contains(&Nudge);
    // The refresh is answered, and the old one speaks.
    let both = ranks.contains(&Answer) && (ranks.contains(&Item) || ranks.contains(&End));
    let limits =
        matches!((&one.happens, &other.happens), (AskLimit, Outlasted) | (Outlasted, AskLimit));
    nudged || both || limits
}
