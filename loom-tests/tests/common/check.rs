//! Runs a model, and says how much of it was explored.
//!
//! `LOOM_MAX_PREEMPTIONS=n` sets another bound for every model, `LOOM_UNBOUNDED=1` none at all.
//! With `--nocapture` each model reports its bound, its executions and its time.

use std::{
    cell::RefCell,
    env, fmt,
    panic::{set_hook, take_hook},
    sync::{
        Arc, Once,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Instant,
};

/// Explores `model` with at most `bound` preemptions; with `None` all of it.
///
/// A model that saw fewer than `floor` executions interleaves nothing and would pass whatever the
/// code does, so it fails. Floors are calibrated at a bound of 1, or the lowest bound trips them.
pub(crate) fn check(
    name: &'static str,
    bound: Option<usize>,
    floor: usize,
    model: impl Fn() + Send + Sync + 'static,
) {
    let mut builder = loom::model::Builder::new();
    // `Builder::new` has taken LOOM_MAX_PREEMPTIONS, and takes numbers only.
    builder.preemption_bound = match env::var_os("LOOM_UNBOUNDED") {
        Some(_) => None,
        None => builder.preemption_bound.or(bound),
    };
    // Either would end the search early and call it a pass.
    builder.max_duration = None;
    builder.max_permutations = None;

    let run = Arc::new(Run {
        name,
        bound: builder.preemption_bound,
        started: Instant::now(),
        executions: AtomicUsize::new(0),
    });
    report_panics();
    CURRENT.set(Some(Arc::clone(&run)));
    builder.check({
        let run = Arc::clone(&run);
        move || {
            run.executions.fetch_add(1, Relaxed);
            model();
        }
    });
    CURRENT.take();
    println!("{run}: ok");
    let executions = run.executions.load(Relaxed);
    assert!(executions >= floor, "{run}: fewer than {floor}, it interleaves nothing");
}

struct Run {
    name: &'static str,
    bound: Option<usize>,
    started: Instant,
    executions: AtomicUsize,
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, executions) = (self.name, self.executions.load(Relaxed));
        let ms = self.started.elapsed().as_millis();
        let bound = self.bound.map_or_else(|| "none".to_owned(), |bound| bound.to_string());
        write!(f, "model {name}, bound {bound}, {executions} executions, {ms} ms")
    }
}

thread_local! {
    // loom runs the threads of a model as coroutines of the test's own thread.
    static CURRENT: RefCell<Option<Arc<Run>>> = const { RefCell::new(None) };
}

/// Has a failing model say how far it came. It usually aborts, by a second panic while loom unwinds,
/// so nothing but a hook can.
fn report_panics() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let default = take_hook();
        set_hook(Box::new(move |info| {
            // loom ends its coroutines with a private panic that carries no text: not a finding.
            if let Some(what) = info.payload_as_str() {
                CURRENT.with_borrow(|run| {
                    if let Some(run) = run {
                        println!("{run}: {what}");
                    }
                });
                default(info);
            }
        }));
    });
}
