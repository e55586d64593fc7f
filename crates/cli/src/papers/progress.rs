//! A bar on standard error, where that is a terminal; else a line now and then.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use mercer_harness::{HarnessError, Progress, Trial};
use mercer_learning::counted;
use mercer_records::{Record, Status};
use mercer_report::Written;
use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long nothing is said at most where there is no bar.
const QUIET: Duration = Duration::from_secs(20);
/// Parts of the whole bar.
const PARTS: f64 = 1000.0;

/// After how long the page is first written anew while trials run. Then each time after twice as long: a page takes
/// some seconds of a core.
const REFRESH: Duration = Duration::from_mins(1);
/// And after at most so long.
const SELDOM: Duration = Duration::from_mins(30);

/// How far a run is: by predicted seconds, so that the time left is right when trials differ in size.
pub(crate) struct Bar {
    shown: ProgressBar,
    warned: Mutex<BTreeSet<String>>,
    way: Mutex<Way>,
}

struct Way {
    began: Instant,
    said: Instant,
    /// Of the last trial that began.
    artefact: String,
    trials: usize,
    ended: usize,
    /// Predicted seconds of all that was to run, and of what has ended.
    weight: f64,
    gone: f64,
    budget: Option<Duration>,
    /// Trials side by side.
    jobs: f64,
}

impl Way {
    fn new(budget: Option<Duration>) -> Self {
        let now = Instant::now();
        Self {
            began: now,
            said: now,
            artefact: String::new(),
            trials: 0,
            ended: 0,
            weight: 0.0,
            gone: 0.0,
            budget,
            jobs: 1.0,
        }
    }

    /// The time left, when `gone` has passed: of the work at the pace so far, or of the budget if that is less.
    fn left(&self, gone: Duration) -> Duration {
        let work = self.work(gone);
        self.budget.map_or(work, |budget| budget.saturating_sub(gone).min(work))
    }

    /// The time that the rest of the work takes. Where nothing says what trials take, each counts as one.
    fn work(&self, gone: Duration) -> Duration {
        let (done, all) = match self.weight {
            0.0 => (self.ended as f64, self.trials as f64),
            weight => (self.gone, weight),
        };
        // At first little has ended, and mostly what is cheap: a tenth of the work counts at the predicted pace.
        let (early, pace) = match self.weight {
            0.0 => (0.0, 0.0),
            weight => (0.1 * weight, 0.1 * weight / self.jobs),
        };
        let pace = (gone.as_secs_f64() + pace) / (done + early).max(1e-9);
        Duration::from_secs_f64(((all - done).max(0.0) * pace).min(1e9))
    }

    /// `askl/table2: 312 of 1400 trials, 3:12 gone, about 11:48 left`.
    fn line(&self, now: Instant) -> String {
        let gone = now.duration_since(self.began);
        let (left, work) = (self.left(gone), self.work(gone));
        // What does not fit into the budget is no share of it.
        let of = if left < work { String::new() } else { format!(" of {}", self.trials) };
        format!(
            "{}: {}{of} trials, {} gone, about {} left",
            self.artefact,
            self.ended,
            clock(gone),
            clock(left)
        )
    }

    /// Whether nothing was said for long, while there is something to run.
    fn due(&mut self, now: Instant) -> bool {
        let due = now.duration_since(self.said) >= QUIET && self.ended < self.trials;
        if due {
            self.said = now;
        }
        due
    }

    /// How much of the whole is done.
    fn share(&self, now: Instant) -> f64 {
        let gone = now.duration_since(self.began).as_secs_f64();
        let left = self.left(now.duration_since(self.began)).as_secs_f64();
        gone / (gone + left).max(1e-9)
    }
}

/// `15 minutes`, `30 s`.
pub(crate) fn minutes(time: Duration) -> String {
    match time.as_secs() {
        short if short < 90 => format!("{short} s"),
        long => counted((long as usize + 30) / 60, "minute", "minutes"),
    }
}

/// `0:42`, `11:48`, `2:00:05`.
fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{minutes}:{seconds:02}")
    }
}

