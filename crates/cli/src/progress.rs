//! A bar on standard error, where that is a terminal; else a line now and then.

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use mercer_harness::{HarnessError, Progress, Trial};
use mercer_records::{Record, Status};
use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long nothing is said at most where there is no bar.
const QUIET: Duration = Duration::from_mins(2);

/// The bar counts predicted cost, so that the time left is right when trials differ in size.
pub(crate) struct Bar {
    shown: ProgressBar,
    warned: Mutex<BTreeSet<String>>,
    log: Mutex<Log>,
}

/// What a line of the log says of the way.
struct Log {
    began: Instant,
    said: Instant,
    trials: usize,
    ended: usize,
    /// Predicted seconds of all that was to run, and of what has ended.
    weight: f64,
    gone: f64,
}

impl Log {
    fn new() -> Self {
        let now = Instant::now();
        Self { began: now, said: now, trials: 0, ended: 0, weight: 0.0, gone: 0.0 }
    }

    /// One more trial has ended; where nothing was said for long, what is to be said.
    fn ended(&mut self, weight: f64, now: Instant) -> Option<String> {
        self.ended += 1;
        self.gone += weight;
        if now.duration_since(self.said) < QUIET || self.ended == self.trials {
            return None;
        }
        self.said = now;
        let gone = now.duration_since(self.began);
        let left = gone.mul_f64((self.weight - self.gone).max(0.0) / self.gone.max(1e-9));
        Some(format!(
            "{} of {} trials, {} gone, about {} left",
            self.ended,
            self.trials,
            HumanDuration(gone),
            HumanDuration(left)
        ))
    }
}

impl Bar {
    pub(crate) fn new(quiet: bool) -> Self {
        let shown = !quiet && std::io::stderr().is_terminal();
        let target =
            if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        Self { shown: bar, warned: Mutex::default(), log: Mutex::new(Log::new()) }
    }

    /// One more trial is gone.
    fn ended(&self, trial: &Trial) {
        self.shown.inc(units(trial.weight));
        if self.shown.is_hidden()
            && let Some(line) = held(&self.log).ended(trial.weight, Instant::now())
        {
            tracing::info!("{line}");
        }
    }

    fn say(&self, line: &str) {
        if self.shown.is_hidden() {
            tracing::warn!("{line}");
        } else {
            self.shown.println(line);
        }
    }

    pub(crate) fn finish(&self) {
        self.shown.finish_and_clear();
    }
}

/// What a panic elsewhere left is still true.
fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Weights are predicted seconds; the bar wants whole numbers.
fn units(weight: f64) -> u64 {
    (weight * 1000.0).ceil() as u64
}

impl Progress for Bar {
    fn begin(&self, trials: usize, recorded: usize, weight: f64) {
        tracing::info!("{trials} trials, {recorded} recorded, {} to run", trials - recorded);
        *held(&self.log) = Log { trials: trials - recorded, weight, ..Log::new() };
        self.shown.set_length(units(weight));
        let template = "{bar:30} {percent:>3} %  {elapsed} gone, about {eta} left  {wide_msg}";
        // The template is constant; a fault in it would show in the first test.
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.shown.set_style(style);
        }
    }

    fn trial(&self, trial: &Trial, record: &Record) {
        let key = &trial.key;
        let name =
            format!("{} {} {} repeat {}", key.variant, key.dataset, key.method, key.repeat + 1);
        if record.result.status != Status::Done {
            let error = record.result.error.as_deref().unwrap_or_default();
            self.say(&format!("{name}: {:?}: {error}", record.result.status));
        }
        self.shown.set_message(name);
        self.ended(trial);
    }

    fn no_data(&self, trial: &Trial, error: &HarnessError) {
        self.ended(trial);
        if held(&self.warned).insert(trial.key.dataset.clone()) {
            self.say(&format!("{}: {error}", trial.key.dataset));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_says_how_far_it_is_when_nothing_was_said_for_long() {
        let mut log = Log { trials: 4, weight: 100.0, ..Log::new() };
        let after = |seconds: u64| log.began + Duration::from_secs(seconds);
        let times = [30, 150, 200, 900].map(after);
        assert_eq!(log.ended(10.0, times[0]), None);
        // A quarter of the work in 150 seconds: three times as long is left.
        let line = log.ended(15.0, times[1]).unwrap();
        assert_eq!(line, "2 of 4 trials, 3 minutes gone, about 8 minutes left");
        assert_eq!(log.ended(5.0, times[2]), None);
        assert_eq!(log.ended(70.0, times[3]), None); // the last: the tables follow
    }
}
