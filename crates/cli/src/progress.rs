//! A bar on standard error, where that is a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use mercer_harness::{HarnessError, Progress, Trial};
use mercer_records::{Record, Status};
use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::sync::Mutex;

/// The bar counts predicted cost, so that the time left is right when trials differ in size.
pub(crate) struct Bar {
    bar: ProgressBar,
    warned: Mutex<BTreeSet<String>>,
}

impl Bar {
    pub(crate) fn new(quiet: bool) -> Self {
        let shown = !quiet && std::io::stderr().is_terminal();
        let target =
            if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        Self { bar: ProgressBar::with_draw_target(None, target), warned: Mutex::default() }
    }

    fn say(&self, line: &str) {
        if self.bar.is_hidden() {
            tracing::warn!("{line}");
        } else {
            self.bar.println(line);
        }
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// Weights are predicted seconds; the bar wants whole numbers.
fn units(weight: f64) -> u64 {
    (weight * 1000.0).ceil() as u64
}

impl Progress for Bar {
    fn begin(&self, trials: usize, recorded: usize, weight: f64) {
        tracing::info!("{trials} trials, {recorded} recorded, {} to run", trials - recorded);
        self.bar.set_length(units(weight));
        let template = "{bar:30} {percent:>3} %  {elapsed} gone, about {eta} left  {wide_msg}";
        // The template is constant; a fault in it would show in the first test.
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style);
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
        self.bar.set_message(name);
        self.bar.inc(units(trial.weight));
    }

    fn no_data(&self, trial: &Trial, error: &HarnessError) {
        self.bar.inc(units(trial.weight));
        let mut warned = self.warned.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if warned.insert(trial.key.dataset.clone()) {
            self.say(&format!("{}: {error}", trial.key.dataset));
        }
    }
}
