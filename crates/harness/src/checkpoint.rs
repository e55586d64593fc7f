use mercer_learning::{Checkpoints, State};
use mercer_records::{CurvePoint, Key, Store};
use std::cell::RefCell;
use std::time::{Duration, Instant};

/// Keeps a long trial beside the records, so that it goes on after a kill. A trial with more of the same effort
/// (epochs, say) goes on from the shorter one.
///
/// It is named by the trial's key with all settings, but without the effort. It keeps the learner's state, the looks so
/// far, and the seconds spent.
pub(crate) struct TrialCheckpoints<'a> {
    store: &'a Store,
    key: Key,
    every: Duration,
    started: Instant,
    last: Instant,
    /// Seconds of earlier runs.
    before: f64,
    /// Steps between two looks, and the looks so far.
    looks: Option<(usize, &'a RefCell<Vec<CurvePoint>>)>,
}

impl<'a> TrialCheckpoints<'a> {
    /// Creates the checkpoints of a trial whose key names all settings but the effort.
    pub fn new(
        store: &'a Store,
        key: Key,
        every: Duration,
        looks: Option<(usize, &'a RefCell<Vec<CurvePoint>>)>,
    ) -> Self {
        let now = Instant::now();
        Self { store, key, every, started: now, last: now, before: 0.0, looks }
    }

    /// Returns the seconds of the fit in earlier runs.
    pub const fn seconds_before(&self) -> f64 {
        self.before
    }

    fn read(&mut self) -> Option<State> {
        let kept = State::unpack(&self.store.checkpoint(&self.key)?).ok()?;
        let points: Vec<CurvePoint> = kept.value("looks").ok()?;
        if let Some((every, looks)) = &self.looks {
            // A shorter trial looked at its end, too; this one would not have.
            let shared = points.into_iter().filter(|point| point.step % *every as u64 == 0);
            *looks.borrow_mut() = shared.collect();
        }
        self.before = kept.value("seconds").ok()?;
        kept.part("learner").ok().cloned()
    }
}

impl Checkpoints for TrialCheckpoints<'_> {
    fn last(&mut self) -> Option<State> {
        self.read()
    }

    fn due(&self, ended: bool) -> bool {
        let since = if ended { self.started } else { self.last };
        since.elapsed() >= self.every
    }

    fn keep(&mut self, state: State) {
        let looks = self.looks.as_ref().map(|(_, looks)| looks.borrow().clone());
        let seconds = self.before + self.started.elapsed().as_secs_f64();
        let whole = State::new()
            .with("seconds", seconds)
            .with("looks", looks.unwrap_or_default())
            .with_part("learner", state);
        // A trial that cannot be kept can still be ended.
        if let Err(error) = self.store.put_checkpoint(&self.key, &whole.pack()) {
            tracing::warn!("this trial cannot be kept for later: {error}");
        }
        self.last = Instant::now();
    }
}
