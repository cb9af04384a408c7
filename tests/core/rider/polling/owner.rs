//! An owner that is polled by hand.

use super::*;

/// An owner that counts when it was asked, in virtual time.
#[derive(Clone)]
pub(super) struct Owner {
    pub(super) clock: Clock,
    pub(super) asked: Rc<RefCell<Vec<Duration>>>,
    pub(super) live: Count,
}

impl Owner {
    pub(super) fn new() -> Self {
        Owner { clock: Clock::new(), asked: Rc::default(), live: Count::default() }
    }

    pub(super) fn asks(&self) -> usize {
        self.asked.borrow().len()
    }

    /// The most asks in one millisecond.
    pub(super) fn densest(&self) -> usize {
        let asked = self.asked.borrow();
        let until = |at: Duration| asked.partition_point(|it| *it < at + ms(1));
        asked.iter().enumerate().map(|(first, at)| until(*at) - first).max().unwrap_or(0)
    }

    pub(super) fn answers<F>(
        &self,
        mut reply: F,
    ) -> impl FnMut(Ask) -> LocalBoxFuture<'static, Result<Strict<u64>, Refusal>> + use<F>
    where
        F: FnMut(u32) -> Reply + 'static,
    {
        let owner = self.clone();
        move |ask| {
            owner.asked.borrow_mut().push(owner.clock.elapsed());
            match reply(ask.attempt) {
                Reply::Refuse(refusal) => ready(Err(refusal)).boxed_local(),
                Reply::Silent => pending().boxed_local(),
                Reply::Serve(parts) => {
                    ready(Ok(Strict::of(parts).counted(&owner.live))).boxed_local()
                }
                Reply::Open(item) => {
                    ready(Ok(Strict::open([item]).counted(&owner.live))).boxed_local()
                }
            }
        }
    }
}

pub(super) enum Reply {
    Refuse(Refusal),
    Silent,
    Serve(Vec<Result<u64, Refusal>>),
    Open(u64),
}

/// Polls `rider` through `steps` polls and skips of the clock; returns how many items it had, and
/// whether it went on to the last.
pub(super) fn step<S, T, E>(rider: &mut S, owner: &Owner, steps: u32) -> (usize, bool)
where
    S: Stream<Item = Result<T, E>> + Unpin,
{
    let (task, waker) = Task::new();
    let (mut items, mut at_once) = (0, 0);
    for _ in 0..steps {
        let wakes = task.wakes();
        match next_for(rider, &waker) {
            Poll::Ready(Some(Ok(_))) => items += 1,
            Poll::Ready(Some(Err(_))) => {}
            Poll::Ready(None) => return (items, false),
            Poll::Pending if task.wakes() > wakes => {
                at_once += 1;
                assert!(at_once < 16, "it spins at {:?}", owner.clock.elapsed());
            }
            // A sleep of `Duration::MAX` is never over.
            Poll::Pending => match owner.clock.skip() {
                None => return (items, true),
                Some(left) if left.is_zero() => {}
                Some(_) => at_once = 0,
            },
        }
    }
    (items, true)
}
