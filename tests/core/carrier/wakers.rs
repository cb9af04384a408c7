//! Wakers are foreign code: their clone, wake and drop may come back in, and find no lock held; one
//! that panics loses nobody.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    task::{Wake, Waker},
};

use crate::support::by_hand::{Task, kept, poll};
use cooked_waker::IntoWaker;
use rideout::{slot::Slot, teardown::Teardown};

struct Panics;

impl Wake for Panics {
    fn wake(self: Arc<Self>) {
        panic!("a waker that panics");
    }
}

mod teardown {
    use super::*;

    struct Comes {
        teardown: Teardown,
        completes: bool,
    }

    impl Comes {
        fn back(&self) {
            let _ = self.teardown.waiters();
            let _ = poll(&mut self.teardown.completed(), Waker::noop());
            if self.completes {
                self.teardown.complete();
            }
        }
    }

    impl Wake for Comes {
        fn wake(self: Arc<Self>) {
            self.back();
        }
    }

    impl Drop for Comes {
        fn drop(&mut self) {
            self.back();
        }
    }

    fn waker(teardown: &Teardown, completes: bool) -> Waker {
        Waker::from(Arc::new(Comes { teardown: teardown.clone(), completes }))
    }

    /// Completes the teardown when it is cloned, which is in mid-poll.
    struct Clones(Teardown);

    impl Clone for Clones {
        fn clone(&self) -> Self {
            self.0.complete();
            Clones(self.0.clone())
        }
    }

    impl cooked_waker::WakeRef for Clones {
        fn wake_by_ref(&self) {}
    }

    impl cooked_waker::Wake for Clones {}

    /// C11 at its narrowest: the completion comes between the look and the wait of one poll.
    #[test]
    fn in_its_clone() {
        let teardown = Teardown::new();
        let clones = Box::new(Clones(teardown.clone())).into_waker();
        assert!(poll(&mut teardown.completed(), &clones).is_ready());
        assert_eq!(teardown.waiters(), 0);
    }

    #[test]
    fn in_its_wake() {
        let teardown = Teardown::new();
        let mut join = teardown.completed();
        assert!(poll(&mut join, &waker(&teardown, true)).is_pending());
        assert!(teardown.complete());
        assert!(poll(&mut join, Waker::noop()).is_ready());
    }

    #[test]
    fn in_its_drop_when_another_takes_its_place() {
        let teardown = Teardown::new();
        let (mut join, (task, other)) = (teardown.completed(), Task::new());
        assert!(poll(&mut join, &waker(&teardown, true)).is_pending());
        let _ = poll(&mut join, &other); // the last holder of the first waker lets go of it
        assert!(teardown.is_complete());
        assert_eq!(task.wakes(), 1, "the completion came after the other was registered");
    }

    #[test]
    fn in_its_drop_when_the_waiter_leaves() {
        let teardown = Teardown::new();
        let mut join = teardown.completed();
        assert!(poll(&mut join, &waker(&teardown, true)).is_pending());
        drop(join);
        assert!(teardown.is_complete());
    }

    #[test]
    fn in_its_drop_after_its_wake() {
        let teardown = Teardown::new();
        let mut join = teardown.completed();
        assert!(poll(&mut join, &waker(&teardown, false)).is_pending());
        assert!(teardown.complete());
        assert_eq!(teardown.waiters(), 0);
    }

    /// A waker that panics loses nobody: the rest are woken, and the panic reaches who completes.
    #[test]
    fn a_waker_that_panics_loses_nobody() {
        let teardown = Teardown::new();
        let ((first, first_waker), (last, last_waker)) = (Task::new(), Task::new());
        let panics = Waker::from(Arc::new(Panics));
        let mut joins: Vec<_> = (0..4).map(|_| teardown.completed()).collect();
        for (join, waker) in joins.iter_mut().zip([&first_waker, &panics, &panics, &last_waker]) {
            assert!(poll(join, waker).is_pending());
        }

        let panicked = catch_unwind(AssertUnwindSafe(|| teardown.complete()));
        assert_eq!(*panicked.unwrap_err().downcast::<&str>().unwrap(), "a waker that panics");
        assert_eq!((first.wakes(), last.wakes()), (1, 1));
        assert_eq!((kept(&first), kept(&last)), (0, 0));
        assert!(teardown.is_complete() && !teardown.complete());
    }
}

mod slot {
    use super::*;

    struct Comes(Slot);

    impl Comes {
        fn back(&self) {
            self.0.owe();
            drop(self.0.try_claim());
            let _ = poll(&mut self.0.claim(), Waker::noop());
        }
    }

    impl Wake for Comes {
        fn wake(self: Arc<Self>) {
            self.back();
        }
    }

    impl Drop for Comes {
        fn drop(&mut self) {
            self.back();
        }
    }

    fn waker(slot: &Slot) -> Waker {
        Waker::from(Arc::new(Comes(slot.clone())))
    }

    /// Triggers when it is cloned, which is in mid-poll.
    struct Clones(Slot);

    impl Clone for Clones {
        fn clone(&self) -> Self {
            self.0.owe();
            Clones(self.0.clone())
        }
    }

    impl cooked_waker::WakeRef for Clones {
        fn wake_by_ref(&self) {}
    }

    impl cooked_waker::Wake for Clones {}

    /// The trigger comes between the look and the wait of one poll.
    #[test]
    fn in_its_clone() {
        let slot = Slot::new();
        let clones = Box::new(Clones(slot.clone())).into_waker();
        assert!(poll(&mut slot.claim(), &clones).is_ready());
    }

    #[test]
    fn in_its_wake_by_a_trigger() {
        let slot = Slot::new();
        let mut claim = slot.claim();
        assert!(poll(&mut claim, &waker(&slot)).is_pending());
        slot.owe();
        assert!(slot.try_claim().is_some());
    }

    #[test]
    fn in_its_wake_by_a_dropped_permit() {
        let slot = Slot::new();
        slot.owe();
        let permit = slot.try_claim();
        let mut claim = slot.claim();
        assert!(poll(&mut claim, &waker(&slot)).is_pending());
        drop(permit);
        assert!(slot.try_claim().is_some());
    }

    /// The trigger that a waker's drop fires comes after the waker that took its place was
    /// registered, so it wakes that one.
    #[test]
    fn in_its_drop_when_another_takes_its_place() {
        let slot = Slot::new();
        let (mut claim, (task, other)) = (slot.claim(), Task::new());
        assert!(poll(&mut claim, &waker(&slot)).is_pending());
        assert!(poll(&mut claim, &other).is_pending());
        assert_eq!(task.wakes(), 1);
        assert!(poll(&mut claim, &other).is_ready());
    }

    #[test]
    fn in_its_drop_when_the_claim_leaves() {
        let slot = Slot::new();
        let mut claim = slot.claim();
        assert!(poll(&mut claim, &waker(&slot)).is_pending());
        drop(claim);
        assert!(slot.try_claim().is_some());
    }

    /// A waker that panics loses neither the other claims nor what is owed.
    #[test]
    fn a_waker_that_panics_loses_nobody() {
        let (slot, (task, waker)) = (Slot::new(), Task::new());
        let (mut first, mut second) = (slot.claim(), slot.claim());
        assert!(poll(&mut first, &Waker::from(Arc::new(Panics))).is_pending());
        assert!(poll(&mut second, &waker).is_pending());
        catch_unwind(AssertUnwindSafe(|| slot.owe())).unwrap_err();
        assert_eq!(task.wakes(), 1);
        assert!(poll(&mut second, &waker).is_ready());
    }
}