impl Bar {
    /// With the time that it may take, where that is limited.
    pub(crate) fn new(quiet: bool, budget: Option<Duration>, jobs: usize) -> Self {
        let shown = !quiet && std::io::stderr().is_terminal();
        let target =
            if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(PARTS as u64), target);
        // The template is constant; a fault in it would show in the first test.
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {wide_msg}") {
            bar.set_style(style);
        }
        Self {
            shown: bar,
            warned: Mutex::default(),
            way: Mutex::new(Way { jobs: jobs as f64, ..Way::new(budget) }),
        }
    }

    /// Runs `work`, says now and then how far it is, and has the page written anew: each time whole or not at
    /// all, so that an open one can be loaded again.
    pub(crate) fn beside<T: Send>(
        &self,
        work: impl FnOnce() -> T + Send,
        page: impl Fn() -> anyhow::Result<Written>,
    ) -> T {
        let done = std::thread::scope(|scope| {
            let working = scope.spawn(work);
            let (mut shown, mut wait) = (Instant::now(), REFRESH);
            while !working.is_finished() {
                std::thread::sleep(Duration::from_millis(50));
                self.tick(Instant::now());
                if shown.elapsed() > wait {
                    if let Err(error) = page() {
                        tracing::warn!("the page could not be written anew: {error:#}");
                    }
                    (shown, wait) = (Instant::now(), (2 * wait).min(SELDOM));
                }
            }
            working.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        self.shown.finish_and_clear();
        done
    }

    fn tick(&self, now: Instant) {
        let mut way = held(&self.way);
        if self.shown.is_hidden() {
            if way.due(now) {
                tracing::info!("{}", way.line(now));
            }
        } else {
            self.shown.set_position((PARTS * way.share(now)) as u64);
            self.shown.set_message(way.line(now));
        }
    }

    /// One more trial is gone.
    fn ended(&self, trial: &Trial) {
        let mut way = held(&self.way);
        way.ended += 1;
        way.gone += trial.weight;
    }

    fn say(&self, line: &str) {
        if self.shown.is_hidden() {
            tracing::warn!("{line}");
        } else {
            self.shown.println(line);
        }
    }
}

/// What a panic elsewhere left is still true.
fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Progress for Bar {
    fn begin(&self, trials: usize, recorded: usize, weight: f64) {
        if recorded > 0 {
            tracing::info!("{trials} trials, {recorded} done before, {} to run", trials - recorded);
        } else {
            tracing::info!("{trials} trials to run");
        }
        let mut way = held(&self.way);
        *way = Way { trials: trials - recorded, weight, jobs: way.jobs, ..Way::new(way.budget) };
    }

    fn start(&self, trial: &Trial) {
        held(&self.way).artefact.clone_from(&trial.key.artefact);
    }

    fn trial(&self, trial: &Trial, record: &Record) {
        if record.result.status != Status::Done {
            let key = &trial.key;
            let error = record.result.error.as_deref().unwrap_or_default();
            self.say(&format!(
                "{} {} {} repeat {}: {:?}: {error}",
                key.variant,
                key.dataset,
                key.method,
                key.repeat + 1,
                record.result.status
            ));
        }
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
    fn a_line_is_due_when_nothing_was_said_for_long() {
        let mut way = Way { trials: 2, ..Way::new(None) };
        let after = |seconds| way.began + Duration::from_secs(seconds);
        let times = [10, 21, 40, 41, 120].map(after);
        let due = times[..4].iter().map(|&now| way.due(now)).collect::<Vec<_>>();
        assert_eq!(due, [false, true, false, true]); // whether a trial has ended or not
        way.ended = 2;
        assert!(!way.due(times[4])); // the tables follow
    }

    #[test]
    fn what_is_left_follows_the_pace_and_ends_with_the_budget() {
        let artefact = "askl/table2".to_owned();
        let way =
            Way { artefact, trials: 4, ended: 2, weight: 100.0, gone: 25.0, ..Way::new(None) };
        // A quarter of the work in 150 seconds, and a tenth at the predicted pace: 35 parts took 160 seconds.
        let now = way.began + Duration::from_secs(150);
        assert_eq!(way.line(now), "askl/table2: 2 of 4 trials, 2:30 gone, about 5:42 left");
        let way = Way { budget: Some(Duration::from_mins(5)), ..way };
        assert_eq!(way.line(now), "askl/table2: 2 trials, 2:30 gone, about 2:30 left");
        assert!((way.share(now) - 0.5).abs() < 1e-12);
        let way = Way { weight: 0.0, gone: 0.0, ended: 3, budget: None, ..way };
        assert!(way.line(now).ends_with("2:30 gone, about 0:50 left"), "{}", way.line(now));
        assert_eq!(clock(Duration::from_secs(7205)), "2:00:05");
    }
}
